/* SPDX-License-Identifier: MIT */
/*
 * test_python_layout.c - where CPython keeps what is read: the table against DWARF, what the
 * interpreter says itself, whole and damaged, and whether a layout fits memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/python/python_find_internal.h"
#include "../scene/python_offsets.h"
#include "../scene/python_structures.h"
#include "wallsample/base/base.h"
#include "wallsample/dwarf/debug_file.h"

static void
assert_same_layout(const struct python_layout *a, const struct python_layout *b)
{
	uint32_t value, other;
	const char *name;

	for (size_t i = 0; (name = python_layout_member(a, i, &value)) != NULL; i++) {
		python_layout_member(b, i, &other);
		if (value != other)
			fail_msg("3.%u: %s is %u and %u", python_minor(a->version), name, value,
				 other);
	}
}

/* --- versions ------------------------------------------------------------------------ */

static void
test_versions(void **state)
{
	static const struct {
		const char *text;
		uint32_t version;
		size_t length;
		const char *again;
	} rows[] = {
		{ "3.11.7", 0x030b07f0, 6, "3.11.7" },
		{ "3.9", 0x03090000, 3, "3.9" },
		{ "3.9.so", 0x03090000, 3, "3.9" },
		{ "3.14.0rc2 (main", 0x030e00c2, 9, "3.14.0rc2" },
		{ "3.13.0a1", 0x030d00a1, 8, "3.13.0a1" },
		{ "3.13.0b4+", 0x030d00b4, 8, "3.13.0b4" },
		{ "3.12.1+", 0x030c01f0, 6, "3.12.1" },
		{ "3.9.18rcx", 0x030912f0, 6, "3.9.18" },
	};
	static const char *const none[] = { "", "3", "3.", "3.x", "2.7", "3.256", "x3.9" };
	char text[PYTHON_VERSION_TEXT];
	uint32_t version;
	size_t length;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(python_version_parse(rows[i].text, strlen(rows[i].text), &version,
						 &length));
		assert_int_equal(version, rows[i].version);
		assert_int_equal(length, rows[i].length);
		python_version_text(version, text);
		assert_string_equal(text, rows[i].again);
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(python_version_parse(none[i], strlen(none[i]), &version, &length));
	/* No byte behind the end is looked at. */
	assert_true(python_version_parse("3.11.7", 4, &version, &length));
	assert_int_equal(version, 0x030b0000);
	python_version_text(UINT32_MAX, text);
	python_version_text(0, text);
}

/* --- the table ----------------------------------------------------------------------- */

static void
test_table(void **state)
{
	struct python_layout layout;

	(void)state;
	for (unsigned minor = PYTHON_MINOR_OLDEST; minor <= 12; minor++) {
		const uint32_t version = PYTHON_VERSION(3, minor) | 0x07f0;

		assert_true(python_table_read(version, &layout));
		assert_int_equal(layout.source, PYTHON_BY_TABLE);
		assert_true(python_layout_is_sane(&layout));
		assert_int_equal(layout.gil_size, layout.gil_locked + python_gil_rest);
	}
	assert_false(python_table_read(PYTHON_VERSION(3, 7), &layout));
	assert_false(python_table_read(PYTHON_VERSION(3, 13), &layout));
	assert_false(python_table_read(PYTHON_VERSION(2, 8), &layout));
	assert_false(python_table_read(0, &layout));
}

/*
 * python_code_identify() and python_codes_find() use these members without a check: a layout
 * without one of them is refused, and code_size reaches to their ends.
 */
