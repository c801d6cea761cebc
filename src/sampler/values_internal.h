/* SPDX-License-Identifier: MIT */
/*
 * values_internal.h - the values of a tick that stages and consumers share: the tick, the sampled
 * processes, their threads, and observations of threads. pipeline_internal.h describes the stages.
 */
#ifndef WALLSAMPLE_SAMPLER_VALUES_INTERNAL_H
#define WALLSAMPLE_SAMPLER_VALUES_INTERNAL_H

#include "sampler/charge_internal.h"
#include "sampler/hold/hold_internal.h"
#include "sampler/waits/waits_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/jit/jit_objects.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/sampler/stack.h"
#include "wallsample/thread/state.h"
#include "wallsample/tracer/resident.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/tracer/tracer.h"
#include "wallsample/unwind/unwind.h"

struct coroutines;
struct green_tasks;
/* The tick in progress. Stages and consumers hold a const pointer to it. */
struct tick {
	uint32_t number;   /* from 1; 0: the run has not begun */
	uint64_t began_ns; /* CLOCK_MONOTONIC */
	uint64_t time_ns;  /* end of sampled time: ticks up to this one account for all before */
	uint64_t span_ns;  /* the part of time_ns that this tick accounts for */
};

/* Stops that were requested and have not happened yet. */
struct late_stops {
	struct tracer *tracer; /* borrowed; NULL: nothing is ever stopped */
	size_t count;          /* threads whose `late` is set */
};

/* Releases late threads that have stopped by now. Called between steps that take 50 us or more. */
static inline void
late_serve(const struct late_stops *late)
{
	if (late->count > 0)
		tracer_poll(late->tracer);
}

/* Buffers of one capture. The tracer keeps a pointer to the request while the stop is late. */
struct capture_buffer {
	struct stop_request request;
	struct runtime_capture *runtime; /* NULL: no language runtime is read */
	/* What the callback of the request needs while the thread is stopped. */
	struct coroutines *coroutines;
	struct sampled_thread *thread;
};

/* Buffers that no observation uses; they are reused from tick to tick. */
struct capture_pool {
	struct capture_buffer **free;
	size_t count, capacity;
};

/* One process of the target. */
struct sampled_process {
	/* Borrowed. */
	const struct process *process;
	struct maps *maps;
	struct jit *jit;                   /* NULL: code made at run time has no names */
	struct jit_objects *jit_objects;   /* or NULL */
	const struct thread_list *threads; /* of all processes */
	struct hold *hold;
	/* Owned. */
	struct unwinder *unwinder;
	struct stack_state stacks;
	struct runtimes *runtimes;            /* NULL: none are wanted */
	struct resident resident;             /* initialised if there are runtimes */
	struct runtime_capture *lock_capture; /* for threads that are not stopped */
	struct waits *waits;
	struct green_tasks *green;
	struct capture_pool captures;
	/* From the stat file of the first thread. */
	int leader_fd; /* -1: not open */
	char leader_state;
	uint64_t start_stack, arg_start; /* these change with exec; 0: not known */
	bool execed;                     /* since the last sampled_process_read */
	uint32_t thread_count;           /* by the kernel's count */
	/* Thread ids in the target's memory. */
	bool own_namespace;  /* they are the same as ours */
	struct table inner;  /* otherwise: id in the target -> ours */
	uint64_t inner_seen; /* threads seen when `inner` was filled */
};

struct process_list {
	struct sampled_process **item;
	size_t count;
};

/* A thread, and the results of its last observation. */
struct sampled_thread {
	struct sampled_process *process;
	struct watch watch;
	uint64_t start_time;
	bool gone;                         /* it has exited: removed when threads are listed next */
	bool held;                         /* stopped since an earlier tick: hold_internal.h */
	struct hold_mark mark;             /* likewise */
	uint64_t spared_ns;                /* not stopped before this moment: likewise */
	bool untouchable, coroutines_read; /* never stopped again (32-bit code); read once a run */
	bool selected;                     /* it is sampled; others are only counted */
	bool excluded;                     /* not observed at all: excluded.c */
	uint64_t excluded_cpu_ns;          /* CPU time at the last reading, while excluded */
	bool listed, was_excluded;         /* thread_create has returned; counted as excluded */
	uint32_t record;                   /* thread of the profile; THREAD_NONE: not entered yet */
	bool shared;                       /* other threads of the same name have the same record */
	char name[64];
	uint32_t captures; /* decides when the name is read again */

