/* SPDX-License-Identifier: MIT */
/* sample_exit.c - what the numbers of a run mean for the exit status. */
#include "cli.h"

/* More than one in a hundred? */
static bool
is_too_many(uint64_t bad, uint64_t all)
{
	return (double)bad * 100 > (double)all;
}

int
sample_exit_status(const struct sampler_stats *stats, struct strbuf *why)
{
	uint64_t failed = 0, broken = 0, walks = 0;
	char count[SAY_TEXT_SIZE];

	/* --nonblocking leaves running threads alone on purpose: no failure */
	for (int i = 0; i < FAILURE_COUNT; i++)
		if (i != FAILURE_NOT_STOPPED)
			failed += stats->failed[i];
	for (int i = 0; i < CHAIN_END_COUNT; i++) {
		walks += stats->chains[i];
		if (!chain_end_is_whole((enum chain_end)i))
			broken += stats->chains[i];
	}
	if (stats->thread_samples == 0)
		return 2;
	if (!is_too_many(failed, stats->thread_samples) && !is_too_many(broken, walks))
		return 0;
	strbuf_add_format(why, "partial: %s of ", say_count(failed, count));
	strbuf_add_format(why, "%s samples failed, ", say_count(stats->thread_samples, count));
	strbuf_add_format(why, "%s of ", say_count(broken, count));
	strbuf_add_format(why, "%s stacks are not whole", say_count(walks, count));
	return 1;
}
