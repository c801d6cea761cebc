/* SPDX-License-Identifier: MIT */
/*
 * test_target_memory.c - only pages that are in memory are read, and a second process reads as well
 * as this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/slow_reader_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/tracer/target_memory.h"

#define PAGES 80
/* The second process may get a CPU late on a busy machine: attempts, and the pause between them. */
#define ATTEMPTS 30000
#define PAUSE_US 1000

struct scene {
	struct process *process;
	struct target_memory memory;
	uint8_t *area; /* PAGES pages, none of which is there */
	size_t page;
	uint8_t *to;
};

static int
start(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct error err;

	assert_non_null(scene);
	assert_int_equal(process_open(getpid(), &scene->process, &err), 0);
	target_memory_init(&scene->memory, scene->process);
	scene->page = (size_t)sysconf(_SC_PAGESIZE);
	scene->area = mmap(NULL, PAGES * scene->page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(scene->area != MAP_FAILED);
	madvise(scene->area, PAGES * scene->page, MADV_NOHUGEPAGE);
	scene->to = malloc(PAGES * scene->page);
	assert_non_null(scene->to);
	*state = scene;
	return 0;
}

static int
end(void **state)
{
	struct scene *scene = *state;

	target_memory_release(&scene->memory);
	process_free(scene->process);
	munmap(scene->area, PAGES * scene->page);
	free(scene->to);
	free(scene);
	return 0;
}

static void
fill(struct scene *scene, size_t first, size_t count)
{
	for (size_t i = first * scene->page; i < (first + count) * scene->page; i++)
		scene->area[i] = (uint8_t)(i / 7);
}

/* Reads from the byte `at` on: `wanted` bytes are there, and are right. */
static void
check(struct scene *scene, size_t at, size_t size, size_t wanted)
{
	const uint64_t address = (uintptr_t)scene->area + at;

	memset(scene->to, 0xee, PAGES * scene->page);
	assert_int_equal(target_memory_read(&scene->memory, getpid(), address, scene->to, size),
			 wanted);
	assert_memory_equal(scene->to, scene->area + at, wanted);
}

/* Copies a stack from the byte `at` on; expects `wanted` bytes, those of absent pages marked. */
static void
check_copy(struct scene *scene, size_t at, size_t size, size_t wanted, bool (*there)(size_t page))
{
	const uint64_t address = (uintptr_t)scene->area + at;

	memset(scene->to, 0x11, PAGES * scene->page);
	assert_int_equal(target_memory_copy_stack(&scene->memory, getpid(), address, scene->to,
						  size),
			 wanted);
	for (size_t i = 0; i < wanted; i++)
		if (there((at + i) / scene->page))
			assert_int_equal(scene->to[i], (uint8_t)((at + i) / 7));
		else
			assert_int_equal(scene->to[i], SNAPSHOT_ABSENT_BYTE);
	if (wanted > 0)
		assert_int_equal(scene->to[wanted], 0x11);
}

static bool
is_filled(size_t page)
{
	return (page >= 1 && page <= 40) || page == 42;
}

static void
check_all(struct scene *scene)
{
	const size_t page = scene->page;

	madvise(scene->area, PAGES * page, MADV_DONTNEED);
	fill(scene, 1, 40);
	fill(scene, 42, 1);
	check(scene, 0, 8 * page, 0);
	check(scene, page - 8, 16, 0);
	check(scene, page, 1, 1);
	check(scene, page, 100 * page, 40 * page); /* more than one look at pagemap */
	check(scene, 2 * page + 24, page, page);
	check(scene, 40 * page + 8, page, page - 8);
	check(scene, 41 * page, 8, 0);
	check(scene, 42 * page + 16, 2 * page, page - 16);
	check(scene, 0, 0, 0);
	check_copy(scene, page + 8, 10 * page, 10 * page, is_filled);
	check_copy(scene, 8, 45 * page, 45 * page, is_filled);
	check_copy(scene, 41 * page, page + 1, page + 1, is_filled);
	check_copy(scene, 43 * page, 10 * page, 0, is_filled);
	check_copy(scene, 0, 0, 0, is_filled);
	/* The reads have not brought pages into memory. */
	check(scene, 0, page, 0);
	assert_int_equal(target_memory_read(&scene->memory, getpid(), UINT64_MAX - 8, scene->to,
					    page),
			 0);
}

static void
test_resident(void **state)
{
	struct scene *scene = *state;

	if (scene->memory.resident.unknown)
		skip();
	check_all(scene);
}

static void
test_slow_reader(void **state)
{
	struct scene *scene = *state;
	struct memory_piece piece[3];
	const size_t page = scene->page;

	if (scene->memory.resident.unknown)
		skip();
	scene->memory.slow = slow_reader_create();
	assert_non_null(scene->memory.slow);
	/* A process that is busy elsewhere may answer too late: then nothing was read. */
	fill(scene, 0, 3);
	for (int i = 0; i < ATTEMPTS; i++) {
		if (target_memory_read(&scene->memory, getpid(), (uintptr_t)scene->area, scene->to,
				       page) == page)
			break;
		usleep(PAUSE_US);
	}
	piece[0] = (struct memory_piece){ (uintptr_t)scene->area + 8, 16 };
	piece[1] = (struct memory_piece){ (uintptr_t)scene->area + page, page };
	piece[2] = (struct memory_piece){ 8, 8 }; /* not readable */
	for (int i = 0; i < ATTEMPTS; i++) {
		const size_t got = target_memory_read_pieces(&scene->memory, getpid(), piece, 3,
							     scene->to);

		assert_true(got == 0 || got == 2);
		if (got == 0) {
			usleep(PAUSE_US);
			continue;
		}
		assert_memory_equal(scene->to, scene->area + 8, 16);
		assert_memory_equal(scene->to + 16, scene->area + page, page);
		return;
	}
	fail_msg("the second process has never answered in time");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_resident, start, end),
		cmocka_unit_test_setup_teardown(test_slow_reader, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
