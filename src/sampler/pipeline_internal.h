/* SPDX-License-Identifier: MIT */
/*
 * pipeline_internal.h - what the files of this folder share.
 * sampler.c  the life of a run; pace.c: when the next tick is due, --max-overhead
 * threads.c  which threads there are; leader.c: the process as a whole
 * look.c     one look at one thread, and what it weighs
 * stops.c    what runs at a tick is stopped
 * collect.c  the stacks of a tick: walks, failures
 * late.c     threads that have not stopped yet
 * hold.c     threads that somebody holds from one tick to the next; hold_late.c
 * priority.c our own place among those who want a CPU
 * charge.c   the real time of a tick
 * thread_wait.c what sleepers wait for (thread_wait_object.c), crowds.c how many, deadlock.c rings
 * thread_tasks.c user-space tasks
 * tasks.c    tasks that runtimes schedule; task_sample.c, task_stack.c
 * stack.c    from a call chain to an interned stack (stack_state.h)
 */
#ifndef WALLSAMPLE_SAMPLER_PIPELINE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PIPELINE_INTERNAL_H

#include "sampler/charge_internal.h"
#include "sampler/waits/waits_internal.h"
#include "sampler/hold/hold_internal.h"
#include "sampler/pace_internal.h"
#include "sampler/pending_internal.h"
#include "sampler/priority_internal.h"
#include "wallsample/sampler/stack.h"
#include "sampler/tasks/green_internal.h"
#include "wallsample/sampler/thread_wait.h"
#include "sampler/values_internal.h"
#include "wallsample/tracer/resident.h"
#include "wallsample/sampler/sampler.h"
#include "wallsample/base/table.h"
#include "wallsample/tracer/tracer.h"

struct sampler {
	const struct process *process;
	struct sampler_config config;
	struct profile *profile;
	const struct log *log;
	struct modules *modules;
	struct maps *maps; /* borrowed */
	struct tracer *tracer;  /* NULL when nonblocking */
	struct runtimes *runtimes; /* NULL: none are looked for */
	struct resident resident;  /* what they may read of threads; if there are any */
	struct runtime_capture *lock_capture; /* of threads that are not stopped */
	struct unwinder *unwinder;
	struct rng rng;
	struct pace pace;
	enum sched_source sched_source;
	size_t fd_budget;       /* threads whose descriptors may stay open */

	/* Threads in ascending order of their ids. */
	struct tracked **thread;
	size_t thread_count, thread_capacity;
	bool relist;
	struct table shared_threads; /* text of a name -> thread of the profile */
	pid_t *tids;
	size_t tid_capacity;

	/* The present tick. */
	uint32_t tick;
	uint64_t tick_ns, span_ns; /* the time up to which ticks stand for it; its part of that */
	double runnable;        /* of the threads that are looked at each tick */
	double queued;          /* how many of them were seen to wait for a CPU */
	size_t skipped;         /* threads that were not looked at */
	double late_ran;        /* of those that are late, the part whose CPU we have taken */
	double on_cpu_owed;     /* so many more were on one, at ticks before: see charge.c */
	unsigned cpus;          /* that the target may use */
	struct charges charges;
	struct hidden hidden;
	uint64_t gap_ns;        /* time in which nobody was runnable, not charged yet */
	char leader_state;
	int leader_fd;          /* on its stat file; -1: not open */
	uint64_t start_stack, arg_start; /* tell one program from the next after exec */

	struct batch sleepers, runners; /* stacks read without a stop; threads to be stopped */
	size_t late_count;      /* threads with a late pending sample */
	struct stack_state stacks;
	struct hold hold;
	struct priority priority;
	struct waits waits;
	struct tasks tasks;
	struct deadlocks deadlocks;
	uint64_t cpu_began_ns;  /* the target's CPU time when time began; UINT64_MAX: not known */
	struct chain chain;
	uint32_t failure_stack[FAILURE_COUNT];
	struct run_stats stats;
};

/* --- leader.c -------------------------------------------------------------- */
/* The first thread's stat, and a look at the process as a whole; false when it has gone. */
bool read_leader(struct sampler *sampler, struct task_stat *leader);
bool look_at_process(struct sampler *sampler);

/* --- threads.c ------------------------------------------------------------- */
/* Lists the threads, forgets those that are gone, adds those that are new. */
void threads_refresh(struct sampler *sampler);
void threads_free(struct sampler *sampler);
void thread_enter_profile(struct sampler *sampler, struct tracked *thread); /* gives it a record */
/* Who a sample of the thread is of, in the profile: the task that it ran, or itself; in *carrier
 * (may be NULL) what struct profile_entry has of that. */
