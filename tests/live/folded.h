/* SPDX-License-Identifier: MIT */
/*
 * folded.h - folded output ("outermost;…;innermost WEIGHT") as a table, and patterns of stacks.
 *
 * A pattern is frames from the outside inwards, separated by ';', that must follow one
 * another somewhere in the stack. "^" in front ties it to the outermost frame, "$" behind to
 * the innermost; a frame "..." stands for any number of frames, none included; a '*' at
 * the end of a frame for any rest of a name.
 */
#ifndef LIVE_FOLDED_H
#define LIVE_FOLDED_H

#include "harness.h"

struct folded_line {
	char *thread;     /* the first frame, "name-tid" */
	pid_t tid;        /* 0: of the threads that have no record of their own */
	char **frame;     /* those of code, outermost first */
	size_t depth;
	uint64_t weight_us;
};

struct folded {
	struct folded_line *line;
	size_t count;
	char *text;
	/* of the run that wrote it */
	uint64_t ticks;
	uint64_t run_us;  /* from its start to its end: no thread can have more */
	uint64_t stopped_us; /* sum of the times for which it had threads stopped */
};

/*
 * Parses what -f folded -t wrote. False, with the reason in `why`, when a line is not of
 * the form. To be released in either case.
 */
bool folded_parse(struct folded *folded, const char *text, char *why, size_t size);
void folded_release(struct folded *folded);

bool folded_line_matches(const struct folded_line *line, const char *pattern);
/* The sum of the weights of a thread (0: of all threads); pattern NULL: of all stacks. */
uint64_t folded_weight(const struct folded *folded, pid_t tid, const char *pattern);
/* A stack of the thread has a frame with this text anywhere in its name. */
bool folded_has_frame(const struct folded *folded, pid_t tid, const char *part);
/* On stdout, the heaviest first, long stacks shortened in the middle. */
void folded_print(const struct folded *folded, pid_t tid, size_t limit);

/* run_whole, run_succeeded and folded_parse, which has to succeed. */
void folded_sample(struct folded *folded, pid_t pid, ...) __attribute__((sentinel));
/* The output of a run that has finished. */
void folded_of_run(struct folded *folded, struct run *run);

/* A sample that failed because the thread got no CPU in time, which a busy machine does. */
bool folded_line_is_late(const struct folded_line *line);
/* The line is of blocked time without a sample, below 3 % of the thread's time: of a hundred
 * samples none may be of such sleeps. A thread that runs is also blocked while it is stopped, which
 * takes long if wallsample has no CPU meanwhile. */
bool folded_is_short_sleep(const struct folded *folded, const struct folded_line *line);
/* The thread has samples, and all are late: nothing can be said of its stacks. */
bool folded_all_late(const struct folded *folded, pid_t tid);
/*
 * Every stack of the thread matches the pattern, late ones aside, and there is at least one;
 * when all are late, because the machine is very busy, says so and checks nothing.
 */
bool folded_check_thread(const struct folded *folded, pid_t tid, const char *pattern);

#endif
