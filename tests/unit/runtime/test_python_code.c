/* SPDX-License-Identifier: MIT */
/*
 * test_python_code.c - texts and code objects of CPython, read from memory that is made by hand:
 * whole, of each form, replaced while it is read, and damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/python_scene.h"

/* The text at the address, of at most so many characters; "(none)". Valid until the next call. */
static const char *
text_at(const struct python_scene *scene, uint64_t address, size_t most)
{
	static char text[4096];
	struct strbuf to;

	strbuf_init(&to);
	strbuf_add_text(&to, "<");
	if (python_text_read(&scene->layout, &scene->memory, address, most, &to))
		snprintf(text, sizeof(text), "%s", to.data + 1);
	else
		snprintf(text, sizeof(text), "%s", to.length == 1 ? "(none)" : "(left over)");
	strbuf_release(&to);
	return text;
}

static void
test_text_widths(void **state)
{
	static const uint16_t two[] = { 'a', 0xe9, 0x20ac, 0x7ff, 0x800, 0xffff };
	static const uint32_t four[] = { 'a', 0x1f40d, 0x10ffff, 0x10000, 0xff };
	struct python_scene *scene = *state;

	assert_string_equal(text_at(scene, python_scene_ascii(scene, ""), 10), "");
	assert_string_equal(text_at(scene, python_scene_ascii(scene, "C.method"), 10), "C.method");
	assert_string_equal(text_at(scene, python_scene_str(scene, STATE(1, 1, 0), 1, true, false,
						     "a\x80\xff", 3), 10), "a\xc2\x80ÿ");
	assert_string_equal(text_at(scene, python_scene_str(scene, STATE(2, 1, 0), 2, true, false,
							    two,
						     6), 10), "aé€\u07ff\u0800\uffff");
	assert_string_equal(text_at(scene, python_scene_str(scene, STATE(4, 1, 0), 4, true, false,
							    four,
						     5), 10), "a🐍\U0010ffff\U00010000ÿ");
	/* of classes derived from str: the characters are elsewhere */
	assert_string_equal(text_at(scene, python_scene_str(scene, STATE(1, 0, 1), 1, false, true,
							    "ab",
						     2), 10), "ab");
	assert_string_equal(text_at(scene, python_scene_str(scene, STATE(2, 0, 0), 2, false, false,
							    two,
						     3), 10), "aé€");
}

/* Where the flags are, by the number that says whether the text is interned. */
static void
test_text_states(void **state)
{
	struct python_scene *scene = *state;
	static const unsigned shift[] = { 0, 6, 14 };

	for (size_t i = 0; i < ARRAY_SIZE(shift); i++) {
		for (uint32_t interned = 0; interned < 4; interned++) {
			uint32_t flags = STATE(1, 1, 1) << shift[i] | interned;

			scene->used = 1024;
			assert_string_equal(text_at(scene, python_scene_str(scene, flags, 1, true,
									    true,
								     "ab", 2), 10), "ab");
			/* ready (up to 3.11), or statically allocated (3.12 and later) */
			flags |= UINT32_C(1) << (7 + shift[i]);
			assert_string_equal(text_at(scene, python_scene_str(scene, flags, 1, true,
									    true,
								     "cd", 2), 10), "cd");
			flags = STATE(2, 1, 0) << shift[i] | interned;
			assert_string_equal(text_at(scene, python_scene_str(scene, flags, 2, true,
									    false,
								     "e\0f\0", 2), 10), "ef");
		}
	}
}

static void
test_text_escapes(void **state)
{
	static const uint16_t two[] = { 'a', 0xdcff, 0xd83d, 0xdc0d, 0xdfff, 0xe000, 0xd7ff };
	static const uint32_t four[] = { 0, 0x110000, UINT32_MAX, 0xdc80, 10, 27 };
	struct python_scene *scene = *state;

	assert_string_equal(text_at(scene, python_scene_str(scene, STATE(2, 1, 0), 2, true, false,
							    two,
						     7), 10),
			    "a\\udcff\\ud83d\\udc0d\\udfff\ue000\ud7ff");
	assert_string_equal(text_at(scene, python_scene_str(scene, STATE(4, 1, 0), 4, true, false,
							    four,
						     6), 10),
			    "\\x00\\U00110000\\Uffffffff\\udc80\n\x1b");
	/* said to be ASCII, and it is not: still UTF-8 comes out */
	assert_string_equal(text_at(scene, python_scene_ascii(scene, "a\xff\xc3"), 10), "aÿÃ");
}

