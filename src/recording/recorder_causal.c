/* SPDX-License-Identifier: MIT */
/* recorder_causal.c - writes a causal profile: one row for each part of it. */
#include "recording/recording_internal.h"
#include "recording/recorder_internal.h"

static int
put_keys(struct recorder *recorder, const struct causal_result *result)
{
	int rc = RECORDER_PUT(recorder, CAUSAL, causal, .key = CAUSAL_KEY_UNIT,
			      .value = { .type = VALUE_TEXT,
					 .text = causal_unit_word(result->unit) });

	if (rc == SQLITE_OK && result->command != NULL)
		rc = RECORDER_PUT(recorder, CAUSAL, causal, .key = CAUSAL_KEY_COMMAND,
				  .value = { .type = VALUE_TEXT, .text = result->command });
	for (const struct field *f = causal_fields; rc == SQLITE_OK && f->name != NULL; f++)
		rc = RECORDER_PUT(recorder, CAUSAL, causal, .key = f->name,
				  .value = field_get(f, result));
	return rc;
}

static int
put_parts(struct recorder *recorder, const struct causal_result *result)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < result->point_count; i++) {
		const struct causal_point *point = &result->point[i];

		rc = RECORDER_PUT(recorder, CAUSAL_POINTS, causal_points, .n = (int64_t)i,
				  .name = point->name, .spec = point->spec,
				  .kind = causal_point_kind_word(point->kind));
	}
	for (size_t i = 0; rc == SQLITE_OK && i < result->speedup_count; i++)
		rc = RECORDER_PUT(recorder, CAUSAL_SPEEDUPS, causal_speedups, .n = (int64_t)i,
				  .speedup = result->speedup[i]);
	for (size_t i = 0; rc == SQLITE_OK && i < result->candidate_count; i++) {
		const struct causal_candidate *candidate = &result->candidate[i];

		rc = RECORDER_PUT(recorder, CAUSAL_CANDIDATES, causal_candidates, .n = (int64_t)i,
				  .name = candidate->name, .module = candidate->module,
				  .file = candidate->file, .line = candidate->line,
				  .share = candidate->share, .self_share = candidate->self_share);
	}
	return rc;
}

static int
put_experiment(struct recorder *recorder, const struct causal_result *result, size_t n)
{
	const struct causal_experiment *made = &result->experiment[n];
	int rc = RECORDER_PUT(recorder, CAUSAL_EXPERIMENTS, causal_experiments, .n = (int64_t)n,
			      .candidate = made->candidate, .speedup = made->speedup,
			      .began_ns = (int64_t)made->began_ns,
			      .wall_ns = (int64_t)made->wall_ns, .held_ns = (int64_t)made->held_ns,
			      .ticks = (int64_t)made->ticks, .chosen = (int64_t)made->chosen,
			      .ending = causal_end_word(made->end));

	for (size_t i = 0; rc == SQLITE_OK && i < result->point_count; i++)
		rc = RECORDER_PUT(recorder, CAUSAL_READINGS, causal_readings,
				  .experiment = (int64_t)n, .point = (int64_t)i,
				  .count = made->reading[i].count,
				  .in_progress_ns = made->reading[i].in_progress_ns);
	return rc;
}

int
recorder_put_causal_rows(struct recorder *recorder, const struct causal_result *result)
{
	int rc = put_keys(recorder, result);

	if (rc == SQLITE_OK)
		rc = put_parts(recorder, result);
	for (size_t i = 0;
	     rc == SQLITE_OK && i < result->experiment_count && i < RECORDING_EXPERIMENTS_MOST; i++)
		rc = put_experiment(recorder, result, i);
	return rc;
}
