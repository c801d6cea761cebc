/* SPDX-License-Identifier: MIT */
/*
 * hold_occupy_internal.h - takes the CPUs of the target while a tick that holds threads observes
 * them and requests its stops. There are two reasons for it.
 *
 * The sampler uses one CPU at a tick, and on a machine without a free CPU delays the thread that
 * ran there while the others run on. With bursts and ticks of 1 ms, a latency that is 5.0 times as
 * long with a faster function was then predicted as 4.5 times, and with all CPUs taken as 5.0
 * times. The shorter the ticks, the larger this error: if the mean interval is shorter than 2.5 ms,
 * and no CPU is free, CPUs are taken at nearly each tick.
 *
 * A stop request takes effect at the end of the system call that the thread makes before the
 * interrupt arrives (occupy_internal.h). A candidate that makes system calls often would be found
 * too seldom: in redis, a function between two calls of write(2) had 51 % of the CPU time, and was
 * found at 17 to 33 % of the ticks, so that a gain of 46 to 60 % was predicted as 20 %.
 *
 * So with longer intervals CPUs are taken if more than a few stops find a running thread in a
 * system call (call_share).
 *
 * The CPUs are taken when the tick is due, or, of a program with many threads, 100 us before the
 * tick expects to have observed them. The CPU on which the tick runs needs no occupier: the sampler
 * is pinned to it before it sleeps, and preempts the thread there when it wakes. No CPU is taken if
 * ticks need too long until their requests; for a while after CPUs were not taken in time, or a
 * tick was late; and in runs that count by breakpoints (begin_occupation, sampler.c).
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_OCCUPY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_OCCUPY_INTERNAL_H

#include <sched.h>
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

/* Creates the occupiers for the CPUs of `set`, which may be empty; to be freed with
 * hold_occupy_free. `priority` is borrowed. rate_hz: ticks per second. If the CPUs cannot be taken
 * no tick takes them. */
struct hold_occupy *hold_occupy_create(const cpu_set_t *set, const struct priority *priority,
				       double rate_hz);
void hold_occupy_free(struct hold_occupy *occupy);

/* The functions below accept NULL: they then do nothing, and return 0. */

/* Plans to take the CPUs for the tick that is due at due_ns, unless that is planned already, and
 * pins the sampler's thread to its present CPU. To be called before the sampler sleeps until the
 * tick. */
void hold_occupy_plan(struct hold_occupy *occupy, uint64_t due_ns);
/* Takes no CPU for the next tick, unless it is planned again, and unpins the sampler's thread. */
void hold_occupy_cancel(struct hold_occupy *occupy);
/* To be called when a tick begins that was due at due_ns. If CPUs are taken for this tick, lets
 * occupiers that have their CPUs keep them. Cancels the occupation if it was planned for another
 * tick, if the tick begins before due_ns, or if the sampler's thread is not pinned. */
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
