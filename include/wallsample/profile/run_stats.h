/* SPDX-License-Identifier: MIT */
/* run_stats.h - statistics of one sampling run: its length, cost and losses. */
#ifndef WALLSAMPLE_PROFILE_RUN_STATS_H
#define WALLSAMPLE_PROFILE_RUN_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/histogram.h"
#include "wallsample/process/kernel_counters.h"
#include "wallsample/unwind/chain.h"

/* Why a run ended. */
enum run_end {
	RUN_END_DURATION, /* the requested time has passed */
	RUN_END_STOPPED,  /* a signal or wallsample itself has set sampler_hooks.stop (sampler.h) */
	RUN_END_EXITED,   /* the target has exited */
};

/*
 * X(NAME, text): the reasons why a sample has no call chain. `text` is the text of the named frame
 * that replaces the chain. Recordings store NAME.
 */
#define SAMPLE_FAILURES(X)                                                                         \
	X(EXITED, "[failed: thread exited]")                                                       \
	X(LATE, "[failed: not stopped in 20 ms]")                                                  \
	X(DENIED, "[failed: not permitted]")                                                       \
	X(UNREADABLE, "[failed: stack not readable]")                                              \
	X(MOVED, "[failed: moved while it was read]")                                              \
	X(TASK_MOVED, "[failed: task moved while it was read]")                                    \
	X(TASK_FINISHED, "[failed: task already finished]")                                        \
	X(TASK_UNCAUGHT, "[failed: thread could not be stopped]")                                  \
	X(ABSENT, "[not sampled: wallsample did not run]")                                         \
	X(NOT_STOPPED, "[running: not stopped]")                                                   \
	X(TRACED, "[not sampled: another tracer traced the thread]")

enum sample_failure {
#define X(name, text) FAILURE_##name,
	SAMPLE_FAILURES(X) FAILURE_COUNT
#undef X
};

/* Returns the text of the named frame of a failure below FAILURE_COUNT. */
const char *sample_failure_text(enum sample_failure failure);

/* Threads that were excluded from sampling by their names (--exclude-thread). */
struct run_excluded {
	uint64_t threads;
	uint64_t ended; /* number of excluded threads that ended during the run */
	/*
	 * CPU time that the excluded threads used during the run. For a thread that ended, the
	 * counter was last read up to about a second before its end.
	 */
	uint64_t cpu_ns;
};

/* Processes that were excluded from sampling by their names (--exclude-process). */
struct run_excluded_processes {
	uint64_t count;
	/* CPU time that they used while they were excluded; of those that have ended, up to 10 s
	 * before the end (process_set_read_excluded) */
	uint64_t cpu_ns;
};

/*
 * How known CPU time was divided among samples of running threads
 * (src/sampler/weights/weights_internal.h). Each sample has a part of it. The margins of error
 * follow from these sums (margin.h).
 */
struct run_division {
	uint64_t samples; /* number of samples, each of one look at a running thread */
	uint64_t ns;      /* CPU time that was divided; 0: not known */
	double squares;   /* sum of the squared parts, in ns * s */
	/* Sum of the standard deviations, for a sample of deviation 1, of time that earlier samples
	 * divided: time / sqrt(number of these samples), in ns. */
	double borrowed;
};

#define OTHERS_NONE "none"

/* Sizes of texts in struct run_stats. */
#define RUNTIMES_TEXT_SIZE 128
#define UNREAD_TEXT_SIZE 512

/*
 * A thread sample is one thread at one tick. "Task" means a green task (green_task.h); a sample of
 * a waiting task counts as a thread sample.
 */
