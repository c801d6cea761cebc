/* SPDX-License-Identifier: MIT */
/*
 * mapping_place.h - derives the position of a module's image from one of its mappings.
 */
#ifndef WALLSAMPLE_PROCESS_MAPPING_PLACE_H
#define WALLSAMPLE_PROCESS_MAPPING_PLACE_H

#include "wallsample/process/maps.h"

/*
 * Sets image, bias, low and high of a mapping of the module from its start, end and offset.
 * `page_size` is that of the machine on which it was mapped, a power of two.
 */
void mapping_place(struct mapping *mapping, const struct module *module, uint64_t page_size);

/* Are start, end and offset of the mapping those of an executable segment of the image? */
bool mapping_is_of_code(const struct image *image, const struct mapping *mapping,
			uint64_t page_size);

#endif
