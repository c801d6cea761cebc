/* SPDX-License-Identifier: MIT */
/*
 * dwarf_spans_internal.h - spans of addresses that may overlap and nest: which of them hold an
 * address?
 *
 * First all are added, then they are put in order once, then asked. What is asked costs the
 * logarithm of how many there are, and what is found.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_SPANS_INTERNAL_H
#define WALLSAMPLE_DWARF_DWARF_SPANS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_span {
	uint64_t low, high; /* [low, high) */
	uint64_t reach;     /* the highest `high` of the part of the order this is the middle of */
	uint32_t what;      /* the caller's number */
};

/* A zeroed one is empty. */
struct dwarf_spans {
	struct dwarf_span *all;
	size_t count, capacity;
	size_t tried; /* what was looked at to fill it: the user's */
};

void dwarf_spans_release(struct dwarf_spans *spans);
/* Adds [low, high); an empty one, or one more than `limit` in all, is refused. */
bool dwarf_spans_add(struct dwarf_spans *spans, uint64_t low, uint64_t high, uint32_t what,
		     size_t limit);
void dwarf_spans_order(struct dwarf_spans *spans);
/* The spans that hold `address`, by their low ends, at most `most`; returns how many. */
size_t dwarf_spans_holding(const struct dwarf_spans *spans, uint64_t address,
			   const struct dwarf_span **out, size_t most);

#endif
