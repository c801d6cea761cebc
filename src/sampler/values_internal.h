/* SPDX-License-Identifier: MIT */
/* values_internal.h - one thread of the target, and what the last look at it saw. */
#ifndef WALLSAMPLE_SAMPLER_VALUES_INTERNAL_H
#define WALLSAMPLE_SAMPLER_VALUES_INTERNAL_H

#include "sampler/hold/hold_internal.h"
#include "sampler/pending_internal.h"
#include "wallsample/sampler/thread_wait.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/thread/state.h"

/* Stack bytes that are copied of a thread not seen before, at least of any, and beyond what the
 * last walk needed. */
#define STACK_FIRST ((size_t)16 << 10)
#define STACK_LEAST ((size_t)8 << 10)
#define STACK_MARGIN ((size_t)4 << 10)

/* One thread of the target. */
struct tracked {
	struct watch watch;
	uint64_t start_time;
	bool gone;              /* its files say ESRCH: to be forgotten */
	bool held;              /* since an earlier tick: see hold.c */
	struct hold_mark mark;  /* likewise */
	uint64_t spared_ns;     /* until then it is not stopped: likewise */
	bool untouchable;       /* a stop told nothing (32-bit code): it gets no other */
	bool tasks_read;        /* those that it runs: they are read once */
	bool selected;          /* wanted by the user: captured, not only counted */
	bool excluded;          /* not observed at all, and never stopped: see excluded.c */
	uint64_t excluded_cpu_ns; /* CPU time at the last reading, while excluded */
	uint32_t profile_thread;
	bool shared;            /* with other threads of the same name */
	char name[64];
	uint32_t captures;      /* how often its stack was taken: when to ask for its name */

	/* When it is looked at. */
	uint32_t next_tick;     /* at this tick */
	uint32_t period;        /* 1/period was the chance of a look at each tick since the last */
	bool backed_off;        /* it was that long because the thread slept */
	uint32_t last_tick;     /* of the last look */
	uint64_t last_ns;       /* tick_ns of that tick */
	uint32_t since_tick;    /* first look of the present sleep */
	uint32_t held_tick;     /* when somebody last waited for what it had; 0: nobody did */

	/* What the last look saw. */
	bool seen;              /* there was one: the fields below say something */
	bool asleep;            /* and it has not run since while sched.switches stays */
	struct sched sched;
	enum run_state state;
	enum gil gil;
	uint32_t stack;         /* in the profile */
	long syscall;
	uint64_t sp, pc;        /* of the sleep */
	struct thread_wait wait;
	uint32_t task;          /* in the profile: the one that it ran; THREAD_NONE: none */

	size_t stack_need;      /* bytes to copy */
	/* It was asked to stop, and has not yet: see late.c. */
	struct pending *late;
	struct regs *memo;      /* as a stop has found them, for sleeps at the same sp and pc */
};

#endif
