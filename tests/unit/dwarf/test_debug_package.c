/* SPDX-License-Identifier: MIT */
/*
 * test_debug_package.c - packages of split DWARF (.dwp): where they are found, which units
 * are taken out of them, and what is damaged in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dwarf/dwp_internal.h"
#include "../scene/debug_scene.h"
#include "../scene/made_package.h"
#include "wallsample/base/base.h"

/* --- the index alone ----------------------------------------------------------------- */

#define SLOTS 8
#define COLUMNS 3
#define UNITS 2

/* The index of two units; the slots of their ids collide. */
struct index {
	uint32_t version, columns, units, slots;
	uint64_t id[SLOTS];
	uint32_t row[SLOTS];
	uint32_t column[COLUMNS], offset[UNITS][COLUMNS], size[UNITS][COLUMNS];
} __attribute__((packed));

#define FIRST UINT64_C(0x0000000300000005)
#define SECOND UINT64_C(0x000000020000000d) /* 5 is taken; a step of 3: 0 */

static const struct index sound = {
	.version = 5, .columns = COLUMNS, .units = UNITS, .slots = SLOTS,
	.id = { [5] = FIRST, [0] = SECOND },
	.row = { [5] = 1, [0] = 2 },
	.column = { 1, 3, 8 },
	.offset = { { 0, 0, 0 }, { 10, 20, 30 } },
	.size = { { 10, 20, 30 }, { 11, 21, 31 } },
};

/* With nothing readable behind it, for valgrind and ASan. */
static bool
find(const struct index *index, size_t size, uint64_t id, struct dwp_row *row)
{
	uint8_t *bytes = xmalloc(size + 1);
	bool found;

	memcpy(bytes, index, size);
	bytes = realloc(bytes, size > 0 ? size : 1);
	found = dwp_index_find(bytes, size, id, row);
	free(bytes);
	return found;
}

static void
test_index(void **state)
{
	struct index index = sound;
	struct dwp_row row;

	(void)state;
	assert_true(find(&index, sizeof(index), FIRST, &row));
	assert_int_equal(row.piece[DWP_INFO].offset, 0);
	assert_int_equal(row.piece[DWP_INFO].size, 10);
	assert_true(find(&index, sizeof(index), SECOND, &row));
	assert_int_equal(row.piece[DWP_ABBREV].offset, 20);
	assert_int_equal(row.piece[DWP_ABBREV].size, 21);
	assert_int_equal(row.piece[DWP_RNGLISTS].offset, 30);
	assert_int_equal(row.piece[DWP_LINE].size, 0);
	assert_false(find(&index, sizeof(index), FIRST + 1, &row));
	assert_false(find(&index, sizeof(index), 0, &row));
	/* In GNU's version the eighth column is of macros. */
	index.version = 2;
	assert_true(find(&index, sizeof(index), SECOND, &row));
	assert_int_equal(row.piece[DWP_RNGLISTS].size, 0);
}

static void
test_index_damaged(void **state)
{
	struct index index = sound;
	struct dwp_row row;

	(void)state;
	for (size_t size = 0; size < sizeof(sound); size++)
		assert_false(find(&sound, size, SECOND, &row));
	/* Not one slot is free: the search ends all the same. */
	for (size_t i = 0; i < SLOTS; i++)
		index.row[i] = 1;
	assert_false(find(&index, sizeof(index), FIRST + 1, &row));
	index.row[5] = UNITS + 1;
	assert_false(find(&index, sizeof(index), FIRST, &row));
	index.row[5] = UINT32_MAX;
	assert_false(find(&index, sizeof(index), FIRST, &row));
	/* Any 32 bits of it. */
	for (size_t at = 0; at < sizeof(index); at += 4) {
		static const uint32_t wrong[] = { 0, 1, 3, 7, 0x80000000, UINT32_MAX };

		for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
			index = sound;
			memcpy((char *)&index + at, &wrong[i], sizeof(wrong[i]));
			(void)find(&index, sizeof(index), FIRST, &row);
			(void)find(&index, sizeof(index), SECOND, &row);
		}
	}
}

/* --- the texts of a unit ------------------------------------------------------------- */

