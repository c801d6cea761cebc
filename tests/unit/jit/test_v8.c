/* SPDX-License-Identifier: MIT */
/*
 * test_v8.c - which function V8's interpreter executes: from the word in its frame and the
 * header of the object that it leads to, whole and damaged, to an entry of the perf map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "../scene/jit_scene.h"

#define OBJECT UINT64_C(0x171414857ea0)

/* The first of the interpreters, as text. */
static const char *
interpreters(struct scene *scene)
{
	static char text[4 * 48];
	const struct address_range *range;
	size_t count = jit_interpreters(scene->jit, &range), length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count && i < 4; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%llx+%llx ",
					   (unsigned long long)range[i].start,
					   (unsigned long long)range[i].size);
	return text;
}

static void
test_interpreters(void **state)
{
	struct scene *scene = *state;

	assert_string_equal(interpreters(scene), "");
	append(scene, "1000 10 Builtin:InterpreterEntryTrampolineX\n"
		      "2000 10 BytecodeHandler:Ldar\n18cfc40 36c Builtin:InterpreterEntryTram");
	tick(scene);
	assert_string_equal(interpreters(scene), "");
	append(scene, "poline\n18cffc0 378 Builtin:InterpreterEntryTrampolineForProfiling\n"
		      "18cfc40 36c Builtin:InterpreterEntryTrampoline\n");
	tick(scene);
	assert_string_equal(interpreters(scene), "18cfc40+36c 18cffc0+378 ");
	/* Of a worker thread, and of another program in the same process. */
	append(scene, "18cf000 20c Builtin:InterpreterEntryTrampoline\n"
		      "18cfc40 20c Builtin:InterpreterEntryTrampoline\n");
	tick(scene);
	assert_string_equal(interpreters(scene), "18cf000+20c 18cfc40+20c 18cffc0+378 ");
}

static void
test_many_interpreters(void **state)
{
	const struct address_range *range;
	struct scene *scene = *state;
	struct strbuf text;
	size_t count;

	strbuf_init(&text);
	for (unsigned i = 0; i < 3000; i++)
		strbuf_add_format(&text, "%x 100 Builtin:InterpreterEntryTrampoline\n",
				  0x1000 + (i * 7919 % 3000) * 0x1000);
	write_file(scene->map_path, "a", text.data, text.length);
	strbuf_release(&text);
	jit_begin(scene->jit, scene->now_ns);
	count = jit_interpreters(scene->jit, &range);
	assert_int_equal(count, JIT_INTERPRETERS_MAX);
	for (size_t i = 1; i < count; i++)
		assert_true(range[i - 1].start < range[i].start);
}

static void
test_references(void **state)
{
	static const uint64_t bad[] = {
		0, 1, 2, 3, 0x1234, OBJECT, OBJECT + 2, OBJECT + 3, 0x1001, UINT64_MAX,
		UINT64_MAX - 2, UINT64_C(0x100000000000001), UINT64_C(0xffff800000000001),
	};
	uint64_t address;

	(void)state;
	assert_true(jit_bytecode_refer(OBJECT + 1, &address));
	assert_true(address == OBJECT);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(jit_bytecode_refer(bad[i], &address));
}

/* As they were in the memory of Node 20 and 22; of a compressed one; and none. */
static void
test_headers(void **state)
{
	static const struct {
		uint32_t word[4];
		bool good;
		uint32_t size;
	} row[] = {
		{ { 0x580fd109, 0x9aec, 0, 12 }, true, 12 },
		{ { 0x05081009, 0x19ab, 0, 0x9a }, true, 0x9a },
		{ { 0x00000a61, 2 * 31, 0x00181e85, 0x00000219 }, true, 31 },
		{ { 0, 0, 0, 0 }, false, 0 },
		{ { 0x580fd109, 0x9aec, 0, 0x80000000 }, false, 0 },
		{ { 0x580fd109, 0x9aec, 0, UINT32_MAX }, false, 0 },
		{ { 0x00000a61, 2 * 31 + 1, 0x00181e85, 0 }, false, 0 },
		{ { 0x00000a61, 0, 0x00181e85, 0 }, false, 0 },
		{ { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX }, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		uint8_t header[JIT_HEADER_SIZE];
		struct jit_bytecode bytecode;

		memcpy(header, row[i].word, sizeof(header));
		assert_int_equal(jit_bytecode_set(&bytecode, OBJECT, header), row[i].good);
		assert_true(!row[i].good || (bytecode.object == OBJECT &&
					     bytecode.size == row[i].size));
	}
}

static const char *
name_of_bytecode(struct scene *scene, uint64_t object, uint32_t size, uint32_t epoch)
{
	const struct jit_bytecode bytecode = { object, size };
	struct jit_symbol symbol;

	if (!jit_find_bytecode(scene->jit, &bytecode, epoch, &symbol))
		return "-";
	assert_int_equal(symbol.size, size);
	assert_true(symbol.start > object && symbol.start - object <= 96);
	return symbol.name;
}

static void
add_entry(struct scene *scene, uint64_t start, uint32_t size, const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "%llx %x %s\n", (unsigned long long)start, size, name);
	append(scene, line);
}

