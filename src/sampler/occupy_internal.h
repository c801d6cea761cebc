/* SPDX-License-Identifier: MIT */
/*
 * occupy_internal.h - takes all CPUs of the target for some microseconds, so that its running
 * threads are stopped where the tick has interrupted them.
 *
 * A stop request (PTRACE_INTERRUPT) takes effect at the thread's next return to user mode. On
 * another CPU that is the arrival of an interrupt, some microseconds after the request, or the end
 * of a system call that the thread makes in these microseconds. Code that follows a system call is
 * therefore sampled too seldom, and the system call too often: for a thread that computed for 20 us
 * between two calls of getppid(2), 38 % of the samples were in the call, in place of 0.5 %.
 *
 * An occupier is a thread of wallsample that may use one CPU only, and sleeps by a timer of that
 * CPU. The interrupt of the timer preempts the thread of the target, wherever it is. The occupiers
 * use their CPUs until the tick has observed the threads that may have been on a CPU and requested
 * their stops: meanwhile no thread of the target executes code in user mode, and a preempted thread
 * then goes to its stop before it executes any. The sample of a thread is called exact if the
 * kernel's record of switches proves that the thread was on a CPU when the timer expired
 * (occupy_find). Where the kernel has no such record, the samples of all threads that may have been
 * on a CPU are called exact. For the program above, 0.5 % of the exact samples were in the call.
 *
 * Ticks that hold threads use occupiers in another way: hold/hold_occupy_internal.h.
 *
 * There is one occupier for each CPU that the target may use. The CPU of the tick itself needs
 * none, because the tick preempts the thread that runs there: the sampler's thread may wake only on
 * the CPU on which it went to sleep, and the occupier of that CPU sleeps on.
 *
 * The kernel lets a thread that has waited for long keep its CPU when an occupier wakes, whatever
 * the nice value and the time slice of the occupier. A real-time class is the only remedy.
 */
#ifndef WALLSAMPLE_SAMPLER_OCCUPY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_OCCUPY_INTERNAL_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/tracer/tracer.h"

/*
 * Importance (struct observation) of a sample of a running thread that is not exact, in runs that
 * have exact samples, whose importance is 1. It is a factor for dividing a known CPU time of a
 * thread among the stacks of its samples: small, so that exact samples decide, and not 0, because a
 * thread may have none.
 */
#define IMPORTANCE_ROUGH (1.0 / 64.0)

struct occupy;
struct priority;

/*
 * Creates the occupiers of the CPUs of `set`; to be freed with occupy_free. `priority` is borrowed:
 * each occupier gets its time slice or, with `realtime`, a real-time class, which occupy_sleep then
 * enters, too. max_share: the limit of --max-overhead as a number of CPUs; occupiers use a part of
 * it. Returns NULL if there are too many CPUs or a thread cannot be created: then no sample is
 * exact.
 */
struct occupy *occupy_create(const cpu_set_t *set, struct priority *priority, double max_share,
			     bool realtime);
/* Ends the occupiers; NULL is allowed. */
void occupy_free(struct occupy *occupy);
/* Plans the occupation for the tick that is due at due_ns (CLOCK_MONOTONIC). No CPU is taken for
 * that tick if the occupiers have used more CPU time than they may, if no tick has requested a stop
 * for a while, or if the last tick began late (LATE_NS). To be called after each tick. */
void occupy_plan(struct occupy *occupy, uint64_t due_ns);
/* To be called before the sampler sleeps until the tick is due. Pins the calling thread to its
 * present CPU, which that CPU's occupier will not take, and with `realtime` enters the real-time
 * class. Does nothing if no occupation is planned. Without this call no CPU is taken. */
void occupy_sleep(struct occupy *occupy);
/* Lets the kernel choose the CPU again, and leaves the real-time class. To be called when the sleep
 * has ended before the tick was due, and before work that may take long. occupy_end calls it. */
void occupy_relax(struct occupy *occupy);
/* To be called when a tick begins: occupiers that already have their CPUs wait for this call. */
void occupy_tick(struct occupy *occupy);
/* True while CPUs are still being taken for the tick in progress: to be called again until it
 * returns false, 150 us after the tick was due at the latest. False if none are to be taken. */
bool occupy_arriving(struct occupy *occupy);
/* After occupy_arriving has returned false: true if all CPUs are occupied. */
bool occupy_is_complete(const struct occupy *occupy);
/* True if the kernel shows when a thread has got or left its CPU (own_thread_switch). */
bool occupy_has_switches(const struct occupy *occupy);
/* Returns the number of CPUs, that of the tick included, of which it is known when they were taken.
 * To be called after occupy_is_complete has returned true, as the next two functions. */
size_t occupy_switches(struct occupy *occupy);
/* Returns the number of those of them whose thread occupy_find has not found yet. */
size_t occupy_missing(struct occupy *occupy);
/*
 * Finds out whether a thread was on a CPU when the timers of the tick expired. switched_ns: the
 * thread's last switch (watch_read_switch); 0: the thread is known to have lost none of these CPUs.
 * `asleep`: the thread sleeps. Sets *occupied to RUNNING if occupier_find returns that; the CPU is
 * then no longer missing. Otherwise changes UNKNOWN to NOT_RUNNING if it is known when each CPU was
 * taken, and occupier_find excludes the thread for all of them.
 */
void occupy_find(struct occupy *occupy, uint64_t switched_ns, bool asleep,
		 enum occupied_thread *occupied);
/* Sets span_ns to the time when the tick was due, and the time up to which occupiers have taken
 * CPUs, or may do so. Sets both to 0 if no occupation was planned. To be called when
 * occupy_arriving has returned false. */
void occupy_span(const struct occupy *occupy, uint64_t span_ns[2]);
/*
 * Ends the occupation. `running`: the number of threads whose stop was requested. next_due_ns: when
 * the next tick is expected. Returns true if all CPUs have been occupied since occupy_is_complete
 * has returned true.
 */
bool occupy_end(struct occupy *occupy, size_t running, uint64_t next_due_ns);
/* Counts the tick as one with a running thread. To be called if one is found after occupy_end. */
void occupy_note_running(struct occupy *occupy);

#endif
