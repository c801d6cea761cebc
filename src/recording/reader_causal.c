/* SPDX-License-Identifier: MIT */
/* reader_causal.c - what experiments found, from rows that anybody may have made. */
#include <stdlib.h>
#include <string.h>

#include "recording/causal_keys_internal.h"
#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

/* Events, and the time that they were in progress: squares of sums of them are finite. */
#define COUNT_MOST 0x1p60
#define IN_PROGRESS_MOST 0x1p90

/* The next of rows that are numbered 0, 1, 2, … and are `most` at most; false at the end. */
static bool
next_row(struct rows *rows, size_t count, size_t most)
{
	int64_t id;

	if (!rows_next_id(rows, (int64_t)most, &id))
		return false;
	if (id != (int64_t)count)
		rows->bad = true;
	return !rows->bad;
}

static void
take_number(struct rows *rows, const struct causal_key *key, struct causal_result *out)
{
	void *field = (char *)out + key->offset;
	const int64_t most = (int64_t)key->most;

	switch (key->type) {
	case CAUSAL_KEY_DOUBLE:
		*(double *)field = rows_real(rows, 1, 0, key->most);
		break;
	case CAUSAL_KEY_U64:
		*(uint64_t *)field = (uint64_t)rows_number(rows, 1, 0, most);
		break;
	case CAUSAL_KEY_INT:
		*(int *)field = (int)rows_number(rows, 1, 0, most);
		break;
	case CAUSAL_KEY_BOOL:
		*(bool *)field = rows_number(rows, 1, 0, most) != 0;
		break;
	}
}

static int
read_keys(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, "SELECT key, value FROM causal");
	while (rows_next(&rows)) {
		const char *name = rows_text(&rows, 0);

		if (strcmp(name, CAUSAL_KEY_UNIT) == 0 &&
		    !causal_unit_from_word(rows_text(&rows, 1), &out->unit))
			rows.bad = true;
		if (strcmp(name, CAUSAL_KEY_COMMAND) == 0 && out->command == NULL)
			out->command = xstrdup(rows_text(&rows, 1));
		for (const struct causal_key *key = causal_keys; key->name != NULL; key++)
			if (strcmp(key->name, name) == 0)
				take_number(&rows, key, out);
	}
	return rows_end(&rows, "table 'causal'", err);
}

static int
read_points(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, "SELECT n, kind, name, spec FROM causal_points ORDER BY n");
	while (next_row(&rows, out->point_count, CAUSAL_POINTS_MOST)) {
		enum causal_point_kind kind;

		if (causal_point_kind_from_word(rows_text(&rows, 1), &kind))
			causal_result_add_point(out, rows_text(&rows, 2), rows_text(&rows, 3),
						kind);
		else
			rows.bad = true;
	}
	return rows_end(&rows, "table 'causal_points'", err);
}

/* The first is 0, and they go up. */
static int
read_speedups(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, "SELECT n, speedup FROM causal_speedups ORDER BY n");
	while (next_row(&rows, out->speedup_count, CAUSAL_SPEEDUPS_MOST)) {
		const size_t n = out->speedup_count++;

		out->speedup[n] = rows_real(&rows, 1, 0, n == 0 ? 0 : 1);
		if (n > 0 && out->speedup[n] <= out->speedup[n - 1])
			rows.bad = true;
	}
	return rows_end(&rows, "table 'causal_speedups'", err);
}

static int
read_candidates(struct recording *recording, struct causal_result *out, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording,
		   "SELECT n, name, module, file, line, share, self_share "
		   "FROM causal_candidates ORDER BY n");
	while (next_row(&rows, out->candidate_count, CAUSAL_CANDIDATES_MOST)) {
		const char *file = rows_is_null(&rows, 3) ? NULL : rows_text(&rows, 3);
		const uint32_t n = causal_result_add_candidate(
			out, rows_text(&rows, 1), rows_text(&rows, 2), file,
			(uint32_t)rows_number(&rows, 4, 0, UINT32_MAX));

		out->candidate[n].share = rows_real(&rows, 5, 0, 1);
		out->candidate[n].self_share = rows_real(&rows, 6, 0, 1);
	}
	return rows_end(&rows, "table 'causal_candidates'", err);
}

static void
read_experiment(struct rows *rows, const struct causal_result *result,
		struct causal_experiment *made, uint64_t after_ns)
{
	made->candidate = (uint32_t)rows_number(rows, 1, 0, (int64_t)result->candidate_count - 1);
	made->speedup = rows_real(rows, 2, 0, 1);
	made->began_ns = (uint64_t)rows_number(rows, 3, (int64_t)after_ns, NUMBER_MOST);
	made->wall_ns = (uint64_t)rows_number(rows, 4, 0, NUMBER_MOST);
	made->held_ns = (uint64_t)rows_number(rows, 5, 0, NUMBER_MOST);
	made->ticks = (uint64_t)rows_number(rows, 6, 0, NUMBER_MOST);
	made->chosen = (uint64_t)rows_number(rows, 7, 0, (int64_t)made->ticks);
	if (!causal_end_from_word(rows_text(rows, 8), &made->end) ||
	    (made->end == CAUSAL_WHOLE && made->held_ns >= made->wall_ns))
		rows->bad = true;
}

static int
read_experiments(struct recording *recording, struct causal_result *out, struct error *err)
{
	uint64_t after_ns = 0;
	struct rows rows;

	rows_begin(&rows, recording,
		   "SELECT n, candidate, speedup, began_ns, wall_ns, held_ns, ticks, chosen, "
		   "ending FROM causal_experiments ORDER BY n");
	while (next_row(&rows, out->experiment_count, RECORDING_EXPERIMENTS_MOST)) {
		struct causal_experiment *made = causal_result_add_experiment(out);

		read_experiment(&rows, out, made, after_ns);
		after_ns = made->began_ns;
	}
	return rows_end(&rows, "table 'causal_experiments'", err);
}

/* One for each experiment and point, none more and none less. */
static int
read_readings(struct recording *recording, struct causal_result *out, struct error *err)
{
	const size_t wanted = out->experiment_count * out->point_count;
	size_t count = 0;
	struct rows rows;

	rows_begin(&rows, recording,
		   "SELECT experiment, point, count, in_progress_ns FROM causal_readings "
		   "ORDER BY experiment, point");
	while (rows_next(&rows)) {
		const size_t n = count < wanted ? count / out->point_count : 0;
		const size_t point = count < wanted ? count % out->point_count : 0;

		if (count++ >= wanted) {
			rows.bad = true;
			break;
		}
		rows_number(&rows, 0, (int64_t)n, (int64_t)n);
		rows_number(&rows, 1, (int64_t)point, (int64_t)point);
		out->experiment[n].reading[point] = (struct causal_reading){
			.count = rows_real(&rows, 2, 0, COUNT_MOST),
			.in_progress_ns = rows_real(&rows, 3, -IN_PROGRESS_MOST, IN_PROGRESS_MOST),
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
				    struct error *) = {
		read_keys,	 read_points,	   read_speedups,
		read_candidates, read_experiments, read_readings,
	};
	int rc = 0;

	causal_result_init(out);
	if (!recording->info.causal)
		return error_set(err, ERROR_FORMAT,
				 "%s has no causal profile: wallsample causal -o FILE.wsdb makes "
				 "one", recording->path);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(parts); i++)
		rc = parts[i](recording, out, err);
	if (rc != 0)
		causal_result_release(out);
	return rc;
}
