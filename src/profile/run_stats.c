/* SPDX-License-Identifier: MIT */
/* run_stats.c - sums of statistics, and the texts of the reasons why a sample has no stack. */
#include "wallsample/profile/run_stats.h"

const char *
sample_failure_text(enum sample_failure failure)
{
	static const char *const texts[] = {
#define X(name, text) [FAILURE_##name] = text,
		SAMPLE_FAILURES(X)
#undef X
	};

	return texts[failure];
}

void
run_stats_count_chains(const struct run_stats *stats, uint64_t *all, uint64_t *broken)
{
	*all = *broken = 0;
	for (int i = 0; i < CHAIN_END_COUNT; i++) {
		*all += stats->chains[i];
		if (!chain_end_is_whole((enum chain_end)i))
			*broken += stats->chains[i];
	}
}
