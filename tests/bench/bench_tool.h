/* SPDX-License-Identifier: MIT */
/*
 * bench_tool.h - the programs that the bench runs: targets, and the tools that look
 * at them. Each tool's output is kept in unnamed files; each wait has a bound.
 */
#ifndef BENCH_TOOL_H
#define BENCH_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "bench_board.h"

#define TOOL_WORDS 24

/* The words of a command; each is borrowed. */
struct words {
	const char *word[TOOL_WORDS + 1];
	size_t count;
};

void words_add(struct words *words, const char *word);

struct tool {
	pid_t pid;
	uint64_t started_ns;
	int out, err;        /* unnamed files */
	int input;           /* write end of its standard input; -1 */
};

struct tool_end {
	bool timed_out;      /* it was killed */
	int status;          /* as wait(2) gives it */
	double seconds;      /* from start to end */
	double cpu_seconds;  /* its own and its children's */
	long peak_kib;       /* largest resident set */
	char *out, *err;     /* what it wrote; owned, tool_end_release */
};

/* Starts words in PATH, with its standard input from a pipe when `serve`, else empty. */
void tool_start(struct tool *tool, const struct words *words, bool serve);
bool tool_is_running(const struct tool *tool);
/* Waits at most `seconds`, then kills it. */
void tool_wait(struct tool *tool, double seconds, struct tool_end *end);
void tool_end_release(struct tool_end *end);
/* Start and wait in one. */
void tool_run(const struct words *words, double seconds, struct tool_end *end);

/* CPU time that it has used so far, in seconds; resident memory now, in KiB. */
double tool_cpu_seconds(const struct tool *tool);
long tool_memory_kib(const struct tool *tool);

/* Is the program in PATH? */
bool tool_exists(const char *name);

/* --- targets --------------------------------------------------------------- */

struct target {
	struct tool tool;
	struct board *board;
	char pid[16];        /* as text: it goes into command lines */
	char tids[1024];     /* its busy threads, "-" if it has none */
};

/* Starts a target and waits until it says that it is ready. False: it could not start. */
bool target_start(struct target *target, const struct words *words, const char *board_path);
void target_stop(struct target *target);

/* A thread's count of times scheduled in, over all threads but those of target->tids. */
uint64_t target_switches_of_blocked(const struct target *target);

#endif
