/* SPDX-License-Identifier: MIT */
/*
 * code_ranges.h - where the function that holds an address lies, by the unwind tables:
 * what is left to tell functions apart when there are no symbols.
 */
#ifndef WALLSAMPLE_ELF_CODE_RANGES_H
#define WALLSAMPLE_ELF_CODE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/*
 * By .eh_frame_hdr; false when no entry of it holds the address. A part of a function that the
 * compiler put elsewhere (.cold) has an entry of its own.
 */
bool code_range(const struct image *image, uint64_t vaddr, uint64_t *start, uint64_t *size);
bool code_start(const struct image *image, uint64_t vaddr, uint64_t *start);

#endif
