/* SPDX-License-Identifier: MIT */
/* occupier_internal.h - a thread that takes one CPU for a tick (occupy_internal.h). */
#ifndef WALLSAMPLE_SAMPLER_OCCUPIER_INTERNAL_H
#define WALLSAMPLE_SAMPLER_OCCUPIER_INTERNAL_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/thread/own.h"
#include "wallsample/tracer/tracer.h"

struct priority;

/* An occupier that takes its CPU later than this after occupation.at_ns is not waited for. A kernel
 * without preemption lets a thread finish its system call first, or a part of it: most take less.
 * An occupier waits for the tick for as long. */
#define ARRIVE_NS (150 * NS_PER_US)
/* An occupier gives its CPU up at this time after occupation.at_ns at the latest. */
#define HOLD_NS (250 * NS_PER_US)

/* Most CPUs that are taken. With more of them an occupation would take CPU time from too many other
 * programs. */
#define OCCUPIERS_MOST 64

/* What the sampler's thread and the occupiers share. */
struct occupation {
	const struct priority *priority;
	bool realtime;
	bool timed;              /* occupiers note how they got their CPUs: occupier.taken */
	_Atomic uint32_t round;  /* number of the occupation, from 1 on; changes with at_ns */
	_Atomic uint64_t at_ns;  /* when the CPUs are to be taken; 0: not planned */
	_Atomic int tick_cpu;    /* CPU of the next tick, or of the one in progress */
	_Atomic bool tick_begun; /* a tick is in progress */
	_Atomic bool ends;
};

/*
 * When a thread of wallsample began to wait for its CPU, and when it got the CPU, by the clock of
 * own_thread_switch. Both are 0 if that is not known: the kernel does not show it, or the wait was
 * too long (ARRIVE_NS; WAITED_MOST_NS, occupy.c). The first one is too early if time of the wait
 * was stolen (stolen.h) or, in some kernels, used by interrupts, which this clock leaves out.
 */
struct cpu_taken {
	uint64_t queued_ns, switched_ns;
	bool crowded; /* other threads may have got the CPU during the wait */
	bool refused; /* the kernel may have refused to preempt the thread on the CPU (occupy.c) */
	bool claimed; /* the thread that lost the CPU is found */
};

struct occupier {
	struct occupation *shared; /* borrowed */
	pthread_t thread;
	int cpu;
	_Atomic uint32_t signals; /* a futex; changes when the occupier is to look again */
	_Atomic uint32_t armed;   /* the round for which it sleeps until at_ns; 0: none */
	_Atomic uint32_t arrived; /* the last round for which it has used its CPU */
	/* When it began to use its CPU, in the last round in which its timer has expired. */
	_Atomic uint64_t arrived_ns;
	/* Of the same round, if shared->timed. After occupier_has_arrived only the sampler's thread
	 * uses it. */
	struct cpu_taken taken;
	struct own_thread own;
	uint64_t delay_ns; /* own_thread_delay when it went to sleep */
};

/* Returns true if occupiers can take these CPUs: wallsample may use all of them, and there are at
 * most OCCUPIERS_MOST. */
bool occupiers_may_take(const cpu_set_t *set);
/* Starts an occupier for each CPU of the set, and returns their array, of *count elements, which
 * occupiers_end frees. NULL: a thread cannot be created. */
struct occupier *occupiers_start(struct occupation *shared, const cpu_set_t *set, size_t *count);
/* Ends the occupiers. */
void occupiers_end(struct occupation *shared, struct occupier *item, size_t count);
/* Begins a round, whose CPUs are taken at at_ns; 0: none are. An occupier that uses its CPU arms
 * itself for the round at once; one that sleeps has to be signalled. */
void occupation_begin(struct occupation *shared, uint64_t at_ns);

/* The sampler's thread may run on one CPU only. A zeroed struct: it may run on all of its own. */
struct cpu_pin {
	cpu_set_t own; /* CPUs that it may use otherwise */
	bool pinned;
};

/* Lets the calling thread run on this CPU only, which that CPU's occupier then need not take. Sets
 * pin->pinned to false if the kernel refuses. No effect if it is pinned already. */
void cpu_pin(struct cpu_pin *pin, int cpu);
/* Lets the kernel choose the CPU again. Stays pinned if the kernel refuses. */
void cpu_unpin(struct cpu_pin *pin);

/* Makes the occupier look at *shared again. */
void occupier_signal(struct occupier *self);
/* Returns true if the occupier uses its CPU for the tick in progress. */
bool occupier_has_arrived(const struct occupier *self);
/* Returns the moment at which the last CPU was taken for the tick in progress, at_ns at the
 * earliest; 0: an occupier other than that of the tick's CPU has not arrived yet. */
uint64_t occupiers_arrived(const struct occupation *shared, const struct occupier *item,
			   size_t count);
/* Returns how the calling thread, whose files are `own`, has got its CPU. delay_ns: its
 * own_thread_delay before it slept; most_ns: longest possible wait, the time since the timer was
 * due. */
struct cpu_taken occupier_taken(const struct own_thread *own, uint64_t delay_ns, uint64_t most_ns);
/*
 * Finds the CPU among `count` ones that a thread has lost to wallsample. switched_ns: when the
 * thread left its CPU; `asleep`: it has slept since. Returns RUNNING, and sets claimed of that CPU,
 * if the thread was on it when the wait for the CPU began: at most one thread a CPU. Returns
 * UNKNOWN if it may have been, or may have fallen asleep in a later system call; NOT_RUNNING
 * otherwise. CPUs of which nothing is known are left out.
 */
enum occupied_thread occupier_find(struct cpu_taken *const *taken, size_t count,
				   uint64_t switched_ns, bool asleep);

#endif