static void
test_code_members(void **state)
{
	static const size_t needed[] = {
		offsetof(struct python_layout, code_filename),
		offsetof(struct python_layout, code_name),
		offsetof(struct python_layout, code_line_table),
		offsetof(struct python_layout, code_first_line),
		offsetof(struct python_layout, object_type),
		offsetof(struct python_layout, type_name),
	};
	struct python_layout layout;

	(void)state;
	for (unsigned minor = PYTHON_MINOR_OLDEST; minor <= 12; minor++) {
		for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
			const uint32_t absent = MEMBER_ABSENT;

			assert_true(python_table_read(PYTHON_VERSION(3, minor), &layout));
			memcpy((char *)&layout + needed[i], &absent, sizeof(absent));
			assert_false(python_layout_is_sane(&layout));
		}
		assert_true(python_table_read(PYTHON_VERSION(3, minor), &layout));
		assert_true(layout.code_size >= layout.code_filename + 8);
		assert_true(layout.code_size >= layout.code_name + 8);
		assert_true(layout.code_size >= layout.code_line_table + 8);
		assert_true(layout.code_size >= layout.code_first_line + 4);
		if (layout.code_qualified_name != MEMBER_ABSENT)
			assert_true(layout.code_size >= layout.code_qualified_name + 8);
		/* code_size follows a member that another source puts further away */
		layout.code_name = PYTHON_CODE_BYTES - 8;
		python_layout_finish(&layout);
		assert_int_equal(layout.code_size, PYTHON_CODE_BYTES);
		assert_true(python_layout_is_sane(&layout));
		layout.code_name++;
		python_layout_finish(&layout);
		assert_false(python_layout_is_sane(&layout));
		assert_true(python_table_read(PYTHON_VERSION(3, minor), &layout));
		layout.frame_size = PYTHON_FRAME_BYTES + 1;
		assert_false(python_layout_is_sane(&layout));
		assert_true(python_table_read(PYTHON_VERSION(3, minor), &layout));
		layout.thread_size = PYTHON_THREAD_BYTES + 1;
		assert_false(python_layout_is_sane(&layout));
	}
}

/* A libpython with DWARF, as pyenv makes them. */
struct library {
	struct image *image;
	struct module module;
	struct debug_info *info;
};

static bool
open_library(struct library *library, unsigned minor)
{
	const char *pyenv = getenv("PYENV_ROOT"), *home = getenv("HOME");
	struct debug_files_config config = { 0 };
	char pattern[1024];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s%s/versions/3.%u.*/lib/libpython3.%u.so.1.0",
		 pyenv != NULL ? pyenv : home != NULL ? home : "", pyenv != NULL ? "" : "/.pyenv",
		 minor, minor);
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	*library = (struct library){ 0 };
	library->image = image_open_fd(open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC), NULL);
	assert_non_null(library->image);
	library->module = (struct module){
		.kind = MODULE_FILE,
		.path = strdup(found.gl_pathv[0]),
		.image = library->image,
	};
	library->module.name = strrchr(library->module.path, '/') + 1;
	globfree(&found);
	library->info = debug_info_open(&library->module, &config);
	return true;
}

static void
close_library(struct library *library)
{
	debug_info_close(library->info);
	image_free(library->image);
	free(library->module.path);
}

