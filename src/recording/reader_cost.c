/* SPDX-License-Identifier: MIT */
/* reader_cost.c - reads the cost and the losses of sampling. */
#include <stdlib.h>
#include <string.h>

#include "recording/recording_internal.h"
#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

static void
load_cost(struct rows *rows, void *context)
{
	const struct recording_load *load = context;
	const struct field *field = field_find(run_fields, rows->row.cost.name);

	if (field != NULL)
		field_merge(field, load->stats, rows->row.cost.value.real, load->number == 0);
}

static void
load_loss(struct rows *rows, void *context)
{
	const struct losses_row *row = &rows->row.losses;
	const struct recording_load *load = context;
	const struct field *field;

	for (size_t i = 0; i < LOSS_KINDS; i++) {
		field = field_find(loss_kinds[i].fields, row->reason);
		if (field != NULL && strcmp(loss_kinds[i].kind, row->kind) == 0)
			field_merge(field, load->stats, (double)row->count, false);
	}
}

static void
load_stop(struct rows *rows, void *context)
{
	const struct stops_row *row = &rows->row.stops;
	const struct recording_load *load = context;

	if (row->bucket >= HISTOGRAM_BUCKETS) {
		rows->bad = true;
		return;
	}
	load->stats->stop_ns.bucket[row->bucket] += (uint64_t)row->count;
	load->stats->stop_ns.count += (uint64_t)row->count;
}

/*
 * Raises statistics to the values that follow from the ticks: in an unfinished recording the stored
 * statistics may be older than the last tick.
 */
static void
fill_in_stats(const struct recording *recording, struct run_stats *stats)
{
	if (stats->elapsed_ns < recording->info.span_ns)
		stats->elapsed_ns = recording->info.span_ns;
	if (stats->ticks < recording->info.ticks)
		stats->ticks = recording->info.ticks;
	/* The number of CPUs is stored in table meta, not in table cost. */
	if (stats->cpus < recording->info.cpus)
		stats->cpus = recording->info.cpus;
}

static int
load_stats_of(struct recording *recording, struct recording_load *load, struct error *err)
{
	static const struct row_reader readers[] = {
		{ TABLE_COST, "table 'cost'", load_cost },
		{ TABLE_LOSSES, "table 'losses'", load_loss },
		{ TABLE_STOPS, "table 'stops'", load_stop },
	};
	const int rc = rows_read(recording, readers, ARRAY_SIZE(readers), load, err);

	fill_in_stats(recording, load->stats);
	return rc;
}

/* Sums over the recordings of a group, whose times overlap. */
struct group_stats {
	uint64_t elapsed_ns, longest_ns; /* sum, and largest, of the elapsed times */
	uint32_t threads_most, green_most;
};

static void
add_to_group(struct group_stats *group, const struct run_stats *before,
	     const struct run_stats *after)
{
	const uint64_t elapsed_ns = after->elapsed_ns - before->elapsed_ns;

	group->elapsed_ns += elapsed_ns;
	if (group->longest_ns < elapsed_ns)
		group->longest_ns = elapsed_ns;
	group->threads_most += after->threads_most - before->threads_most;
	group->green_most += after->green_most - before->green_most;
}

/*
 * Corrects the sums over all recordings: overlapping times are counted once, and threads of
 * recordings that do not overlap did not exist at the same time. `before` has the statistics
 * without the recordings.
 */
static void
correct_stats(const struct run_stats *before, const struct group_stats *group,
	      const struct recording_load *load, size_t count)
{
	struct run_stats *stats = load->stats;
	uint32_t threads_most = 0, green_most = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t all_ns = group[i].longest_ns > load[i].all_ns ? group[i].longest_ns :
									       load[i].all_ns;

		if (group[i].elapsed_ns > all_ns) {
			stats->elapsed_ns -= group[i].elapsed_ns - all_ns;
			stats->overlap_ns += group[i].elapsed_ns - all_ns;
		}
		if (threads_most < group[i].threads_most)
			threads_most = group[i].threads_most;
		if (green_most < group[i].green_most)
			green_most = group[i].green_most;
		if (stats->cpus < load[i].cpus)
			stats->cpus = load[i].cpus;
	}
	stats->threads_most = before->threads_most + threads_most;
	stats->green_most = before->green_most + green_most;
}

int
reader_load_stats(struct recording *const *recording, struct recording_load *load, size_t count,
		  struct error *err)
{
	struct group_stats *group = xcalloc(count + 1, sizeof(*group));
	struct run_stats first, before;
	int rc = 0;

	if (count == 0 || load->stats == NULL) {
		free(group);
		return 0;
	}
	first = *load->stats;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		before = *load[i].stats;
		rc = load_stats_of(recording[i], &load[i], err);
		add_to_group(&group[load[i].group], &before, load[i].stats);
	}
	if (rc == 0)
		correct_stats(&first, group, load, count);
	free(group);
	return rc;
}
