/* SPDX-License-Identifier: MIT */
/*
 * hold_occupy_internal.h - takes the CPUs of the target while a tick that holds threads requests
 * its stops.
 *
 * A stop request takes effect at the end of the system call that the thread makes before the
 * interrupt arrives (occupy_internal.h). A candidate that makes system calls often would be found
 * too seldom: in redis, a function between two calls of write(2) had 51 % of the CPU time, and was
 * found at 17 to 33 % of the ticks, so that a gain of 46 to 60 % was predicted as 20 %.
 *
 * Other ticks take the CPUs when they are due, and release them after the stop requests. A tick
 * that holds threads first observes all of them, which takes 50 to 300 us: in a tick of 1 ms that
 * is too long for threads that cannot run. It therefore takes the CPUs when it is expected to be
 * ready for its requests. The CPU on which the tick itself runs needs no occupier, because the
 * thread that ran there was preempted when the sampler woke.
 *
 * An occupation keeps the threads from running for some 20 us. It is omitted if few stops find a
 * running thread in a system call (call_share), because the stops are then right without it; if
 * ticks are too slow to plan it; and for a while if CPUs could not be taken in time.
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_OCCUPY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_OCCUPY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hold_occupy;
struct priority;
struct stop_request;

/* Share of the stops that find a running thread in a system call, at ticks that take no CPU. A
 * zeroed struct has counted none. */
struct call_share {
	double share;   /* mean of the latest stops */
	unsigned count; /* number of stops, at most CALL_STOPS_MOST (hold_occupy.c) */
	bool high;      /* it has become 3 % or more, and has not been below 1.5 % since */
};

/* Counts a stop. The first 16 do not set `high`. */
void call_share_add(struct call_share *calls, bool in_call);

/* Creates the occupiers for the CPUs of the process `pid`; to be freed with hold_occupy_free.
 * `priority` is borrowed. If the CPUs cannot be taken no tick takes them. */
struct hold_occupy *hold_occupy_create(pid_t pid, const struct priority *priority);
void hold_occupy_free(struct hold_occupy *occupy);

/* The functions below accept NULL, and do nothing then. */

/* Plans to take the CPUs for the tick that is due at due_ns, unless that is planned already. To be
 * called before the sampler sleeps until the tick. */
void hold_occupy_plan(struct hold_occupy *occupy, uint64_t due_ns);
/* Takes no CPU for the next tick, unless it is planned again. */
void hold_occupy_cancel(struct hold_occupy *occupy);
/* To be called when a tick begins. due_ns: when it was due. */
void hold_occupy_tick(struct hold_occupy *occupy, uint64_t due_ns);
/* To be called right before the stop requests. `running`: number of threads whose stop will be
 * requested. Waits until the CPUs are taken, if that is planned for this tick: at most 150 us from
 * the moment for which it is planned. Returns the moment since which no thread of the target has
 * run in user mode; 0: the CPUs are not taken. */
uint64_t hold_occupy_await(struct hold_occupy *occupy, size_t running);
/* To be called right after the stop requests: releases the CPUs. next_due_ns: when the next tick is
 * expected to be due. */
void hold_occupy_end(struct hold_occupy *occupy, uint64_t next_due_ns);
/* Counts a stop that this tick has requested. */
void hold_occupy_count(struct hold_occupy *occupy, const struct stop_request *request);
/* Returns the share of the stops in system calls if it was high and the CPUs were taken at less
 * than half of the ticks; 0: nothing is wrong. */
double hold_occupy_missed(const struct hold_occupy *occupy);

#endif
