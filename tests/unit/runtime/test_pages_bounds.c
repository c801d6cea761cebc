/* SPDX-License-Identifier: MIT */
/*
 * test_pages_bounds.c - pages of a target's memory for one capture: which are in memory, and how
 * many are read at most.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/pages_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/resident.h"

#define BASE UINT64_C(0x7f0000000000)

/* Memory whose pages are full of the lowest byte of their number. */
struct scene {
	struct runtimes_config config;
	uint32_t there, swapped; /* of the pages of each RESIDENT_BYTES: bit n */
	size_t reads, asked;
};

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	struct scene *scene = context;

	scene->reads++;
	memset(to, (int)(address / MEMORY_PAGE & 0xff), size);
	return true;
}

static size_t
read_pages(void *context, const uint64_t *page, size_t count, void *to)
{
	for (size_t i = 0; i < count; i++)
		read_memory(context, page[i], (uint8_t *)to + i * MEMORY_PAGE, MEMORY_PAGE);
	return count;
}

static uint32_t
resident(void *context, uint64_t address, bool swapped)
{
	struct scene *scene = context;

	assert_int_equal(address % RESIDENT_BYTES, 0);
	scene->asked++;
	return swapped ? scene->there | scene->swapped : scene->there;
}

static void
scene_init(struct scene *scene)
{
	*scene = (struct scene){ .there = UINT32_MAX };
	scene->config = (struct runtimes_config){
		.memory = { .context = scene, .read = read_memory },
		.read_pages = read_pages,
		.resident = resident,
		.context = scene,
	};
}

static bool
reads(struct pages *pages, uint64_t page)
{
	uint8_t byte = 0;
	const bool good = pages_read(pages, BASE + page * MEMORY_PAGE + 17, &byte, 1);

	if (good)
		assert_int_equal(byte, (BASE / MEMORY_PAGE + page) & 0xff);
	return good;
}

/* A page that would have to be waited for is not read while a thread stands still. */
static void
test_resident(void **state)
{
	struct pages_memo memo = { .count = 3, .page = { BASE, BASE + MEMORY_PAGE,
							 BASE + 2 * MEMORY_PAGE } };
	struct scene scene;
	struct pages *pages;

	(void)state;
	scene_init(&scene);
	scene.there = 1u << 0 | 1u << 5;
	scene.swapped = 1u << 2;
	pages = pages_create(&scene.config);
	for (int held = 0; held < 2; held++) {
		scene.reads = scene.asked = 0;
		pages_begin_capture(pages, held);
		pages_begin(pages, &memo);
		assert_int_equal(scene.reads, held ? 1 : 2);
		assert_true(reads(pages, 0));
		assert_false(reads(pages, 1));
		assert_int_equal(reads(pages, 2), !held);
		assert_true(reads(pages, 5));
		assert_false(reads(pages, 6));
		assert_true(reads(pages, RESIDENT_PAGES));
		assert_int_equal(scene.reads, held ? 3 : 4);
		assert_int_equal(scene.asked, 2);
		assert_false(pages_are_used_up(pages));
	}
	/* The next walk asks again. */
	pages_begin(pages, NULL);
	assert_true(reads(pages, 0));
	assert_int_equal(scene.asked, 3);
	pages_free(pages);
}

/* All walks of a capture read no more than so many pages. */
static void
test_used_up(void **state)
{
	struct pages_memo memo = { .count = 1, .page = { BASE } };
	struct scene scene;
	struct pages *pages;

	(void)state;
	scene_init(&scene);
	pages = pages_create(&scene.config);
	for (int capture = 0; capture < 2; capture++) {
		scene.reads = 0;
		pages_begin_capture(pages, true);
		for (int walk = 0; walk < 2; walk++) {
			pages_begin(pages, &memo);
			for (uint64_t i = 0; i < 2 * PAGES_READ_MOST; i++)
				reads(pages, i);
		}
		assert_int_equal(scene.reads, PAGES_READ_MOST);
		assert_true(pages_are_used_up(pages));
		pages_begin_capture(pages, true);
		assert_false(pages_are_used_up(pages));
		pages_begin(pages, &memo);
		assert_true(reads(pages, 0));
	}
	pages_free(pages);
}

/* What the kernel says of our own memory. */
static void
test_kernel(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), ours = page / MEMORY_PAGE;
	struct resident of;
	struct process *process;
	struct error err;
	uint64_t address;
	uint32_t found;
	char *memory;

	(void)state;
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	resident_init(&of, process);
	if (of.unknown || RESIDENT_PAGES < 4 * ours) {
		resident_release(&of);
		process_free(process);
		skip();
	}
	memory = mmap(NULL, 2 * RESIDENT_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	madvise(memory, 2 * RESIDENT_BYTES, MADV_NOHUGEPAGE);
	address = ((uintptr_t)memory + RESIDENT_BYTES - 1) / RESIDENT_BYTES * RESIDENT_BYTES;
	((char *)(uintptr_t)address)[0] = 1;
	((char *)(uintptr_t)address)[3 * page] = 1;
	resident_renew(&of);
	found = resident_pages(&of, address, false);
	for (size_t i = 0; i < 4 * ours; i++)
		assert_int_equal(found >> i & 1, i / ours == 0 || i / ours == 3);
	madvise((void *)(uintptr_t)address, page, MADV_DONTNEED);
	found = resident_pages(&of, address, true);
	assert_int_equal(found & 1, 0);
	assert_int_equal(found >> (3 * ours) & 1, 1);
	/* Where nothing can be. */
	assert_int_equal(resident_pages(&of, UINT64_MAX - (RESIDENT_BYTES - 1), true), 0);
	munmap(memory, 2 * RESIDENT_BYTES);
	resident_release(&of);
	process_free(process);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resident),
		cmocka_unit_test(test_used_up),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