/* .debug_str.dwo of 64 MiB, of which the unit has three texts, one the end of another. */
static void
test_texts(void **state)
{
	static const uint8_t info[] = { 8, 0, 0, 0, 5, 0, 5, 8, 0, 0, 0, 0 }, abbrev[] = { 0 };
	const size_t size = (size_t)64 << 20;
	uint32_t offsets[] = { 20, 5, (64 << 20) - 6, 100, UINT32_MAX, 102, (64 << 20) - 1 };
	uint8_t *texts = xmalloc(size);
	struct dwp_source source = {
		.fd = -1, .machine = 62,
		.part = { [DWP_INFO] = { .bytes = info, .size = sizeof(info) },
			  [DWP_ABBREV] = { .bytes = abbrev, .size = sizeof(abbrev) },
			  [DWP_STR_OFFSETS] = { .bytes = (uint8_t *)offsets,
						.size = sizeof(offsets) } },
		.texts = { .bytes = texts, .size = size },
	};
	const struct dwp_row row = { .piece = { [DWP_INFO] = { 0, sizeof(info) },
						[DWP_ABBREV] = { 0, sizeof(abbrev) },
						[DWP_STR_OFFSETS] = { 0, sizeof(offsets) } } };
	/* 100 and 102, which is in it; the one without an end, which gets one, and its end. */
	static const char expected[] = "\0hello\0xxxxxx";
	char file[2048];
	const char *why;
	ssize_t n;
	int fd;

	(void)state;
	memset(texts, 'x', size);
	memcpy(texts + 99, "\0hello", 7);
	fd = dwp_image_make(&source, &row, &why);
	assert_null(why);
	n = pread(fd, file, sizeof(file), 0);
	close(fd);
	assert_in_range(n, sizeof(expected), sizeof(file) - 1);
	assert_non_null(memmem(file, (size_t)n, expected, sizeof(expected)));
	/* The offsets are behind the header: of "hello", nothing, "llo", and the last byte. */
	memcpy(offsets + 2, (uint32_t[]){ 7, 1, 0, 3, 12 }, 20);
	assert_non_null(memmem(file, (size_t)n, offsets, sizeof(offsets)));
	/* All of it is one text. */
	memset(texts, 'x', size);
	offsets[2] = 0;
	fd = dwp_image_make(&source, &row, &why);
	assert_null(why);
	close(fd);
	free(texts);
}

/* --- whole packages ------------------------------------------------------------------ */

#define UNIT_SOURCE "__attribute__((noinline)) int marker_%c(int x) { return x * %d + of; }\n"

/* prog of two units, their .dwo files in src, and the package prog.dwp. */
static void
make_package(const char *compiler, const char *flags)
{
	static const char *const name[] = { "src/a.dwo", "src/b.dwo" };
	const char *dwo[2];

	scene_needs(compiler);
	scene_run("mkdir -p src && cd src && "
		  "printf 'extern int of;\\n" UNIT_SOURCE "' >a.c && "
		  "printf 'int of;\\nint marker_a(int);\\n" UNIT_SOURCE
		  "int main(int c, char **v) { (void)v; return marker_a(c) + marker_b(c); }\\n' "
		  ">b.c", 'a', 3, 'b', 5);
	scene_run("cd src && for u in a b; do %s -O1 -gsplit-dwarf %s -c -o $u.o $u.c || exit; "
		  "done && %s -Wl,--build-id -o ../prog a.o b.o", compiler, flags, compiler);
	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		dwo[i] = scene_path(name[i]);
	assert_true(made_package_write(scene_path("prog.dwp"), dwo, ARRAY_SIZE(dwo)));
}

static void
check(const struct debug_files_config *config, bool first, bool second, const char *said)
{
	struct scene_open scene;

	scene_open(&scene, "prog", config);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(scene_has_function(&scene, "marker_a"), first);
		assert_int_equal(scene_has_function(&scene, "marker_b"), second);
	}
	if (said != NULL && scene_said(&scene, said) != 1)
		fail_msg("not said: %s but %s", said, scene.said);
	if (said == NULL && scene_said(&scene, "wallsample: ") > 0)
		fail_msg("said: %s", scene.said);
	scene_close(&scene);
}

static void
check_found(const char *compiler, const char *flags)
{
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config beside = { .symfs = scene_path("") };
	const struct debug_files_config by_dir = { .debug_dirs = dirs };

	make_package(compiler, flags);
	scene_run("rm src/*.dwo; mkdir d");
	check(&beside, true, true, NULL);
	check(NULL, false, false, "nor a package");
	scene_run("mv prog.dwp d");
	check(&beside, false, false, "nor a package");
	check(&by_dir, true, true, NULL);
	scene_run("rm -r src prog d");
}

static void
test_gcc(void **state)
{
	(void)state;
	check_found("gcc", "-gdwarf-5");
	check_found("gcc", "-gdwarf-4");
}

static void
test_clang(void **state)
{
	(void)state;
	check_found("clang", "-gdwarf-5");
	check_found("clang", "-gdwarf-4");
}

/* dwp of binutils and llvm-dwp, which merge texts. */
static void
check_tool(const char *tool, const char *compiler, const char *flags)
{
	const struct debug_files_config config = { .symfs = scene_path("") };

	scene_needs(tool);
	make_package(compiler, flags);
	scene_run("rm prog.dwp && timeout 20 %s -o prog.dwp src/a.dwo src/b.dwo && rm -r src",
		  tool);
	check(&config, true, true, NULL);
	scene_run("objcopy --compress-debug-sections=zlib prog.dwp");
	check(&config, true, true, NULL);
}

static void
test_dwp(void **state)
{
	(void)state;
	check_tool("dwp", "gcc", "-gdwarf-4");
}

static void
test_llvm_dwp(void **state)
{
	(void)state;
	check_tool("llvm-dwp", "clang", "-gdwarf-4");
	check_tool("llvm-dwp", "clang", "-gdwarf-5");
}

