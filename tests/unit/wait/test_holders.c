/* SPDX-License-Identifier: MIT */
/* test_holders.c - who has a pipe open, when only one of many threads has descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "../scene/sleeping_child.h"
#include "wait/descriptor_internal.h"

/* As many threads besides the first are looked at. */
#define THREADS 64

static pthread_barrier_t barrier;

/* Gives the thread a table of descriptors of its own, with none in it. */
static void
close_all(void)
{
	if (unshare(CLONE_FILES) != 0)
		_exit(1);
	for (int fd = 0; fd < 256; fd++)
		close(fd);
}

static void *
without(void *nothing)
{
	close_all();
	pthread_barrier_wait(&barrier);
	pause();
	return nothing;
}

static void *
with(void *out)
{
	pthread_barrier_wait(&barrier);
	if (write(*(const int *)out, "x", 1) != 1)
		_exit(1);
	pause();
	return NULL;
}

static void
run(int in, int out)
{
	pthread_t thread;

	(void)in;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, i < THREADS - 1 ? without : with, &out) != 0)
			_exit(1);
	close_all();
	pthread_barrier_wait(&barrier);
	pause();
}

static void
test_last_thread(void **state)
{
	struct sleeping_child child;
	struct holders_found found;
	struct holders *holders;
	char name[32], link[64];
	ssize_t length;

	(void)state;
	sleeping_child_start(&child, run);
	sleeping_child_hear(&child);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", child.from);
	length = readlink(name, link, sizeof(link) - 1);
	assert_true(length > 0);
	link[length] = '\0';
	holders = holders_scan();
	holders_find(holders, getpid(), link, HOLDER_WRITES, &found);
	assert_int_equal(found.named, 1);
	assert_int_equal(found.pid[0], child.pid);
	holders_free(holders);
	sleeping_child_release(&child);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