/* Checks that tools/python-layout prints what is in the table. */
static void
check_generator(const struct library *library, unsigned minor)
{
	const char *build = getenv("BUILD"), *name;
	char command[2048], line[128], expected[128];
	struct python_layout layout;
	uint32_t value;
	FILE *pipe;

	if (build == NULL)
		return;
	assert_true(python_table_read(PYTHON_VERSION(3, minor), &layout));
	snprintf(command, sizeof(command), "'%s/tools/python-layout' 3.%u '%s'", build, minor,
		 library->module.path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	for (size_t i = 0; (name = python_layout_member(&layout, i, &value)) != NULL; i++) {
		if (value == MEMBER_ABSENT)
			snprintf(expected, sizeof(expected), "%s NONE\n", name);
		else
			snprintf(expected, sizeof(expected), "%s %u\n", name, value);
		assert_non_null(fgets(line, sizeof(line), pipe));
		assert_string_equal(line, expected);
	}
	assert_null(fgets(line, sizeof(line), pipe));
	assert_int_equal(pclose(pipe), 0);
}

static void
test_table_is_of_dwarf(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (unsigned minor = PYTHON_MINOR_OLDEST; minor <= 12; minor++) {
		const uint32_t version = PYTHON_VERSION(3, minor);
		struct python_layout layout, table;
		struct library library;

		if (!open_library(&library, minor))
			continue;
		if (library.info != NULL) {
			assert_true(python_dwarf_read(debug_info_dwarf(library.info), version,
						      &layout));
			assert_true(python_table_read(version, &table));
			assert_same_layout(&layout, &table);
			check_generator(&library, minor);
			compared++;
		}
		close_library(&library);
	}
	if (compared == 0)
		skip();
}

/* --- DWARF --------------------------------------------------------------------------- */

/* This program has structures that are called so. */
static void
test_dwarf(void **state)
{
	static void (*const fill[])(struct python_layout *) = { python_structures_old,
								python_structures_new };
	struct debug_files_config config = { 0 };
	char path[] = "/proc/self/exe";
	struct module module = { .kind = MODULE_FILE, .path = path, .name = "exe" };
	struct debug_info *info;

	(void)state;
	module.image = image_open_fd(open(path, O_RDONLY | O_CLOEXEC), NULL);
	assert_non_null(module.image);
	info = debug_info_open(&module, &config);
	assert_non_null(info);
	for (size_t i = 0; i < ARRAY_SIZE(fill); i++) {
		struct python_layout expected, layout;

		fill[i](&expected);
		assert_true(python_dwarf_read(debug_info_dwarf(info), expected.version, &layout));
		assert_same_layout(&expected, &layout);
		assert_int_equal(layout.free_threaded, expected.free_threaded);
		assert_int_equal(layout.source, PYTHON_BY_DWARF);
	}
	/* 3.10 had other structures, which are not here. */
	{
		struct python_layout layout;

		assert_false(python_dwarf_read(debug_info_dwarf(info), PYTHON_VERSION(3, 10),
					       &layout));
	}
	debug_info_close(info);
	image_free(module.image);
}

/* --- what the interpreter says ------------------------------------------------------- */

static bool
parse(const void *bytes, size_t size, struct python_layout *layout)
{
	const char *why = NULL;
	const bool good = python_offsets_parse(bytes, size, layout, &why);

	if (good)
		assert_true(python_layout_is_sane(layout));
	else
		assert_non_null(why);
	return good;
}

static void
test_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < PYTHON_SAYS_COUNT; i++) {
		const struct python_says *says = &python_says[i];
		char text[PYTHON_VERSION_TEXT];
		struct python_layout layout;
		uint8_t bytes[1024];
		const size_t size = python_says_bytes(says, bytes);

		assert_true(parse(bytes, size, &layout));
		python_version_text(layout.version, text);
		assert_string_equal(text, says->version);
		assert_int_equal(layout.source, PYTHON_BY_ITSELF);
		assert_int_equal(layout.free_threaded, says->word[1]);
		assert_int_equal(layout.gil_size, layout.gil_locked + python_gil_rest);
		assert_int_equal(layout.gil_holder, layout.free_threaded ? 16 : 8);
		assert_int_equal(layout.gil_enabled, layout.free_threaded ? 0 : MEMBER_ABSENT);
		assert_int_equal(layout.thread_native, says->word[0] < 0x030f0000 ? 160 : 184);
		/* PyCompactUnicodeObject is PyASCIIObject, a length and a pointer. */
		assert_int_equal(layout.text_compact, layout.text_ascii + 16);
	}
}

/* 3.14 without a global lock: the members that only such a build has, and where others moved to. */
static void
test_says_free_threaded(void **state)
{
	struct python_layout layout;
	uint8_t bytes[1024];
	const size_t size = python_says_bytes(&python_says[3], bytes);

	(void)state;
	assert_true(parse(bytes, size, &layout));
	assert_int_equal(layout.frame_bytecode_index, 72);
	assert_int_equal(layout.code_bytecodes, 224);
	assert_int_equal(layout.code_size, 232);
	assert_int_equal(layout.frame_size, 79);
	assert_int_equal(layout.thread_state, 44);
	assert_int_equal(layout.object_type, 24);
	assert_int_equal(layout.gil_locked, 24);
	python_says_bytes(&python_says[1], bytes);
	assert_true(parse(bytes, size, &layout));
	assert_int_equal(layout.thread_state, 40);
	assert_int_equal(layout.code_bytecodes, MEMBER_ABSENT);
}

/* What 3.13 says is what its DWARF says. */
static void
test_says_what_dwarf_says(void **state)
{
	struct python_layout layout, said;
	struct library library;
	uint8_t bytes[1024];
	size_t size;

	(void)state;
	if (!open_library(&library, 13))
		skip();
	if (library.info == NULL) {
		close_library(&library);
		skip();
	}
	size = python_says_bytes(&python_says[0], bytes);
	assert_true(parse(bytes, size, &said));
	assert_true(python_dwarf_read(debug_info_dwarf(library.info), said.version, &layout));
	assert_same_layout(&said, &layout);
	close_library(&library);
}

