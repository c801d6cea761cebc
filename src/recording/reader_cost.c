/* SPDX-License-Identifier: MIT */
/* reader_cost.c - reads the cost and the losses of sampling. */
#include <string.h>

#include "recording/recording_internal.h"
#include "recording/reader_internal.h"

static int
load_cost(struct recording *recording, struct recording_load *load, struct error *err)
{
	struct run_stats *stats = load->stats;
	struct rows rows;

	rows_begin(&rows, recording, TABLE_COST, "");
	while (rows_next(&rows)) {
		const char *name = rows_text(&rows, COST_name);

		for (const struct field *f = run_fields; f->name != NULL; f++)
			if (strcmp(f->name, name) == 0)
				field_merge(f, stats, rows_fraction(&rows, COST_value),
					    load->number == 0);
	}
	return rows_end(&rows, "table 'cost'", err);
}

static void
add_loss(struct run_stats *stats, const char *kind, const char *reason, uint64_t count)
{
	const char *word;

	for (size_t i = 0; (word = loss_failure_word(i)) != NULL; i++)
		if (strcmp(kind, "failed") == 0 && strcmp(word, reason) == 0)
			stats->failed[i] += count;
	for (size_t i = 0; (word = loss_chain_word(i)) != NULL; i++)
		if (strcmp(kind, "chain") == 0 && strcmp(word, reason) == 0)
			stats->chains[i] += count;
}

static int
load_losses(struct recording *recording, struct recording_load *load, struct error *err)
{
	struct run_stats *stats = load->stats;
	struct rows rows;
	int64_t bucket;
	int rc;

	rows_begin(&rows, recording, TABLE_LOSSES, "");
	while (rows_next(&rows))
		add_loss(stats, rows_text(&rows, LOSSES_kind), rows_text(&rows, LOSSES_reason),
			 (uint64_t)rows_number(&rows, LOSSES_count, 0, INT64_C(1) << 50));
	rc = rows_end(&rows, "table 'losses'", err);
	if (rc != 0)
		return rc;
	rows_begin(&rows, recording, TABLE_STOPS, "ORDER BY bucket");
	while (rows_next_id(&rows, HISTOGRAM_BUCKETS, &bucket)) {
		const uint64_t count = (uint64_t)rows_number(&rows, STOPS_count, 0,
							     INT64_C(1) << 50);

		stats->stop_ns.bucket[bucket] += count;
		stats->stop_ns.count += count;
	}
	return rows_end(&rows, "table 'stops'", err);
}

/* The statistics of an unfinished recording may be older than its ticks. */
static void
fill_in_stats(const struct recording *recording, struct run_stats *stats)
{
	if (stats->elapsed_ns < recording->info.span_ns)
		stats->elapsed_ns = recording->info.span_ns;
	if (stats->ticks < recording->info.ticks)
		stats->ticks = recording->info.ticks;
	/* The number of CPUs is stored with the process, not with the cost. */
	if (stats->cpus < recording->info.cpus)
		stats->cpus = recording->info.cpus;
}

int
reader_load_stats(struct recording *recording, struct recording_load *load, struct error *err)
{
	int rc = load_cost(recording, load, err);

	if (rc == 0)
		rc = load_losses(recording, load, err);
	fill_in_stats(recording, load->stats);
	return rc;
}
