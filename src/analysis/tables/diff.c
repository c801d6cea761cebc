/* SPDX-License-Identifier: MIT */
/* diff.c - compares two runs, function by function. */
#include "wallsample/analysis/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/diff_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/analysis/margin.h"

/*
 * The time of a row in one run, and an upper bound of the standard deviation of one sample of this
 * time.
 */
struct diff_sum {
	int64_t ns;
	double deviation;
};
struct diff_sums {
	struct diff_sum *flat, *cum; /* indexed by row: flat and cumulative time */
	bool *seen;                  /* indexed by row: true if a selected stack has the function */
	/* indexed by weight: sums of all selected samples */
	struct diff_sum total[WEIGHT_COUNT];
};

/* --- sums of a run ------------------------------------------------------------------------- */

struct summing {
	const struct view *view;
	enum weight weight;
	const uint32_t *row_of; /* indexed by function of the view: index of its row in the diff */
	double wall_ns;
	struct diff_sums *out;
	int64_t *flat, *cum; /* indexed by row: time of the thread that is being summed up */
	/*
	 * indexed by row: 1 + the index in the view of the sample that was last added to the row;
	 * 0: no sample of the thread that is being summed up was added to the row
	 */
	size_t *counted;
	uint32_t *touched; /* rows to which the thread that is being summed up has added time */
	size_t touched_count;
	int64_t total[WEIGHT_COUNT]; /* times of the thread that is being summed up */
};

/*
 * Returns the standard deviation of one sample of a thread that was in a function for `ns` of
 * `wall_ns`.
 */
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

	weights_add(summing->total, sample->ns);
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

/* Returns the indices of the view's rows, ordered by thread. The caller frees the array. */
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

static void
sums_make(const struct diff_run *run, enum weight weight, const uint32_t *row_of, size_t rows,
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

/* --- comparing ---------------------------------------------------------------------------- */

/* Values of one run that are used for all rows. */
struct side {
	const struct profile *profile;
	struct diff_sums sums;
	double wall_ns;
	double ticks, share_ticks; /* numbers of independent samples: for rates, and for shares */
	double most[WEIGHT_COUNT]; /* indexed by weight: upper bound of a rate; 0: not known */
	double total_ns;
};

static void
side_init(struct side *side, const struct diff_run *run, enum weight weight)
{
	side->profile = view_profile(run->view);
	side->wall_ns = (double)profile_wall_ns(side->profile);
	/* Rates are relative to the whole elapsed time, so that all ticks count. */
	side->ticks = margin_ticks(side->profile, run->division, WEIGHT_LATENCY,
				   (int64_t)side->wall_ns);
	side->share_ticks = margin_ticks(side->profile, run->division, weight,
					 view_total_ns(run->view, weight));
	side->most[WEIGHT_WALL] = run->threads_most;
	side->most[WEIGHT_CPU] = (double)profile_parallelism_count(side->profile) - 1;
	side->most[WEIGHT_LATENCY] = 1;
	side->total_ns = (double)view_total_ns(run->view, weight);
}

static struct margin_mean
mean_of(const struct side *side, const struct diff_sum *sum, enum weight weight)
{
	struct margin_mean mean = {
		.mean = side->wall_ns > 0 ? (double)sum->ns / side->wall_ns : 0,
		.deviation = sum->deviation,
		.ticks = side->ticks,
	};
	const double room = side->most[weight] - mean.mean;

	/* Rounding may leave the mean slightly above the bound. */
	if (room > -0.01 && side->most[weight] > 0)
		mean.deviation = fmin(mean.deviation, sqrt(mean.mean * fmax(room, 0)));
	return mean;
}

static struct margin_mean
share_of(const struct side *side, const struct diff_sum *sum)
{
	const double share = side->total_ns > 0 ? (double)sum->ns / side->total_ns : 0;

	return (struct margin_mean){
		.mean = share,
		.deviation = sqrt(share * fmax(1 - share, 0)),
		.ticks = side->share_ticks,
	};
}

/* Compares the sums of a row in the two runs. Before diff->deviations is set, the margins are 0. */
static void
diff_compare_sums(const struct side side[DIFF_SIDES], const struct diff_sum *const sum[DIFF_SIDES],
		  const struct diff *diff, struct diff_change *out)
{
	struct margin_mean mean[DIFF_SIDES], share[DIFF_SIDES];
	double looks = 0;

	for (int i = 0; i < DIFF_SIDES; i++) {
		mean[i] = mean_of(&side[i], sum[i], diff->weight);
		share[i] = share_of(&side[i], sum[i]);
		out->ns[i] = sum[i]->ns;
		out->rate[i] = mean[i].mean;
		out->share[i] = share[i].mean;
		looks += out->rate[i] * side[i].ticks;
	}
	out->change = out->rate[DIFF_AFTER] - out->rate[DIFF_BEFORE];
	out->points = out->share[DIFF_AFTER] - out->share[DIFF_BEFORE];
	out->asked = looks >= DIFF_LOOKS_LEAST;
	out->margin = margin_of_change(&mean[DIFF_BEFORE], &mean[DIFF_AFTER], diff->deviations);
	out->points_margin = fmin(1, margin_of_change(&share[DIFF_BEFORE], &share[DIFF_AFTER],
						      diff->deviations));
}

/* --- rows ---------------------------------------------------------------------------------- */

static bool
exceeds_margin(const struct diff_change *change)
{
	return change->asked && fabs(change->change) > change->margin;
}

/*
 * Compares each row in two passes: the first pass counts the tests, because the margins that the
 * second pass computes depend on the number of tests.
 */
static void
make_rows(const struct side side[DIFF_SIDES], enum view_key key, struct diff *diff)
{
	/* A thread, a state, a lock or a GIL has no callees: flat and cum are the same test. */
	const bool calls = !view_key_is_of_sample(key);
	size_t used = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < diff->count; i++) {
			const struct diff_sum *flat[DIFF_SIDES], *cum[DIFF_SIDES];
			struct diff_row *row = &diff->row[i];

			for (int s = 0; s < DIFF_SIDES; s++) {
				flat[s] = &side[s].sums.flat[i];
				cum[s] = &side[s].sums.cum[i];
				row->seen[s] = side[s].sums.seen[i];
			}
			diff_compare_sums(side, flat, diff, &row->flat);
			diff_compare_sums(side, cum, diff, &row->cum);
			row->cum.asked &= calls;
			if (pass == 0)
				diff->questions += row->flat.asked + row->cum.asked;
			row->flat.found = exceeds_margin(&row->flat);
			row->cum.found = exceeds_margin(&row->cum);
		}
		diff->deviations = margin_deviations((double)diff->questions);
	}
	for (size_t i = 0; i < diff->count; i++)
		if (diff->row[i].cum.ns[DIFF_BEFORE] != 0 || diff->row[i].cum.ns[DIFF_AFTER] != 0)
			diff->row[used++] = diff->row[i];
	diff->count = used;
}

