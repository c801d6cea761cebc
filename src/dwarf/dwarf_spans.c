/* SPDX-License-Identifier: MIT */
/*
 * dwarf_spans.c - finds the spans that contain an address, in a sorted array that is used as a
 * balanced tree.
 *
 * The middle element of the array is the root of the tree; its children are the middle elements of
 * the two halves, and so on. Each element stores the highest end of all spans in its subtree
 * (`reach`): a search skips a subtree that ends before the address.
 */
#include "dwarf/dwarf_unit_internal.h"

#include <stdlib.h>

#include "wallsample/base/base.h"

void
dwarf_spans_release(struct dwarf_spans *spans)
{
	free(spans->all);
	*spans = (struct dwarf_spans){ 0 };
}

bool
dwarf_spans_add(struct dwarf_spans *spans, uint64_t low, uint64_t high, uint32_t what, size_t limit)
{
	if (low >= high || spans->count >= limit)
		return false;
	spans->all = xgrow(spans->all, &spans->capacity, spans->count + 1, sizeof(*spans->all));
	spans->all[spans->count++] = (struct dwarf_span){ .low = low, .high = high, .what = what };
	return true;
}

/* Orders spans by ascending low end, then by descending size, then by `what`: a span comes before
 * the spans that it contains. */
static int
span_compare(const void *left, const void *right)
{
	const struct dwarf_span *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

/* Sets `reach` of all spans in [from, to), a subtree, and returns its highest end. The depth of the
 * recursion is the logarithm of the number of these spans. */
static uint64_t
reach_of(struct dwarf_span *all, size_t from, size_t to)
{
	size_t middle = from + (to - from) / 2;
	uint64_t reach, below;

	if (from >= to)
		return 0;
	reach = all[middle].high;
	below = reach_of(all, from, middle);
	reach = below > reach ? below : reach;
	below = reach_of(all, middle + 1, to);
	reach = below > reach ? below : reach;
	all[middle].reach = reach;
	return reach;
}

void
dwarf_spans_order(struct dwarf_spans *spans)
{
	size_t i = 1;

	/* Compilers nearly always write spans in this order: then they need not be sorted. */
	while (i < spans->count && span_compare(&spans->all[i - 1], &spans->all[i]) <= 0)
		i++;
	if (i < spans->count)
		qsort(spans->all, spans->count, sizeof(*spans->all), span_compare);
	reach_of(spans->all, 0, spans->count);
}

struct question {
	const struct dwarf_span *all;
	uint64_t address;
	const struct dwarf_span **out;
	size_t most, count;
};

static void
spans_search(struct question *q, size_t from, size_t to)
{
	while (from < to && q->count < q->most) {
		size_t middle = from + (to - from) / 2;
		const struct dwarf_span *span = &q->all[middle];

		if (span->reach <= q->address)
			return;
		spans_search(q, from, middle);
		if (span->low > q->address)
			return;
		if (span->high > q->address && q->count < q->most)
			q->out[q->count++] = span;
		from = middle + 1;
	}
}

size_t
dwarf_spans_holding(const struct dwarf_spans *spans, uint64_t address,
		    const struct dwarf_span **out, size_t most)
{
	struct question q = { .all = spans->all, .address = address, .out = out, .most = most };

	spans_search(&q, 0, spans->count);
	return q.count;
}