static void
test_text_lengths(void **state)
{
	struct python_scene *scene = *state;
	uint64_t text = python_scene_ascii(scene, "abcdef"),
		length = text + scene->layout.text_length;

	assert_string_equal(text_at(scene, text, 6), "abcdef");
	assert_string_equal(text_at(scene, text, 5), "abcde…");
	assert_string_equal(text_at(scene, text, 0), "…");
	/* Lengths that are not true: as much as the limit says is read, if it is there. */
	scene_put_u64(scene, length, INT64_MAX);
	assert_string_equal(text_at(scene, text, 3), "abc…");
	assert_string_equal(text_at(scene, text, SIZE_MAX), "(none)");
	scene_put_u64(scene, length, UINT64_C(1) << 63);
	assert_string_equal(text_at(scene, text, 3), "(none)");
	scene_put_u64(scene, length, UINT64_MAX);
	assert_string_equal(text_at(scene, text, 3), "(none)");
}

static void
test_no_text(void **state)
{
	static const uint32_t flags[] = {
		0, 1, 3, STATE(0, 1, 1), STATE(3, 1, 0), STATE(5, 1, 0), STATE(6, 1, 0),
		STATE(7, 1, 1), STATE(2, 1, 1), STATE(4, 1, 1), UINT32_MAX,
	};
	struct python_scene *scene = *state;
	uint64_t text;

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		text = python_scene_str(scene, flags[i], 1, true, true, "abcd", 4);
		assert_string_equal(text_at(scene, text, 10), "(none)");
	}
	assert_string_equal(text_at(scene, 0, 10), "(none)");
	assert_string_equal(text_at(scene, UINT64_MAX, 10), "(none)");
	assert_string_equal(text_at(scene, SCENE_NOWHERE, 10), "(none)");
	/* it ends before its flags, and before its characters do */
	for (uint64_t before = 4; before < 64; before += 4)
		assert_string_equal(text_at(scene, SCENE_BASE + SCENE_SIZE - before, 10),
				    "(none)");
	text = python_scene_str(scene, STATE(1, 0, 0), 1, false, false, "abcd", 4);
	scene_put_u64(scene, text + scene->layout.text_compact, SCENE_NOWHERE);
	assert_string_equal(text_at(scene, text, 10), "(none)");
}

static void
test_bytes(void **state)
{
	struct python_scene *scene = *state;
	const struct python_layout *layout = &scene->layout;
	uint64_t object = python_scene_bytes(scene, "a\0b", 3);
	size_t size = 77;
	uint8_t *bytes = python_bytes_read(layout, &scene->memory, object, 3, &size);

	assert_non_null(bytes);
	assert_int_equal(size, 3);
	assert_memory_equal(bytes, "a\0b", 3);
	free(bytes);
	bytes = python_bytes_read(layout, &scene->memory, python_scene_bytes(scene, "", 0), 0,
				  &size);
	assert_non_null(bytes);
	assert_int_equal(size, 0);
	free(bytes);
	assert_null(python_bytes_read(layout, &scene->memory, object, 2, &size));
	assert_null(python_bytes_read(layout, &scene->memory, SCENE_NOWHERE, 10, &size));
	scene_put_u64(scene, object + layout->bytes_size, UINT64_MAX);
	assert_null(python_bytes_read(layout, &scene->memory, object, SCENE_SIZE, &size));
	scene_put_u64(scene, object + layout->bytes_size, SCENE_SIZE);
	assert_null(python_bytes_read(layout, &scene->memory, object, SCENE_SIZE, &size));
}

/* A code object of two instructions on line 11, and one on 12. */
static struct python_code_id
usual_code(struct python_scene *scene)
{
	static const char locations[] = "\xd1\x01\x02\xd8\x01\x02", ranges[] = "\x04\x01\x02\x01",
			  lnotab[] = "\x00\x01\x04\x01";
	const char *table = locations;
	size_t size = sizeof(locations) - 1;

	if (!python_since(&scene->layout, 3, 11)) {
		table = python_since(&scene->layout, 3, 10) ? ranges : lnotab;
		size = sizeof(ranges) - 1;
	}
	if (python_since(&scene->layout, 3, 11))
		return python_scene_code(scene, python_scene_ascii(scene, "/srv/a.py"),
					 python_scene_ascii(scene, "f"),
				  python_scene_ascii(scene, "C.f"),
				  python_scene_bytes(scene, table, size), 11);
	return python_scene_code(scene, python_scene_ascii(scene, "/srv/a.py"),
				 python_scene_ascii(scene, "f"), 0,
			  python_scene_bytes(scene, table, size), 10);
}

