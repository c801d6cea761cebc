/* SPDX-License-Identifier: MIT */
/* image_internal.h - a part of image.h that opens and reads images. */
#ifndef WALLSAMPLE_ELF_IMAGE_INTERNAL_H
#define WALLSAMPLE_ELF_IMAGE_INTERNAL_H

#include "wallsample/elf/image.h"

/* Makes an image of `size` bytes, at least 1, of the file `fd`, or of `memory` if that is not NULL;
 * it takes both over. Headers are not read. The caller frees it with image_free(). */
struct image *image_create(int fd, uint64_t size, void *memory);

#endif
