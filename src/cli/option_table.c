/* SPDX-License-Identifier: MIT */
/* option_table.c - every option of the command line, one row each. */
#include <stddef.h>

#include "wallsample/cli/options.h"
#include "wallsample/process/process.h"

/*
 * Sets the offset of a field. If the type of the field is not `field_type`, _Generic does not
 * compile.
 */
#define FIELD(field, field_type)                                                                   \
	.offset = offsetof(struct options, field) +                                                \
		  _Generic(((struct options *)NULL)->field, field_type : 0)

#define OPT_FLAG(field) .type = OPTION_FLAG, FIELD(field, bool)
#define OPT_COUNT(field) .type = OPTION_COUNT, FIELD(field, unsigned)
#define OPT_TEXT(field) .type = OPTION_TEXT, FIELD(field, const char *)
#define OPT_TEXTS(field) .type = OPTION_TEXTS, FIELD(field, struct text_list)
#define OPT_REGEX(field) .type = OPTION_REGEX, FIELD(field, regex_t *)
#define OPT_NUMBER(field) .type = OPTION_NUMBER, FIELD(field, uint64_t)
#define OPT_PIDS(field) .type = OPTION_PIDS, FIELD(field, struct id_list)
#define OPT_FRACTION(field) .type = OPTION_FRACTION, FIELD(field, double)
#define OPT_DURATION(field) .type = OPTION_DURATION, FIELD(field, uint64_t)
#define OPT_SIZE(field) .type = OPTION_SIZE, FIELD(field, uint64_t)
#define OPT_MOMENT(field) .type = OPTION_MOMENT, FIELD(field, struct option_moment)
#define OPT_RANGE(field) .type = OPTION_RANGE, FIELD(field, struct option_range)
#define OPT_TIDS(field) .type = OPTION_TIDS, FIELD(field, struct id_list)
#define OPT_GREEN(field) .type = OPTION_GREEN, FIELD(field, struct id_list)
#define OPT_STATES(field) .type = OPTION_STATES, FIELD(field, unsigned)
#define OPT_GILS(field) .type = OPTION_GILS, FIELD(field, unsigned)
#define OPT_RUNTIMES(field) .type = OPTION_RUNTIMES, FIELD(field, uint32_t)
#define OPT_SPEEDUPS(field) .type = OPTION_SPEEDUPS, FIELD(field, struct option_speedups)
/* convert_choice stores an int: an enum of another size does not compile. */
#define OPT_CHOICE(field, enumeration, words)                                                      \
	.type = OPTION_CHOICE, .choices = (words),                                                 \
	FIELD(field, enumeration) + 0 * sizeof(char[sizeof(enumeration) == sizeof(int) ? 1 : -1])

/* The words that options with a choice accept, in the order of the values of the enum. */
#define WORD(name, word) word,
#define WORD_OF_WEIGHT(name, title, word) word,
static const char *const green_use_words[] = { GREEN_USES(WORD) NULL };
static const char *const by_words[] = { VIEW_KEYS(WORD) NULL };
static const char *const sort_words[] = { WEIGHTS(WORD_OF_WEIGHT) NULL };
static const char *const native_words[] = { VIEW_NATIVES(WORD) NULL };
static const char *const debuginfod_words[] = { DEBUGINFOD_USES(WORD) NULL };
static const char *const unwinder_words[] = { UNWIND_CHOICES(WORD) NULL };
static const char *const match_words[] = { CAUSAL_MATCHES(WORD) NULL };

