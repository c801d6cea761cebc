/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - samples processes: at each tick (by default 100 times a second) it observes threads,
 * unwinds the stacks that may have changed, and adds the samples to the profile.
 *
 * Weight of a sample. Tick k accounts for a span dt(k) of the time that has passed: about the mean
 * interval between ticks, whatever the length of the interval before this tick. The actual interval
 * is not usable as weight: a stop may cost a thread its turn on a CPU. The longer ago the last tick
 * was, the more likely the thread is to have a CPU again, so samples that find it running would
 * weigh too much (35 % too much, measured with three other threads that wanted the same CPU). Time
 * for which no tick has accounted yet is left to later ticks; the last tick accounts for all of it.
 *
 * A thread that ran at its last observation is observed at every tick or, if --max-overhead
 * requires that, at each tick with a probability of 1/n (n is at most 64). The sample weighs the
 * sum of the spans of all ticks since that observation. A thread is also observed at every tick if
 * it held, during the last 256 ticks, a lock for which another thread waited, because the waiter's
 * time is attributed to what the holder does. This rule is not applied while threads wait for more
 * than 32 locks.
 *
 * A sleeping thread is observed with a probability of 1/period at each tick. The period grows with
 * the length of the sleep, in powers of two, up to a limit that grows with the number of threads.
 * If the thread still sleeps as at its last observation, the whole time since then is attributed to
 * that stack, which is exact. If it has run, or was woken, the new sample weighs dt(k) / p: p
 * is the probability of this observation, 1/period, or more if the tick searches for threads on a
 * CPU. The stack of the last observation gets the rest of the time since then, which may be
 * negative: this is the difference estimator of survey sampling. As p is known, the expected weight
 * of everything that a thread does is the time for which it does it. The weights of each thread add
 * up to its lifetime exactly.
 *
 * These weights are corrected once a second, so that they sum up to the times that the kernel has
 * counted (src/sampler/weights/weights_internal.h).
 *
 * These weights do not give the number of threads that ran at one tick: if a hundred threads that
 * take turns on a CPU are each observed at one tick in a hundred, a tick that finds one of them
 * running adds a sample with a weight of a hundred ticks. Call the threads that are not observed at
 * each tick hidden. The number of hidden threads on a CPU is estimated from the CPU time of the
 * process minus that of the threads observed at each tick. The share of the hidden threads in the
 * elapsed time (weight LATENCY, profile.h) is kept until one of them is found runnable, and then
 * added to the sample of that thread.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_H
#define WALLSAMPLE_SAMPLER_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <signal.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"
#include "wallsample/profile/profile.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/tracer/tracer_load.h"
#include "wallsample/sampler/sampler_control.h"
#include "wallsample/sampler/sampler_process.h"
#include "wallsample/unwind/unwind.h"

/* How to sample. */
struct sampler_config {
	double rate_hz; /* ticks per second */
	/* intervals between ticks are exponentially distributed; false: equal intervals */
	bool jitter;
	uint64_t duration_ns; /* longest duration of the run; 0: no limit */
	uint64_t stack_limit; /* most bytes of a stack that are copied or read */
	/* most CPU time that sampling may take, in percent of one CPU; 100 or more: no limit */
	double max_overhead;
	/* limit of the time of stops of a running thread, in percent of its time; 0, or 100 or
	 * more: no limit */
	double max_stopped;
	/* at each tick, running threads stay stopped until all of them are captured */
	bool stop_all;
	bool nonblocking; /* no thread is ever stopped */
	/* Threads in a real-time class take the CPUs for ticks; see sampler_check_realtime. */
	bool realtime;
	/* For dumps: the profile names the remaining time of a sleep and the number of polled
	 * descriptors, so that sleeps with different remaining times are different waits. */
	bool exact;
	enum unwind_choice unwinder;
	uint64_t seed; /* seed of the random numbers; 0: taken from the clock */
	/* Language runtimes that are read; bit n: row n of languages[] (language.h); 0: none. */
	uint32_t runtimes;
	/* All green tasks (green_task.h) are read at each tick, and each has a record of its own in
	 * the profile. Otherwise, if there are many, a random part is read, and tasks share
	 * records. */
	bool all_green;
	/* Green tasks have no samples of their own: the samples of a thread that runs a green task
	 * are samples of the thread. */
	bool threads_only;
	/* run_stats.others is set, and the command lines of processes are read again during the
	 * run. */
	bool names_others;
};

