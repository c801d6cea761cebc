/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - samples a process: once a tick it observes threads, unwinds the stacks that may have
 * changed, and adds the samples to the profile.
 *
 * Weight of a sample. Tick k accounts for a span dt(k) of the time that has passed: about the mean
 * interval, whatever the length of the interval before the tick. The interval before a tick is not
 * usable as weight: a stop may cost a thread its turn on a CPU, so that it is the more likely to
 * run the longer ago the last tick was, and samples that find it running would weigh too much (by
 * 35 % with three rivals for a CPU). Time for which no tick has accounted yet is left to later
 * ticks; the last tick accounts for all of it.
 *
 * A thread that has run lately is observed at every tick (or, to keep to --max-overhead, at random
 * once in `thin` ticks), and the sample weighs the spans since its last observation. A thread that
 * lately held a lock for which another thread waited is observed as often, because the waiter's
 * time is attributed to what the holder does.
 *
 * A sleeping thread is observed with a probability of 1/period at each tick; the period doubles
 * with the length of the sleep, up to a limit that grows with the number of threads. If the thread
 * has not run, the whole time since the last observation goes to the stack in which it sleeps,
 * which is exact. If it has run, the new sample weighs period * dt(k), and the rest of the time
 * since the last observation goes to the old sleep: the difference estimator of survey sampling. As
 * the chance of an observation depends only on the past, the expected weight of everything that a
 * thread does is its time, and the weights of each thread add up to its lifetime, exactly.
 *
 * Such a weight does not give the number of threads that ran at one tick: of a hundred threads that
 * take turns on a CPU, one is found running at one tick in a hundred, with a weight of a hundred
 * ticks. How many of the threads that are not observed at each tick had a CPU is estimated from the
 * CPU time that the process used and the threads observed at each tick did not; their real time
 * goes to the next of them that is found running.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_H
#define WALLSAMPLE_SAMPLER_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <signal.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"
#include "wallsample/jit/jit.h"
#include "wallsample/jit/jit_objects.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"
#include "wallsample/profile/profile.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/sampler/sampler_control.h"
#include "wallsample/unwind/unwind.h"

/* How to sample. */
struct sampler_config {
	double rate_hz;       /* ticks per second */
	bool jitter;          /* exponential intervals between ticks, otherwise equal ones */
	uint64_t duration_ns; /* 0: until stopped, or the target has exited */
	uint64_t stack_limit; /* most bytes of a stack that are copied */
	double max_overhead;  /* share of one CPU in percent; 100 or more: no limit */
	bool stop_all;        /* running threads stay stopped until all are captured */
	bool nonblocking;     /* nothing is ever stopped */
	bool exact; /* for dumps: waits with different remaining time are different waits */
	enum unwind_choice unwinder;
	uint64_t seed;     /* seed of the random numbers; 0: taken from the clock */
	uint32_t runtimes; /* language runtimes that are read: see runtime.h; 0: none */
	bool all_tasks;    /* each green task is read and has a record, however many */
	bool threads_only; /* green tasks have no samples of their own */
};

/* What to sample and where to put the samples. All pointers are borrowed until sampler_free. */
struct sampler_context {
	const struct process *process;
	struct maps *maps;       /* mappings of the process */
	struct profile *profile; /* gets the samples */
	const struct log *log;   /* NULL: nothing is logged */
	struct jit *jit;         /* code made at run time, read once a tick; NULL: not read */
	struct jit_objects *jit_objects; /* GDB JIT objects, read once a tick; NULL: not read */
	/* Gets the coroutines, those of each thread once, and is finished at the last tick; NULL:
	 * they are not read. */
	struct async_tasks *tasks;
	const struct runtime_kind *extra_runtime; /* a further runtime, for tests; NULL: none */
	const struct sampler_control *control;    /* virtual speed-ups; NULL: no thread is held */
	/* Returns true if the thread is to be sampled; other threads are counted, but never
	 * captured. NULL: all threads are sampled. */
	bool (*selected)(void *context, pid_t tid, const char *name);
	/* Returns true if the thread is to be excluded; NULL: none is. Of an excluded thread only
	 * the name and the CPU time are read; run_stats.h counts excluded threads. */
	bool (*excluded)(void *context, pid_t tid, const char *name);
	void *selected_context; /* first argument of selected() and excluded() */
};

/* Longest time that a tick waits for a stop. A thread that has not stopped by then is captured at a
 * later tick, when it has stopped; FAILURE_LATE is for threads that never stop. */
#define SAMPLER_STOP_BOUND_NS (20 * NS_PER_MS)

struct sampler;

/*
 * All pointers are borrowed, and may be NULL. Signal handlers set `stop`, which ends sampling, and
 * `snapshot`, which makes the sampler call on_snapshot between two ticks. No thread of the target
 * is stopped while a hook runs, except on_tick.
 */
struct sampler_hooks {
	const volatile sig_atomic_t *stop;
	volatile sig_atomic_t *snapshot;
	void (*on_snapshot)(void *context);
	/* Called after each tick. `held`: a thread is stopped or about to be, so that anything that
	 * takes long should wait for another tick. */
	void (*on_tick)(void *context, bool held);
	/* Called a few times a second. elapsed_ns: since the run began. */
	void (*on_progress)(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads);
	void *context;
};

/* Creates a sampler, to be freed with sampler_free. Both structs are copied. If tracing is not
 * permitted, returns the error, sets *err, and sets *out to NULL; otherwise returns 0. */
int sampler_create(const struct sampler_config *config, const struct sampler_context *context,
		   struct sampler **out, struct error *err);

/* Samples until the run ends. Returns why it has ended. May be called once. */
enum run_end sampler_run(struct sampler *sampler, const struct sampler_hooks *hooks);

/* To be called around anything that may take long during sampler_run, such as writing to a
 * terminal: no thread of the target stays stopped between the two calls. Pairs of calls nest. */
void sampler_pause(struct sampler *sampler);
void sampler_resume(struct sampler *sampler);

/*
 * Returns the statistics of the run, up to now or up to its end. Valid until the next call and
 * until sampler_free. During a run each call reads /proc and takes some microseconds.
 */
const struct run_stats *sampler_stats(struct sampler *sampler);

/* Returns true when the target has called exec since the run began. Reads no file. */
bool sampler_has_execed(const struct sampler *sampler);

/* Releases all threads that are still seized, and frees the sampler. NULL is ignored. */
void sampler_free(struct sampler *sampler);

#endif
