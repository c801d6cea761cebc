/* SPDX-License-Identifier: MIT */
/* thread.c - threads that handle no signals, and conditions that they wait for. */
#include "wallsample/base/thread.h"

#include <errno.h>
#include <signal.h>

void
thread_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

int
thread_start(pthread_t *thread, size_t stack, bool ordinary, void *(*run)(void *context),
	     void *context)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_attr_setstacksize(&attributes, stack);
	/* The attributes have SCHED_OTHER unless another class is set. */
	if (error == 0 && ordinary)
		error = pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	if (error == 0)
		error = pthread_create(thread, &attributes, run, context);
	/* Leaving SCHED_IDLE takes CAP_SYS_NICE. */
	if (error == EPERM && ordinary) {
		pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
		error = pthread_create(thread, &attributes, run, context);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}
