/* SPDX-License-Identifier: MIT */
/* option_table.c - every option of the command line, one row each. */
#include <stddef.h>

#include "wallsample/options.h"

/* PID_MAX_LIMIT of the kernel's threads.h: no process id is larger. */
#define PID_MOST 4194304

#define FIELD(name) .offset = offsetof(struct options, name)

const struct option_row option_table[] = {
	{ .name = "pid", .letter = 'p', .argument = "PID", .type = OPTION_PID, FIELD(pid),
	  .min = 1, .max = PID_MOST, .help = "sample this running process" },
	{ .name = "name", .argument = "GLOB", .type = OPTION_TEXT, FIELD(name),
	  .help = "sample the one process whose command name matches this pattern" },
	{ .name = "keep-root", .type = OPTION_FLAG, FIELD(keep_root),
	  .help = "under sudo, run CMD as root and not as the invoking user" },
	{ .name = "duration", .letter = 'd', .argument = "T", .type = OPTION_DURATION,
	  FIELD(duration_ns), .min = 0.001, .max = 31536000, .unit = "seconds",
	  .help = "sample for this long: 30, 500ms, 2m, 1h; without it until Ctrl-C or the "
		  "end of the process" },
	{ .name = "rate", .letter = 'r', .argument = "HZ", .type = OPTION_FRACTION,
	  FIELD(rate_hz), .min = 0.01, .max = 10000, .unit = "Hz", .fallback = "100",
	  .help = "look at the threads this often a second" },
	{ .name = "no-jitter", .type = OPTION_FLAG, FIELD(no_jitter),
	  .help = "sample at even times; else intervals are random, so that periodic work is "
		  "not always met at the same point" },
	{ .name = "output", .letter = 'o', .argument = "FILE", .type = OPTION_TEXT, FIELD(output),
	  .help = "write there, - is stdout; in the name %p is the process id, %h the host, %t "
		  "the time, %{ENV} an environment variable, %% a percent sign" },
	{ .name = "format", .letter = 'f', .argument = "F", .type = OPTION_TEXT, FIELD(format),
	  .help = "what to write, see below; without it by the ending of FILE, else text" },
	{ .name = "limit", .letter = 'n', .argument = "N", .type = OPTION_NUMBER, FIELD(limit),
	  .min = 1, .max = 1000000000, .unit = "rows",
	  .help = "rows of a table (default 20; with -t, 8 for each thread)" },
	{ .name = "threads", .letter = 't', .type = OPTION_FLAG, FIELD(threads),
	  .help = "keep the threads apart: a table of functions for each; in folded stacks each is "
		  "the outermost frame" },
	{ .name = "stop-all", .type = OPTION_FLAG, FIELD(stop_all),
	  .help = "hold the running threads until all are captured: one consistent picture" },
	{ .name = "nonblocking", .type = OPTION_FLAG, FIELD(nonblocking),
	  .help = "never stop anything; running threads are counted, without a stack" },
	{ .name = "max-overhead", .argument = "PCT", .type = OPTION_FRACTION,
	  FIELD(max_overhead), .min = 0.1, .max = 100, .unit = "percent", .fallback = "5",
	  .help = "lower the rate rather than use more than this share of one CPU" },
	{ .name = "stack-size", .argument = "SIZE", .type = OPTION_SIZE, FIELD(stack_size),
	  .min = 4096, .max = 1 << 30, .unit = "bytes", .fallback = "1M",
	  .help = "the most of a stack that is copied" },
	{ .name = "include", .letter = 'I', .argument = "REGEX", .type = OPTION_TEXT,
	  FIELD(include),
	  .help = "only stacks that have a function matching this regular expression" },
	{ .name = "exclude", .letter = 'X', .argument = "REGEX", .type = OPTION_TEXT,
	  FIELD(exclude), .help = "only stacks that have none" },
	{ .name = "tid", .argument = "LIST", .type = OPTION_TIDS, FIELD(tids), .min = 1,
	  .max = PID_MOST, .help = "only these threads: ids, separated by commas" },
	{ .name = "thread-name", .argument = "GLOB", .type = OPTION_TEXT, FIELD(thread_name),
	  .help = "only threads whose name matches this pattern" },
	{ .name = "state", .argument = "LIST", .type = OPTION_STATES, FIELD(states),
	  .help = "only samples in these states, separated by commas: R running, Q waiting for "
		  "a CPU, S sleeping, D disk, T stopped" },
	{ .name = "by", .argument = "WHAT", .type = OPTION_CHOICE, FIELD(by),
	  .fallback = "function", .choices = "function|line|module|source",
	  .help = "what frames are told apart by: function, line, module or source" },
	{ .name = "sort", .argument = "WEIGHT", .type = OPTION_CHOICE, FIELD(sort),
	  .fallback = "wall", .choices = "wall|overhead|latency",
	  .help = "what functions are ordered by: wall, overhead (CPU time) or latency (real "
		  "time)" },
	{ .name = "tree", .type = OPTION_FLAG, FIELD(tree),
	  .help = "add the call tree to the text report; -n says how many lines (60)" },
	{ .name = "focus", .argument = "REGEX", .type = OPTION_TEXT, FIELD(focus),
	  .help = "add the callers and callees of these functions to the text report" },
	{ .name = "lines", .type = OPTION_FLAG, FIELD(lines),
	  .help = "show source lines: the same as --by line" },
	{ .name = "no-inlines", .type = OPTION_FLAG, FIELD(no_inlines),
	  .help = "no frames for functions that the compiler has put into others" },
	{ .name = "no-demangle", .type = OPTION_FLAG, FIELD(no_demangle),
	  .help = "names of C++, Rust and D as the linker knows them" },
	{ .name = "debug-dir", .argument = "DIR", .type = OPTION_DIRS, FIELD(debug_dirs),
	  .help = "look for debug files there before /usr/lib/debug; may be given several times" },
	{ .name = "symfs", .argument = "DIR", .type = OPTION_TEXT, FIELD(symfs),
	  .help = "look for the program's files and debug files below this directory, too" },
	{ .name = "debuginfod", .argument = "WHERE", .type = OPTION_CHOICE, FIELD(debuginfod),
	  .fallback = "cache", .choices = "off|cache|net",
	  .help = "debug files of debuginfod: off, cache (what was fetched before) or net (ask "
		  "the servers of $DEBUGINFOD_URLS)" },
	{ .name = "unwinder", .argument = "WHICH", .type = OPTION_CHOICE, FIELD(unwinder),
	  .fallback = "auto", .choices = "auto|libunwind|libdw", .hidden = true,
	  .help = "how stacks are unwound, to compare the ways: auto, libunwind or libdw" },
	{ .name = "quiet", .letter = 'q', .type = OPTION_FLAG, FIELD(quiet),
	  .help = "say nothing but errors" },
	{ .name = "verbose", .letter = 'v', .type = OPTION_COUNT, FIELD(verbose),
	  .help = "say more; twice for still more" },
	{ .name = "version", .letter = 'V', .type = OPTION_FLAG, FIELD(version),
	  .help = "print the version" },
	{ .name = "help", .letter = 'h', .type = OPTION_FLAG, FIELD(help),
	  .help = "print this help" },
	{ .name = NULL },
};
