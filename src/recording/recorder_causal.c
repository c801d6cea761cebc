/* SPDX-License-Identifier: MIT */
/* recorder_causal.c - writes the rows of a causal profile. */
#include "recording/recorder_internal.h"

static void
put_key(struct recorder *recorder, const char *key, struct recording_value value)
{
	RECORDER_PUT(recorder, CAUSAL, causal, .key = key, .value = value);
}

static void
put_keys(struct recorder *recorder, const struct causal_result *result)
{
	struct recording_value text = { .type = VALUE_TEXT,
					.text = causal_unit_word(result->unit) };

	put_key(recorder, CAUSAL_KEY_UNIT, text);
	text.text = result->command;
	if (result->command != NULL)
		put_key(recorder, CAUSAL_KEY_COMMAND, text);
	for (const struct field *f = causal_fields; f->name != NULL; f++)
		put_key(recorder, f->name, field_get(f, result));
}

static void
put_parts(struct recorder *recorder, const struct causal_result *result)
{
	for (size_t i = 0; i < result->point_count; i++) {
		const struct causal_point *point = &result->point[i];

		RECORDER_PUT(recorder, CAUSAL_POINTS, causal_points, .n = (int64_t)i,
			     .name = point->name, .spec = point->spec,
			     .kind = causal_point_kind_word(point->kind));
	}
	for (size_t i = 0; i < result->speedup_count; i++)
		RECORDER_PUT(recorder, CAUSAL_SPEEDUPS, causal_speedups, .n = (int64_t)i,
			     .speedup = result->speedup[i]);
	for (size_t i = 0; i < result->candidate_count; i++) {
		const struct causal_candidate *candidate = &result->candidate[i];

		RECORDER_PUT(recorder, CAUSAL_CANDIDATES, causal_candidates, .n = (int64_t)i,
			     .name = candidate->name, .module = candidate->module,
			     .file = candidate->file, .line = candidate->line,
			     .share = candidate->share, .self_share = candidate->self_share);
	}
}

static void
put_experiment(struct recorder *recorder, const struct causal_result *result, size_t n)
{
	const struct causal_experiment *made = &result->experiment[n];

	RECORDER_PUT(recorder, CAUSAL_EXPERIMENTS, causal_experiments, .n = (int64_t)n,
		     .candidate = made->candidate, .speedup = made->speedup,
		     .began_ns = (int64_t)made->began_ns, .wall_ns = (int64_t)made->wall_ns,
		     .held_ns = (int64_t)made->held_ns, .ticks = (int64_t)made->ticks,
		     .chosen = (int64_t)made->chosen, .ending = causal_end_word(made->end));
	for (size_t i = 0; i < result->point_count; i++)
		RECORDER_PUT(recorder, CAUSAL_READINGS, causal_readings, .experiment = (int64_t)n,
			     .point = (int64_t)i, .count = made->reading[i].count,
			     .in_progress_ns = made->reading[i].in_progress_ns);
}

void
recorder_put_causal_rows(struct recorder *recorder, const struct causal_result *result)
{
	put_keys(recorder, result);
	put_parts(recorder, result);
	for (size_t i = 0; i < result->experiment_count && i < RECORDING_EXPERIMENTS_MOST; i++)
		put_experiment(recorder, result, i);
}
