/* SPDX-License-Identifier: MIT */
/* fields.c - reads and writes members of structs that are stored as rows of a name and a value. */
#include "recording/recording_internal.h"

#include <string.h>

#include "wallsample/base/base.h"

#define NS_MOST 0x1p60
#define DATE_MOST (0x1p32 * (double)NS_PER_SEC) /* ns since 1970: the year 2106 */

#define RUN(field, kind, how) RUN_AS(field, field, kind, how)
/* word: the name in recordings, which never changes. */
#define RUN_AS(word, field, kind, how)                                                             \
	{                                                                                          \
		.name = #word, .type = FIELD_##kind, .offset = offsetof(struct run_stats, field),  \
		.merge = MERGE_##how                                                               \
	}

/* clang-format off */
const struct field run_fields[] = {
	RUN(ticks, U64, SUM),
	RUN(elapsed_ns, U64, SUM),
	RUN(target_cpu_ns, U64, SUM),
	RUN(target_cpu_known, BOOL, MIN),
	RUN(work.reads, U64, SUM),
	RUN(work.read_bytes, U64, SUM),
	RUN(work.writes, U64, SUM),
	RUN(work.written_bytes, U64, SUM),
	RUN(work.minor_faults, U64, SUM),
	RUN(work.major_faults, U64, SUM),
	RUN(work.throttled_ns, U64, SUM),
	RUN(work.cpu_limit, DOUBLE, FIRST),
	RUN(sleeps, U64, FIRST),
	RUN(sleeper, INT, FIRST),
	RUN(machine_busy, DOUBLE, FIRST),
	RUN(own_cpu_ns, U64, SUM),
	RUN(peak_memory, U64, MAX),
	RUN(thread_samples, U64, SUM),
	RUN(threads_seen, U64, SUM),
	RUN(threads_most, U32, SUM),
	RUN(excluded.threads, U64, SUM),
	RUN(excluded.ended, U64, SUM),
	RUN(excluded.cpu_ns, U64, SUM),
	RUN(excluded_processes.count, U64, SUM),
	RUN(excluded_processes.cpu_ns, U64, SUM),
	RUN_AS(task_samples, green_samples, U64, SUM),
	RUN_AS(task_failures, green_failures, U64, SUM),
	RUN_AS(task_looks, green_looks, U64, SUM),
	RUN_AS(task_stacks, green_stacks, U64, SUM),
	RUN_AS(tasks_seen, green_seen, U64, SUM),
	RUN_AS(tasks_most, green_most, U32, SUM),
	RUN_AS(tasks_thinnest, green_thinnest, U32, MAX),
	RUN(looks, U64, SUM),
	RUN(reused, U64, SUM),
	RUN(read, U64, SUM),
	RUN(stopped, U64, SUM),
	RUN(repaired, U64, SUM),
	RUN(signals_passed, U64, SUM),
	RUN(rate_wanted, DOUBLE, FIRST),
	RUN(rate_lowest, DOUBLE, MIN),
	RUN(thinnest, U32, MAX),
	RUN(unwind_ns, U64, SUM),
	RUN(unwind_frames, U64, SUM),
	RUN(nice_value, INT, FIRST),
	RUN(execed, BOOL, MAX),
	RUN(child_status, INT, FIRST),
	RUN(child_exited, BOOL, MIN),
	RUN_AS(running_samples, running, U64, SUM),
	RUN(running_exact, U64, SUM),
	RUN(division.samples, U64, SUM),
	RUN(division.ns, U64, SUM),
	RUN(division.squares, DOUBLE, SUM),
	RUN(division.borrowed, DOUBLE, SUM),
	RUN(stolen_ns, U64, SUM),
	RUN(overhead_delays, U64, SUM),
	RUN(stop_delays, U64, SUM),
	RUN(absences, U64, SUM),
	RUN(absent_ns, U64, SUM),
	RUN(unsampled_ns, U64, SUM),
	RUN(calibrated, BOOL, MIN),
	RUN(stop_ns.sum, U64, SUM),
	RUN(stop_ns.min, U64, MIN),
	RUN(stop_ns.max, U64, MAX),
	{ .name = NULL },
};
/* clang-format on */

#define CAUSAL(field, kind, greatest)                                                              \
	{                                                                                          \
		.name = #field, .type = FIELD_##kind,                                              \
		.offset = offsetof(struct causal_result, field), .most = greatest                  \
	}

