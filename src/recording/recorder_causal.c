/* SPDX-License-Identifier: MIT */
/* recorder_causal.c - what experiments found, as rows of the recording's tables. */
#include "recording/causal_keys_internal.h"
#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"

static int
put_key(struct recorder *recorder, const struct causal_key *key,
	const struct causal_result *result)
{
	const void *field = (const char *)result + key->offset;
	int64_t number = 0;

	switch (key->type) {
	case CAUSAL_KEY_DOUBLE:
		return recorder_put(recorder, TABLE_CAUSAL, "sd", key->name,
				    *(const double *)field);
	case CAUSAL_KEY_U64:
		number = (int64_t)*(const uint64_t *)field;
		break;
	case CAUSAL_KEY_INT:
		number = *(const int *)field;
		break;
	case CAUSAL_KEY_BOOL:
		number = *(const bool *)field;
		break;
	}
	return recorder_put(recorder, TABLE_CAUSAL, "si", key->name, number);
}

static int
put_keys(struct recorder *recorder, const struct causal_result *result)
{
	int rc = recorder_put(recorder, TABLE_CAUSAL, "ss", CAUSAL_KEY_UNIT,
			      causal_unit_word(result->unit));

	if (rc == SQLITE_OK && result->command != NULL)
		rc = recorder_put(recorder, TABLE_CAUSAL, "ss", CAUSAL_KEY_COMMAND,
				  result->command);
	for (size_t i = 0; rc == SQLITE_OK && causal_keys[i].name != NULL; i++)
		rc = put_key(recorder, &causal_keys[i], result);
	return rc;
}

/* What experiments are made of. */
static int
put_parts(struct recorder *recorder, const struct causal_result *result)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < result->point_count; i++) {
		const struct causal_point *point = &result->point[i];

		rc = recorder_put(recorder, TABLE_CAUSAL_POINTS, "isss", (int64_t)i, point->name,
				  point->spec, causal_point_kind_word(point->kind));
	}
	for (size_t i = 0; rc == SQLITE_OK && i < result->speedup_count; i++)
		rc = recorder_put(recorder, TABLE_CAUSAL_SPEEDUPS, "id", (int64_t)i,
				  result->speedup[i]);
	for (size_t i = 0; rc == SQLITE_OK && i < result->candidate_count; i++) {
		const struct causal_candidate *candidate = &result->candidate[i];

		rc = recorder_put(recorder, TABLE_CAUSAL_CANDIDATES, "isssidd", (int64_t)i,
				  candidate->name, candidate->module, candidate->file,
				  (int64_t)candidate->line, candidate->share,
				  candidate->self_share);
	}
	return rc;
}

static int
put_experiment(struct recorder *recorder, const struct causal_result *result, size_t n)
{
	const struct causal_experiment *made = &result->experiment[n];
	int rc = recorder_put(recorder, TABLE_CAUSAL_EXPERIMENTS, "iidiiiiis", (int64_t)n,
			      (int64_t)made->candidate, made->speedup, (int64_t)made->began_ns,
			      (int64_t)made->wall_ns, (int64_t)made->held_ns,
			      (int64_t)made->ticks, (int64_t)made->chosen,
			      causal_end_word(made->end));

	for (size_t i = 0; rc == SQLITE_OK && i < result->point_count; i++)
		rc = recorder_put(recorder, TABLE_CAUSAL_READINGS, "iidd", (int64_t)n, (int64_t)i,
				  made->reading[i].count, made->reading[i].in_progress_ns);
	return rc;
}

int
recorder_put_causal_rows(struct recorder *recorder, const struct causal_result *result)
{
	int rc = put_keys(recorder, result);

	if (rc == SQLITE_OK)
		rc = put_parts(recorder, result);
	for (size_t i = 0; rc == SQLITE_OK && i < result->experiment_count &&
			   i < RECORDING_EXPERIMENTS_MOST; i++)
		rc = put_experiment(recorder, result, i);
	return rc;
}
