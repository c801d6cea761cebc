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
 * use their CPUs until the tick has observed all threads and requested all stops: meanwhile no
 * thread of the target executes code in user mode, and a preempted thread then goes to its stop
 * before it executes any. A sample of a running thread from such a tick is called exact. For the
 * program above, 0.6 % of the exact samples were in the call.
 *
 * There is one occupier for each CPU that both the target and wallsample may use. The CPU of the
 * tick itself needs none: the tick has preempted the thread that ran there.
 */
#ifndef WALLSAMPLE_SAMPLER_OCCUPY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_OCCUPY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Importance (struct observation) of a sample of a running thread that is not exact, in runs that
 * have exact samples, whose importance is 1. It is a factor for dividing a known CPU time of a
 * thread among the stacks of its samples: small, so that exact samples decide, and not 0, because a
 * thread may have none.
 */
#define IMPORTANCE_ROUGH (1.0 / 16.0)

struct occupy;
struct priority;

/*
 * Creates the occupiers; to be freed with occupy_free. `pid`: a process of the target, whose first
 * thread's CPUs are taken. `priority` is borrowed: each occupier gets its time slice.
 * max_share: the limit of --max-overhead as a number of CPUs; occupiers use a part of it. Returns
 * NULL if there are too many CPUs or a thread cannot be created: then no sample is exact.
 */
struct occupy *occupy_create(pid_t pid, const struct priority *priority, double max_share);
/* Ends the occupiers; NULL is allowed. */
void occupy_free(struct occupy *occupy);
/* Plans the occupation for the tick that is due at due_ns (CLOCK_MONOTONIC). No CPU is taken for
 * that tick if the occupiers have used more CPU time than they may, or no tick has found a running
 * thread for a while. To be called after each tick. */
void occupy_plan(struct occupy *occupy, uint64_t due_ns);
/* Tells the occupier of the calling thread's CPU to leave that CPU to the tick. To be called when a
 * tick begins. */
void occupy_tick(struct occupy *occupy);
/* Returns when the CPUs are to be occupied for the tick in progress; 0: they are not. */
uint64_t occupy_planned_ns(const struct occupy *occupy);
/* Begins to wait until all CPUs are occupied: to be followed by calls of occupy_arriving until it
 * returns false. That takes at most 400 us; the caller serves late threads meanwhile. If a CPU is
 * not occupied in time, occupy_end will return false. */
void occupy_begin(struct occupy *occupy);
bool occupy_arriving(struct occupy *occupy);
/* True if occupiers are to have their CPUs now. To be called after occupy_begin. */
bool occupy_is_due(const struct occupy *occupy);
/* Sets span_ns to the times from which and up to which occupiers may have taken CPUs, before
 * occupy_arriving has returned false; to 0 if no occupation was planned. */
void occupy_span(const struct occupy *occupy, uint64_t span_ns[2]);
/*
 * Ends the occupation. `running`: the number of threads whose stop was requested. next_due_ns: when
 * the next tick is expected. Returns true if all CPUs were occupied from the end of occupy_begin to
 * this call.
 */
bool occupy_end(struct occupy *occupy, size_t running, uint64_t next_due_ns);

#endif
