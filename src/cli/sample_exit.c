/* SPDX-License-Identifier: MIT */
/* sample_exit.c - the exit status that follows from the statistics of a run. */
#include "cli/cli_internal.h"

/* True if more than 1 % failed. */
static bool
is_too_many(uint64_t bad, uint64_t all)
{
	return (double)bad * 100 > (double)all;
}

/* ", 12 of 900 samples failed" */
static void
add_part(struct strbuf *why, uint64_t bad, uint64_t all, const char *what)
{
	char count[SAY_TEXT_SIZE];

	if (bad == 0)
		return;
	strbuf_add_format(why, "%s%s of ",
			  why->length > 0 ? ", " : "partial: ", say_count(bad, count));
	strbuf_add_format(why, "%s %s", say_count(all, count), what);
}

enum sample_status
sample_exit_status(const struct run_stats *stats, struct strbuf *why)
{
	const uint64_t of_threads = stats->thread_samples - stats->task_samples;
	uint64_t failed = 0, broken = 0, walks = 0;

	/* --nonblocking leaves running threads alone on purpose; threads and tasks may end */
	for (int i = 0; i < FAILURE_COUNT; i++)
		if (i != FAILURE_NOT_STOPPED && i != FAILURE_EXITED && i != FAILURE_TASK_FINISHED)
			failed += stats->failed[i];
	failed -= stats->task_failures < failed ? stats->task_failures : failed;
	for (int i = 0; i < CHAIN_END_COUNT; i++) {
		walks += stats->chains[i];
		if (!chain_end_is_whole((enum chain_end)i))
			broken += stats->chains[i];
	}
	/* All threads had ended before they could be captured. */
	if (stats->thread_samples <= stats->failed[FAILURE_EXITED])
		return SAMPLE_NOTHING;
	/* Threads and tasks are judged apart: many tasks must not hide failed threads. */
	if (!is_too_many(failed, of_threads) && !is_too_many(broken, walks) &&
	    !is_too_many(stats->task_failures, stats->task_samples))
		return SAMPLE_WHOLE;
	add_part(why, failed, of_threads, "samples failed");
	add_part(why, stats->task_failures, stats->task_samples, "samples of tasks failed");
	add_part(why, broken, walks, "stacks are not whole");
	return SAMPLE_PARTIAL;
}
