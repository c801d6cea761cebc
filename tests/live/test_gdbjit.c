/* SPDX-License-Identifier: MIT */
/*
 * test_gdbjit.c - code made at run time that the target tells debuggers of has names, and
 * its unwind tables lead out of it.
 */
#include "folded.h"

static void
shape(const char *word)
{
	struct target target;
	struct folded folded;
	pid_t running, waiting;

	harness_case("%s: the GDB JIT interface", word);
	if (!target_exists("gdbjit")) {
		harness_skip("it cannot be built here");
		return;
	}
	target_start(&target, "gdbjit", word, NULL);
	running = inspect_thread_named(target.pid, "jit-run", 0);
	waiting = inspect_thread_named(target.pid, "jit-wait", 0);
	/* Code is known from the tick on that follows the look into the symbols. */
	folded_sample(&folded, target.pid, "-r", "200", "-d", "1s", NULL);
	folded_check_thread(&folded, running,
			    "^...;run_thread;inside_top;inside_middle;inside_leaf$");
	folded_check_thread(
		&folded, waiting,
		"^...;wait_thread;inside_top;inside_middle;inside_leaf;outside_wait;...$");
	folded_release(&folded);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(60);
	shape("object");
	shape("program");
	return harness_end();
}
