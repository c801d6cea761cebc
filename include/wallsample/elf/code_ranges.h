/* SPDX-License-Identifier: MIT */
/*
 * code_ranges.h - finds, in the unwind tables, the address range of the function that contains an
 * address. In a file without symbols the range shows which addresses belong to one function.
 */
#ifndef WALLSAMPLE_ELF_CODE_RANGES_H
#define WALLSAMPLE_ELF_CODE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/*
 * Finds the entry of .eh_frame_hdr whose range contains `vaddr` and stores its start and its size
 * in bytes; false when there is none. A part of a function that the compiler placed elsewhere
 * (.cold) has an entry of its own.
 */
bool code_range(const struct image *image, uint64_t vaddr, uint64_t *start, uint64_t *size);

#endif