/* What to sample and where to put the samples. All pointers are borrowed until sampler_free. */
struct sampler_context {
	/* the processes when the run begins, at least one; the array is read by sampler_create */
	const struct sampler_process *process;
	size_t process_count;
	/* Called once a tick until it returns false: stores a process that is to be sampled from
	 * now on. It must neither wait nor stop a thread. NULL: no process comes later. */
	bool (*next_process)(void *context, uint64_t now_ns, struct sampler_process *out);
	/* Called once a tick until it returns NULL: returns a process that is excluded from now on.
	 * NULL: none is excluded. If set, CPU time of children not sampled is not counted. */
	const struct process *(*next_left)(void *context, uint64_t now_ns);
	/* Called when all processes have ended: true if the run continues, because others may come.
	 * NULL: none come. */
	bool (*may_grow)(void *context);
	/* Called when the sampler has forgotten a process that has ended, unless it is the last
	 * one; may be NULL. */
	void (*process_ended)(void *context, const struct process *process);
	void *process_context;   /* first argument of the functions above */
	struct profile *profile; /* gets the samples */
	const struct log *log;   /* NULL: nothing is logged */
	/* Gets the coroutines of event loops; those of each thread are read once in the run. The
	 * last tick calls async_tasks_finish. NULL: coroutines are not read. */
	struct async_tasks *async;
	/* an additional kind of runtime, for tests; NULL: none */
	const struct runtime_kind *extra_runtime;
	/* kept up to date by the tracer (tracer_load.h); NULL: not wanted */
	struct tracer_load *load;
	/* for virtual speed-ups; NULL: no thread stays stopped between ticks */
	const struct sampler_control *control;
	/* Returns true if the thread is to be sampled. Of other threads the counters, the state and
	 * the system call are read, because they count as runnable or may hold a lock; they are not
	 * stopped and have no samples. If the callback is set, green tasks that no thread runs have
	 * no samples either. NULL: all threads and tasks are sampled. */
	bool (*selected)(void *context, pid_t tid, const char *name);
	/* Returns true if the thread is to be excluded; NULL: none is. Of an excluded thread only
	 * the name and the CPU time are read. struct run_excluded has the number of excluded
	 * threads and their CPU time. */
	bool (*excluded)(void *context, pid_t tid, const char *name);
	void *selected_context; /* first argument of selected() and excluded() */
};

/* Longest time for which a tick waits for its stops. A thread that stops later is captured when it
 * stops, and its sample is completed at the next tick. The sample has no stack (FAILURE_LATE,
 * run_stats.h) only if the thread has not stopped by the end of the run, or stops between
 * sampler_pause and sampler_resume. */
#define SAMPLER_STOP_BOUND_NS (20 * NS_PER_MS)

struct sampler;

/*
 * Callbacks and flags of a run. All pointers are borrowed, and may be NULL (on_snapshot only if
 * `snapshot` is, on_suspend only if `suspend` is). A signal handler sets *stop to end sampling, and
 * *snapshot to have on_snapshot called between two ticks; the sampler then resets *snapshot to 0.
 * No thread of the target is stopped during on_snapshot, on_suspend and on_progress.
 */
struct sampler_hooks {
	const volatile sig_atomic_t *stop;
	volatile sig_atomic_t *snapshot;
	void (*on_snapshot)(void *context);
	/* Set by a signal handler that wants to suspend wallsample. The sampler then releases all
	 * threads, waits until no stop request is pending, and calls on_suspend, which must reset
	 * *suspend and stop wallsample. It is not called if *stop is set first. */
	const volatile sig_atomic_t *suspend;
	void (*on_suspend)(void *context);
	/* Called after each tick but the last. `held`: a thread is stopped, or will be as soon as
	 * it runs, so that anything that takes long should wait for another tick. */
	void (*on_tick)(void *context, bool held);
	/* Called between ticks, at most 5 times a second. elapsed_ns: time since the run began;
	 * samples: number of samples so far; threads: number of living threads. */
	void (*on_progress)(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads);
	void *context;
};

/* Creates a sampler, to be freed with sampler_free. The two structs are copied. Returns 0. If no
 * process can be traced, or the breakpoints of sampler_control cannot be set, returns a negative
 * error and sets *out to NULL. With sampler_config.nonblocking nothing is traced, and the call does
 * not fail. */
int sampler_create(const struct sampler_config *config, const struct sampler_context *context,
		   struct sampler **out, struct error *err);

/* For sampler_config.realtime: returns 0 if the calling thread may enter a real-time class, else
 * ERROR_SYSTEM with the reason. */
int sampler_check_realtime(struct error *err);

/* Samples until the duration has passed, *stop is set or all processes have exited. Returns the one
 * of these that ended the run. May be called once. */
enum run_end sampler_run(struct sampler *sampler, const struct sampler_hooks *hooks);

/* To be called around anything that may take long during sampler_run, such as writing to a
 * terminal: no thread of the target stays stopped between the two calls. Pairs of calls nest. */
void sampler_pause(struct sampler *sampler);
void sampler_resume(struct sampler *sampler);

/* Returns the statistics of the run, up to now or up to its end; valid until the next call of this
 * function or sampler_free. During a run each call reads /proc, which takes some microseconds. */
const struct run_stats *sampler_stats(struct sampler *sampler);

/* Returns true when the target has called exec since the run began, as far as the ticks have
 * noticed. Reads no file. */
bool sampler_has_execed(const struct sampler *sampler);

/* Releases all threads that are still seized, and frees the sampler; accepts NULL. */
void sampler_free(struct sampler *sampler);

#endif
