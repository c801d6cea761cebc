/* SPDX-License-Identifier: MIT */
/*
 * test_pages.c - pages that are kept for one walk: what is fetched again and what is not, holes,
 * and the ends of memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "runtime/pages_internal.h"
#include "wallsample/base/base.h"

#define PAGE ((uint64_t)MEMORY_PAGE)
#define FIRST (UINT64_C(1) << 20)
#define COUNT 400 /* pages that are there, from FIRST on, but for holes */
#define LAST_PAGE (UINT64_MAX - PAGE + 1)

struct scene {
	struct runtimes_config config;
	struct pages *pages;
	struct pages_memo memo;
	uint64_t hole;      /* a page that is not there */
	size_t reads;       /* by ones */
	size_t fetched;     /* pages together */
	uint8_t generation; /* memory has other bytes each time */
};

static uint8_t
byte_at(const struct scene *scene, uint64_t address)
{
	return (uint8_t)(address ^ address >> 8 ^ address >> 16 ^ scene->generation);
}

static bool
is_there(const struct scene *scene, uint64_t page)
{
	return page != scene->hole && (page == LAST_PAGE ||
	       (page >= FIRST && page < FIRST + COUNT * PAGE));
}

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	struct scene *scene = context;

	scene->reads++;
	for (size_t i = 0; i < size; i++) {
		if (!is_there(scene, (address + i) / PAGE * PAGE))
			return false;
		((uint8_t *)to)[i] = byte_at(scene, address + i);
	}
	return true;
}

static size_t
read_pages(void *context, const uint64_t *page, size_t count, void *to)
{
	struct scene *scene = context;
	size_t done = 0;

	for (; done < count && is_there(scene, page[done]); done++)
		for (size_t i = 0; i < MEMORY_PAGE; i++)
			((uint8_t *)to)[done * MEMORY_PAGE + i] = byte_at(scene, page[done] + i);
	scene->fetched += done;
	return done;
}

static int
start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));

	scene->config = (struct runtimes_config){
		.memory = { .read = read_memory, .context = scene },
		.read_pages = read_pages, .context = scene,
	};
	scene->pages = pages_create(&scene->config);
	*state = scene;
	return 0;
}

static int
end(void **state)
{
	struct scene *scene = *state;

	pages_free(scene->pages);
	free(scene);
	return 0;
}

static void
expect_bytes(struct scene *scene, uint64_t address, size_t size)
{
	uint8_t bytes[3 * MEMORY_PAGE];

	assert_true(size <= sizeof(bytes));
	assert_true(pages_read(scene->pages, address, bytes, size));
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], byte_at(scene, address + i));
}

static void
expect_none(struct scene *scene, uint64_t address, size_t size)
{
	uint8_t bytes[3 * MEMORY_PAGE];

	assert_false(pages_read(scene->pages, address, bytes, size));
}

/* A page is read once a walk, and again in the next. */
static void
test_once(void **state)
{
	struct scene *scene = *state;

	pages_begin(scene->pages, NULL);
	expect_bytes(scene, FIRST + 8, 8);
	expect_bytes(scene, FIRST + 4000, 96);
	assert_int_equal(scene->reads, 1);
	expect_bytes(scene, FIRST + 4000, 200);
	assert_int_equal(scene->reads, 2);
	expect_bytes(scene, FIRST + 100, 2 * MEMORY_PAGE);
	assert_int_equal(scene->reads, 3);
	scene->generation++;
	pages_begin(scene->pages, NULL);
	expect_bytes(scene, FIRST + 8, 8);
	assert_int_equal(scene->reads, 4);
	expect_bytes(scene, FIRST + 5, 0);
	assert_int_equal(scene->reads, 4);
}

/* What the last walk read from comes with one call; what it did not need is forgotten. */
static void
test_memo(void **state)
{
	struct scene *scene = *state;

	pages_begin(scene->pages, &scene->memo);
	for (uint64_t i = 0; i < 5; i++)
		expect_bytes(scene, FIRST + 3 * i * PAGE, 8);
	pages_keep(scene->pages, &scene->memo);
	assert_int_equal(scene->memo.count, 5);
	assert_int_equal(scene->fetched, 0);
	scene->generation++;
	scene->reads = 0;
	pages_begin(scene->pages, &scene->memo);
	assert_int_equal(scene->fetched, 5);
	expect_bytes(scene, FIRST, 8);
	expect_bytes(scene, FIRST + 6 * PAGE, 8);
	expect_bytes(scene, FIRST + 20 * PAGE, 8);
	assert_int_equal(scene->reads, 1);
	pages_keep(scene->pages, &scene->memo);
	assert_int_equal(scene->memo.count, 3);
}