static void
test_says_too_little(void **state)
{
	(void)state;
	for (size_t i = 0; i < PYTHON_SAYS_COUNT; i++) {
		struct python_layout layout;
		uint8_t bytes[1024], *copy;
		const size_t size = python_says_bytes(&python_says[i], bytes);
		size_t enough = size;

		/* A copy of its own, so that reads outside show. */
		for (size_t part = 0; part <= size; part++) {
			copy = xmalloc(part + 1);
			memcpy(copy, bytes, part);
			if (parse(copy, part, &layout) && part < enough)
				enough = part;
			free(copy);
		}
		/* Only what is behind the last word that is wanted may be missing. */
		assert_in_range(enough, 500, size);
	}
}

/* Each word has a value that cannot be; or another, and is then taken as it is or refused. */
static void
test_says_nonsense(void **state)
{
	static const uint64_t values[] = { UINT64_MAX, INT64_MAX, UINT64_C(1) << 32, UINT32_MAX,
					   UINT64_C(1) << 31, 1 << 20, 65536, 4096, 7, 1, 0 };

	(void)state;
	for (size_t i = 0; i < PYTHON_SAYS_COUNT; i++)
		for (size_t w = 0; w < python_says[i].count; w++)
			for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
				struct python_says says = python_says[i];
				struct python_layout layout;
				uint8_t bytes[1024];
				size_t size;

				says.word[w] = values[v];
				size = python_says_bytes(&says, bytes);
				if (parse(bytes, size, &layout))
					assert_true(w > 1 || says.word[w] == 0 ||
						    says.word[w] == 1);
			}
}

static void
test_says_at_random(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 9);
	for (int i = 0; i < 100000; i++) {
		struct python_says says = python_says[rng_next(&rng) % PYTHON_SAYS_COUNT];
		struct python_layout layout;
		uint8_t bytes[1024];
		size_t size;

		for (uint64_t n = rng_next(&rng) % 4; n <= 4; n++)
			says.word[rng_next(&rng) % says.count] =
				rng_next(&rng) >> rng_next(&rng) % 64;
		size = python_says_bytes(&says, bytes);
		bytes[rng_next(&rng) % size] ^= (uint8_t)rng_next(&rng);
		parse(bytes, size, &layout);
	}
	/* Another order of the same words is none: 3.14 says that it is 3.13, and so on. */
	for (size_t i = 0; i < PYTHON_SAYS_COUNT; i++)
		for (uint32_t minor = 13; minor < 17; minor++) {
			struct python_says says = python_says[i];
			struct python_layout layout;
			uint8_t bytes[1024];
			const unsigned own = python_minor((uint32_t)says.word[0]);
			size_t size;

			says.word[0] = PYTHON_VERSION(3, minor) | 0xf0;
			size = python_says_bytes(&says, bytes);
			assert_int_equal(parse(bytes, size, &layout),
					 own == minor || (own == 15 && minor == 16));
		}
}

/* --- memory -------------------------------------------------------------------------- */

#define BASE UINT64_C(0x7f0000000000)

struct scene {
	uint8_t bytes[1 << 16];
	uint64_t runtime, interpreter, thread, other, frame, cframe, code, gil;
	const struct python_layout *layout;
	struct memory memory;
};

static bool
read_scene(void *context, uint64_t address, void *to, size_t size)
{
	const struct scene *s = context;

	if (address < BASE || address - BASE > sizeof(s->bytes) - size)
		return false;
	memcpy(to, s->bytes + (address - BASE), size);
	return true;
}

static void
put(struct scene *s, uint64_t address, uint64_t value)
{
	memcpy(s->bytes + (address - BASE), &value, sizeof(value));
}

