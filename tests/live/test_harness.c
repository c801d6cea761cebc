/* SPDX-License-Identifier: MIT */
/*
 * test_harness.c - the live tests' own tools are right: the parser of folded output, the
 * patterns, the sums, the looks from outside.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"

static const char sample[] =
	"main-10;_start;main;ns::f(int, char);read 1500\n"
	"work er-11;clone3;a;b;c 250\n"
	"work er-11;clone3;a;b;b;c;d 700\n"
	"work er-11;[failed: not stopped in 20 ms] 50\n"
	"x-y-12;[truncated: no unwind information];c 1\n";

static void
parser(void)
{
	struct folded folded;
	char why[256] = "";

	harness_case("parser");
	CHECK(folded_parse(&folded, sample, why, sizeof(why)), "%s", why);
	CHECK(folded.count == 5, "%zu lines", folded.count);
	CHECK(folded.line[0].tid == 10 && folded.line[0].depth == 4 &&
		      strcmp(folded.line[0].frame[2], "ns::f(int, char)") == 0 &&
		      folded.line[0].weight_us == 1500,
	      "line 0: tid %d, depth %zu", (int)folded.line[0].tid, folded.line[0].depth);
	CHECK(folded.line[4].tid == 12 && strcmp(folded.line[4].thread, "x-y-12") == 0,
	      "line 4: tid %d, thread %s", (int)folded.line[4].tid, folded.line[4].thread);
	CHECK(folded_weight(&folded, 11, NULL) == 1000, "sum of a thread");
	CHECK(folded_weight(&folded, 0, NULL) == 2501, "sum of all");
	CHECK(folded_weight(&folded, 0, "c$") == 251, "sum of a pattern");
	CHECK(folded_line_is_late(&folded.line[3]) && !folded_line_is_late(&folded.line[4]),
	      "late lines");
	folded_release(&folded);
}

static void
bad_lines(void)
{
	static const char *const bad[] = {
		"a-1;f 10", "a-1;f ten\n", "a-1;f\n", "a-1 10\n", "a;f 10\n", "a-1;;f 10\n",
		"a-1;f -5\n", "\n",
	};
	struct folded folded;
	char why[256];

	harness_case("lines that are wrong");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!folded_parse(&folded, bad[i], why, sizeof(why)), "accepted: %s", bad[i]);
		folded_release(&folded);
	}
}

static void
patterns(void)
{
	static const struct {
		const char *pattern;
		bool matches;
	} cases[] = {
		{"a;b", true}, {"b;a", false}, {"a;c", false}, {"a;...;c", true},
		{"a;b;b;c", true}, {"c;d$", true}, {"c$", false}, {"^clone3;a", true},
		{"^a", false}, {"^...;a", true}, {"cl*;a", true}, {"a*;b", true},
		{"b;...;b", true}, {"d;...", true}, {"d;...;d", false}, {"b;b;b", false},
		{"^...;d$", true}, {"ab*", false}, {"d", true}, {"b;...;b;...;d$", true},
	};
	struct folded folded;
	char why[256];

	harness_case("patterns");
	folded_parse(&folded, sample, why, sizeof(why));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(folded_line_matches(&folded.line[2], cases[i].pattern) == cases[i].matches,
		      "clone3;a;b;b;c;d and pattern %s", cases[i].pattern);
	folded_release(&folded);
}

static void
from_outside(void)
{
	struct target target;
	pid_t tids[16];
	char *text;

	harness_case("looks from outside");
	target_start(&target, "crowd", "1", "0", "2", NULL);
	CHECK(inspect_threads(target.pid, tids, 16) == 4, "threads");
	CHECK(inspect_thread_named(target.pid, "crowd", 0) == target.pid, "first thread");
	CHECK(inspect_thread_named(target.pid, "parked", 1) >
		      inspect_thread_named(target.pid, "parked", 0),
	      "two threads of one name");
	CHECK(inspect_thread_named(target.pid, "parked", 2) == 0, "a third");
	CHECK(inspect_state(target.pid, inspect_thread_named(target.pid, "parked", 0)) == 'S',
	      "state of a parked thread");
	CHECK(inspect_state(target.pid, inspect_thread_named(target.pid, "spinner", 0)) == 'R',
	      "state of a spinner");
	CHECK(inspect_switches(target.pid, target.pid) > 0, "switches");
	CHECK(inspect_is_free(target.pid), "free");
	target_wait_progress(&target, 0);
	int status = target_finish(&target, &text);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x", (unsigned)status);
	CHECK(text[0] == '\0', "it said: %s", text);
	free(text);
}

static void
numbers(void)
{
	harness_case("numbers");
	CHECK(target_number("xa 1\na 2 b 3\n", "a") == 2, "a word at the start of a line");
	CHECK(target_number("a 2 b 3\n", "b") == 3, "a word behind another");
	/* 5 * sqrt(0.25 / 5000) */
	CHECK(harness_share_bound(0.5, 10000) > 0.0353 &&
		      harness_share_bound(0.5, 10000) < 0.0354,
	      "bound %f", harness_share_bound(0.5, 10000));
}

int
main(void)
{
	harness_begin(60);
	parser();
	bad_lines();
	patterns();
	from_outside();
	numbers();
	return harness_end();
}
