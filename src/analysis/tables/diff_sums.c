/* SPDX-License-Identifier: MIT */
/* diff_sums.c - sums the functions of a run, and the largest deviation of one sample. */
#include <math.h>
#include <stdlib.h>

#include "analysis/tables/diff_internal.h"
#include "wallsample/base/base.h"

struct summing {
	const struct view *view;
	enum weight weight;
	const uint32_t *row_of;
	double wall_ns;
	struct diff_sums *out;
	int64_t *flat, *cum; /* of the thread in progress, by row */
	size_t *counted;     /* by row: the last row of the view that counted, + 1 */
	uint32_t *touched;   /* rows to which the thread in progress has added */
	size_t touched_count;
	int64_t total[WEIGHT_COUNT]; /* of the thread in progress */
};

/* The standard deviation of one sample of a thread that was in the function for `ns`. */
static double
thread_deviation(int64_t ns, double wall_ns)
{
	const double part = wall_ns > 0 ? (double)ns / wall_ns : 0;

	return part > 0 && part < 1 ? sqrt(part * (1 - part)) : 0;
}

static void
add_thread(struct diff_sum *sum, int64_t ns, double wall_ns)
{
	sum->ns += ns;
	sum->deviation += thread_deviation(ns, wall_ns);
}

static void
end_thread(struct summing *summing)
{
	for (size_t i = 0; i < summing->touched_count; i++) {
		const uint32_t row = summing->touched[i];

		add_thread(&summing->out->flat[row], summing->flat[row], summing->wall_ns);
		add_thread(&summing->out->cum[row], summing->cum[row], summing->wall_ns);
		summing->flat[row] = summing->cum[row] = 0;
		summing->counted[row] = 0;
	}
	summing->touched_count = 0;
	for (int w = 0; w < WEIGHT_COUNT; w++) {
		add_thread(&summing->out->total[w], summing->total[w], summing->wall_ns);
		summing->total[w] = 0;
	}
}

static void
add_sample(struct summing *summing, size_t index)
{
	const struct view_row *sample = view_row(summing->view, index);
	const int64_t ns = sample->ns[summing->weight];

	for (int w = 0; w < WEIGHT_COUNT; w++)
		summing->total[w] += sample->ns[w];
	for (size_t i = 0; i < sample->depth; i++) {
		const uint32_t row = summing->row_of[sample->function[i]];

		if (i == 0)
			summing->flat[row] += ns;
		if (summing->counted[row] == index + 1)
			continue;
		if (summing->counted[row] == 0)
			summing->touched[summing->touched_count++] = row;
		summing->counted[row] = index + 1;
		summing->cum[row] += ns;
		summing->out->seen[row] = true;
	}
}

static int
compare_samples(const void *left, const void *right, void *view)
{
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const uint32_t first = view_row(view, a)->thread, second = view_row(view, b)->thread;

	return first != second ? (first > second) - (first < second) : (a > b) - (a < b);
}

/* Indices of the view's rows, ordered by thread. */
static size_t *
sort_samples(const struct view *view)
{
	const size_t count = view_row_count(view);
	size_t *order = xcalloc(count + 1, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_samples, (void *)(uintptr_t)view);
	return order;
}

void
diff_sums_make(const struct diff_run *run, enum weight weight, const uint32_t *row_of, size_t rows,
	       struct diff_sums *out)
{
	struct summing summing = {
		.view = run->view,
		.weight = weight,
		.row_of = row_of,
		.wall_ns = (double)profile_wall_ns(view_profile(run->view)),
		.out = out,
		.flat = xcalloc(rows + 1, sizeof(*summing.flat)),
		.cum = xcalloc(rows + 1, sizeof(*summing.cum)),
		.counted = xcalloc(rows + 1, sizeof(*summing.counted)),
		.touched = xcalloc(rows + 1, sizeof(*summing.touched)),
	};
	const size_t count = view_row_count(run->view);
	size_t *order = sort_samples(run->view);

	*out = (struct diff_sums){
		.flat = xcalloc(rows + 1, sizeof(*out->flat)),
		.cum = xcalloc(rows + 1, sizeof(*out->cum)),
		.seen = xcalloc(rows + 1, sizeof(*out->seen)),
	};
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && view_row(run->view, order[i])->thread !=
				     view_row(run->view, order[i - 1])->thread)
			end_thread(&summing);
		add_sample(&summing, order[i]);
	}
	end_thread(&summing);
	free(order);
	free(summing.flat);
	free(summing.cum);
	free(summing.counted);
	free(summing.touched);
}

void
diff_sums_release(struct diff_sums *sums)
{
	free(sums->flat);
	free(sums->cum);
	free(sums->seen);
	*sums = (struct diff_sums){ 0 };
}