struct run_stats {
	uint64_t ticks;
	uint64_t elapsed_ns; /* time from the start of sampling to the last tick */
	/* of merged recordings whose times overlap: sum of their elapsed times, minus elapsed_ns */
	uint64_t overlap_ns;
	/* CPU time that the target used in elapsed_ns, as counted by the kernel */
	uint64_t target_cpu_ns;
	bool target_cpu_known;
	/* What the target has done in elapsed_ns; all members are 0 in recordings of older
	 * versions. The last second before the exit of the target may be missing. */
	struct counters work;
	/* Number of times that the thread `sleeper` gave up its CPU, mostly to wait: of the 128
	 * oldest threads the one that did so most often. 0: not known, as in recordings of older
	 * versions. */
	uint64_t sleeps;
	int sleeper;             /* its id */
	uint64_t own_cpu_ns;     /* CPU time that wallsample used in elapsed_ns */
	uint64_t peak_memory;    /* largest resident set of wallsample, in bytes */
	uint64_t thread_samples; /* thread samples in the profile */
	uint64_t threads_seen;
	uint32_t threads_most;        /* largest number of threads at one tick */
	struct run_excluded excluded; /* these threads are part of threads_seen */
	struct run_excluded_processes
		excluded_processes; /* their threads are not in threads_seen */
	/*
	 * green_samples, green_failures, green_stacks: only for tasks that no thread ran at the
	 * tick
	 */
	uint64_t green_samples; /* part of thread_samples */
	/* number of task samples without a stack, except those of tasks that had already finished;
	 * `failed` counts all of them, too */
	uint64_t green_failures;
	uint64_t green_looks; /* number of reads of task structures in the target */
	/* number of task stacks that were unwound because they had changed */
	uint64_t green_stacks;
	uint64_t green_seen;
	uint32_t green_most; /* estimate of the largest number of tasks at one tick */
	/*
	 * 1 if each task was read at each tick; n if at some tick only one of n tasks was read
	 * (largest n)
	 */
	uint32_t green_thinnest;
	unsigned cpus; /* CPUs that the target may use; 0: not known */
	/* number of observations of threads; most read the thread's counters in /proc */
	uint64_t looks;
	/* number of thread samples that took the stack of the thread's previous sample */
	uint64_t reused;
	uint64_t read;    /* number of stacks that were read without a stop */
	uint64_t stopped; /* number of stacks that were read in a stop */
	/* Number of samples, of `stopped`, of threads that were running; and the number of those
	 * that are exact: the thread was interrupted by a timer, at a moment that did not depend on
	 * what it executed, and went to its stop before it executed anything else. */
	uint64_t running, running_exact;
	struct run_division division;
	uint64_t failed[FAILURE_COUNT];   /* thread samples without a stack, by reason */
	uint64_t chains[CHAIN_END_COUNT]; /* number of call chains, by the reason for their end */
	struct histogram stop_ns;         /* durations of the stops of threads for samples */
	uint64_t repaired;       /* system calls that were restarted instead of ending with EINTR */
	uint64_t signals_passed; /* signals that were passed on to the target */
	/* Ticks per second: the requested rate, and the lowest rate to which a limit
	 * (overhead_delays, stop_delays) has reduced it (the requested rate if none has). */
	double rate_wanted, rate_lowest;
	/* Number of ticks that --max-overhead and --max-stopped have delayed; both 0 in recordings
	 * of older versions */
	uint64_t overhead_delays, stop_delays;
	/*
	 * 1 if running threads were read at each tick; n if for some time a running thread was read
	 * once in n ticks, on average (largest n)
	 */
	uint32_t thinnest;
	/* time in ns that unwinding took, and number of frames that it found */
	uint64_t unwind_ns, unwind_frames;
	int nice_value; /* nice value of wallsample while it sampled */
	/* Estimated part of the time in the state RUN_QUEUED for which a hypervisor used the CPU;
	 * sum over all threads (stolen.h). */
	uint64_t stolen_ns;
	/* Number and sum of the pauses of half a second or more in which wallsample did not run: it
	 * was stopped or frozen, or had no CPU. elapsed_ns includes them. */
	uint64_t absences, absent_ns;
	/* CPU time of child processes that ended before they were seen; their number is not
	 * known. */
	uint64_t unsampled_ns;
	bool calibrated; /* the weights of all samples agree with the kernel's count of CPU time */
	bool execed;     /* a process called exec during the run */
	/* Texts of runtimes_describe_all and runtimes_unread_all (runtime.h); "": no runtime, and
	 * all were read. */
	char runtimes[RUNTIMES_TEXT_SIZE], unread[UNREAD_TEXT_SIZE];
	/* Mean number of CPUs of the machine that were busy with anything; 0: not known. */
	double machine_busy;
	/* Text of programs_add_busy (programs.h): other programs that used the CPUs; OTHERS_NONE:
	 * no other program did; "": not known. */
	char others[256];
	/* Path of the control group with the smallest limit on CPU time (process_cpu_group); "":
	 * none. */
	char cpu_group[256];
	int child_status;  /* status as wait(2) returns it, valid if child_exited is true */
	bool child_exited; /* the target was a child of wallsample and has exited */
};

/* Stores the number of all call chains in *all, and the number of those that did not reach the
 * thread's first function in *broken. */
void run_stats_count_chains(const struct run_stats *stats, uint64_t *all, uint64_t *broken);

#endif