static void
test_identify(void **state)
{
	struct python_scene *scene = *state;
	struct python_code_id made = usual_code(scene), id;
	const uint8_t *bytes = scene->bytes + (made.address - SCENE_BASE);

	id = python_code_identify(&scene->layout, made.address, bytes);
	assert_true(id.address == made.address && id.filename == made.filename);
	assert_true(id.name == made.name && id.qualified_name == made.qualified_name);
	assert_true(id.line_table == made.line_table && id.first_line == 11);
	scene->layout.code_qualified_name = MEMBER_ABSENT;
	id = python_code_identify(&scene->layout, made.address, bytes);
	assert_true(id.qualified_name == 0);
}

static void
test_find(void **state)
{
	struct python_scene *scene = *state;
	struct python_code_id id = usual_code(scene), other = id, bare;
	struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
	const struct python_code *code = python_codes_find(codes, &id), *again;
	unsigned reads = scene->reads;

	assert_non_null(code);
	assert_string_equal(code->function, "C.f");
	assert_string_equal(code->file, "/srv/a.py");
	assert_int_equal(code->first_line, 11);
	assert_ptr_equal(python_codes_find(codes, &id), code);
	assert_int_equal(scene->reads, reads);

	/* Another at its address; what was known of the first stays, and it is read anew. */
	other.qualified_name = python_scene_ascii(scene, "D.g");
	assert_null(python_codes_find(codes, &other));
	python_scene_fill_code(scene, &other);
	again = python_codes_find(codes, &other);
	assert_non_null(again);
	assert_string_equal(again->function, "D.g");
	assert_string_equal(code->function, "C.f");
	assert_null(python_codes_find(codes, &id));
	python_scene_fill_code(scene, &id);
	assert_string_equal(python_codes_find(codes, &id)->function, "C.f");

	/* Without a qualified name it has the other. */
	bare = python_scene_code(scene, id.filename, id.name, 0, id.line_table, 3);
	assert_string_equal(python_codes_find(codes, &bare)->function, "f");
	python_codes_free(codes);
}

static void
test_long_names(void **state)
{
	struct python_scene *scene = *state;
	struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
	char longer[4200];
	struct python_code_id id;
	const struct python_code *code;

	memset(longer, 'n', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	id = python_scene_code(scene, python_scene_ascii(scene, longer), 0,
			       python_scene_ascii(scene, longer), 0, 1);
	code = python_codes_find(codes, &id);
	assert_non_null(code);
	assert_int_equal(strlen(code->function), 1024 + strlen("…"));
	assert_int_equal(strlen(code->file), 4096 + strlen("…"));
	python_codes_free(codes);
}

static void
test_none(void **state)
{
	struct python_scene *scene = *state;
	struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
	struct python_code_id good = usual_code(scene), bad;
	uint64_t type = python_scene_allocate(scene, 408), word = python_scene_allocate(scene, 8);
	uint64_t *const pointer[] = { &bad.filename, &bad.qualified_name };
	const uint64_t nowhere[] = { SCENE_NOWHERE, 0, UINT64_MAX, good.line_table, good.address };

	for (size_t i = 0; i < ARRAY_SIZE(pointer); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(nowhere); k++) {
			bad = good;
			*pointer[i] = nowhere[k];
			bad.name = nowhere[k];
			python_scene_fill_code(scene, &bad);
			assert_null(python_codes_find(codes, &bad));
			assert_int_equal(python_codes_line(codes, &bad, good.address + 184, 0), 0);
		}
	}
	bad = good;
	bad.address = SCENE_NOWHERE;
	assert_null(python_codes_find(codes, &bad));
	/* of a type that is called otherwise, that has no name, and of none */
	python_scene_fill_code(scene, &good);
	python_scene_put(scene, word, "codec", 6);
	scene_put_u64(scene, type + scene->layout.type_name, word);
	scene_put_u64(scene, good.address + scene->layout.object_type, type);
	assert_null(python_codes_find(codes, &good));
	scene_put_u64(scene, type + scene->layout.type_name, SCENE_NOWHERE);
	assert_null(python_codes_find(codes, &good));
	scene_put_u64(scene, good.address + scene->layout.object_type, 0);
	assert_null(python_codes_find(codes, &good));
	python_codes_free(codes);
}