struct order {
	const struct diff_row *row;
	bool cum;
};

static const struct diff_change *
change_of(const struct order *by, const void *place)
{
	const struct diff_row *row = &by->row[*(const uint32_t *)place];

	return by->cum ? &row->cum : &row->flat;
}

static int
diff_compare_rows(const void *left, const void *right, void *context)
{
	const struct order *by = context;
	const struct diff_change *a = change_of(by, left), *b = change_of(by, right);
	const struct diff_row *first = &by->row[*(const uint32_t *)left];
	const struct diff_row *second = &by->row[*(const uint32_t *)right];
	const double one = fabs(a->change), other = fabs(b->change);
	int order;

	if (a->found != b->found)
		return b->found - a->found;
	if (one != other)
		return one < other ? 1 : -1;
	order = strcmp(first->name, second->name);
	return order != 0 ? order : strcmp(first->module, second->module);
}

static uint32_t *
sort_rows(const struct diff *diff, bool cum, size_t *found)
{
	uint32_t *place = xcalloc(diff->count + 1, sizeof(*place));
	struct order order = { .row = diff->row, .cum = cum };

	for (uint32_t i = 0; i < diff->count; i++)
		place[i] = i;
	if (diff->count > 1)
		qsort_r(place, diff->count, sizeof(*place), diff_compare_rows, &order);
	while (*found < diff->count && change_of(&order, &place[*found])->found)
		(*found)++;
	return place;
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Returns the mean number of threads on a CPU, and its standard deviation among ticks. */
static struct margin_mean
mean_parallelism(const struct side *side)
{
	struct margin_mean mean = { .ticks = side->ticks };
	double squares = 0;

	if (side->wall_ns <= 0)
		return mean;
	for (size_t p = 0; p < profile_parallelism_count(side->profile); p++) {
		const struct profile_parallelism *at = profile_parallelism(side->profile, p);

		mean.mean += (double)at->cpu_ns / side->wall_ns;
		squares += (double)p * (double)p * (double)at->time_ns / side->wall_ns;
	}
	mean.deviation = sqrt(fmax(0, squares - mean.mean * mean.mean));
	return mean;
}

static struct diff_total
total_of(const struct margin_mean mean[DIFF_SIDES])
{
	return (struct diff_total){
		.rate = { mean[DIFF_BEFORE].mean, mean[DIFF_AFTER].mean },
		.change = mean[DIFF_AFTER].mean - mean[DIFF_BEFORE].mean,
		.margin = margin_of_change(&mean[DIFF_BEFORE], &mean[DIFF_AFTER],
					   margin_deviations(1)),
	};
}

static void
make_totals(const struct side side[DIFF_SIDES], struct diff *diff)
{
	struct margin_mean mean[DIFF_SIDES];

	for (int w = 0; w < WEIGHT_COUNT; w++) {
		for (int s = 0; s < DIFF_SIDES; s++)
			mean[s] = mean_of(&side[s], &side[s].sums.total[w], (enum weight)w);
		diff->total[w] = total_of(mean);
	}
	for (int s = 0; s < DIFF_SIDES; s++)
		mean[s] = mean_parallelism(&side[s]);
	diff->parallelism = total_of(mean);
}

void
diff_make(const struct diff_run run[DIFF_SIDES], enum weight weight, struct diff *out)
{
	struct side side[DIFF_SIDES];
	struct diff_pairs pairs;

	*out = (struct diff){ .weight = weight, .texts = strings_create() };
	diff_pairs_make(run, out->texts, &pairs);
	for (int s = 0; s < DIFF_SIDES; s++) {
		side_init(&side[s], &run[s], weight);
		sums_make(&run[s], weight, pairs.row_of[s], pairs.count, &side[s].sums);
		out->wall_ns[s] = profile_wall_ns(side[s].profile);
		out->ticks[s] = side[s].ticks;
	}
	out->row = pairs.row;
	out->count = pairs.count;
	make_rows(side, view_key(run[DIFF_AFTER].view), out);
	make_totals(side, out);
	out->by_flat = sort_rows(out, false, &out->flat_found);
	out->by_cum = sort_rows(out, true, &out->cum_found);
	for (int s = 0; s < DIFF_SIDES; s++) {
		free(side[s].sums.flat);
		free(side[s].sums.cum);
		free(side[s].sums.seen);
		free(pairs.row_of[s]);
	}
}

void
diff_release(struct diff *diff)
{
	free(diff->row);
	free(diff->by_flat);
	free(diff->by_cum);
	strings_free(diff->texts);
	*diff = (struct diff){ .row = NULL };
}
