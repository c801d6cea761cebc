/* SPDX-License-Identifier: MIT */
/*
 * test_recursion.c - very deep stacks: whole where the limits allow, and marked where not.
 */
#include <string.h>

#include "folded.h"

#define TOO_LARGE "[truncated: stack larger than the copy]"
#define TOO_DEEP "[truncated: deeper than the limit]"

static size_t
count_frames(const struct folded_line *line, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < line->depth; i++)
		count += strcmp(line->frame[i], name) == 0;
	return count;
}

/*
 * The samples of a thread with all of `depth` calls, and the others, which have to be marked
 * as cut: while it is not known how much of the stack has to be copied, it is found
 * out from sample to sample.
 */
static void
check_complete(const struct folded *folded, pid_t tid, const char *function, size_t depth)
{
	double whole = 0, cut = 0;

	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];
		if (line->tid != tid || folded_line_is_late(line) ||
		    folded_is_short_sleep(folded, line))
			continue;
		if (line->frame[0][0] != '[') {
			CHECK(count_frames(line, function) == depth, "%zu calls of %s, not %zu",
			      count_frames(line, function), function, depth);
			whole += (double)line->weight_us;
		} else {
			CHECK(strcmp(line->frame[0], TOO_LARGE) == 0, "a stack of %s is marked %s",
			      function, line->frame[0]);
			cut += (double)line->weight_us;
		}
	}
	if (!CHECK(whole >= 4 * cut, "%.0f us of %s are whole, %.0f cut", whole, function, cut))
		folded_print(folded, tid, 12);
}

/* All samples are cut, say so, and have the innermost frames. */
static void
check_cut(const struct folded *folded, pid_t tid, const char *pattern, const char *mark,
	  size_t least)
{
	if (!folded_check_thread(folded, tid, pattern))
		return;
	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];
		if (line->tid != tid || folded_line_is_late(line) ||
		    folded_is_short_sleep(folded, line))
			continue;
		CHECK(strcmp(line->frame[0], mark) == 0, "%s: the outermost frame is %s",
		      line->thread, line->frame[0]);
		CHECK(line->depth >= least, "%s: only %zu frames", line->thread, line->depth);
	}
}

static void
with_limit(const char *name, const char *size, bool complete)
{
	struct target target;
	struct folded folded;

	harness_case("10,000 deep, %s", name);
	/* About 2.6 MB of stack. */
	target_start(&target, "recurse", "10000", NULL);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "1500ms", "--stack-size", size, NULL);
	pid_t running = inspect_thread_named(target.pid, "running", 0);
	pid_t sleeping = inspect_thread_named(target.pid, "sleeping", 0);
	if (complete) {
		check_complete(&folded, running, "deep_run", 10000);
		check_complete(&folded, sleeping, "deep_sleep", 10000);
	} else {
		check_cut(&folded, running, "deep_run;bottom_run$", TOO_LARGE, 30);
		check_cut(&folded, sleeping, "deep_sleep;bottom_sleep;...", TOO_LARGE, 30);
	}
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	folded_release(&folded);
	target_finish(&target, NULL);
}

/* More frames than are kept (CHAIN_MAX_DEPTH of chain.h). */
static void
too_deep(void)
{
	struct target target;
	struct folded folded;

	harness_case("30,000 deep");
	target_start(&target, "recurse", "30000", NULL);
	folded_sample(&folded, target.pid, "-r", "100", "-d", "1", "--stack-size", "16M", NULL);
	pid_t tid = inspect_thread_named(target.pid, "sleeping", 0);
	check_cut(&folded, tid, "deep_sleep;bottom_sleep;...", TOO_DEEP, 10000);
	folded_release(&folded);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(90);
	with_limit("8 MiB of stack copied", "8M", true);
	with_limit("64 KiB of stack copied", "64K", false);
	too_deep();
	return harness_end();
}