/* The object becomes another before the n-th read: it has the old one's texts or none. */
static void
test_torn(void **state)
{
	struct python_scene *scene = *state;
	struct python_code_id id = usual_code(scene);
	uint64_t other = python_scene_ascii(scene, "D.other");
	unsigned answered = 0, reads, answer = 0;

	for (scene->change_at = 1; answered < 3; scene->change_at++) {
		struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
		const struct python_code *code;

		python_scene_fill_code(scene, &id);
		scene->reads = 0;
		scene->change_address = id.address + scene->layout.code_qualified_name;
		scene->change_to = other;
		code = python_codes_find(codes, &id);
		reads = scene->reads;
		assert_true(code != NULL || scene->change_at <= reads);
		assert_true(code == NULL || scene->change_at > reads);
		if (code != NULL)
			assert_string_equal(code->function, "C.f");
		/* The lines of an object that is still known, and is not there any more. */
		answer = python_codes_line(codes, &id, id.address + 184, 0);
		assert_true(answer == 11 ? scene->change_at > scene->reads : answer == 0);
		answered += answer == 11;
		python_codes_free(codes);
	}
	assert_int_equal(answer, 11);
}

static void
test_lines(void **state)
{
	static const struct {
		uint32_t version, want;
		uint64_t instruction; /* from 3.11 on counted from the first one */
	} row[] = {
		{ 0x03080000, 10, UINT32_MAX }, { 0x03080000, 10, UINT64_MAX },
		{ 0x03080000, 11, 0 }, { 0x03080000, 11, 2 }, { 0x03090000, 12, 4 },
		{ 0x030a0000, 10, UINT32_MAX }, { 0x030a0000, 11, 0 }, { 0x030a0000, 11, 1 },
		{ 0x030a0000, 12, 2 }, { 0x030a0000, 0, 3 }, { 0x030a0000, 0, INT32_MAX },
		{ 0x030a0000, 10, UINT64_C(0x80000000) },
		{ 0x030b0000, 11, UINT64_MAX - 1 }, { 0x030b0000, 11, 0 }, { 0x030b0000, 11, 2 },
		{ 0x030c0000, 12, 4 }, { 0x030c0000, 0, 6 }, { 0x030d0000, 0, UINT64_MAX - 3 },
		{ 0x030d0000, 12, 4 }, { 0x030e0000, 0, UINT64_C(1) << 40 },
		{ 0x030e0000, 0, UINT64_C(1) << 63 }, { 0x030f0000, 11, 2 },
	};
	struct python_scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
		struct python_code_id id;
		uint64_t instruction = row[i].instruction;
		unsigned reads;

		scene->used = 1024;
		scene->layout.version = row[i].version;
		id = usual_code(scene);
		if (python_since(&scene->layout, 3, 11))
			instruction += id.address + scene->layout.code_instructions;
		assert_int_equal(python_codes_line(codes, &id, instruction, 0), row[i].want);
		/* and again: from what is kept */
		reads = scene->reads;
		assert_int_equal(python_codes_line(codes, &id, instruction, 0), row[i].want);
		assert_int_equal(scene->reads, reads);
		python_codes_free(codes);
	}
}

/* Threads of a free-threaded build execute copies of the bytecode. */
static void
test_copies(void **state)
{
	struct python_scene *scene = *state;
	struct python_code_id id;
	uint64_t copies = python_scene_allocate(scene, 32);
	uint64_t second = python_scene_allocate(scene, 6), start;
	struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
	unsigned reads;

	scene->layout.version = 0x030e00f0;
	scene->layout.code_bytecodes = 176;
	id = usual_code(scene);
	start = id.address + scene->layout.code_instructions;
	scene_put_u64(scene, copies, 3);
	scene_put_u64(scene, copies + 8, start);
	scene_put_u64(scene, copies + 16, second);
	assert_int_equal(python_codes_line(codes, &id, second + 4, 1), 0);
	scene_put_u64(scene, id.address + 176, copies);
	assert_int_equal(python_codes_line(codes, &id, start + 4, 0), 12);
	assert_int_equal(python_codes_line(codes, &id, second + 4, 1), 12);
	assert_int_equal(python_codes_line(codes, &id, second + 2, 1), 11);
	assert_int_equal(python_codes_line(codes, &id, start + 4, 1), 0);
	assert_int_equal(python_codes_line(codes, &id, second + 4, 0), 0);
	/* A copy that is known is not looked for again, until it has gone for another. */
	reads = scene->reads;
	assert_int_equal(python_codes_line(codes, &id, second, 1), 11);
	assert_int_equal(python_codes_line(codes, &id, second + 4, 1), 12);
	assert_int_equal(scene->reads, reads);
	second = python_scene_allocate(scene, 6);
	scene_put_u64(scene, copies + 16, second);
	assert_int_equal(python_codes_line(codes, &id, second + 4, 1), 12);
	assert_int_equal(python_codes_line(codes, &id, second, 1), 11);
	/* one that does not exist, one behind the end, and an array of no length that is true */
	assert_int_equal(python_codes_line(codes, &id, second + 4, 2), 0);
	assert_int_equal(python_codes_line(codes, &id, second + 4, 3), 0);
	scene_put_u64(scene, copies, UINT64_MAX);
	assert_int_equal(python_codes_line(codes, &id, second + 4, UINT32_MAX), 0);
	scene_put_u64(scene, id.address + 176, SCENE_NOWHERE);
	assert_int_equal(python_codes_line(codes, &id, second + 4, 4), 0);
	python_codes_free(codes);
}

