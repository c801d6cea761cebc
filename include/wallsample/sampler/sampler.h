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
#include "wallsample/base/histogram.h"
#include "wallsample/jit/jit.h"
#include "wallsample/jit/jit_objects.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"
#include "wallsample/profile/profile.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/runtime_tasks.h"
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
	void *selected_context;
	struct jit *jit;         /* code made at run time, looked at once a tick; or NULL */
	struct jit_objects *jit_objects; /* the same */
	/* User-space tasks go here, each thread's once, at the first tick or later, and are
	 * finished at the last; borrowed; NULL: none are read. */
	struct runtime_tasks *tasks;
	uint32_t runtimes;       /* which language runtimes are read: see runtime.h; 0: none */
	const struct runtime_kind *extra_runtime; /* for tests; or NULL */
	const struct sampler_control *control; /* borrowed; NULL: nobody is held */
	bool all_tasks;          /* each is looked at, and kept apart, however many there are */
	bool threads_only;       /* tasks that those schedule are no samples of their own */
};

/* Why sampling ended. */
enum sampler_end {
	SAMPLER_DURATION, /* the time is over */
	SAMPLER_STOPPED,  /* *stop was set */
	SAMPLER_GONE,     /* the target has exited */
};

/* Reasons a sample has no stack of code. X(name, frame text) */
#define SAMPLE_FAILURES(X)                                                     \
	X(EXITED, "[failed: thread exited]")                                   \
	X(LATE, "[failed: not stopped in 20 ms]")                              \
	X(DENIED, "[failed: not permitted]")                                   \
	X(UNREADABLE, "[failed: stack not readable]")                          \
	X(MOVED, "[failed: moved while it was read]")                          \
	X(TASK_MOVED, "[failed: task moved while it was read]")                \
	X(TASK_FINISHED, "[failed: task already finished]")                    \
	X(TASK_UNCAUGHT, "[failed: thread could not be stopped]")              \
	X(NOT_STOPPED, "[running: not stopped]")

enum sample_failure {
#define X(name, text) FAILURE_##name,
	SAMPLE_FAILURES(X)
#undef X
	FAILURE_COUNT
};

const char *sample_failure_text(enum sample_failure failure);

/*
 * The bound on one wait for a stop. A thread that is not stopped by then is taken when it
 * does stop, at a later tick; FAILURE_LATE is for those that never did.
 */
#define SAMPLER_STOP_BOUND_NS (20 * NS_PER_MS)

/* What sampling cost and missed. */
struct sampler_stats {
	uint64_t ticks;
	uint64_t elapsed_ns;       /* from the first tick to the last */
	uint64_t target_cpu_ns;    /* CPU time of the target in it, by the kernel's count */
	bool target_cpu_known;
	uint64_t own_cpu_ns;       /* CPU time wallsample used for it */
	uint64_t peak_memory;      /* bytes, largest resident set */
	uint64_t thread_samples;   /* thread-ticks in the profile */
	uint64_t threads_seen;
	uint32_t threads_most;     /* at one tick */
	/* Of tasks that no thread ran: task.h. */
	uint64_t task_samples;     /* of thread_samples */
	uint64_t task_failures;    /* of `failed`, but for tasks that had ended */
	uint64_t task_looks;       /* at their structures */
	uint64_t task_stacks;      /* that were walked; the others were as before */
	uint64_t tasks_seen;
	uint32_t tasks_most;       /* at one tick, about */
	uint32_t tasks_thinnest;   /* one in so many was looked at, at most */
	unsigned cpus;             /* that the target may use; 0: not known */
	uint64_t looks;            /* reads of a thread's counters */
	uint64_t reused;           /* thread-ticks whose stack was reused, no look included */
	uint64_t read;             /* stacks read without a stop */
	uint64_t stopped;          /* stacks read in a stop */
	uint64_t failed[FAILURE_COUNT];     /* thread-ticks */
	uint64_t chains[CHAIN_END_COUNT];   /* walks by their end */
	struct histogram stop_ns;  /* time a thread was stopped for one sample */
	uint64_t repaired;         /* system calls saved from EINTR */
	uint64_t signals_passed;
	double rate_wanted, rate_lowest; /* lowest that --max-overhead brought it to */
	uint32_t thinnest;         /* a thread was looked at once in so many ticks, at most */
	uint64_t unwind_ns, unwind_frames;
	int nice_value;            /* own priority while sampling */
	bool execed;               /* the target has called exec meanwhile */
	char runtimes[128];        /* "CPython 3.11.7": language runtimes; "": none */
	int child_status;          /* wait status, when child_exited */
	bool child_exited;         /* the target was our child and has exited */
};

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
enum sampler_end sampler_run(struct sampler *sampler, const struct sampler_hooks *hooks);

/*
 * Around anything that may take long while sampler_run is at work, such as a line that is
 * written to a terminal: no thread of the target is left standing meanwhile. Hooks are called
 * that way.
 */
void sampler_leave(struct sampler *sampler);
void sampler_return(struct sampler *sampler);

/* Up to date whenever sampler_run is in a hook or has returned. */
const struct sampler_stats *sampler_stats(const struct sampler *sampler);

/* Releases everything that might still be seized. */
void sampler_free(struct sampler *sampler);

#endif
