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
 * thread in a system call, because the stops are then right without it.
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_OCCUPY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_OCCUPY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hold_occupy;
struct priority;

/* Creates the occupiers for the CPUs of the process `pid`; to be freed with hold_occupy_free.
 * `priority` is borrowed. Returns NULL if the CPUs cannot be taken: then no tick takes them. All
 * functions below accept NULL, and do nothing then. */
struct hold_occupy *hold_occupy_create(pid_t pid, const struct priority *priority);
void hold_occupy_free(struct hold_occupy *occupy);
/* To be called when a tick begins. due_ns: when it was due; 0: not known. */
void hold_occupy_tick(struct hold_occupy *occupy, uint64_t due_ns);
/* To be called right before the stop requests. Waits until the CPUs are taken, if that is planned
 * for this tick: at most 150 us from the moment for which it is planned. */
void hold_occupy_await(struct hold_occupy *occupy);
/* To be called right after the stop requests: releases the CPUs, and plans to take them at the tick
 * that is due at next_due_ns, if stops in system calls are frequent. */
void hold_occupy_end(struct hold_occupy *occupy, uint64_t next_due_ns);
/* Counts a stop of the tick in progress. `call`: as stop_request.syscall. */
void hold_occupy_count(struct hold_occupy *occupy, long call);

#endif
