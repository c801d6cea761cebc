/* SPDX-License-Identifier: MIT */
/*
 * test_python_parked.c - the lock for which a thread waits in CPython's parking lot, from entries
 * that are made by hand: of a lock, of an RLock, of an event, and damaged ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/futex.h>

#include "../scene/wait_scene.h"
#include "runtime/python/python_parked_internal.h"

#define ENTRY (MEMORY + PAGE) /* struct wait_entry of the waiting thread */
#define ADDR (ENTRY + 8)
#define SEMA (ENTRY + 16)
#define NEXT (ENTRY + 48)
#define BUCKET (MEMORY + 64) /* the list's head */
#define LOCK (MEMORY + 2 * PAGE + 16)
#define OWNER (LOCK + 8)
#define PTHREAD UINT64_C(0x7f3a70001640)
#define TID 4711

static struct python_thread thread = {.pthread = PTHREAD, .tid = TID};
static struct runtime_tools tools;
static struct cpython cpython = {
	.base = {.tools = &tools},
	.threads = {.thread = &thread, .count = 1},
};

/* An entry of a thread that waits for the PyMutex at LOCK, alone in its list. */
static void
put_entry(uint8_t bits, uint64_t owner)
{
	scene_clear();
	tools.memory = scene_source.memory;
	cpython.place.layout.version = 0x030e00f0;
	put64(ADDR, LOCK);
	put32(SEMA + 4, 1); /* one thread waits for the semaphore */
	put64(NEXT, BUCKET);
	put64(NEXT + 8, BUCKET);
	put64(BUCKET, NEXT);
	put64(BUCKET + 8, NEXT);
	put32(LOCK, bits);
	put64(OWNER, owner);
}

static bool
find_parked(void *context, uint64_t word, uint64_t *lock, uint64_t *owner)
{
	(void)context;
	return python_parked_find(&cpython, word, lock, owner);
}

static pid_t
find_owner(void *context, uint64_t owner)
{
	(void)context;
	return python_parked_owner(&cpython, owner);
}

/* Classifies the sleep on the semaphore, as sem_clockwait() of glibc makes it. */
static struct wait
classify(struct wait_owner *owner)
{
	struct wait_source source = scene_source;
	const struct wait_call call = {
		.state = RUN_SLEEPING, .number = syscall_number("futex"),
		.args = {SEMA, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG}};
	struct wait wait;

	source.runtime_parked = find_parked;
	source.parked_owner = find_owner;
	wait_classify(&source, &call, &wait);
	wait_owner(&source, &wait, owner);
	return wait;
}

static void
test_lock(void **state)
{
	struct wait_owner owner;
	struct wait wait;

	(void)state;
	put_entry(3, 0);
	wait = classify(&owner);
	assert_int_equal(wait.kind, WAIT_MUTEX);
	assert_true(wait.object == LOCK);
	assert_int_equal(owner.holder, HOLDER_UNRECORDED);
	/* behind the lock is what names no thread */
	put_entry(3, PTHREAD + 64);
	wait = classify(&owner);
	assert_int_equal(wait.kind, WAIT_MUTEX);
	assert_int_equal(owner.holder, HOLDER_UNRECORDED);
}

static void
test_rlock(void **state)
{
	struct wait_owner owner;
	struct wait wait;

	(void)state;
	put_entry(3, PTHREAD);
	wait = classify(&owner);
	assert_int_equal(wait.kind, WAIT_MUTEX_RECURSIVE);
	assert_true(wait.object == LOCK);
	assert_int_equal(owner.holder, HOLDER_THREAD);
	assert_int_equal(owner.tid, TID);
}

static void
test_none(void **state)
{
	struct wait_owner owner;

	(void)state;
	put_entry(2, 0); /* an event */
	assert_int_equal(classify(&owner).kind, WAIT_SEMAPHORE);
	put_entry(7, 0); /* no PyMutex */
	assert_int_equal(classify(&owner).kind, WAIT_SEMAPHORE);
	put_entry(3, 0);
	put64(BUCKET, NEXT + 8); /* the list does not contain the entry */
	assert_int_equal(classify(&owner).kind, WAIT_SEMAPHORE);
	put_entry(3, 0);
	put64(NEXT, UINT64_MAX - 7);
	assert_int_equal(classify(&owner).kind, WAIT_SEMAPHORE);
	put_entry(3, 0);
	put64(ADDR, UINT64_MAX);
	assert_int_equal(classify(&owner).kind, WAIT_SEMAPHORE);
	put_entry(3, 0);
	cpython.place.layout.version = 0x030c00f0; /* 3.12 has no parking lot */
	assert_int_equal(classify(&owner).kind, WAIT_SEMAPHORE);
	/* the entry is cut off at the end of memory */
	put_entry(3, 0);
	scene.end = NEXT + 8;
	assert_int_equal(classify(&owner).kind, WAIT_FUTEX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_rlock),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
