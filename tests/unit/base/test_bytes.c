/* SPDX-License-Identifier: MIT */
/* test_bytes.c - numbers in foreign bytes, and the bounds of reads of a target's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/bytes.h"
#include "wallsample/base/memory.h"

static void
test_numbers(void **state)
{
	static const uint8_t bytes[] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 0x88 };

	(void)state;
	assert_int_equal(bytes_u32(bytes + 1), 0x04030201);
	assert_true(bytes_u64(bytes + 1) == UINT64_C(0x8807060504030201));
	assert_int_equal(bytes_little(bytes + 1, 3), 0x030201);
	assert_int_equal(bytes_big(bytes + 1, 3), 0x010203);
	assert_true(bytes_big(bytes + 1, 8) == UINT64_C(0x0102030405060788));
	assert_int_equal(bytes_little(bytes, 0), 0);
}

static bool
count_read(void *context, uint64_t address, void *to, size_t size)
{
	(void)address;
	memset(to, 0, size);
	++*(unsigned *)context;
	return true;
}

static void
test_memory_does_not_wrap(void **state)
{
	unsigned reads = 0;
	const struct memory memory = { .read = count_read, .context = &reads };
	uint8_t bytes[16];

	(void)state;
	assert_true(memory_read(&memory, UINT64_MAX - 15, bytes, sizeof(bytes)));
	assert_true(memory_read(&memory, UINT64_MAX, bytes, 1));
	assert_false(memory_read(&memory, UINT64_MAX - 14, bytes, sizeof(bytes)));
	assert_false(memory_read(&memory, UINT64_MAX, bytes, sizeof(bytes)));
	assert_int_equal(reads, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_memory_does_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
