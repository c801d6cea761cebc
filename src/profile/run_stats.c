/* SPDX-License-Identifier: MIT */
/* run_stats.c - the texts of the reasons why a sample has no stack. */
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