/* clang-format off */
const struct option_row option_table[] = {
	{ .group = "The program",
	  .name = "pid",
	  .brief = "sample this running process",
	  .commands = FOR_ATTACHING | FOR_CAUSAL, .letter = 'p', .argument = "PID[,PID]",
	  OPT_PIDS(pids), .min = 1, .max = PROCESS_ID_LIMIT,
	  .help = "sample this running process; several processes are sampled together, and the "
		  "option may be given again" },
	{ .name = "name",
	  .brief = "sample the process with this name",
	  .commands = FOR_ATTACHING | FOR_CAUSAL, .argument = "GLOB",
	  OPT_TEXT(name),
	  .help = "sample the one process whose command name matches this pattern" },
	{ .name = "all", .commands = FOR_ATTACHING, OPT_FLAG(all),
	  .help = "with --name: sample all processes of that name together, also those that start "
		  "during the run" },
	{ .name = "children",
	  .commands = FOR_ATTACHING, .letter = 's', OPT_FLAG(children),
	  .help = "sample the descendants of these processes, too, also those that start during "
		  "the run" },
	{ .name = "cgroup", .commands = FOR_ATTACHING, .argument = "PATH", OPT_TEXTS(cgroups),
	  .help = "sample all processes of this control group and of those below it, now and "
		  "later; may be given several times" },
	{ .name = "container", .commands = FOR_ATTACHING, .argument = "ID", OPT_TEXTS(containers),
	  .help = "sample all processes of the container whose id begins with these digits (at "
		  "least 4), now and later; may be given several times" },
	{ .name = "core",
	  .brief = "show the threads of a core file",
	  .commands = FOR_DUMP | FOR_CORE, .argument = "FILE", OPT_TEXT(core),
	  .help = "show the threads of this core file instead of a running process" },
	{ .name = "exe", .commands = FOR_DUMP | FOR_CORE, .argument = "FILE", OPT_TEXT(exe),
	  .help = "the program of the core file, if it is no longer at its path" },
	{ .name = "keep-root", .commands = FOR_SAMPLING | FOR_CAUSAL, OPT_FLAG(keep_root),
	  .help = "under sudo, run CMD as root and not as the invoking user" },
	{ .group = "Sampling",
	  .name = "duration",
	  .brief = "sample for this long: 30, 500ms, 2m",
	  .commands = FOR_SAMPLING | FOR_CAUSAL, .letter = 'd',
	  .argument = "T", OPT_DURATION(duration_ns), .min = 0.001, .max = 31536000,
	  .unit = "seconds",
	  .help = "sample for this long: 30, 500ms, 2m, 1h; without it until Ctrl-C or the end "
		  "of the process, causal 5m at most" },
	{ .name = "rate",
	  .brief = "samples per second (100)",
	  .commands = FOR_SAMPLING, .letter = 'r', .argument = "HZ",
	  OPT_FRACTION(rate_hz), .min = 0.01, .max = 10000, .unit = "Hz", .fallback = "100",
	  .help = "read the state of the threads this often a second" },
	{ .name = "no-jitter", .commands = FOR_SAMPLING, OPT_FLAG(no_jitter),
	  .help = "sample at even intervals; without it intervals are random, so that periodic "
		  "work is not always sampled at the same point" },
	{ .group = "Output",
	  .name = "output",
	  .brief = "write to this file; its ending selects the format",
	  .commands = FOR_OUTPUT | FOR_CAUSAL | FOR_CAUSAL_FILE, .letter = 'o',
	  .argument = "FILE", OPT_TEXT(output),
	  .help = "write to this file, - is stdout; in the name %p is the process id, %h the "
		  "host, %t the time, %{ENV} an environment variable, %% a percent sign" },
	{ .name = "format",
	  .brief = "the format of the output",
	  .commands = FOR_OUTPUT | FOR_CAUSAL | FOR_CAUSAL_FILE, .letter = 'f',
	  .argument = "F", OPT_TEXT(format),
	  .help = "the format, see below; without it by the ending of FILE, else text" },
	{ .name = "no-cmdline", .commands = FOR_OUTPUT | FOR_CAUSAL | FOR_CAUSAL_FILE,
	  OPT_FLAG(no_cmdline),
	  .help = "leave the command line of the program out of the output" },
	{ .name = "limit", .commands = FOR_REPORTS | FOR_CAUSAL | FOR_CAUSAL_FILE, .letter = 'n',
	  .argument = "N", OPT_NUMBER(limit), .min = 1, .max = 1000000000, .unit = "rows",
	  .help = "rows of a table (default 20; 8 for each thread where threads are kept apart)" },
	{ .name = "full",
	  .brief = "all tables, not one screen",
	  .commands = FOR_REPORT_OF_ONE, OPT_FLAG(full),
	  .help = "the whole text report: all tables, the cost and the quality of sampling; "
		  "without it one screen" },
	{ .name = "threads",
	  .brief = "a table for each thread",
	  .commands = FOR_REPORT_OF_ONE, .letter = 't', OPT_FLAG(threads),
	  .help = "keep the threads apart: a table of functions for each thread; in folded "
		  "stacks the thread is the outermost frame" },
	{ .name = "processes", .commands = FOR_REPORT_OF_ONE, OPT_FLAG(processes),
	  .help = "keep the processes apart: a table of functions for each process; in folded "
		  "stacks and other formats of stacks the process is the outermost frame, "
		  "before the thread of -t" },
	{ .group = "How threads are stopped, and what sampling costs",
	  .name = "stop-all", .commands = FOR_SAMPLING, OPT_FLAG(stop_all),
	  .help = "keep the running threads stopped until all are captured: one consistent "
		  "picture" },
	{ .name = "nonblocking", .commands = FOR_ATTACHING, OPT_FLAG(nonblocking),
	  .help = "never stop a thread; running threads are counted, without a stack" },
	{ .name = "max-overhead", .commands = FOR_SAMPLING, .argument = "PCT",
	  OPT_FRACTION(max_overhead), .min = 0.1, .max = 100, .unit = "percent", .fallback = "5",
	  .help = "lower the rate rather than use more than this share of one CPU" },
	{ .name = "max-stopped", .commands = FOR_SAMPLING, .argument = "PCT",
	  OPT_FRACTION(max_stopped), .min = 0.01, .max = 100, .unit = "percent", .fallback = "1",
	  .help = "lower the rate rather than keep threads stopped for more than this share of "
		  "their time" },
	{ .name = "realtime", .commands = FOR_SAMPLING, OPT_FLAG(realtime),
	  .help = "use a real-time class to take the CPUs for each sample, so that samples of "
		  "running threads are exact on a busy machine, too; needs root, CAP_SYS_NICE or "
		  "a limit RLIMIT_RTPRIO" },
	{ .name = "stack-size", .commands = FOR_ATTACHING | FOR_CAUSAL, .argument = "SIZE",
	  OPT_SIZE(stack_size), .min = 4096, .max = 1 << 30, .unit = "bytes", .fallback = "1M",
	  .help = "copy at most this much of a stack" },
	{ .group = "Which samples are shown",
	  .name = "include", .commands = FOR_STACKS, .letter = 'I', .argument = "REGEX",
	  OPT_REGEX(filter.include), .selects = SELECTS_SAMPLES,
	  .help = "only stacks with a function that matches this regular expression" },
	{ .name = "exclude", .commands = FOR_STACKS, .letter = 'X', .argument = "REGEX",
	  OPT_REGEX(filter.exclude), .selects = SELECTS_SAMPLES,
	  .help = "only stacks without a function that matches this regular expression" },
	{ .name = "process", .commands = FOR_STACKS, .argument = "LIST", OPT_TEXTS(filter.process),
	  .selects = SELECTS_SAMPLES, .no_core = "a core file has one process",
	  .help = "only these of the sampled processes: ids, or patterns of names or titles, "
		  "separated by commas; may be given several times" },
	{ .name = "exclude-process", .commands = FOR_OUTPUT, .argument = "GLOB",
	  OPT_TEXTS(filter.exclude_process), .selects = SELECTS_THREADS,
	  .no_core = "a core file has one process",
	  .help = "no processes whose name matches one of these patterns, separated by commas; "
		  "when sampling, they are left alone, also those that start later, and only "
		  "their number and CPU time are read; may be given several times" },
	{ .name = "tid", .commands = FOR_THREADS, .argument = "LIST", OPT_TIDS(filter.tids),
	  .min = 1, .max = PROCESS_ID_LIMIT, .selects = SELECTS_THREADS,
	  .help = "only these threads: ids, separated by commas" },
	{ .name = "thread-name", .commands = FOR_OUTPUT, .argument = "GLOB",
	  OPT_TEXT(filter.thread_name), .selects = SELECTS_THREADS,
	  .no_core = "core files do not have the names of threads; --tid chooses them by their "
		     "ids",
	  .help = "only threads whose name matches this pattern" },
	{ .name = "exclude-thread", .commands = FOR_OUTPUT | FOR_CAUSAL, .argument = "GLOB",
	  OPT_TEXTS(filter.exclude_thread), .selects = SELECTS_THREADS,
	  .no_core = "core files do not have the names of threads; --tid chooses them by their "
		     "ids",
	  .help = "no threads whose name matches one of these patterns, separated by commas; "
		  "when sampling, they are not stopped, and only their number and CPU time are "
		  "read; may be given several times" },
	{ .name = "tasks", .commands = FOR_SAMPLING | FOR_REPORTS | FOR_DUMP, .argument = "WHICH",
	  OPT_CHOICE(green_use, enum green_use, green_use_words), .fallback = "auto",
	  .help = "tasks that a language's runtime schedules: auto shows each by itself, off "
		  "shows the threads that run them, as for any program" },
	{ .name = "task", .commands = FOR_REPORT_OF_ONE | FOR_DUMP, .argument = "LIST",
	  OPT_GREEN(filter.green), .selects = SELECTS_SAMPLES,
	  .help = "only these tasks: numbers such as 17 or 0x7f20a4c0, separated by commas" },
	{ .name = "created-by", .commands = FOR_REPORTS | FOR_DUMP, OPT_FLAG(filter.created_by),
	  .help = "continue the stack of a task with the place that created the task" },
	{ .name = "state", .commands = FOR_STACKS, .argument = "LIST", OPT_STATES(filter.states),
	  .selects = SELECTS_SAMPLES,
	  .help = "only samples in these states, separated by commas: R running, Q waiting for "
		  "a CPU, S sleeping, D uninterruptible, T stopped, Y ready (a task)" },
	{ .name = "gil", .commands = FOR_STACKS, .argument = "LIST", OPT_GILS(filter.gils),
	  .selects = SELECTS_SAMPLES,
	  .help = "only samples in these states of the interpreter's lock, separated by "
		  "commas: none, has, wait, handover" },
	{ .name = "parallelism", .argument = "RANGE", OPT_RANGE(parallelism), .min = 0,
	  .max = 65536, .unit = "threads",
	  .help = "only the time in which this number of threads was on a CPU: 1, 2-8" },
	{ .name = "from", .argument = "T", OPT_MOMENT(from),
	  .help = "only samples from this time on, counted from the beginning; -10 is ten "
		  "seconds before the end" },
	{ .name = "to", .argument = "T", OPT_MOMENT(to),
	  .help = "only samples up to this time, counted as with --from" },
	{ .group = "How they are shown",
	  .name = "by", .commands = FOR_REPORTS | FOR_CAUSAL, .argument = "WHAT",
	  OPT_CHOICE(by, enum view_key, by_words), .fallback = "function",
	  .help = "what a frame stands for: function, line, module, source, thread, process, "
		  "state, lock (the object that a thread waits for) or gil; causal: the first "
		  "three" },
	{ .name = "sort", .argument = "WEIGHT", OPT_CHOICE(sort, enum weight, sort_words),
	  .former = "overhead", .former_choice = WEIGHT_CPU, .fallback = "wall",
	  .help = "the weight that functions are ordered by: wall, cpu (CPU time) or "
		  "latency (real time)" },
	{ .name = "blame", .commands = FOR_REPORT_OF_ONE, OPT_FLAG(filter.blame),
	  .help = "instead of samples show the stacks of lock holders, with the time that "
		  "other threads waited for them" },
	{ .name = "tree", .commands = FOR_REPORT_OF_ONE, OPT_FLAG(tree),
	  .help = "add the call tree to the text report; -n says how many lines (60)" },
	{ .name = "focus", .commands = FOR_REPORT_OF_ONE, .argument = "REGEX", OPT_REGEX(focus),
	  .help = "add the callers and callees of these functions to the text report" },
	{ .name = "lines", OPT_FLAG(lines),
	  .help = "show source lines: the same as --by line" },
	{ .name = "native", .commands = FOR_STACKS, .argument = "WHICH",
	  OPT_CHOICE(filter.native, enum view_native, native_words), .fallback = "merged",
	  .help = "frames of interpreted programs: merged into native stacks, only the native "
		  "ones, or none of the native ones" },
	{ .name = "interpreter-frames", .commands = FOR_STACKS,
	  OPT_FLAG(filter.interpreter_frames),
	  .help = "keep the frames of the interpreter between two functions of its program" },
	{ .name = "no-inlines", .commands = FOR_STACKS | FOR_CAUSAL, OPT_FLAG(no_inlines),
	  .help = "show no frames for inlined functions" },
	{ .name = "no-demangle", .commands = FOR_STACKS | FOR_CAUSAL, OPT_FLAG(no_demangle),
	  .help = "show the mangled names of C++, Rust and D" },
	{ .group = "Names of functions",
	  .name = "debug-dir", .commands = FOR_OUTPUT | FOR_CAUSAL, .argument = "DIR",
	  OPT_TEXTS(debug_dirs),
	  .help = "search debug files in this directory before /usr/lib/debug; may be given "
		  "several times" },
	{ .name = "symfs", .commands = FOR_OUTPUT | FOR_CAUSAL, .argument = "DIR", OPT_TEXT(symfs),
	  .help = "search the program's files and debug files below this directory, too" },
	{ .name = "debuginfod", .commands = FOR_OUTPUT | FOR_CAUSAL, .argument = "WHERE",
	  OPT_CHOICE(debuginfod, enum debuginfod_use, debuginfod_words), .fallback = "cache",
	  .help = "debug files from debuginfod: off, cache (files fetched earlier) or net (ask "
		  "the servers of $DEBUGINFOD_URLS)" },
	{ .group = "Languages and stacks",
	  .name = "runtime", .commands = FOR_ATTACHING | FOR_CORE | FOR_CAUSAL, .argument = "LIST",
	  OPT_RUNTIMES(runtimes), .fallback = "auto",
	  .help = "the languages whose functions are shown: auto (all supported ones), none, "
		  "or names, separated by commas:" },
	{ .name = "unwinder", .commands = FOR_ATTACHING | FOR_CORE | FOR_CAUSAL,
	  .argument = "WHICH", OPT_CHOICE(unwinder, enum unwind_choice, unwinder_words),
	  .fallback = "auto", .hidden = true,
	  .help = "how stacks are unwound, to compare the methods: auto, libunwind or libdw" },
	{ .group = "Experiments",
	  .name = "progress",
	  .brief = "a measure of progress: var:SYMBOL, syscalls:write",
	  .commands = FOR_CAUSAL, .argument = "SPEC", OPT_TEXTS(progress),
	  .help = "a progress point, which measures the program's work: var:SYMBOL, io:FIELD, "
		  "syscalls:write, coz:NAME, func:SYMBOL, line:FILE:N, begin:SPEC,end:SPEC, "
		  "each with NAME= before it if wanted; may be given several times" },
	{ .name = "select",
	  .brief = "the functions to try",
	  .commands = FOR_CAUSAL, .argument = "REGEX", OPT_REGEX(select),
	  .help = "try the functions (lines, modules) that match, not those with the most "
		  "Latency" },
	{ .name = "candidates", .commands = FOR_CAUSAL, .argument = "N", OPT_NUMBER(candidates),
	  .min = 1, .max = 64, .unit = "functions", .fallback = "5",
	  .help = "without --select: the number of functions to try, those with the most "
		  "Latency" },
	{ .name = "match", .commands = FOR_CAUSAL, .argument = "WHERE",
	  OPT_CHOICE(match, enum causal_match, match_words), .fallback = "stack",
	  .help = "a thread is in the function if the function is anywhere in its stack "
		  "(stack), or its innermost frame (self)" },
	{ .name = "speedups", .commands = FOR_CAUSAL, .argument = "LIST", OPT_SPEEDUPS(speedups),
	  .fallback = "0,10,25,50,75,100",
	  .help = "the speed-ups to try, in percent of the function's time" },
	{ .name = "tick", .commands = FOR_CAUSAL, .argument = "T", OPT_DURATION(tick_ns),
	  .min = 0.0005, .max = 1, .unit = "seconds",
	  .help = "the mean time between two samples of the threads; by default half of the time "
		  "for which threads run between two sleeps, from 1ms to 2ms, or up to 5ms with "
		  "many threads or too few CPUs" },
	{ .name = "experiment", .commands = FOR_CAUSAL, .argument = "T",
	  OPT_DURATION(experiment_ns), .min = 0.05, .max = 3600, .unit = "seconds",
	  .help = "the shortest duration of an experiment (default 100 times the time for which "
		  "threads run between two sleeps, 1s at most, or less in a short run)" },
	{ .name = "profile-time", .commands = FOR_CAUSAL, .argument = "T",
	  OPT_DURATION(profile_ns), .min = 0.1, .max = 3600, .unit = "seconds", .fallback = "3s",
	  .help = "the duration of the profile from which functions are chosen" },
	{ .name = "precision", .commands = FOR_CAUSAL, .argument = "POINTS",
	  OPT_FRACTION(precision), .min = 0.1, .max = 50, .unit = "points", .fallback = "2",
	  .help = "stop when half the 95 % confidence interval of each gain is at most this" },
	{ .name = "max-hold", .commands = FOR_CAUSAL, .argument = "PCT", OPT_FRACTION(max_hold),
	  .min = 1, .max = 100, .unit = "percent", .fallback = "50",
	  .help = "hold other threads for at most this share of the run" },
	{ .name = "intrusive", .commands = FOR_CAUSAL, OPT_FLAG(intrusive),
	  .help = "permit func: and line:, which keep all threads traced and set hardware "
		  "breakpoints" },
	{ .group = "Messages and help",
	  .name = "quiet", .commands = FOR_ALL, .letter = 'q', OPT_FLAG(quiet),
	  .help = "print errors only" },
	{ .name = "verbose", .commands = FOR_ALL, .letter = 'v', OPT_COUNT(verbose),
	  .help = "print details; twice: more details" },
	{ .name = "version", .commands = FOR_ALL, .letter = 'V', OPT_FLAG(version),
	  .help = "print the version" },
	{ .name = "help", .commands = FOR_ALL, .letter = 'h', OPT_FLAG(help),
	  .help = "print this help" },
	{ .name = NULL },
};
/* clang-format on */
