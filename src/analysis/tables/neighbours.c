/* SPDX-License-Identifier: MIT */
/* neighbours.c - sums up the callers and callees of the functions in focus. */
#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/analysis/tree.h"

/* Sums by function. */
struct sums {
	struct neighbour_row *row;
	size_t capacity;
	struct table known;
};

static void
add(struct sums *sums, uint32_t function, const int64_t *ns)
{
	uint32_t at;

	sums->row = table_row(&sums->known, (uint64_t[]){ function, 0 }, sums->row, &sums->capacity,
			      sizeof(*sums->row), &at);
	sums->row[at].function = function;
	weights_add(sums->row[at].ns, ns);
}

static int
neighbour_compare_rows(const void *left, const void *right, void *context)
{
	const struct neighbour_row *a = left, *b = right;
	const enum weight weight = *(const enum weight *)context;

	if (a->ns[weight] != b->ns[weight])
		return a->ns[weight] < b->ns[weight] ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

static struct neighbour_row *
take(struct sums *sums, enum weight weight, size_t *count)
{
	*count = sums->known.count;
	if (*count > 1)
		qsort_r(sums->row, *count, sizeof(*sums->row), neighbour_compare_rows, &weight);
	table_release(&sums->known);
	return sums->row;
}

/*
 * True unless the function row->function[at] also occurs further inside in the row. By this test a
 * recursive function counts once for each stack.
 */
static bool
is_first(const struct view_row *row, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (row->function[i] == row->function[at])
			return false;
	return true;
}

/*
 * Sets the indices of the innermost and outermost function in the row that match. Returns false if
 * none matches.
 */
static bool
find_matches(const struct view_row *row, const bool *matches, size_t *inner, size_t *outer)
{
	bool any = false;

	for (size_t i = 0; i < row->depth; i++) {
		if (!matches[row->function[i]])
			continue;
		if (!any)
			*inner = i;
		*outer = i;
		any = true;
	}
	return any;
}

void
neighbours_make(const struct view *view, enum weight weight, const regex_t *focus,
		struct neighbours *out)
{
	const size_t functions = view_function_count(view);
	bool *matches = xcalloc(functions + 1, sizeof(*matches));
	struct sums self = { 0 }, caller = { 0 }, callee = { 0 };

	*out = (struct neighbours){ .self_count = 0 };
	for (uint32_t f = 0; f < functions; f++)
		matches[f] = regexec(focus, view_function(view, f)->name, 0, NULL, 0) == 0;
	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *row = view_row(view, r);
		size_t inner = 0, outer = 0;

		if (row->ns[weight] == 0 || !find_matches(row, matches, &inner, &outer))
			continue;
		weights_add(out->ns, row->ns);
		for (size_t i = inner; i <= outer; i++)
			if (matches[row->function[i]] && is_first(row, i))
				add(&self, row->function[i], row->ns);
		add(&caller, outer + 1 < row->depth ? row->function[outer + 1] : TREE_NONE,
		    row->ns);
		add(&callee, inner > 0 ? row->function[inner - 1] : TREE_NONE, row->ns);
	}
	out->self = take(&self, weight, &out->self_count);
	out->caller = take(&caller, weight, &out->caller_count);
	out->callee = take(&callee, weight, &out->callee_count);
	free(matches);
}

void
neighbours_release(struct neighbours *neighbours)
{
	free(neighbours->self);
	free(neighbours->caller);
	free(neighbours->callee);
	*neighbours = (struct neighbours){ .self_count = 0 };
}
