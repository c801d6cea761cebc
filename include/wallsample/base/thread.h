/* SPDX-License-Identifier: MIT */
/* thread.h - threads that handle no signals, and conditions that they wait for. */
#ifndef WALLSAMPLE_BASE_THREAD_H
#define WALLSAMPLE_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Starts a thread that calls run(context) with all signals blocked, so that other threads handle
 * them. Stores its id in *thread; the caller joins or detaches the thread. `stack` is the size of
 * the stack in bytes, at least PTHREAD_STACK_MIN; the kernel allocates its pages on first use. If
 * `ordinary` and permitted, the thread has the scheduling class SCHED_OTHER, else that of the
 * caller; the nice value is that of the caller. Returns 0 or an errno; *thread is then not set.
 */
int thread_start(pthread_t *thread, size_t stack, bool ordinary, void *(*run)(void *context),
		 void *context);

/* Initialises a condition whose timed waits use CLOCK_MONOTONIC (clock_now_ns). The caller releases
 * it with pthread_cond_destroy(3). */
void thread_condition_init(pthread_cond_t *condition);

#endif