static void
test_line_table_limits(void **state)
{
	struct python_scene *scene = *state;
	struct python_code_id id = usual_code(scene);
	struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
	uint64_t start = id.address + scene->layout.code_instructions;
	static const uint64_t size[] = { (1 << 20) + 1, 1 << 20, UINT64_MAX, SCENE_SIZE };

	for (size_t i = 0; i < ARRAY_SIZE(size); i++) {
		scene_put_u64(scene, id.line_table + scene->layout.bytes_size, size[i]);
		assert_int_equal(python_codes_line(codes, &id, start, 0), 0);
	}
	/* What could not be read is tried again. */
	scene_put_u64(scene, id.line_table + scene->layout.bytes_size, 6);
	assert_int_equal(python_codes_line(codes, &id, start, 0), 11);
	python_codes_free(codes);
}

static bool
is_utf8(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
		unsigned more = *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc0 ? 1 : 0;
		bool surrogate = c[0] == 0xed && c[1] >= 0xa0;

		if ((*c >= 0x80 && more == 0) || *c > 0xf4 || surrogate)
			return false;
		for (c++; more > 0; more--, c++) {
			if ((*c & 0xc0) != 0x80)
				return false;
		}
	}
	return true;
}

/* Words of the memory become others, near or far: what comes out is UTF-8, and it ends. */
static void
test_damage(void **state)
{
	struct python_scene *scene = *state;
	struct python_code_id id = usual_code(scene), now;
	uint8_t *whole = xmalloc(SCENE_SIZE);
	unsigned found = 0, lost = 0;
	struct rng rng;

	rng_seed(&rng, 11);
	memcpy(whole, scene->bytes, SCENE_SIZE);
	for (unsigned round = 0; round < 4000; round++) {
		struct python_codes *codes = python_codes_create(&scene->layout, &scene->memory);
		const struct python_code *code;

		memcpy(scene->bytes, whole, SCENE_SIZE);
		for (uint64_t flips = 1 + rng_next(&rng) % 6; flips > 0; flips--) {
			uint64_t at = rng_next(&rng) % (scene->used - 8), to = rng_next(&rng);

			if (rng_next(&rng) % 2 == 0)
				to = SCENE_BASE + to % scene->used;
			memcpy(scene->bytes + at, &to, 1 + rng_next(&rng) % 8);
		}
		now = python_code_identify(&scene->layout, id.address,
					   scene->bytes + (id.address - SCENE_BASE));
		code = python_codes_find(codes, &now);
		found += code != NULL;
		lost += code == NULL;
		assert_true(code == NULL || (is_utf8(code->function) && is_utf8(code->file)));
		for (unsigned i = 0; i < 4; i++) {
			uint64_t at = rng_next(&rng) >> rng_next(&rng) % 64;

			(void)python_codes_line(codes, &now, id.address + at, (uint32_t)at % 5);
		}
		python_codes_free(codes);
	}
	free(whole);
	assert_true(found > 100 && lost > 100);
}

#define WITH_SCENE(test) \
	cmocka_unit_test_setup_teardown(test, python_scene_create, python_scene_free)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SCENE(test_text_widths),
		WITH_SCENE(test_text_states),
		WITH_SCENE(test_text_escapes),
		WITH_SCENE(test_text_lengths),
		WITH_SCENE(test_no_text),
		WITH_SCENE(test_bytes),
		WITH_SCENE(test_identify),
		WITH_SCENE(test_find),
		WITH_SCENE(test_long_names),
		WITH_SCENE(test_none),
		WITH_SCENE(test_torn),
		WITH_SCENE(test_lines),
		WITH_SCENE(test_copies),
		WITH_SCENE(test_line_table_limits),
		WITH_SCENE(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
