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
 * Ticks that do not hold threads take the CPUs when they are due, and release them after the stop
 * requests. A tick that holds threads observes all threads before its requests, which takes 50 to
 * 300 us. If it kept the CPUs for that time, it would cost up to 30 % of a tick interval of 1 ms.
 * It therefore takes the CPUs at the moment at which it expects to make its requests. The CPU on
 * which the tick runs needs no occupier: the sampler preempted the thread there when it woke.
 *
 * An occupation keeps the threads from running for some 20 us. No CPU is taken if few stops find a
 * running thread in a system call (call_share), because stops alone then find code as often as it
 * runs; if ticks need too long until their requests; for a while after CPUs were not taken in time;
 * and in runs that count by breakpoints (begin_occupation, sampler.c).
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

/* Counts a stop. `high` stays false until 16 stops are counted (CALL_STOPS_LEAST). */
void call_share_add(struct call_share *calls, bool in_call);

/* Creates the occupiers for the CPUs of the process `pid`; to be freed with hold_occupy_free.
 * `priority` is borrowed. If the CPUs cannot be taken no tick takes them. */
struct hold_occupy *hold_occupy_create(pid_t pid, const struct priority *priority);
void hold_occupy_free(struct hold_occupy *occupy);

/* The functions below accept NULL: they then do nothing, and return 0. */

/* Plans to take the CPUs for the tick that is due at due_ns, unless that is planned already. To be
 * called before the sampler sleeps until the tick. */
void hold_occupy_plan(struct hold_occupy *occupy, uint64_t due_ns);
/* Takes no CPU for the next tick, unless it is planned again. */
void hold_occupy_cancel(struct hold_occupy *occupy);
/* To be called when a tick begins that was due at due_ns. If CPUs are taken for this tick, pins the
 * sampler's thread to its present CPU, and lets occupiers that have their CPUs keep them. Cancels
 * the occupation if it was planned for another tick, or if the tick begins before due_ns. */
void hold_occupy_tick(struct hold_occupy *occupy, uint64_t due_ns);
/* To be called right before the stop requests. `running`: number of threads whose stop will be
 * requested. Waits until the CPUs are taken, if that is planned for this tick: at most 150 us from
 * the moment for which it is planned. Returns the moment since which no thread of the target has
 * run in user mode; 0: the CPUs are not taken. */
uint64_t hold_occupy_await(struct hold_occupy *occupy, size_t running);
/* To be called right after the stop requests: releases the CPUs and the sampler's thread. If
 * next_due_ns, the expected due time of the next tick, is far enough away, plans its occupation. */
void hold_occupy_end(struct hold_occupy *occupy, uint64_t next_due_ns);
/* To be called for each stop that was not late. Counts it in call_share if the tick took no CPU,
 * and the thread was captured while it ran. */
void hold_occupy_count(struct hold_occupy *occupy, const struct stop_request *request);
/* Returns the share of the stops in system calls if `high` is set, and the CPUs were taken at less
 * than half of the ticks that requested a stop; 0 otherwise. */
double hold_occupy_missed(const struct hold_occupy *occupy);

#endif
