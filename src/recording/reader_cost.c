/* SPDX-License-Identifier: MIT */
/* reader_cost.c - reads the cost and the losses of sampling. */
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

int
reader_load_stats(struct recording *recording, struct recording_load *load, struct error *err)
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
