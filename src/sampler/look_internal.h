/* SPDX-License-Identifier: MIT */
/*
 * look_internal.h - looks at threads while a tick takes the CPUs of the target
 * (occupy_internal.h): reads counters and system calls, and finds out which threads were on a CPU.
 *
 * There are up to two looks at a thread. A first one is made only while CPUs are still being taken:
 * a kernel without preemption lets a thread finish its system call before it gives up its CPU, and
 * the interrupt with which an occupation begins also ends sleeps whose timers are nearly due. The
 * settled look is made when all CPUs are taken: from then on no thread of the target runs, and
 * observe.c uses what it has read.
 */
#ifndef WALLSAMPLE_SAMPLER_LOOK_INTERNAL_H
#define WALLSAMPLE_SAMPLER_LOOK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/thread/state.h"

struct observation;
struct run;
struct sampled_thread;

/* Largest number of due threads that are looked at in a tick: with more of them the occupation
 * would be over before the stops are requested. */
#define LOOKS_MOST 64

/* The last look at a thread in this tick. */
struct look {
	bool settled; /* all CPUs were taken: `sched` is valid, and not to be read again */
	bool taken;   /* `sched` and `call` are valid; false: not scheduled in since it slept */
	bool woken;   /* not taken: the thread has been woken since (thread_is_woken) */
	struct sched sched;
	struct syscall_info call; /* running, or the system call in which the thread sleeps */
	uint64_t at_ns;           /* when `sched` was read */
};

/*
 * The looks of a tick: observations of the threads that are due, at most LOOKS_MOST, and of those
 * that the search has found. The first `first` are to be made while the CPUs are occupied; of the
 * others only the looks are used, and their threads may be freed later in the tick. Zeroed: empty.
 */
struct looks {
	struct observation *item; /* owned */
	size_t count, first;
};

/*
 * Looks at threads while the CPUs of the target are occupied; to be called when a tick begins.
 * Begins observations of due threads (`all`: of all threads) and, if all CPUs are taken, of threads
 * that are not due, but were found on a CPU (look_seeks). Puts first those to be observed first:
 * the runnable ones, and those whose stack will change soon. Sets occupied_ns of *run. If it has
 * searched, sets tick.searched to the probability with which a thread on a CPU that is not due is
 * found; otherwise tick.searched must be, and stays, 0.
 */
void looks_take(struct looks *looks, struct run *run, bool all);
/*
 * True if looks_take searches for the thread at ticks at which it is not due (because of
 * --max-overhead). It does not search for a thread that was runnable at its last observation: the
 * time since then could not be divided among the states of the thread without bias. Nor does it
 * search for a thread that had slept for long by then, because such a thread is seldom on a CPU.
 */
bool look_seeks(const struct sampled_thread *thread);
/* Copies the looks into the observations of select_threads. To be called after the occupation. */
void looks_use(const struct looks *looks, const struct run *run, struct observation *observation,
	       size_t count);
void looks_release(struct looks *looks);
/* Makes a first look at a thread. Public for tests. */
void look_first(const struct run *run, struct observation *observation);
/*
 * Compares a later reading of the thread, made in this tick, with the look at it. A thread that was
 * asleep at the look, and has not been scheduled in since, still has the stack of its sleep: if it
 * is runnable now, *call becomes the call in which it slept. A thread that was runnable at the
 * look, whose CPU time has grown since although it was not scheduled in again, was on a CPU:
 * OCCUPIED_RAN.
 */
void look_compare(struct observation *observation, const struct sched *sched,
		  struct syscall_info *call);

#endif