uint32_t thread_unit(struct sampler *sampler, struct tracked *thread, uint32_t *carrier);
/* The thread is about to be captured: asks for its name again, now and then; or in any case. */
void thread_count_capture(struct sampler *sampler, struct tracked *thread);
void thread_refresh_name(struct sampler *sampler, struct tracked *thread);

/* --- excluded.c */
/* The name of the thread is excluded from now on: counts it and reads its CPU time. */
void excluded_begin(struct sampler *sampler, struct tracked *thread);
/* Reads the CPU time and the name of an excluded thread that is due at this tick. If the name is
 * not excluded any more, the thread is due at this tick like a new one. */
void excluded_look(struct sampler *sampler, struct tracked *thread);
/* Reads the CPU time of all excluded threads at the end of the run. */
void excluded_finish(struct sampler *sampler);
uint32_t index_of_tid(const struct sampler *sampler, pid_t tid); /* in `thread`; NOBODY: none */
struct tracked *thread_of_tid(struct sampler *sampler, pid_t tid); /* NULL: none */

/* --- late.c ---------------------------------------------------------------- */
/* Keeps the sample for the tick at which the thread will have stopped. */
void late_begin(struct sampler *sampler, struct pending *pending);
/* The late sample stands for the time up to this tick, in which it did this. */
void late_extend(struct sampler *sampler, struct tracked *thread, enum run_state state);
/* Walks, looks and lists take their time: what stops meanwhile is released in between. */
void late_serve(struct sampler *sampler);
/* Its first tick has been credited, as captured or as failed: so are the others now. */
void late_end(struct sampler *sampler, struct tracked *thread);
/* The thread is forgotten: so is its late request. */
void late_drop(struct sampler *sampler, struct tracked *thread);

/* --- look.c ---------------------------------------------------------------- */
/* Looks at a thread; what has to be captured goes into the pending samples. */
void look_at(struct sampler *sampler, struct tracked *thread);
/* Adds samples of what the thread's fields say; of a sleep that is over; of a thread that was
 * counted as runnable at this tick. */
void credit(struct sampler *sampler, struct tracked *thread, int64_t samples, int64_t weight_ns);
void credit_past(struct sampler *sampler, struct tracked *thread, int64_t samples, int64_t ns);
void credit_runnable(struct sampler *sampler, struct tracked *thread, int64_t samples,
		     int64_t weight_ns);
/* Which call it is in, also when that has been restarted. */
long true_syscall(const struct tracked *thread, const struct syscall_info *info);
/* The sleep is as captured, and starts now. */
void look_settle(struct sampler *sampler, struct tracked *thread, bool asleep);

/* --- thread_tasks.c -------------------------------------------------------- */
/* Tasks of a thread that stands still now, of all that do at this tick. */
void tasks_of_stopped(struct sampler *sampler, struct tracked *thread);
void tasks_of_held(struct sampler *sampler);
/* The last tick: those of all others are read, or said to be missing. */
void tasks_finish(struct sampler *sampler);

/* --- stops.c --------------------------------------------------------------- */
/* Fills in what is asked of the tracer. */
void stops_request(struct sampler *sampler, const struct pending *pending);
/* Stops what runs, and has all walked, sleepers, too. */
void stops_tick(struct sampler *sampler);

/* --- collect.c ------------------------------------------------------------- */
/* What runtimes know of a sleeper whose stack was read; false: it has run meanwhile. `held`: other
 * threads are. */
bool capture_sleeper(struct sampler *sampler, struct pending *pending, bool held);
/* Walks the stacks of the sleepers that were read so far, */
void collect_sleepers(struct sampler *sampler);
/* and that of one that was asked to stop; or what came of that. */
void collect_stop(struct sampler *sampler, struct pending *pending);
/* Takes in what was captured since the last tick; with `give_up` no later one will come. */
void collect_late(struct sampler *sampler, bool give_up);
/* A sample without a stack of code: its failure is its only frame. */
void sample_failed(struct sampler *sampler, struct tracked *thread, enum sample_failure failure,
		   enum run_state state, int64_t samples, int64_t weight_ns);
/* `capture` may be NULL; `root`: the stack that calls the chain's outermost frame, or
 * STACK_NONE. */
uint32_t stack_intern(struct sampler *sampler, const struct chain *chain,
		      struct runtime_capture *capture, uint32_t root);
uint32_t stack_of_failure(struct sampler *sampler, enum sample_failure failure);

#endif
