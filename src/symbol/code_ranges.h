/* SPDX-License-Identifier: MIT */
/*
 * code_ranges.h - where the function that holds an address starts, by the unwind tables:
 * what is left to tell functions apart when there are no symbols.
 */
#ifndef WALLSAMPLE_CODE_RANGES_H
#define WALLSAMPLE_CODE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/image.h"

/* By .eh_frame_hdr; false when no entry of it holds the address. */
bool code_start(const struct image *image, uint64_t vaddr, uint64_t *start);

#endif
