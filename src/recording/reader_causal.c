/* SPDX-License-Identifier: MIT */
/* reader_causal.c - reads a causal profile. */
#include <stdlib.h>
#include <string.h>

#include "recording/recording_internal.h"
#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

/* Bounds on events and on their time in progress: squares of their sums are finite. */
#define COUNT_MOST 0x1p60
#define IN_PROGRESS_MOST 0x1p90

static void
read_field(struct rows *rows, const struct field *field, struct causal_result *out)
{
	struct recording_value value = { .type = VALUE_INT };

	if (field->type == FIELD_DOUBLE)
		value.real = rows_real(rows, CAUSAL_value, 0, field->most);
	else
		value.number = rows_number(rows, CAUSAL_value, 0, (int64_t)field->most);
	field_set(field, out, &value);
}

static int
read_keys(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, TABLE_CAUSAL, "");
	while (rows_next(&rows)) {
		const char *name = rows_text(&rows, CAUSAL_key);

		if (strcmp(name, CAUSAL_KEY_UNIT) == 0 &&
		    !causal_unit_from_word(rows_text(&rows, CAUSAL_value), &out->unit))
			rows.bad = true;
		if (strcmp(name, CAUSAL_KEY_COMMAND) == 0 && out->command == NULL)
			out->command = xstrdup(rows_text(&rows, CAUSAL_value));
		for (const struct field *field = causal_fields; field->name != NULL; field++)
			if (strcmp(field->name, name) == 0)
				read_field(&rows, field, out);
	}
	return rows_end(&rows, "table 'causal'", err);
}

static int
read_points(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, TABLE_CAUSAL_POINTS, "ORDER BY n");
	while (rows_next_dense(&rows, out->point_count, CAUSAL_POINTS_MOST)) {
		enum causal_point_kind kind;

		if (causal_point_kind_from_word(rows_text(&rows, CAUSAL_POINTS_kind), &kind))
			causal_result_add_point(out, rows_text(&rows, CAUSAL_POINTS_name),
						rows_text(&rows, CAUSAL_POINTS_spec), kind);
		else
			rows.bad = true;
	}
	return rows_end(&rows, "table 'causal_points'", err);
}

/* The first speed-up is 0, and they ascend. */
static int
read_speedups(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, TABLE_CAUSAL_SPEEDUPS, "ORDER BY n");
	while (rows_next_dense(&rows, out->speedup_count, CAUSAL_SPEEDUPS_MOST)) {
		const size_t n = out->speedup_count++;

		out->speedup[n] = rows_real(&rows, CAUSAL_SPEEDUPS_speedup, 0, n == 0 ? 0 : 1);
		if (n > 0 && out->speedup[n] <= out->speedup[n - 1])
			rows.bad = true;
	}
	return rows_end(&rows, "table 'causal_speedups'", err);
}

static int
read_candidates(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, TABLE_CAUSAL_CANDIDATES, "ORDER BY n");
	while (rows_next_dense(&rows, out->candidate_count, CAUSAL_CANDIDATES_MOST)) {
		const char *file = rows_text_or_null(&rows, CAUSAL_CANDIDATES_file);
		const uint32_t n =
			causal_result_add_candidate(out, rows_text(&rows, CAUSAL_CANDIDATES_name),
						    rows_text(&rows, CAUSAL_CANDIDATES_module),
						    file,
						    (uint32_t)rows_number(&rows,
									  CAUSAL_CANDIDATES_line, 0,
									  UINT32_MAX));

		out->candidate[n].share = rows_real(&rows, CAUSAL_CANDIDATES_share, 0, 1);
		out->candidate[n].self_share = rows_real(&rows, CAUSAL_CANDIDATES_self_share, 0, 1);
	}
	return rows_end(&rows, "table 'causal_candidates'", err);
}