/* Beside a separate debug file with the skeletons, by its whole name and without its end. */
static void
test_separate(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL }, *with_slash[] = { scene_path("d/"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	const struct debug_files_config slash_config = { .debug_dirs = with_slash };
	struct module *module;

	(void)state;
	scene_needs("objcopy");
	make_package("gcc", "-gdwarf-5");
	module = scene_module("prog");
	scene_run("rm src/*.dwo && mkdir -p d/.build-id/%.2s && "
		  "objcopy --only-keep-debug prog d/.build-id/%s.debug && strip prog && "
		  "mv prog.dwp d/.build-id/%s.dwp", scene_id(module, true), scene_id(module, true),
		  scene_id(module, true));
	check(&config, true, true, NULL);
	check(&slash_config, true, true, NULL);
	scene_run("cd d/.build-id/%.2s && mv *.dwp $(ls *.debug).dwp", scene_id(module, true));
	check(&config, true, true, NULL);
	scene_module_free(module);
}

/* A unit that the package does not have is looked for in its .dwo file. */
static void
test_incomplete(void **state)
{
	const struct debug_files_config config = { .root = "/", .symfs = scene_path("") };
	const char *dwo[] = { scene_path("src/b.dwo") };

	(void)state;
	make_package("gcc", "-gdwarf-5");
	assert_true(made_package_write(scene_path("prog.dwp"), dwo, 1));
	scene_run("rm src/b.dwo");
	check(&config, true, true, NULL);
	scene_run("rm src/a.dwo");
	check(&config, false, true, "a.dwo is not used as the debug file of prog: no such");
}

static void
test_traps(void **state)
{
	static const char *const trap[][2] = {
		{ "mkfifo prog.dwp", "nor a package" },
		{ "mkdir prog.dwp", "nor a package" },
		{ "ln -s there prog.dwp", "nor a package" },
		{ "head -c 600 there >prog.dwp", "truncated" },
		{ "echo rubbish >prog.dwp", "truncated" },
		{ "cp prog prog.dwp", "it has no index of units" },
		{ "objcopy --update-section .debug_cu_index=/dev/null there prog.dwp",
		  "it has no index of units" },
		{ "objcopy --update-section .debug_cu_index=short there prog.dwp",
		  "its index is damaged" },
		{ "objcopy --update-section .debug_cu_index=zero there prog.dwp",
		  "its index is of a version" },
		{ "objcopy --update-section .debug_info.dwo=short there prog.dwp",
		  "its index, or what that points to, is damaged" },
		{ "objcopy --update-section .debug_info.dwo=zero there prog.dwp",
		  "its DWO id is another" },
		{ "objcopy --update-section .debug_abbrev.dwo=zero there prog.dwp", NULL },
		{ "objcopy --update-section .debug_str_offsets.dwo=ones there prog.dwp", NULL },
		{ "objcopy --remove-section .debug_str.dwo there prog.dwp", NULL },
	};
	const struct debug_files_config config = { .symfs = scene_path("") };
	struct scene_open scene;

	(void)state;
	scene_needs("objcopy");
	make_package("gcc", "-gdwarf-5");
	scene_run("rm -r src && mv prog.dwp there && head -c 10 /dev/zero >short && "
		  "head -c 4000 /dev/zero >zero && tr '\\000' '\\377' <zero >ones");
	for (size_t i = 0; i < ARRAY_SIZE(trap); i++) {
		scene_run("%s", trap[i][0]);
		scene_open(&scene, "prog", &config);
		if (scene_has_function(&scene, "marker_a"))
			fail_msg("%s: found", trap[i][0]);
		if (trap[i][1] != NULL && scene_said(&scene, trap[i][1]) != 1)
			fail_msg("%s: not said: %s but %s", trap[i][0], trap[i][1], scene.said);
		scene_close(&scene);
		scene_run("rm -r prog.dwp");
	}
	scene_run("mv there prog.dwp");
	check(&config, true, true, NULL);
}

/* Some 200 bytes of a package, each in turn is another. */
static void
test_any_byte(void **state)
{
	const struct debug_files_config config = { .symfs = scene_path("") };
	const char *path = scene_path("prog.dwp");
	struct scene_open scene;
	struct stat st;
	FILE *file;

	(void)state;
	make_package("gcc", "-gdwarf-5");
	scene_run("rm -r src");
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += st.st_size / 200 + 1) {
		int byte;

		file = fopen(path, "r+");
		assert_non_null(file);
		fseek(file, at, SEEK_SET);
		byte = fgetc(file);
		fseek(file, at, SEEK_SET);
		fputc(byte ^ (at % 2 == 0 ? 0xff : 0x01), file);
		fflush(file);
		scene_open(&scene, "prog", &config);
		(void)scene_has_function(&scene, "marker_b");
		scene_close(&scene);
		fseek(file, at, SEEK_SET);
		fputc(byte, file);
		fclose(file);
	}
	check(&config, true, true, NULL);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_index_damaged),
		cmocka_unit_test(test_texts),
		SCENE(test_gcc), SCENE(test_clang), SCENE(test_dwp), SCENE(test_llvm_dwp),
		SCENE(test_separate), SCENE(test_incomplete), SCENE(test_traps),
		SCENE(test_any_byte),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
