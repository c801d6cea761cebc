/* SPDX-License-Identifier: MIT */
/*
 * test_names.c - names of C++ and Rust read as in the source, and no name breaks a line.
 */
#include <string.h>

#include "folded.h"

static void
check_names(const struct folded *folded, pid_t tid, const char *const *wanted)
{
	bool good = true;

	if (folded_all_late(folded, tid)) {
		printf("  the thread got no CPU in time: nothing is known of it\n");
		return;
	}
	for (; *wanted != NULL; wanted++)
		good &= CHECK(folded_has_frame(folded, tid, *wanted), "no frame with '%s'",
			      *wanted);
	good &= CHECK(!folded_has_frame(folded, tid, "_ZN") &&
			      !folded_has_frame(folded, tid, "_RN"),
		      "a name is as the linker has it");
	if (!good)
		folded_print(folded, tid, 8);
}

static void
mangled(void)
{
	static const char *const wanted[] = {"plain_root", "oldrust::module::outer",
					     "<newrust::Thing as newrust::Trait>::method",
					     "space::Box<int>::spin", NULL};
	struct target target;
	struct folded folded;

	harness_case("symbols as compilers of Rust and C++ make them");
	target_start(&target, "mangled", NULL);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "500ms", NULL);
	pid_t tids[4] = {0};
	CHECK(inspect_threads(target.pid, tids, 4) == 2, "not two threads");
	const pid_t tid = tids[0] == target.pid ? tids[1] : tids[0];
	check_names(&folded, tid, wanted);
	CHECK(!folded_has_frame(&folded, tid, "17h0123456789abcdef") &&
		      !folded_has_frame(&folded, tid, "::h0123456789abcdef"),
	      "a Rust name has its hash");
	/* The thread's name has a ';', a newline and an escape in it. */
	for (size_t i = 0; i < folded.count; i++) {
		const struct folded_line *line = &folded.line[i];
		if (line->tid == tid)
			CHECK(line->thread[0] == 'a' && strchr(line->thread, '\033') == NULL,
			      "the thread is called '%s'", line->thread);
	}
	folded_release(&folded);
	target_finish(&target, NULL);
}

static void
plusplus(void)
{
	static const char *const wanted[] = {"space::Box<unsigned long>::spin", "space::outer",
					     NULL};
	struct target target;
	struct folded folded;

	harness_case("C++");
	if (!target_exists("plusplus")) {
		harness_skip("no C++ compiler");
		return;
	}
	target_start(&target, "plusplus", NULL);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "500ms", NULL);
	pid_t tid = inspect_thread_named(target.pid, "plusplus", 1);
	check_names(&folded, tid, wanted);
	folded_release(&folded);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(30);
	mangled();
	plusplus();
	return harness_end();
}