static void
read_experiment(struct rows *rows, const struct causal_result *result,
		struct causal_experiment *made, uint64_t after_ns)
{
	made->candidate = (uint32_t)rows_index(rows, CAUSAL_EXPERIMENTS_candidate,
					       result->candidate_count);
	made->speedup = rows_real(rows, CAUSAL_EXPERIMENTS_speedup, 0, 1);
	made->began_ns = (uint64_t)rows_number(rows, CAUSAL_EXPERIMENTS_began_ns, (int64_t)after_ns,
					       NUMBER_MOST);
	made->wall_ns = (uint64_t)rows_number(rows, CAUSAL_EXPERIMENTS_wall_ns, 0, NUMBER_MOST);
	made->held_ns = (uint64_t)rows_number(rows, CAUSAL_EXPERIMENTS_held_ns, 0, NUMBER_MOST);
	made->ticks = (uint64_t)rows_number(rows, CAUSAL_EXPERIMENTS_ticks, 0, NUMBER_MOST);
	made->chosen = (uint64_t)rows_number(rows, CAUSAL_EXPERIMENTS_chosen, 0,
					     (int64_t)made->ticks);
	if (!causal_end_from_word(rows_text(rows, CAUSAL_EXPERIMENTS_ending), &made->end) ||
	    (made->end == CAUSAL_WHOLE && made->held_ns >= made->wall_ns))
		rows->bad = true;
}

static int
read_experiments(struct recording *recording, struct causal_result *out, struct error *err)
{
	uint64_t after_ns = 0;
	struct rows rows;

	rows_begin(&rows, recording, TABLE_CAUSAL_EXPERIMENTS, "ORDER BY n");
	while (rows_next_dense(&rows, out->experiment_count, RECORDING_EXPERIMENTS_MOST)) {
		struct causal_experiment *made = causal_result_add_experiment(out);

		read_experiment(&rows, out, made, after_ns);
		after_ns = made->began_ns;
	}
	return rows_end(&rows, "table 'causal_experiments'", err);
}

/* Exactly one reading for each experiment and point. */
static int
read_readings(struct recording *recording, struct causal_result *out, struct error *err)
{
	const size_t wanted = out->experiment_count * out->point_count;
	size_t count = 0;
	struct rows rows;

	rows_begin(&rows, recording, TABLE_CAUSAL_READINGS, "ORDER BY experiment, point");
	while (rows_next(&rows)) {
		const size_t n = count < wanted ? count / out->point_count : 0;
		const size_t point = count < wanted ? count % out->point_count : 0;

		if (count++ >= wanted) {
			rows.bad = true;
			break;
		}
		rows_number(&rows, CAUSAL_READINGS_experiment, (int64_t)n, (int64_t)n);
		rows_number(&rows, CAUSAL_READINGS_point, (int64_t)point, (int64_t)point);
		out->experiment[n].reading[point] = (struct causal_reading){
			.count = rows_real(&rows, CAUSAL_READINGS_count, 0, COUNT_MOST),
			.in_progress_ns = rows_real(&rows, CAUSAL_READINGS_in_progress_ns,
						    -IN_PROGRESS_MOST, IN_PROGRESS_MOST),
		};
	}
	if (count < wanted && rows.rc == SQLITE_DONE)
		rows.bad = true;
	return rows_end(&rows, "table 'causal_readings'", err);
}

int
recording_read_causal(struct recording *recording, struct causal_result *out, struct error *err)
{
	static int (*const parts[])(struct recording *, struct causal_result *,
				    struct error *) = { read_keys,        read_points,
							read_speedups,    read_candidates,
							read_experiments, read_readings };
	int rc = 0;

	causal_result_init(out);
	if (!recording->info.causal)
		return error_set(err, ERROR_FORMAT,
				 "%s has no causal profile: wallsample causal -o FILE.wsdb makes "
				 "one",
				 recording->path);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(parts); i++)
		rc = parts[i](recording, out, err);
	if (rc != 0)
		causal_result_release(out);
	return rc;
}
