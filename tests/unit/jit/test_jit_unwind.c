/* SPDX-License-Identifier: MIT */
/* test_jit_unwind.c - libunwind's list in this program's memory: good tables, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/objects/jit_elf_internal.h"
#include "jit/objects/jit_watch_internal.h"
#include "unwind/rule_internal.h"
#include "../scene/made_object.h"
#include "wallsample/base/base.h"

static struct frame_budget budget = { .bytes = UINT64_MAX, .entries = UINT64_MAX };

/* CIE, FDE. */
#define PART 24
#define TABLES 48

/* As libunwind-dynamic.h has them. */
struct info {
	struct info *next, *prev;
	uint64_t start, end, gp;
	int32_t format, unused;
	uint64_t name, base, words;
	const void *table;
};

static struct {
	uint32_t version, generation;
	struct info *first;
} list;

static struct info info[3];
static int32_t table[2] = { FUNCTION_AT, PART };
static uint8_t code[2 * CODE_SIZE]; /* nobody runs it */
static uint8_t tables[TABLES];

static int
setup(void **state)
{
	struct made_object file;
	int32_t relative;

	(void)state;
	made_object_init(&file, (uintptr_t)code, 0);
	memcpy(tables, file.eh_frame, TABLES);
	relative = (int32_t)((intptr_t)code + FUNCTION_AT - (intptr_t)(tables + PART + 8));
	memcpy(tables + PART + 8, &relative, sizeof(relative));
	for (size_t i = 0; i < ARRAY_SIZE(info); i++)
		info[i] = (struct info){
			.next = i + 1 < ARRAY_SIZE(info) ? &info[i + 1] : NULL,
			.start = (uintptr_t)code, .end = (uintptr_t)code + CODE_SIZE, .format = 4,
			.base = (uintptr_t)tables, .words = 1, .table = table,
		};
	list.generation++;
	list.first = &info[0];
	return 0;
}

/* Reads the list; stores its last item. */
static size_t
walk(size_t most, struct jit_listed *last)
{
	const struct jit_watch watch = { .address = (uintptr_t)&list, .kind = JIT_WATCH_UNWIND };
	struct jit_reader reader = { NULL, getpid() };
	const struct memory memory = { jit_read, &reader };
	struct jit_list read = { .count = 0 };
	struct jit_descriptor before;

	/* A list that has changed since its head was read is not valid. */
	assert_true(jit_watch_read(&watch, &memory, &before));
	list.generation++;
	assert_false(jit_watch_walk(&watch, &memory, &before, most, &read));
	assert_true(jit_watch_read(&watch, &memory, &before));
	assert_int_equal(before.version, list.generation);
	assert_true(jit_watch_walk(&watch, &memory, &before, most, &read));
	if (read.count > 0)
		*last = read.item[read.count - 1];
	free(read.item);
	return read.count;
}

static void
test_good(void **state)
{
	struct jit_listed listed;
	struct rule_source *source;
	struct jit_elf elf;
	struct rule rule;
	uint64_t size;
	uint8_t *bytes;

	(void)state;
	assert_int_equal(walk(100, &listed), 3);
	assert_int_equal(listed.entry, (uintptr_t)&info[2]);
	assert_int_equal(listed.address, (uintptr_t)tables);
	assert_int_equal(listed.size, TABLES);
	assert_int_equal(listed.start, (uintptr_t)code);
	assert_int_equal(listed.end, (uintptr_t)code + CODE_SIZE);

	bytes = xmalloc(TABLES);
	memcpy(bytes, tables, TABLES);
	bytes = jit_unwind_wrap(bytes, &listed, &size);
	assert_true(jit_elf_open(&elf, bytes, size, NULL));
	assert_true(elf.has_tables);
	assert_int_equal(elf.range_count, 1);
	assert_int_equal(elf.range[0].start, (uintptr_t)code);
	assert_int_equal(elf.range[0].end, (uintptr_t)code + CODE_SIZE);
	source = rule_source_open(elf.image, &budget);
	rule_source_find(source, (uintptr_t)code + FUNCTION_AT + 5, &rule);
	assert_int_equal(rule.kind, RULE_PLAIN);
	assert_int_equal(rule.cfa_value, FRAME_SIZE);
	rule_source_find(source, (uintptr_t)code + FUNCTION_AT + FUNCTION_SIZE, &rule);
	assert_int_equal(rule.kind, RULE_NONE);
	rule_source_free(source);
	jit_elf_release(&elf);
}

/* What makes no sense is left out; the others are good. */
static void
test_damage(void **state)
{
	struct jit_listed listed;
	const int32_t part[] = { 0, 4 }; /* where no length is */

	(void)state;
	info[0].format = 0;
	info[1].end = info[1].start;
	assert_int_equal(walk(100, &listed), 1);
	setup(NULL);
	info[0].words = UINT64_MAX / 8;
	info[1].words = 0;
	assert_int_equal(walk(100, &listed), 1);
	setup(NULL);
	info[0].table = NULL;
	info[1].base = UINT64_MAX - PART;
	info[2].table = part;
	assert_int_equal(walk(100, &listed), 0);
	setup(NULL);
	info[0].end = UINT64_MAX;
	memset(tables + PART, 0xff, 4);
	assert_int_equal(walk(100, &listed), 0);
	setup(NULL);
	memset(tables + PART + 4, 0xff, 4); /* what functions have in common is far away */
	assert_int_equal(walk(100, &listed), 0);
}

static void
test_list(void **state)
{
	struct jit_listed listed;

	(void)state;
	info[2].next = &info[1];
	assert_int_equal(walk(100, &listed), 3);
	info[2].next = (struct info *)(uintptr_t)8;
	assert_int_equal(walk(100, &listed), 3);
	assert_int_equal(walk(2, &listed), 2);
	list.first = NULL;
	assert_int_equal(walk(100, &listed), 0);
}

#if defined(__x86_64__)
/* lea 0x100(%rip), %rax; ret: with endbr64 and without, and what is something else. */
static void
test_address(void **state)
{
	static const uint8_t returns[] = { 0x48, 0x8d, 0x05, 0, 1, 0, 0, 0xc3 };
	static const uint8_t begins[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint64_t at = 0x40000;
	struct made_object file;
	struct image *image;
	uint8_t *bytes;

	(void)state;
	made_program_init(&file, at);
	memset(file.code, 0x90, sizeof(file.code));
	memcpy(file.code, returns, sizeof(returns));
	memcpy(file.code + 32, begins, sizeof(begins));
	memcpy(file.code + 36, returns, sizeof(returns));
	memcpy(file.code + 64, returns, sizeof(returns) - 1);
	bytes = xmalloc(sizeof(file));
	memcpy(bytes, &file, sizeof(file));
	image = image_take_memory(bytes, sizeof(file));
	assert_non_null(image);
	assert_int_equal(jit_unwind_address(image, at), at + 7 + 256);
	assert_int_equal(jit_unwind_address(image, at + 32), at + 32 + 4 + 7 + 256);
	assert_int_equal(jit_unwind_address(image, at + 64), 0);
	assert_int_equal(jit_unwind_address(image, at + 128), 0);
	assert_int_equal(jit_unwind_address(image, at + CODE_SIZE - 4), 0);
	image_free(image);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_good, setup),
		cmocka_unit_test_setup(test_damage, setup),
		cmocka_unit_test_setup(test_list, setup),
#if defined(__x86_64__)
		cmocka_unit_test(test_address),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
