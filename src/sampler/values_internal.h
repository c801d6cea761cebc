/* SPDX-License-Identifier: MIT */
/*
 * values_internal.h - the values that the stages of a tick (pipeline_internal.h) pass on: the tick,
 * the threads of the sampled processes, and observations of threads.
 */
#ifndef WALLSAMPLE_SAMPLER_VALUES_INTERNAL_H
#define WALLSAMPLE_SAMPLER_VALUES_INTERNAL_H

#include "sampler/charge_internal.h"
#include "sampler/hold/hold_internal.h"
#include "sampler/look_internal.h"
#include "sampler/sampled_process_internal.h"
#include "sampler/waits/waits_internal.h"
#include "sampler/weights/weights_internal.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/sampler/stack.h"
#include "wallsample/tracer/resident.h"
#include "wallsample/tracer/tracer.h"
#include "wallsample/unwind/unwind.h"

struct green_tasks;
struct jit_objects;
struct run;

struct tick {              /* the tick in progress */
	uint32_t number;   /* 1 for the first tick; 0 before it */
	uint64_t began_ns; /* when the tick began, CLOCK_MONOTONIC */
	uint64_t time_ns;  /* the ticks up to this one account for all time before this moment */
	uint64_t span_ns;  /* the time for which this tick accounts, up to time_ns */
	size_t skipped;    /* number of threads that this tick does not observe */
	size_t excluded;   /* number of the skipped threads that are excluded by name */
	double searched;   /* probability of finding a thread that is on a CPU but not due; or 0 */
	bool released;     /* the occupation of CPUs has ended */
	bool stops_no_thread; /* because of --max-stopped (pace_may_stop) */
	bool few_holders;     /* there are few lock holders: each is observed at every tick */
};

/* A thread, and the results of its last observation. */
struct sampled_thread {
	struct sampled_process *process;
	struct watch watch;
	uint64_t start_time;      /* field 22 of proc_pid_stat(5) */
	bool gone;                /* it has exited; the next listing of threads removes it */
	bool held;                /* kept stopped since an earlier tick */
	struct hold_mark mark;    /* its counters at the last tick that stopped it */
	uint64_t spared_ns;       /* it must not be stopped before this moment */
	uint64_t sleeps_before;   /* its voluntary context switches when the run began (work.c) */
	uint64_t stops;           /* number of its stops; the kernel counts each as such a switch */
	uint64_t sleeps_at;       /* sched.switches when they were last read */
	bool sleeps_unknown;      /* they were not readable then */
	bool untouchable;         /* it runs 32-bit code and is never stopped again */
	uint64_t traced_ns;       /* when another tracer first denied a request; 0: it does not */
	bool coroutines_read;     /* its coroutines were read, or noted as missing */
	bool selected;            /* sampler_context.selected has chosen it */
	bool excluded;            /* by name: only its name and CPU time are read */
	bool was_excluded;        /* run_stats counts it among the excluded threads */
	bool listed;              /* false only during thread_create */
	uint64_t excluded_cpu_ns; /* while excluded: run_stats lacks the CPU time beyond this */
	uint32_t record;          /* number in the profile; THREAD_NONE: it has none yet */
	bool shared;              /* threads of the same name share its record */
	char name[64];
	uint32_t captures; /* number of observations that found it to have run */

	/* The schedule of its observations. */
	uint32_t next_tick;   /* number of the tick that observes it next */
	uint32_t period;      /* each tick observes it with a probability of 1/period */
	bool backed_off;      /* the period is longer because the thread sleeps */
	uint32_t last_tick;   /* number of the tick of the last observation */
	uint64_t last_ns;     /* tick.time_ns at the last observation */
	uint32_t since_tick;  /* tick of its last new observation, or at which it became excluded */
	uint32_t holder_tick; /* last tick at which a thread waited for a lock it had; 0: none */
	/* Last tick that observed it first; that only looked at it (struct looks); at this item. */
	uint32_t first_tick, look_tick, look_at;

	/* Its last observation. */
	bool seen;   /* there was an observation: the following members are valid */
	bool asleep; /* the stack is valid as long as sched.switches does not change */
	uint32_t process_execs, process_threads; /* execs and num_threads of `process` then */
	struct sched sched;
	uint64_t sched_ns;    /* when `sched` was read; 0: before the run's first tick */
	struct sched earlier; /* the counters before those: see thread_keep_counters */
	bool woken; /* with `asleep`: it had been woken from this sleep, and waited for a CPU */
	enum run_state state;
	enum gil gil;
	uint32_t stack;      /* number in the profile */
	long syscall;        /* SYSCALL_NONE when it was runnable, or there is no stack */
	uint64_t sp, pc;     /* registers of user space */
	uint32_t green_task; /* record of the green task that it ran; THREAD_NONE: none */
	struct thread_wait wait;

