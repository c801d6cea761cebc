/* SPDX-License-Identifier: MIT */
/*
 * harness.h - what the live tests share: checks, targets, runs of wallsample, and looks
 * at a process from outside.
 *
 * A test is a program. It calls harness_begin, names its cases, and returns
 * harness_end(). Targets and runs end with the test, however it ends; a test that hangs
 * ends by its own alarm, which is a failure.
 */
#ifndef LIVE_HARNESS_H
#define LIVE_HARNESS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* --- checks ------------------------------------------------------------------- */

/*
 * Sets the alarm, in seconds; leaves with 77 (skipped) where tracing one's own
 * processes is not permitted.
 */
void harness_begin(unsigned seconds);
/* Names what the following checks are about. */
void harness_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* This case cannot be had here. */
void harness_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * The share of the CPU time that threads of this machine wanted since the case began, and that a
 * hypervisor used for others. From HARNESS_STOLEN_MOST on, ticks are late in a way that depends on
 * what the target does: a CPU that has slept comes back later than one that was busy.
 */
#define HARNESS_STOLEN_MOST 0.03
double harness_stolen(void);
/* What a failure of the current case needs to be understood; printed with the first one. */
void harness_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The exit status: 1 when a check failed, 77 when all cases were skipped, else 0. */
int harness_end(void);
/* The test cannot go on: says why and leaves with 99. */
_Noreturn void harness_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* True when it holds; else says so, with the words of the format behind it. */
bool harness_check(const char *file, int line, bool holds, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define CHECK(holds, ...) harness_check(__FILE__, __LINE__, holds, __VA_ARGS__)

uint64_t harness_now_ns(void);

/*
 * How far a share may be from its true value `p` when it was estimated from `ticks`
 * ticks: five standard deviations of a binomial share. Each sample weighs the time to
 * the one before, which varies (exponential intervals), so that n ticks tell as much as n/2.
 */
double harness_share_bound(double p, double ticks);
/* What was seen is this share of it, in truth: give or take so much, and 2 % of the whole. */
bool harness_check_share(const char *file, int line, const char *what, double seen, double truth,
			 double ticks);
#define CHECK_SHARE(...) harness_check_share(__FILE__, __LINE__, __VA_ARGS__)

/* --- targets ------------------------------------------------------------------- */

#define HARNESS_COUNTERS 64

struct target {
	pid_t pid;
	int in, out;                  /* its standard input and output */
	volatile uint64_t *counter;   /* HARNESS_COUNTERS, see targets/target.h */
};

/* Is the program built? Some cannot be everywhere: no musl, no static libraries. */
bool target_exists(const char *program);
/* The path of a target program; the same memory each time. */
const char *target_path(const char *program);
/* Starts bin/PROGRAM with the words up to NULL, and waits until it says "ready". */
void target_start(struct target *target, const char *program, ...)
	__attribute__((sentinel));
/* Sends it a line. */
void target_tell(struct target *target);
/* Its next line, without the newline; false at the end of its output. */
bool target_read_line(struct target *target, char *line, size_t size);
/* Ends its input, which ends it; target_finish is still to be called. */
void target_tell_end(struct target *target);
/* Ends its input, reads what it still says into *text (may be NULL; the caller frees
 * it), waits for its end. Returns its wait status. */
int target_finish(struct target *target, char **text);
/* Waits until the counter moves on; the test's alarm bounds it. */
void target_wait_progress(const struct target *target, unsigned counter);
/* The number behind the word in a text such as "f70 123"; dies when there is none. */
uint64_t target_number(const char *text, const char *word);

/* --- runs of wallsample ----------------------------------------------------------- */

struct run {
	pid_t pid;
	int err_fd, out_fd;
	int status;              /* wait status */
	char *out, *err;         /* all that it wrote, zero-terminated */
	size_t err_length;
	uint64_t began_ns, ended_ns;
};

/* Starts it with exactly these words; `before_exec` (may be NULL) runs in the child. */
void run_start_words(struct run *run, char *const words[], void (*before_exec)(void));
/* The same, with its output to this descriptor. */
void run_start_to(struct run *run, char *const words[], int out);
/* A pipe whose writer has to wait, for run_start_to. */
void run_make_full_pipe(int ends[2]);
/*
 * Starts it on a process for folded output of each thread, at whatever it costs:
 * -p PID -v -f folded -t --max-overhead 100 --max-stopped 100 and the words up to NULL.
 */
void run_start(struct run *run, pid_t pid, ...) __attribute__((sentinel));
void run_start_list(struct run *run, pid_t pid, va_list words);
/* Waits until it says that it samples; false when it has ended instead. */
bool run_wait_sampling(struct run *run);
/* Waits for its end. */
void run_finish(struct run *run);
/* run_start and run_finish. */
void run_whole(struct run *run, pid_t pid, ...) __attribute__((sentinel));
void run_release(struct run *run);
/* Its exit status is 0, or 1 (some samples failed, on a busy machine): else a failed check. */
bool run_succeeded(const struct run *run);

/* --- processes from outside ---------------------------------------------------------- */

/* The ids of a process's threads, ascending; returns how many there are. */
size_t inspect_threads(pid_t pid, pid_t *tids, size_t size);
/* The `nth` thread (from 0, by id) with this name; 0 if there is none. */
pid_t inspect_thread_named(pid_t pid, const char *name, size_t nth);
/* State letter; 0 if it has gone. */
char inspect_state(pid_t pid, pid_t tid);
/* The number behind "FIELD:" in a thread's status file; -1 if it has gone. */
long long inspect_status(pid_t pid, pid_t tid, const char *field);
/* The set of signals that the process's first thread blocks: bit 0 is signal 1. */
uint64_t inspect_blocked_signals(pid_t pid);
/* How often it has been switched away from, of its own will or not. */
long long inspect_switches(pid_t pid, pid_t tid);
/* What the scheduler has counted for a thread so far; zeros if it has gone. */
struct sched_time {
	uint64_t ran_ns, waited_ns; /* on a CPU, for a CPU */
	uint64_t turns;             /* times it was given one */
};
struct sched_time inspect_sched_time(pid_t pid, pid_t tid);
/* The share of the time that a thread wanted a CPU in which it waited for one. */
double inspect_waited(pid_t pid, pid_t tid);
/* Does its first thread wait in this system call? */
bool inspect_is_in_call(pid_t pid, long number);
/* No thread of it is traced, and none is stopped (state t or T): else failed checks. */
bool inspect_is_free(pid_t pid);

#endif
