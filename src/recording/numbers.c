/* SPDX-License-Identifier: MIT */
/* numbers.c - the fields of struct run_stats by name. */
#include "recording/numbers_internal.h"

#include "wallsample/base/base.h"

#define ROW(field, kind, how)                                                                    \
	{ .name = #field, .type = NUMBER_##kind, .offset = offsetof(struct run_stats, field), \
	  .merge = MERGE_##how }

const struct number recording_numbers[] = {
	ROW(ticks, U64, SUM),
	ROW(elapsed_ns, U64, SUM),
	ROW(target_cpu_ns, U64, SUM),
	ROW(target_cpu_known, BOOL, LEAST),
	ROW(own_cpu_ns, U64, SUM),
	ROW(peak_memory, U64, MOST),
	ROW(thread_samples, U64, SUM),
	ROW(threads_seen, U64, SUM),
	ROW(threads_most, U32, SUM),
	ROW(task_samples, U64, SUM),
	ROW(task_failures, U64, SUM),
	ROW(task_looks, U64, SUM),
	ROW(task_stacks, U64, SUM),
	ROW(tasks_seen, U64, SUM),
	ROW(tasks_most, U32, SUM),
	ROW(tasks_thinnest, U32, MOST),
	ROW(looks, U64, SUM),
	ROW(reused, U64, SUM),
	ROW(read, U64, SUM),
	ROW(stopped, U64, SUM),
	ROW(repaired, U64, SUM),
	ROW(signals_passed, U64, SUM),
	ROW(rate_wanted, DOUBLE, FIRST),
	ROW(rate_lowest, DOUBLE, LEAST),
	ROW(thinnest, U32, MOST),
	ROW(unwind_ns, U64, SUM),
	ROW(unwind_frames, U64, SUM),
	ROW(nice_value, INT, FIRST),
	ROW(execed, BOOL, MOST),
	ROW(child_status, INT, FIRST),
	ROW(child_exited, BOOL, LEAST),
	ROW(stop_ns.sum, U64, SUM),
	ROW(stop_ns.min, U64, LEAST),
	ROW(stop_ns.max, U64, MOST),
	{ .name = NULL },
};

double
number_get(const struct number *number, const struct run_stats *stats)
{
	const void *field = (const char *)stats + number->offset;

	switch (number->type) {
	case NUMBER_U64:
		return (double)*(const uint64_t *)field;
	case NUMBER_U32:
		return *(const uint32_t *)field;
	case NUMBER_INT:
		return *(const int *)field;
	case NUMBER_BOOL:
		return *(const bool *)field;
	case NUMBER_DOUBLE:
		return *(const double *)field;
	}
	return 0;
}

static void
number_set(const struct number *number, struct run_stats *stats, double value)
{
	void *field = (char *)stats + number->offset;

	switch (number->type) {
	case NUMBER_U64:
		*(uint64_t *)field = (uint64_t)value;
		break;
	case NUMBER_U32:
		*(uint32_t *)field = (uint32_t)value;
		break;
	case NUMBER_INT:
		*(int *)field = (int)value;
		break;
	case NUMBER_BOOL:
		*(bool *)field = value != 0;
		break;
	case NUMBER_DOUBLE:
		*(double *)field = value;
		break;
	}
}

void
number_merge(const struct number *number, struct run_stats *stats, double value, bool first)
{
	const double most = number->type == NUMBER_U32 || number->type == NUMBER_INT ? INT32_MAX :
										       0x1p62;
	const double least = number->type == NUMBER_INT ? INT32_MIN : 0;
	const double before = number_get(number, stats);

	if (!first && number->merge == MERGE_SUM)
		value += before;
	if (!(value >= least && value <= most)) /* no number is not, either */
		return;
	if (first || number->merge == MERGE_SUM ||
	    (number->merge == MERGE_MOST && value > before) ||
	    (number->merge == MERGE_LEAST && value < before))
		number_set(number, stats, value);
}

const char *
loss_failure_word(size_t reason)
{
	static const char *const words[] = {
#define X(name, text) [FAILURE_##name] = #name,
		SAMPLE_FAILURES(X)
#undef X
	};

	return reason < ARRAY_SIZE(words) ? words[reason] : NULL;
}

const char *
loss_chain_word(size_t reason)
{
	static const char *const words[] = {
#define X(name, whole, text) [CHAIN_##name] = #name,
		CHAIN_ENDS(X)
#undef X
	};

	return reason < ARRAY_SIZE(words) ? words[reason] : NULL;
}
