/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - the clockwork: once a tick it looks at every thread, takes the
 * stacks that may have changed, and adds what it saw to the profile.
 *
 * What a look weighs. Tick k stands for a span dt(k) of the time that has passed: about the mean
 * interval, whatever the one before it was. The interval before a tick is no good weight, because
 * a stop may cost a thread its turn on a CPU: it then runs more, the longer the last tick is
 * past, and looks that see it run would weigh too much (by 35 % with three rivals for a CPU).
 * Time that early ticks leave over is for later ones, and nothing is left over at the end.
 *
 * A thread that has run lately is looked at every tick (or, to keep to --max-overhead, at random
 * once in `thin` ticks), and what is seen weighs the spans since the last look. So is one that had
 * what another waited for, lately: the other's time goes to what it is doing.
 *
 * A thread that sleeps is looked at with a probability of 1/period each tick; the period
 * doubles with the length of the sleep, up to what the number of threads asks for. A look
 * that finds it has not run credits the whole time since the last look to the stack it
 * sleeps in, which is exact. A look that finds it has run weighs period * dt(k) for what
 * it sees, and the rest of the time since the last look goes to the old sleep: the
 * difference estimator of survey sampling. As the chance of a look depends only on
 * the past, the expected weight of everything a thread does is its time, and
 * each thread's weights add up to the time it was alive, exactly.
 *
 * For the number of threads that ran at one tick such a weight says nothing: of a hundred
 * threads that take turns one is found at one tick in a hundred, and was not a hundred then. How
 * many of those that are not looked at each tick had a CPU is told by the CPU time that the
 * process has used, and the others have not; their real time goes to the next of them that is
 * found.
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

/* Values that the command hands down. */
struct sampler_config {
	double rate_hz;          /* ticks a second that are wanted */
	bool jitter;             /* exponential intervals, else even ones */
	uint64_t duration_ns;    /* 0: until stopped or the target has gone */
	uint64_t stack_limit;    /* most bytes of a stack that are copied */
	double max_overhead;     /* share of one CPU in percent; 100 or more: no limit */
	bool stop_all;           /* hold running threads until all are captured */
	bool nonblocking;        /* never stop anything */
	bool exact;              /* waits are told apart by what is left of them, too */
	enum unwind_choice unwinder;
	uint64_t seed;           /* of the random numbers; 0: from the clock */
	/* Is this thread wanted? NULL: all. Others are counted, never captured. */
	bool (*selected)(void *context, pid_t tid, const char *name);
	/* Is this thread excluded? NULL: none. Of an excluded thread only the name and the
	 * CPU time are read; run_stats.h counts them. Context: selected_context. */
	bool (*excluded)(void *context, pid_t tid, const char *name);
	void *selected_context;
	struct jit *jit;         /* code made at run time, looked at once a tick; or NULL */
	struct jit_objects *jit_objects; /* the same */
	/* User-space tasks go here, each thread's once, at the first tick or later, and are
	 * finished at the last; borrowed; NULL: none are read. */
	struct async_tasks *tasks;
	uint32_t runtimes;       /* which language runtimes are read: see runtime.h; 0: none */
	const struct runtime_kind *extra_runtime; /* for tests; or NULL */
	const struct sampler_control *control; /* borrowed; NULL: nobody is held */
	bool all_tasks;          /* each is looked at, and kept apart, however many there are */
	bool threads_only;       /* tasks that those schedule are no samples of their own */
};

/*
 * The bound on one wait for a stop. A thread that is not stopped by then is taken when it
 * does stop, at a later tick; FAILURE_LATE is for those that never did.
 */
#define SAMPLER_STOP_BOUND_NS (20 * NS_PER_MS)

struct sampler;

/*
 * All pointers are borrowed. `stop` and `snapshot` (may be NULL) are set by signal
 * handlers: stop ends sampling; snapshot has `on_snapshot` called between two ticks.
 */
struct sampler_hooks {
	const volatile sig_atomic_t *stop;
	volatile sig_atomic_t *snapshot;
	void (*on_snapshot)(void *context);
	/* Called after each tick; `held`: a thread of the target has been asked to stop, and
	 * what takes long had better wait for another tick; may be NULL. */
	void (*on_tick)(void *context, bool held);
	/* Called a few times a second with the time so far; may be NULL. */
	void (*on_progress)(void *context, uint64_t elapsed_ns, uint64_t samples, uint32_t threads);
	void *context;
};

int sampler_create(const struct process *process, const struct sampler_config *config,
		   struct maps *maps, struct profile *profile, const struct log *log,
		   struct sampler **out, struct error *err);

/* Samples until it ends. May be called once. */
enum run_end sampler_run(struct sampler *sampler, const struct sampler_hooks *hooks);

/*
 * Around anything that may take long while sampler_run is at work, such as a line that is
 * written to a terminal: no thread of the target is left standing meanwhile. Hooks are called
 * that way.
 */
void sampler_leave(struct sampler *sampler);
void sampler_return(struct sampler *sampler);

/* Up to date whenever sampler_run is in a hook or has returned. */
const struct run_stats *sampler_stats(const struct sampler *sampler);

/* Releases everything that might still be seized. */
void sampler_free(struct sampler *sampler);

#endif