static void
test_memo_is_bounded(void **state)
{
	struct scene *scene = *state;

	pages_begin(scene->pages, NULL);
	for (uint64_t i = 0; i < 2 * PAGES_EXPECTED; i++)
		expect_bytes(scene, FIRST + i * PAGE, 8);
	pages_keep(scene->pages, &scene->memo);
	assert_int_equal(scene->memo.count, PAGES_EXPECTED);
}

/* Without a function for many pages, nothing is fetched ahead. */
static void
test_memo_alone(void **state)
{
	struct scene *scene = *state;

	scene->config.read_pages = NULL;
	pages_begin(scene->pages, NULL);
	expect_bytes(scene, FIRST, 8);
	pages_keep(scene->pages, &scene->memo);
	pages_begin(scene->pages, &scene->memo);
	assert_int_equal(scene->reads, 1);
	expect_bytes(scene, FIRST, 8);
	assert_int_equal(scene->reads, 2);
}

static void
test_hole(void **state)
{
	struct scene *scene = *state;

	pages_begin(scene->pages, NULL);
	for (uint64_t i = 0; i < 4; i++)
		expect_bytes(scene, FIRST + i * PAGE, 8);
	pages_keep(scene->pages, &scene->memo);
	/* It has been unmapped since: those behind it are read one by one. */
	scene->hole = FIRST + PAGE;
	scene->generation++;
	pages_begin(scene->pages, &scene->memo);
	expect_bytes(scene, FIRST, 8);
	expect_none(scene, FIRST + PAGE, 8);
	expect_none(scene, FIRST + PAGE - 4, 8);
	expect_none(scene, FIRST + 100, 2 * MEMORY_PAGE);
	expect_bytes(scene, FIRST + 2 * PAGE, 8);
	expect_bytes(scene, FIRST + 3 * PAGE, 8);
	pages_keep(scene->pages, &scene->memo);
	assert_int_equal(scene->memo.count, 3);
}

static void
test_ends_of_memory(void **state)
{
	struct scene *scene = *state;

	pages_begin(scene->pages, NULL);
	expect_none(scene, 0, 8);
	expect_none(scene, 1, 1);
	expect_none(scene, FIRST - 4, 8);
	expect_none(scene, FIRST + COUNT * PAGE - 4, 8);
	expect_bytes(scene, LAST_PAGE + 8, 8);
	/* Behind the last byte of all is nothing, and not the first. */
	expect_none(scene, UINT64_MAX - 3, 8);
	expect_none(scene, UINT64_MAX, 3 * MEMORY_PAGE);
}

/* A walk that goes through more than are kept reads the rest directly, and rightly. */
static void
test_more_than_are_kept(void **state)
{
	struct scene *scene = *state;

	scene->hole = FIRST + (COUNT - 1) * PAGE;
	for (int walk = 0; walk < 3; walk++) {
		pages_begin(scene->pages, &scene->memo);
		for (uint64_t i = 0; i + 2 < COUNT; i++)
			expect_bytes(scene, FIRST + i * PAGE + 4090, 12);
		expect_none(scene, scene->hole, 8);
		expect_none(scene, scene->hole - 4, 8);
		pages_keep(scene->pages, &scene->memo);
		assert_int_equal(scene->memo.count, PAGES_EXPECTED);
		scene->generation++;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once, start, end),
		cmocka_unit_test_setup_teardown(test_memo, start, end),
		cmocka_unit_test_setup_teardown(test_memo_is_bounded, start, end),
		cmocka_unit_test_setup_teardown(test_memo_alone, start, end),
		cmocka_unit_test_setup_teardown(test_hole, start, end),
		cmocka_unit_test_setup_teardown(test_ends_of_memory, start, end),
		cmocka_unit_test_setup_teardown(test_more_than_are_kept, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