	/* sched.switches in its last stop that did not interrupt a sleep; 0: there was none. While
	 * sched.switches has this value, no CPU has run the thread since that stop. */
	uint64_t stop_switches;

	struct thread_window window;
	size_t stack_need;      /* bytes of stack that its next capture copies */
	struct late_stop *late; /* the sample whose stop is late; NULL: no stop is late */
	struct regs *memo; /* registers from a stop that interrupted a sleep; NULL: none; owned */
};

/* What has become of an observation. `thread`, `outcome`, `changed`, `renamed` and the weights are
 * always valid; `state` with UNSELECTED, SLEEPING and later ones; `info` with SLEEPING, REGISTERS,
 * CAPTURED, UNWOUND, and UNSELECTED if `state` is known; the results of unwinding with UNWOUND.
 * `capture` is set with SLEEPING to UNWOUND, and with DEFERRED until late_begin. */
enum outcome {
	OUTCOME_UNCHANGED,  /* not scheduled in since it slept: the stack is known */
	OUTCOME_HELD,       /* still held since an earlier tick */
	OUTCOME_LATE,       /* an earlier tick requested its stop, which has not happened */
	OUTCOME_GONE,       /* exited since the last tick: only past time is attributed */
	OUTCOME_UNSELECTED, /* sampler_context.selected has not chosen the thread */
	OUTCOME_SLEEPING,   /* asleep: its stack is copied, but not unwound */
	OUTCOME_REGISTERS,  /* asleep: unwinding needs registers, which only a stop gives */
	OUTCOME_RUNNING,    /* to be stopped: `state` is valid, `capture` is an empty buffer */
	OUTCOME_CAPTURED,   /* copied in a stop */
	OUTCOME_UNWOUND,    /* `stack` is known */
	/* There is no stack: `failure` is the reason, `exited` and `asleep` are valid, and with
	 * FAILURE_NOT_STOPPED also `gil` and `green_task`. `capture` may be set. */
	OUTCOME_FAILED,
	OUTCOME_DEFERRED,  /* its stop has become late: the sample is kept in thread->late */
	OUTCOME_ATTRIBUTED /* the sample is in the profile */
};

/* One thread at one tick. */
struct observation {
	struct sampled_thread *thread;
	enum outcome outcome;
	enum sample_failure failure;
	bool changed;  /* the thread has run since its last observation, or has no valid one */
	bool exited;   /* the thread exited during the tick and must be removed */
	bool selected; /* the thread was selected before its name was read again */
	bool renamed;  /* its name was read again and differs */
	int64_t samples, weight_ns;    /* weight of the sample: ticks, and nanoseconds */
	double importance;             /* 1, or IMPORTANCE_ROUGH (occupy_internal.h) if it ran */
	int64_t past_samples, past_ns; /* weight to add to the last observation; may be < 0 */
	uint64_t cpu_ns, counters_ns;  /* CPU time of the tick, or 0; when thread->sched was read */
	enum run_state state, slept;   /* slept: the state of the sleep, if it fell asleep */
	struct syscall_info info;
	struct look look;
	enum occupied_thread occupied;  /* when the timers of the tick expired */
	struct capture_buffer *capture; /* taken from the pool of the process; NULL: none */
	bool moved;       /* the thread ran after its stack was copied; a second copy failed */
	bool in_sleep;    /* the registers are those of a sleep that the stop interrupted */
	bool fell_asleep; /* the thread was on a CPU when the tick began, and sleeps since then */
	bool woken;       /* with UNCHANGED: it was woken from that sleep, and waits for a CPU */
	bool restless;    /* it is likely to run soon: is_first (look.c) is true */
	/* Results of unwinding. */
	bool asleep;         /* the thread still sleeps at this stack */
	uint32_t stack;      /* number in the profile */
	enum gil gil;        /* whether it holds or waits for an interpreter's lock */
	uint32_t green_task; /* record of the green task that it runs; THREAD_NONE: none */
};

/* A sample whose stop was requested by a tick and has not happened yet. The thread executes no code
 * of the program until it stops. */
struct late_stop {
	struct observation observation; /* from the tick that requested the stop */
	struct late_part {
		int64_t samples, weight_ns;
	} part[RUN_STATE_COUNT];   /* weights of the later ticks, by the state of the thread */
	enum run_state part_state; /* state at the latest of these ticks; at first RUN_QUEUED */
	struct sched latest;       /* counters at the latest of these ticks, or at late_begin */
	uint64_t latest_ns;        /* when `latest` was read */
	struct late_charge charge;
};

#endif