/* An interpreter of two threads, the first of which has a frame. */
static void
make_scene(struct scene *s, unsigned minor)
{
	const uint64_t type = BASE + 0xc000, type_of_type = BASE + 0xd000, text = BASE + 0xe000;
	static struct python_layout layout;
	const struct python_layout *l = &layout;

	assert_true(python_table_read(PYTHON_VERSION(3, minor), &layout));
	memset(s, 0, sizeof(*s));
	*s = (struct scene){
		.runtime = BASE, .interpreter = BASE + 0x4000, .thread = BASE + 0x6000,
		.other = BASE + 0x7000, .frame = BASE + 0x8000, .cframe = BASE + 0x9000,
		.code = BASE + 0xa000, .gil = BASE + 0xb000, .layout = l,
		.memory = { read_scene, s },
	};
	put(s, s->runtime + l->runtime_interpreters, s->interpreter);
	put(s, s->interpreter + l->interpreter_threads, s->thread);
	if (l->runtime_gil == MEMBER_ABSENT)
		put(s, s->interpreter + l->interpreter_gil, s->gil);
	put(s, s->thread + l->thread_interpreter, s->interpreter);
	put(s, s->other + l->thread_interpreter, s->interpreter);
	put(s, s->thread + l->thread_next, s->other);
	put(s, s->other + l->thread_previous, s->thread);
	put(s, s->thread + l->thread_frame, l->cframe_frame == MEMBER_ABSENT ? s->frame :
									       s->cframe);
	if (l->cframe_frame != MEMBER_ABSENT)
		put(s, s->cframe + l->cframe_frame, s->frame);
	put(s, s->frame + l->frame_code, s->code);
	put(s, s->code + l->object_type, type);
	put(s, type + l->object_type, type_of_type);
	put(s, type_of_type + l->type_name, text);
	memcpy(s->bytes + (text - BASE), "type", 5);
}

static enum finder_fit
check(const struct scene *s)
{
	return python_layout_check(s->layout, s->runtime, &s->memory);
}

static void
test_fit(void **state)
{
	struct scene *s = xmalloc(sizeof(*s));

	(void)state;
	for (unsigned minor = PYTHON_MINOR_OLDEST; minor <= 12; minor++) {
		make_scene(s, minor);
		assert_int_equal(check(s), FINDER_FIT_GOOD);
		put(s, s->other + s->layout->thread_interpreter, s->runtime);
		assert_int_equal(check(s), FINDER_FIT_MISFIT);
		make_scene(s, minor);
		put(s, s->other + s->layout->thread_next, s->thread); /* a ring */
		assert_int_equal(check(s), FINDER_FIT_MISFIT);
		make_scene(s, minor);
		put(s, s->code + s->layout->object_type, s->frame);
		assert_int_equal(check(s), FINDER_FIT_MISFIT);
		make_scene(s, minor);
		put(s, s->thread + s->layout->thread_frame, UINT64_MAX - 3);
		assert_int_equal(check(s), FINDER_FIT_MISFIT);
		put(s, s->thread + s->layout->thread_frame, 0); /* it executes nothing */
		assert_int_equal(check(s), FINDER_FIT_GOOD);
		put(s, s->interpreter + s->layout->interpreter_threads, 0);
		assert_int_equal(check(s), FINDER_FIT_NOT_YET);
		/* A ring of interpreters that have no thread. */
		put(s, s->interpreter + s->layout->interpreter_next, s->interpreter);
		assert_int_equal(check(s), FINDER_FIT_NOT_YET);
		put(s, s->runtime + s->layout->runtime_interpreters, 0);
		assert_int_equal(check(s), FINDER_FIT_NOT_YET);
	}
	free(s);
}

static void
test_fit_lock(void **state)
{
	struct scene *s = xmalloc(sizeof(*s));

	(void)state;
	for (unsigned minor = PYTHON_MINOR_OLDEST; minor <= 12; minor++) {
		uint64_t lock;

		make_scene(s, minor);
		lock = minor < 12 ? s->runtime + s->layout->runtime_gil : s->gil;
		put(s, lock + s->layout->gil_locked, UINT32_MAX); /* an int: not made */
		assert_int_equal(check(s), FINDER_FIT_GOOD);
		put(s, lock + s->layout->gil_locked, 2);
		assert_int_equal(check(s), FINDER_FIT_MISFIT);
	}
	put(s, s->interpreter + s->layout->interpreter_gil, 0);
	assert_int_equal(check(s), FINDER_FIT_NOT_YET);
	free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_code_members),
		cmocka_unit_test(test_table_is_of_dwarf),
		cmocka_unit_test(test_dwarf),
		cmocka_unit_test(test_says),
		cmocka_unit_test(test_says_free_threaded),
		cmocka_unit_test(test_says_what_dwarf_says),
		cmocka_unit_test(test_says_too_little),
		cmocka_unit_test(test_says_nonsense),
		cmocka_unit_test(test_says_at_random),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_fit_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
