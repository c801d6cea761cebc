/* SPDX-License-Identifier: MIT */
/*
 * test_frame_table.c - without a search table the same entries are found as with it, as far as the
 * budget permits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "../scene/own_file.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/frame_table.h"

#define PLENTY ((struct frame_budget){ UINT64_MAX, UINT64_MAX })

struct scene {
	struct image *whole; /* this program */
	struct image *bare;  /* the same without the program header of .eh_frame_hdr */
	uint64_t low, high;  /* vaddrs of some code */
};

static int
start(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const Elf64_Ehdr *header;
	uint8_t *bytes;
	size_t size;

	assert_non_null(scene);
	bytes = own_file_read(&size);
	scene->whole = image_open_memory(bytes, size);
	header = (const void *)bytes;
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr *segment = (void *)(bytes + header->e_phoff + i * sizeof(*segment));

		if (segment->p_type == PT_GNU_EH_FRAME)
			segment->p_type = PT_NULL;
	}
	scene->bare = image_take_memory(bytes, size);
	assert_true(scene->whole != NULL && scene->bare != NULL);
	scene->low = (uintptr_t)start - own_file_bias();
	scene->high = scene->low + 20000;
	*state = scene;
	return 0;
}

static int
end(void **state)
{
	struct scene *scene = *state;

	image_free(scene->whole);
	image_free(scene->bare);
	free(scene);
	return 0;
}

static void
test_same(void **state)
{
	const struct scene *scene = *state;
	struct frame_budget none = { 0, 0 }, plenty = PLENTY;
	struct frame_table *with = frame_table_open(scene->whole, &none);
	struct frame_table *without = frame_table_open(scene->bare, &plenty);
	const struct frame_section *section;
	size_t found = 0;

	for (uint64_t at = scene->low; at < scene->high; at += 3) {
		struct frame_entry a, b;
		const bool known = frame_table_find(with, at, &a, &section);

		assert_int_equal(frame_table_find(without, at, &b, &section), known);
		if (!known)
			continue;
		found++;
		assert_true(a.start == b.start && a.size == b.size);
		assert_true(a.own.at == b.own.at && a.own.end == b.own.end);
		assert_true(frame_entry_contains(&b, at));
	}
	assert_true(found > 100);
	assert_true(plenty.entries < UINT64_MAX && plenty.bytes < UINT64_MAX);
	frame_table_free(with);
	frame_table_free(without);
	frame_table_free(NULL);
}

/* Returns whether an entry for this address is found with the budget. */
static bool
is_found(const struct scene *scene, struct frame_budget *budget)
{
	struct frame_table *table = frame_table_open(scene->bare, budget);
	const struct frame_section *section;
	struct frame_entry entry;
	const bool found = frame_table_find(table, scene->low, &entry, &section);

	frame_table_free(table);
	return found;
}

/* Several tables share a budget: what the first has used, the second does not have. */
static void
test_budget(void **state)
{
	const struct scene *scene = *state;
	struct frame_budget budget = PLENTY, used;

	assert_true(is_found(scene, &budget));
	used = (struct frame_budget){ UINT64_MAX - budget.bytes, UINT64_MAX - budget.entries };
	assert_true(used.bytes > 1000 && used.entries > 50);
	budget = used;
	assert_true(is_found(scene, &budget));
	assert_int_equal(budget.bytes, 0);
	assert_int_equal(budget.entries, 0);
	assert_false(is_found(scene, &budget));
	budget = (struct frame_budget){ used.bytes - 1, UINT64_MAX };
	assert_false(is_found(scene, &budget));
	budget = (struct frame_budget){ UINT64_MAX, 1 };
	assert_false(is_found(scene, &budget));
	assert_int_equal(budget.entries, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, start, end);
}
