/* SPDX-License-Identifier: MIT */
/*
 * test_progress_values.c - counters that wrap and go back, what is in progress, and tables of coz.h
 * points and texts of the kernel as nobody would write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"

/* The total after these readings. */
static uint64_t
total_of(unsigned size, const uint64_t *reading, size_t count)
{
	struct progress_counter counter = { .size = size };

	for (size_t i = 0; i < count; i++)
		progress_counter_step(&counter, reading[i]);
	return counter.total;
}

#define TOTAL(size, ...)                                                       \
	total_of(size, (const uint64_t[]){ __VA_ARGS__ },                      \
		 sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void
test_wrap(void **state)
{
	(void)state;
	assert_int_equal(TOTAL(1, 250), 0);
	assert_int_equal(TOTAL(1, 250, 255, 3), 9);
	assert_int_equal(TOTAL(1, 0, 255), 255);
	assert_int_equal(TOTAL(2, 65535, 0, 40000), 40001);
	assert_int_equal(TOTAL(4, 0xfffffffe, 1), 3);
	assert_int_equal(TOTAL(8, UINT64_MAX, 4), 5);
	assert_int_equal(TOTAL(8, 7, 7, 7), 0);
	/* Only the bytes of the counter count. */
	assert_int_equal(TOTAL(1, 0x100, 0x305), 5);
}

/* Set to zero, or counted down: nothing is added, and what comes then counts again. */
static void
test_back(void **state)
{
	struct progress_counter counter = { .size = 8 };

	(void)state;
	assert_int_equal(TOTAL(8, 1000, 0, 10), 10);
	assert_int_equal(TOTAL(4, 1000, 999, 998), 0);
	progress_counter_step(&counter, 10);
	progress_counter_step(&counter, 9);
	assert_int_equal(counter.back, 1);
}

static struct progress_entry
make_latency(enum progress_source_kind kind, unsigned begin_size, unsigned end_size)
{
	struct progress_entry entry = { .words = { .kind = CAUSAL_LATENCY, .source_count = 2 } };

	entry.words.source[0].kind = entry.words.source[1].kind = kind;
	entry.counter[0].size = begin_size;
	entry.counter[1].size = end_size;
	return entry;
}

static struct progress_value
after(struct progress_entry *entry, uint64_t begun, uint64_t ended)
{
	progress_counter_step(&entry->counter[0], begun);
	progress_counter_step(&entry->counter[1], ended);
	return progress_entry_value(entry);
}

static void
test_in_progress_exact(void **state)
{
	struct progress_entry entry = make_latency(PROGRESS_VAR, 1, 8);

	(void)state;
	after(&entry, 255, 250);
	progress_entry_start(&entry);
	assert_true(entry.exact);
	assert_int_equal(after(&entry, 255, 250).in_progress, 5);
	/* The begins have wrapped. */
	assert_int_equal(after(&entry, 3, 251).in_progress, 8);
	assert_int_equal(after(&entry, 3, 252).count, 2);
	/* An end was seen, its begin was not: never below none. */
	assert_int_equal(after(&entry, 3, 261).in_progress, 0);
	assert_int_equal(after(&entry, 9, 263).in_progress, 2);
}

/* Of counters that did not begin together the least that was seen is none. */
static void
test_in_progress_since(void **state)
{
	const enum progress_source_kind kind[] = { PROGRESS_FUNC, PROGRESS_IO };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kind); i++) {
		struct progress_entry entry = make_latency(kind[i], 8, 8);

		after(&entry, 0, 1000);
		progress_entry_start(&entry);
		assert_false(entry.exact);
		assert_int_equal(after(&entry, 2, 1001).in_progress, 1);
		/* Three ended that were in progress before we came. */
		assert_int_equal(after(&entry, 2, 1005).in_progress, 0);
		assert_int_equal(after(&entry, 4, 1005).in_progress, 2);
		assert_int_equal(after(&entry, 4, 1005).count, 5);
	}
}

static void
test_in_progress_unrelated(void **state)
{
	struct progress_entry entry = make_latency(PROGRESS_VAR, 8, 8);

	(void)state;
	after(&entry, 5, 1000);
	progress_entry_start(&entry);
	assert_false(entry.exact);
	assert_int_equal(after(&entry, 8, 1001).in_progress, 2);
}

static void
test_io(void **state)
{
	static const char text[] = "rchar: 12\nwchar: 18446744073709551615\nsyscr: 3\n";
	uint64_t value = 7;

	(void)state;
	assert_true(progress_io_parse(text, PROGRESS_RCHAR, &value));
	assert_int_equal(value, 12);
	assert_true(progress_io_parse(text, PROGRESS_WCHAR, &value));
	assert_true(value == UINT64_MAX);
	assert_false(progress_io_parse(text, PROGRESS_WRITE_BYTES, &value));
	assert_false(progress_io_parse("", PROGRESS_RCHAR, &value));
	assert_false(progress_io_parse("rchar:", PROGRESS_RCHAR, &value));
	assert_false(progress_io_parse("rchar: x\n", PROGRESS_RCHAR, &value));
	assert_false(progress_io_parse("cancelled_write_bytes: 4\n", PROGRESS_WRITE_BYTES,
				       &value));
}

