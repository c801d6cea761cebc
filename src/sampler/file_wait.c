/* SPDX-License-Identifier: MIT */
/* file_wait.c - what happens to the threads of the target while wallsample waits for one of its
 * files (file_proxy.h). */
#include "sampler/sampler_internal.h"
#include "wallsample/base/file_proxy.h"
#include "wallsample/tracer/tracer_count.h"

/* Called before a wait: releases the threads that are held. Those that stop during the wait are
 * released by a signal handler, and their samples get no stack (FAILURE_LATE). */
static void
leave_for_file(void *context)
{
	struct file_wait *wait = context;
	const struct tracer *tracer = wait->hold->run->tracer;

	/* Threads that reach a breakpoint wait for the tracer, too. */
	wait->left = tracer != NULL && (tracer_outstanding(tracer) > 0 ||
					tracer_count_state(tracer) == COUNT_RUNNING);
	if (wait->left)
		hold_pause(wait->hold);
}

static void
return_from_file(void *context)
{
	struct file_wait *wait = context;

	if (wait->left)
		hold_resume(wait->hold);
}

static struct file_proxy *
proxy_of(const struct file_wait *wait)
{
	return modules_proxy(maps_modules(wait->hold->run->processes.item[0]->maps));
}

void
file_wait_begin(struct file_wait *wait, const volatile sig_atomic_t *stop)
{
	const struct file_waiting waiting = {
		.begin = leave_for_file,
		.end = return_from_file,
		.context = wait,
		.stop = stop,
	};

	file_proxy_set_waiting(proxy_of(wait), &waiting);
}

void
file_wait_end(const struct file_wait *wait, const volatile sig_atomic_t *stop)
{
	const struct file_waiting waiting = { .stop = stop };

	file_proxy_set_waiting(proxy_of(wait), &waiting);
}
