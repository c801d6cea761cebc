/* SPDX-License-Identifier: MIT */
/*
 * python_eval_internal.h - parts of the function that executes bytecode, in programs whose
 * symbols do not tell of them.
 *
 * Compilers put what is seldom executed elsewhere, and GCC 16 with profiles puts the loop itself
 * there: _PyEval_EvalFrameDefault of Debian's 3.14.10 has 1,184 bytes, and the 84,423 of the
 * loop have no symbol. The parts branch into the midst of each other, which functions do not.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_EVAL_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_EVAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"
#include "wallsample/process/maps.h"

/*
 * The first `count` ranges (addresses of the image) are known; others are added up to `most`.
 * Returns how many there are now. Takes some milliseconds.
 */
size_t python_eval_parts(const struct image *image, struct address_range *range, size_t count,
			 size_t most);

/* --- of each architecture (python_branch_*.c) -------------------------------------------- */

/* Where instructions can begin: at multiples of this. */
extern const size_t python_branch_step;
/*
 * Do these bytes look like a branch (no call) over a distance that they hold? *distance is from
 * their beginning.
 */
bool python_branch_at(const uint8_t *code, size_t size, int64_t *distance);

#endif
