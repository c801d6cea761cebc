/* SPDX-License-Identifier: MIT */
/* thread.h - threads that handle no signals, and conditions that they wait for. */
#ifndef WALLSAMPLE_BASE_THREAD_H
#define WALLSAMPLE_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Starts a thread that calls run(context), with all signals blocked: wallsample's first thread
 * handles them. The stack has `stack` bytes, which the kernel allocates on first use. If
 * `ordinary`, the thread has the scheduling class SCHED_OTHER, else that of the caller. Returns 0,
 * or an errno.
 */
int thread_start(pthread_t *thread, size_t stack, bool ordinary, void *(*run)(void *context),
		 void *context);

/* Initialises a condition whose timed waits end by CLOCK_MONOTONIC (clock_now_ns). */
void thread_condition_init(pthread_cond_t *condition);

#endif
