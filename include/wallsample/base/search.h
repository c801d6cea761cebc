/* SPDX-License-Identifier: MIT */
/* search.h - binary search in sorted arrays. */
#ifndef WALLSAMPLE_BASE_SEARCH_H
#define WALLSAMPLE_BASE_SEARCH_H

#include <stddef.h>

/*
 * Sets `index`, a variable of type size_t, to the index of the first of `count` items for which
 * `is_before` is false, or to `count` if it is true for all items. `is_before` is an expression
 * with the variable `index`, such as list[index].key < key. It must be true for all items before
 * the result and false for all others. It is evaluated at most log2(count) + 1 times. The search is
 * a macro so that the expression is type-checked and inlined.
 */
#define SEARCH_FIRST_NOT(index, count, is_before)                                                  \
	do {                                                                                       \
		size_t first_ = 0, end_ = (count);                                                 \
                                                                                                   \
		while (first_ < end_) {                                                            \
			(index) = first_ + (end_ - first_) / 2;                                    \
			if (is_before)                                                             \
				first_ = (index) + 1;                                              \
			else                                                                       \
				end_ = (index);                                                    \
		}                                                                                  \
		(index) = first_;                                                                  \
	} while (0)

#endif
