/* SPDX-License-Identifier: MIT */
/* reader_causal.c - reads a causal profile. */
#include <stdlib.h>
#include <string.h>

#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

static void
read_key(struct rows *rows, void *context)
{
	const struct causal_row *row = &rows->row.causal;
	const struct field *field = field_find(causal_fields, row->key);
	struct causal_result *out = context;

	if (strcmp(row->key, CAUSAL_KEY_UNIT) == 0 &&
	    !causal_unit_from_word(row->value.text, &out->unit))
		rows->bad = true;
	if (strcmp(row->key, CAUSAL_KEY_COMMAND) == 0 && out->command == NULL)
		out->command = xstrdup(row->value.text);
	if (field != NULL && !field_take(field, out, &row->value))
		rows->bad = true;
}

static void
read_point(struct rows *rows, void *context)
{
	const struct causal_points_row *row = &rows->row.causal_points;
	enum causal_point_kind kind;

	if (!causal_point_kind_from_word(row->kind, &kind) ||
	    !causal_result_add_point(context, row->name, row->spec, kind))
		rows->bad = true;
}

/*
 * Refuses the row unless the first speed-up is 0 and each later speed-up is larger than the
 * previous one.
 */
static void
read_speedup(struct rows *rows, void *context)
{
	const struct causal_speedups_row *row = &rows->row.causal_speedups;
	struct causal_result *out = context;

	if (row->n >= CAUSAL_SPEEDUPS_MOST ||
	    (row->n == 0 ? row->speedup > 0 : row->speedup <= out->speedup[row->n - 1]))
		rows->bad = true;
	else
		out->speedup[out->speedup_count++] = row->speedup;
}

static void
read_candidate(struct rows *rows, void *context)
{
	const struct causal_candidates_row *row = &rows->row.causal_candidates;
	struct causal_result *out = context;
	uint32_t n;

	if (row->n >= CAUSAL_CANDIDATES_MOST) {
		rows->bad = true;
		return;
	}
	n = causal_result_add_candidate(out, row->name, row->module, row->file,
					(uint32_t)row->line);
	out->candidate[n].share = row->share;
	out->candidate[n].self_share = row->self_share;
}

/* Refuses an experiment that began before the previous row's experiment. */
static void
read_experiment(struct rows *rows, void *context)
{
	const struct causal_experiments_row *row = &rows->row.causal_experiments;
	struct causal_result *out = context;
	struct causal_experiment made = {
		.candidate = (uint32_t)row->candidate,
		.speedup = row->speedup,
		.began_ns = (uint64_t)row->began_ns,
		.wall_ns = (uint64_t)row->wall_ns,
		.held_ns = (uint64_t)row->held_ns,
		.ticks = (uint64_t)row->ticks,
		.chosen = (uint64_t)row->chosen,
	};

	if (row->n >= RECORDING_EXPERIMENTS_MOST || made.candidate >= out->candidate_count ||
	    made.chosen > made.ticks ||
	    (row->n > 0 && made.began_ns < out->experiment[row->n - 1].began_ns) ||
	    !causal_end_from_word(row->ending, &made.end) ||
	    (made.end == CAUSAL_WHOLE && made.held_ns >= made.wall_ns))
		rows->bad = true;
	else
		*causal_result_add_experiment(out) = made;
}

struct readings {
	struct causal_result *out;
	size_t count;
};

/*
 * Refuses the row unless it is the next reading: readings are ordered by experiment, then by
 * progress point, and each experiment has one reading of each progress point.
 */
static void
read_reading(struct rows *rows, void *context)
{
	const struct causal_readings_row *row = &rows->row.causal_readings;
	struct readings *readings = context;
	struct causal_result *out = readings->out;
	size_t n, point;

	if (readings->count >= out->experiment_count * out->point_count) {
		rows->bad = true;
		return;
	}
	n = readings->count / out->point_count;
	point = readings->count++ % out->point_count;
	if (row->experiment != (int64_t)n || row->point != (int64_t)point)
		rows->bad = true;
	out->experiment[n].reading[point] = (struct causal_reading){
		.count = row->count,
		.in_progress_ns = row->in_progress_ns,
	};
}

int
recording_read_causal(struct recording *recording, struct causal_result *out, struct error *err)
{
	static const struct row_reader readers[] = {
		{ TABLE_CAUSAL, "table 'causal'", read_key },
		{ TABLE_CAUSAL_POINTS, "table 'causal_points'", read_point },
		{ TABLE_CAUSAL_SPEEDUPS, "table 'causal_speedups'", read_speedup },
		{ TABLE_CAUSAL_CANDIDATES, "table 'causal_candidates'", read_candidate },
		{ TABLE_CAUSAL_EXPERIMENTS, "table 'causal_experiments'", read_experiment },
	};
	static const struct row_reader of_readings = { TABLE_CAUSAL_READINGS,
						       "table 'causal_readings'", read_reading };
	struct readings readings = { .out = out };
	int rc;

	causal_result_init(out);
	if (!recording->info.causal)
		return error_set(err, ERROR_FORMAT,
				 "%s has no causal profile: wallsample causal -o FILE.wsdb makes "
				 "one",
				 recording->path);
	rc = rows_read(recording, readers, ARRAY_SIZE(readers), out, err);
	if (rc == 0)
		rc = rows_read(recording, &of_readings, 1, &readings, err);
	if (rc == 0 && readings.count < out->experiment_count * out->point_count)
		rc = reader_damaged(recording, of_readings.what, err);
	if (rc != 0)
		causal_result_release(out);
	return rc;
}
