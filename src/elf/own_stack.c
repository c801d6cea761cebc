/* SPDX-License-Identifier: MIT */
/*
 * own_stack.c - calls a function on the stack of a new thread, whose memory the kernel allocates
 * on first use.
 */
#include "elf/symbol_names_internal.h"

#include <pthread.h>
#include <signal.h>

struct call {
	void (*function)(void *context);
	void *context;
};

static void *
run_call(void *opaque)
{
	const struct call *call = opaque;

	call->function(call->context);
	return NULL;
}

void
own_stack_call(size_t size, void (*function)(void *context), void *context)
{
	struct call call = { function, context };
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_attr_setstacksize(&attributes, size) == 0 &&
	    pthread_create(&thread, &attributes, run_call, &call) == 0)
		pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}