/* --- tables of coz.h points ------------------------------------------------------------ */

static struct progress_coz_table *
make_table(void)
{
	struct progress_coz_table *table = xcalloc(1, sizeof(*table));

	memcpy(table->magic, PROGRESS_COZ_MAGIC, sizeof(table->magic));
	table->version = PROGRESS_COZ_VERSION;
	table->point_size = sizeof(struct progress_coz_point);
	table->most = PROGRESS_COZ_POINTS_MOST;
	table->used = 3;
	for (size_t i = 0; i < 3; i++)
		table->point[i] = (struct progress_coz_point){
			.type = PROGRESS_COZ_THROUGHPUT, .ready = 1, .name = "served",
		};
	return table;
}

static void
test_coz_table(void **state)
{
	struct progress_coz coz = { .table = 0x1000 };
	struct progress_coz_table *table = make_table();
	struct progress_coz_places places;

	(void)state;
	table->point[1].type = PROGRESS_COZ_END;
	assert_true(progress_coz_parse(&coz, table));
	assert_int_equal(coz.count, 3);
	assert_true(progress_coz_find(&coz, "served", PROGRESS_COZ_THROUGHPUT, &places));
	assert_int_equal(places.count, 2);
	assert_int_equal(places.address[0], 0x1000 + 40 - 8);
	assert_int_equal(places.address[1], 0x1000 + 40 - 8 + 2 * 264);
	assert_false(progress_coz_find(&coz, "served", PROGRESS_COZ_BEGIN, &places));
	assert_false(progress_coz_find(&coz, "serve", PROGRESS_COZ_END, &places));
	progress_coz_release(&coz);
	free(table);
}

static void
test_coz_points_left_out(void **state)
{
	struct progress_coz coz = { .table = 0x1000 };
	struct progress_coz_table *table = make_table();

	(void)state;
	table->used = PROGRESS_COZ_POINTS_MOST; /* the rest are zeros: not ready */
	table->point[0].type = 77;
	memset(table->point[1].name, 'x', sizeof(table->point[1].name));
	table->point[2].name[0] = '\0';
	assert_true(progress_coz_parse(&coz, table));
	assert_int_equal(coz.count, 0);
	assert_true(coz.waiting);
	for (size_t i = 0; i < PROGRESS_COZ_POINTS_MOST; i++)
		table->point[i] = (struct progress_coz_point){
			.type = 1, .ready = 1, .name = "same",
		};
	assert_true(progress_coz_parse(&coz, table));
	assert_int_equal(coz.count, PROGRESS_COZ_POINTS_MOST);
	assert_false(coz.waiting);
	progress_coz_release(&coz);
	free(table);
}

static void
test_coz_no_table(void **state)
{
	struct progress_coz coz = { .table = 0x1000 };
	struct progress_coz_table *table = make_table();

	(void)state;
	table->used = PROGRESS_COZ_POINTS_MOST + 1;
	assert_false(progress_coz_parse(&coz, table));
	table->used = UINT32_MAX;
	assert_false(progress_coz_parse(&coz, table));
	table->used = 1;
	table->most = UINT32_MAX;
	assert_false(progress_coz_parse(&coz, table));
	table->most = PROGRESS_COZ_POINTS_MOST;
	table->point_size = 0;
	assert_false(progress_coz_parse(&coz, table));
	table->point_size = sizeof(struct progress_coz_point);
	table->version++;
	assert_false(progress_coz_parse(&coz, table));
	table->version--;
	assert_true(progress_coz_parse(&coz, table));
	table->magic[7] = 0;
	assert_false(progress_coz_parse(&coz, table));
	progress_coz_release(&coz);
	free(table);
}

/* Whatever bytes are there: no reading outside, which the sanitizers and valgrind would see. */
static void
test_coz_any_bytes(void **state)
{
	struct progress_coz coz = { .table = 0x1000 };
	struct progress_coz_places places;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (int round = 0; round < 300; round++) {
		struct progress_coz_table *table = make_table();
		uint8_t *bytes = (uint8_t *)table;

		table->used = (uint32_t)(rng_next(&rng) % (PROGRESS_COZ_POINTS_MOST + 1));
		for (int i = 0; i < 4000; i++)
			bytes[offsetof(struct progress_coz_table, point) +
			      rng_next(&rng) % sizeof(table->point)] = (uint8_t)rng_next(&rng);
		assert_true(progress_coz_parse(&coz, table));
		progress_coz_find(&coz, "served", PROGRESS_COZ_THROUGHPUT, &places);
		assert_true(places.count <= PROGRESS_COZ_PLACES_MOST);
		free(table);
	}
	progress_coz_release(&coz);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_in_progress_exact),
		cmocka_unit_test(test_in_progress_since),
		cmocka_unit_test(test_in_progress_unrelated),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_coz_table),
		cmocka_unit_test(test_coz_points_left_out),
		cmocka_unit_test(test_coz_no_table),
		cmocka_unit_test(test_coz_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