const struct field causal_fields[] = {
	CAUSAL(self, BOOL, 1),
	CAUSAL(tick_ns, U64, NS_MOST),
	CAUSAL(burst_ns, U64, NS_MOST),
	CAUSAL(experiment_ns, U64, NS_MOST),
	CAUSAL(precision, DOUBLE, 1e6),
	CAUSAL(max_hold, DOUBLE, 1),
	CAUSAL(pid, INT, INT32_MAX),
	CAUSAL(started_ns, U64, DATE_MOST),
	CAUSAL(wall_ns, U64, NS_MOST),
	CAUSAL(held_ns, U64, NS_MOST),
	CAUSAL(profile_ns, U64, NS_MOST),
	CAUSAL(stops, U64, NS_MOST),
	CAUSAL(late_ticks, U64, NS_MOST),
	CAUSAL(unheld, U64, NS_MOST),
	CAUSAL(runnable, DOUBLE, 1e6),
	CAUSAL(cpus, INT, 1 << 20),
	CAUSAL(own_cpu_ns, U64, NS_MOST),
	CAUSAL(excluded.threads, U64, NS_MOST),
	CAUSAL(excluded.ended, U64, NS_MOST),
	CAUSAL(excluded.cpu_ns, U64, NS_MOST),
	CAUSAL(target_gone, BOOL, 1),
	{ .name = NULL },
};

#define LOSS(reason, counter)                                                                      \
	{                                                                                          \
		.name = #reason, .type = FIELD_U64, .offset = offsetof(struct run_stats, counter), \
		.merge = MERGE_SUM                                                                 \
	}

static const struct field failed_fields[] = {
#define X(name, text) LOSS(name, failed[FAILURE_##name]),
	SAMPLE_FAILURES(X)
#undef X
		{ .name = NULL },
};

static const struct field chain_fields[] = {
#define X(name, whole, text) LOSS(name, chains[CHAIN_##name]),
	CHAIN_ENDS(X)
#undef X
		{ .name = NULL },
};

const struct loss_kind loss_kinds[LOSS_KINDS] = {
	{ "failed", failed_fields },
	{ "chain", chain_fields },
};

const struct field *
field_find(const struct field *fields, const char *name)
{
	for (const struct field *field = fields; field->name != NULL; field++)
		if (strcmp(field->name, name) == 0)
			return field;
	return NULL;
}

struct recording_value
field_get(const struct field *field, const void *object)
{
	const void *at = (const char *)object + field->offset;
	struct recording_value value = { .type = VALUE_INT };

	switch (field->type) {
	case FIELD_U64:
		memcpy(&value.number, at, sizeof(value.number));
		break;
	case FIELD_U32:
		value.number = *(const uint32_t *)at;
		break;
	case FIELD_INT:
		value.number = *(const int *)at;
		break;
	case FIELD_BOOL:
		value.number = *(const bool *)at;
		break;
	case FIELD_DOUBLE:
		value.type = VALUE_REAL;
		value.real = *(const double *)at;
		break;
	case FIELD_TEXT:
		value.type = VALUE_TEXT;
		value.text = *(const char *const *)at;
		break;
	}
	return value;
}

bool
field_differs(const struct field *field, const void *left, const void *right)
{
	const struct recording_value a = field_get(field, left), b = field_get(field, right);

	return a.number != b.number || a.real != b.real;
}

static void
field_set(const struct field *field, void *object, const struct recording_value *value)
{
	void *at = (char *)object + field->offset;

	switch (field->type) {
	case FIELD_U64:
		*(uint64_t *)at = (uint64_t)value->number;
		break;
	case FIELD_U32:
		*(uint32_t *)at = (uint32_t)value->number;
		break;
	case FIELD_INT:
		*(int *)at = (int)value->number;
		break;
	case FIELD_BOOL:
		*(bool *)at = value->number != 0;
		break;
	case FIELD_DOUBLE:
		*(double *)at = value->real;
		break;
	case FIELD_TEXT:
		*(const char **)at = value->text;
		break;
	}
}

bool
field_take(const struct field *field, void *object, const struct recording_value *value)
{
	const bool is_right = field->type == FIELD_TEXT ?
				      true :
			      field->type == FIELD_DOUBLE ?
				      value->type != VALUE_TEXT && value->real >= 0 &&
					      value->real <= field->most :
				      value->type == VALUE_INT && value->number >= 0 &&
					      value->number <= (int64_t)field->most;

	if (is_right)
		field_set(field, object, value);
	return is_right;
}

void
field_merge(const struct field *field, void *object, double value, bool first)
{
	const bool narrow = field->type == FIELD_U32 || field->type == FIELD_INT;
	const double most = narrow ? INT32_MAX : 0x1p62;
	const double least = field->type == FIELD_INT ? INT32_MIN : 0;
	const struct recording_value old = field_get(field, object);
	const double before = old.type == VALUE_REAL ? old.real : (double)old.number;

	if (!first && field->merge == MERGE_SUM)
		value += before;
	if (!(value >= least && value <= most)) /* a comparison with NaN is false */
		return;
	if (first || field->merge == MERGE_SUM || (field->merge == MERGE_MAX && value > before) ||
	    (field->merge == MERGE_MIN && value < before))
		field_set(field, object,
			  &(struct recording_value){ .number = (int64_t)value, .real = value });
}