/* Headers of all lengths that there are; the address, the size and the kind have to fit. */
static void
test_entries(void **state)
{
	static const unsigned header[] = { 34, 36, 40, 54, 56, 64, 72 };
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(header); i++)
		add_entry(scene, OBJECT + i * 0x1000 + header[i], 12, "JS:~f /x.js:1:2");
	add_entry(scene, OBJECT + 0x10000 + 54, 12, "JS:*optimised /x.js:3:4");
	add_entry(scene, OBJECT + 0x11000 + 54, 12, "LazyCompile:~old /x.js:5");
	add_entry(scene, OBJECT + 0x12000 + 54, 12, "~");
	add_entry(scene, OBJECT + 0x13000 + 97, 400, "JS:~far /x.js:7:8");
	add_entry(scene, OBJECT + 0x14000, 12, "JS:~at /x.js:7:8");
	tick(scene);
	for (size_t i = 0; i < ARRAY_SIZE(header); i++) {
		const uint64_t object = OBJECT + i * 0x1000;

		assert_string_equal(name_of_bytecode(scene, object, 12, 0), "JS:~f /x.js:1:2");
		assert_string_equal(name_of_bytecode(scene, object, 11, 0), "-");
		assert_string_equal(name_of_bytecode(scene, object, 13, 0), "-");
		assert_string_equal(name_of_bytecode(scene, object + header[i], 12, 0), "-");
		assert_string_equal(name_of_bytecode(scene, object - 0x1000 / 2, 12, 0), "-");
	}
	assert_string_equal(name_of_bytecode(scene, OBJECT + 0x10000, 12, 0), "-");
	assert_string_equal(name_of_bytecode(scene, OBJECT + 0x11000, 12, 0),
			    "LazyCompile:~old /x.js:5");
	assert_string_equal(name_of_bytecode(scene, OBJECT + 0x12000, 12, 0), "-");
	assert_string_equal(name_of_bytecode(scene, OBJECT + 0x13000, 400, 0), "-");
	assert_string_equal(name_of_bytecode(scene, OBJECT + 0x14000, 12, 0), "-");
	assert_string_equal(name_of_bytecode(scene, 0, 12, 0), "-");
	assert_string_equal(name_of_bytecode(scene, UINT64_MAX, 12, 0), "-");
	assert_string_equal(name_of_bytecode(scene, UINT64_MAX - 60, UINT32_MAX, 0), "-");
}

/* Of the array that follows in memory it is not: with headers of 34 bytes and the shortest
 * bytecode the second begins 70 bytes behind the first. */
static void
test_next_array(void **state)
{
	struct scene *scene = *state;

	add_entry(scene, OBJECT + 36 + 34, 2, "JS:~second /x.js:1:2");
	tick(scene);
	assert_string_equal(name_of_bytecode(scene, OBJECT + 36, 2, 0), "JS:~second /x.js:1:2");
	assert_string_equal(name_of_bytecode(scene, OBJECT, 2, 0), "-");
}

/* Entries come late, and places are used again. */
static void
test_epochs(void **state)
{
	const struct jit_bytecode bytecode = { OBJECT, 12 };
	struct scene *scene = *state;
	uint32_t before, after;

	append(scene, "1000 10 first\n");
	tick(scene);
	assert_int_equal(jit_epoch_of_bytecode(scene->jit, &bytecode), 0);
	assert_string_equal(name_of_bytecode(scene, OBJECT, 12, 0), "-");
	add_entry(scene, OBJECT + 54, 12, "JS:~old /x.js:1:2");
	tick(scene);
	before = jit_epoch_of_bytecode(scene->jit, &bytecode);
	add_entry(scene, OBJECT + 54, 12, "JS:~new /x.js:1:2");
	tick(scene);
	after = jit_epoch_of_bytecode(scene->jit, &bytecode);
	assert_true(after > before);
	assert_string_equal(name_of_bytecode(scene, OBJECT, 12, before), "JS:~old /x.js:1:2");
	assert_string_equal(name_of_bytecode(scene, OBJECT, 12, after), "JS:~new /x.js:1:2");
	/* Something longer in the same place does not say what that was. */
	add_entry(scene, OBJECT + 54, 400, "JS:~long /x.js:1:2");
	tick(scene);
	assert_string_equal(name_of_bytecode(scene, OBJECT, 400, jit_epoch(scene->jit)),
			    "JS:~long /x.js:1:2");
}

/* A file that lays everything over one place costs a bounded time. */
static void
test_hostile(void **state)
{
	struct scene *scene = *state;
	struct strbuf text;

	strbuf_init(&text);
	for (unsigned i = 0; i < 100000; i++)
		strbuf_add_format(&text, "%llx %x JS:~%u\n",
				  (unsigned long long)OBJECT + 1 + i % 68, 1 + i % 7, i);
	write_file(scene->map_path, "a", text.data, text.length);
	strbuf_release(&text);
	jit_refresh(scene->jit);
	assert_int_equal(jit_count(scene->jit), 100000);
	assert_string_not_equal(name_of_bytecode(scene, OBJECT, 7, 0), "-");
	for (unsigned i = 0; i < 1000; i++)
		name_of_bytecode(scene, OBJECT, 1 + i % 9, i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JIT_ROW(test_interpreters),
		JIT_ROW(test_many_interpreters),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_headers),
		JIT_ROW(test_entries),
		JIT_ROW(test_next_array),
		JIT_ROW(test_epochs),
		JIT_ROW(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
