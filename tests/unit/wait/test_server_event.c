/* SPDX-License-Identifier: MIT */
/* test_server_event.c - names of the locks that a database server publishes, and damaged memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "wallsample/wait/server_event.h"

/* Where the pointer is, and where it points to. */
#define VARIABLE 0x1000
#define NUMBER 0x2000

static struct {
	uint64_t pointer;
	uint32_t number;
	bool readable;
} target;

static bool
read_target(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	if (address == VARIABLE && size == sizeof(target.pointer))
		memcpy(to, &target.pointer, size);
	else if (address == NUMBER && size == sizeof(target.number) && target.readable)
		memcpy(to, &target.number, size);
	else
		return false;
	return true;
}

static const struct memory memory = { .read = read_target };

/* Checks the name of the lock; NULL: there is none. */
static void
expect_lock(uint32_t number, uint32_t locks, enum wait_kind kind, const char *name)
{
	const struct server_process process = { .variable = VARIABLE, .locks = locks };
	struct strbuf text = STRBUF_INIT;

	target.pointer = NUMBER;
	target.number = number;
	target.readable = true;
	assert_int_equal(server_process_add_lock(&process, &memory, kind, &text), name != NULL);
	if (name != NULL)
		assert_string_equal(text.data, name);
	else
		assert_int_equal(text.length, 0);
	strbuf_release(&text);
}

static void
test_names(void **state)
{
	(void)state;
	/* What pg_stat_activity of PostgreSQL 15 calls them, which has 48 single locks. */
	expect_lock(0x03000000, 48, WAIT_EPOLL, "relation");
	expect_lock(0x03000005, 48, WAIT_EPOLL, "row (transactionid, tuple)");
	expect_lock(0x03000004, 48, WAIT_POLL, "row (transactionid, tuple)");
	expect_lock(0x0300000a, 48, WAIT_EPOLL, "advisory");
	expect_lock(0x01000008, 48, WAIT_SEMAPHORE, "WALWrite (LWLock)");
	expect_lock(0x01000008, 48, WAIT_FUTEX, "WALWrite (LWLock)");
	expect_lock(0x01000004, 0, WAIT_SEMAPHORE, "ProcArray (LWLock)");
	expect_lock(0x01000037, 48, WAIT_SEMAPHORE, "WALInsert (LWLock)");
	expect_lock(0x01000038, 48, WAIT_SEMAPHORE, "BufferContent (LWLock)");
	expect_lock(0x0100003e, 48, WAIT_SEMAPHORE, "PredicateLockManager (LWLock)");
	/* No names. */
	expect_lock(0x0100003f, 48, WAIT_SEMAPHORE, "LWLock 63");
	expect_lock(0x01000037, 0, WAIT_SEMAPHORE, "LWLock 55");
	expect_lock(0x0100000a, 48, WAIT_SEMAPHORE, "LWLock 10");
	expect_lock(0x0100ffff, 48, WAIT_SEMAPHORE, "LWLock 65535");
}

static void
test_others(void **state)
{
	(void)state;
	/* The number of no lock, or of one that is not waited for in such a call. */
	expect_lock(0, 48, WAIT_SEMAPHORE, NULL);
	expect_lock(0x06000000, 48, WAIT_EPOLL, NULL);
	expect_lock(0xffffffff, 48, WAIT_EPOLL, NULL);
	expect_lock(0x0300000c, 48, WAIT_EPOLL, NULL);
	expect_lock(0x0300ffff, 48, WAIT_EPOLL, NULL);
	expect_lock(0x03000005, 48, WAIT_SEMAPHORE, NULL);
	expect_lock(0x01000008, 48, WAIT_EPOLL, NULL);
	expect_lock(0x01000008, 48, WAIT_MUTEX, NULL);
	expect_lock(0x01000008, 48, WAIT_SLEEP, NULL);
}

static void
test_damaged(void **state)
{
	struct server_process process = { .variable = VARIABLE };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	target.number = 0x01000008;
	target.readable = true;
	target.pointer = 0;
	assert_false(server_process_add_lock(&process, &memory, WAIT_SEMAPHORE, &text));
	target.pointer = UINT64_MAX - 1;
	assert_false(server_process_add_lock(&process, &memory, WAIT_SEMAPHORE, &text));
	target.pointer = NUMBER;
	target.readable = false;
	assert_false(server_process_add_lock(&process, &memory, WAIT_SEMAPHORE, &text));
	process.variable = UINT64_MAX;
	assert_false(server_process_add_lock(&process, &memory, WAIT_SEMAPHORE, &text));
	process.variable = 0;
	target.readable = true;
	assert_false(server_process_add_lock(&process, &memory, WAIT_SEMAPHORE, &text));
	assert_int_equal(text.length, 0);
	strbuf_release(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