	/* The schedule of its observations. */
	uint32_t next_tick;
	uint32_t period;      /* 1/period: its chance at each tick since the last observation */
	bool backed_off;      /* the thread's sleep has lengthened the period */
	uint32_t last_tick;   /* of the last observation, */
	uint64_t last_ns;     /* and sampled time then */
	uint32_t since_tick;  /* first observation of the present sleep */
	uint32_t holder_tick; /* last tick at which another thread waited for it; 0: none */

	/* Its last observation. */
	bool seen;   /* there was one: the following fields are valid */
	bool asleep; /* the stack is valid while sched.switches does not change */
	struct sched sched;
	enum run_state state;
	enum gil gil;
	uint32_t stack; /* of the profile */
	long syscall;
	uint64_t sp, pc; /* of user space */
	struct thread_wait wait;
	uint32_t green_task; /* of the profile: the one that it ran; THREAD_NONE: none */

	size_t stack_need;      /* bytes of stack to copy */
	struct late_stop *late; /* its stop is late; NULL: none is */
	struct regs *memo;      /* registers of a stop in a sleep, valid at the same sp and pc */
};

/* The stage that an observation has reached. */
enum outcome {
	OUTCOME_UNCHANGED,  /* asleep since the last observation: its stack is known */
	OUTCOME_HELD,       /* still stopped since an earlier tick */
	OUTCOME_LATE,       /* its stop is late since an earlier tick */
	OUTCOME_GONE,       /* exited since the last tick: only past time is attributed */
	OUTCOME_UNSELECTED, /* the filter does not select the thread */
	OUTCOME_SLEEPING,   /* its stack is copied, but not unwound */
	OUTCOME_REGISTERS,  /* likewise; unwinding needs registers, which a stop gives */
	OUTCOME_RUNNING,    /* to be stopped */
	OUTCOME_CAPTURED,   /* copied in a stop */
	OUTCOME_UNWOUND,
	OUTCOME_FAILED,    /* no stack: `failure` is the reason */
	OUTCOME_DEFERRED,  /* its stop became late: the sample is kept in thread->late */
	OUTCOME_ATTRIBUTED /* done */
};

/* One thread at one tick. */
struct observation {
	struct sampled_thread *thread;
	enum outcome outcome;
	enum sample_failure failure;
	bool changed; /* it has run since the last observation, or there was none */
	bool exited;  /* the thread exited during the tick and must be removed */
	bool renamed; /* its name was read again and differs */
	/* Weight of the sample: ticks and time. */
	int64_t samples, weight_ns;
	/* Weight of the sleep before it, beyond the part already attributed; may be negative. */
	int64_t past_samples, past_ns;
	uint64_t cpu_ns;    /* used since the last tick, if the last observation was then */
	uint64_t looked_ns; /* when the counters were read */
	enum run_state state;
	struct syscall_info info;
	struct capture_buffer *capture; /* until the copy is unwound; else NULL */
	bool moved;       /* a sleeping thread that ran before all threads were stopped */
	bool in_sleep;    /* the stop interrupted a sleep: its registers are of that */
	bool fell_asleep; /* likewise, but the thread ran when it was observed */
	/* Found by the unwinding. */
	bool asleep; /* the thread still sleeps there */
	uint32_t stack;
	enum gil gil;
	uint32_t green_task; /* THREAD_NONE: none */
};

/* A sample whose stop is late; a thread executes no code of the program until it stops. */
struct late_stop {
	struct observation observation; /* of the tick that requested the stop */
	/* Weight of the ticks since then, by the thread's state. */
	struct late_part {
		int64_t samples, weight_ns;
	} part[RUN_STATE_COUNT];
	enum run_state part_state; /* at the last of these ticks */
	struct sched latest;       /* counters at that tick */
	uint64_t latest_ns;        /* when they were read */
	struct late_charge charge;
};

#endif
