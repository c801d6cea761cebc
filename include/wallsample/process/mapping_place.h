/* SPDX-License-Identifier: MIT */
/*
 * mapping_place.h - where the image of a module lies, told from one mapping of it.
 */
#ifndef WALLSAMPLE_PROCESS_MAPPING_PLACE_H
#define WALLSAMPLE_PROCESS_MAPPING_PLACE_H

#include "wallsample/process/maps.h"

/*
 * Fills in what follows of start, end and offset of a mapping of this module: image, bias, low and
 * high. `page_size` is that of the machine on which it was mapped, a power of two.
 */
void mapping_place(struct mapping *mapping, const struct module *module, uint64_t page_size);

/* Are start, end and offset those of a segment of the image that may be executed? */
bool mapping_is_of_code(const struct image *image, const struct mapping *mapping,
			uint64_t page_size);

#endif
