/* SPDX-License-Identifier: MIT */
/*
 * test_debug_split.c - .dwo files: found, checked, and never opened because DWARF says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "dwarf/debug_file_internal.h"
#include "../scene/debug_scene.h"
#include "wallsample/base/base.h"

/* Compilers name what is compiled and linked at once in different ways: do it in two steps. */
static void
make_split(const char *compiler, const char *flags)
{
	scene_needs(compiler);
	scene_compile("plain", "");
	scene_run("mkdir -p src && printf 'int of;\\n"
		  "__attribute__((noinline)) int marker(int x)\\n{ return x * of; }\\n"
		  "int main(int c, char **v) { (void)v; return marker(c); }\\n' >src/prog.c");
	scene_run("cd src && %s -O1 -gsplit-dwarf %s -c -o prog.o prog.c && "
		  "%s -Wl,--build-id -o ../prog prog.o", compiler, flags, compiler);
}

static void
check(const struct debug_files_config *config, bool there, const char *said)
{
	struct scene_open scene;

	scene_open(&scene, "prog", config);
	assert_int_equal(scene_has_function(&scene, "marker"), there);
	/* Again, with a handle for which libdw would look again. */
	assert_int_equal(scene_has_function(&scene, "marker"), there);
	if (said != NULL && scene_said(&scene, said) != 1)
		fail_msg("not said: %s but %s", said, scene.said);
	assert_int_equal(scene_said(&scene, "wallsample: "), said != NULL);
	scene_close(&scene);
}

static void
check_found(const char *compiler, const char *flags)
{
	const char *dirs[] = { scene_path("d"), NULL };
	struct debug_files_config config = { .root = "/" };

	make_split(compiler, flags);
	check(&config, true, NULL);
	check(NULL, false, "no such regular file");
	scene_run("mkdir -p sys$PWD d && cp -r src sys$PWD");
	config = (struct debug_files_config){ .symfs = scene_path("sys") };
	check(&config, true, NULL);
	scene_run("mv src/prog.dwo d");
	config = (struct debug_files_config){ .debug_dirs = dirs };
	check(&config, true, NULL);
	config = (struct debug_files_config){ .root = "/" };
	check(&config, false, "no such regular file");
	scene_run("rm -r src sys d prog");
}

static void
test_gcc(void **state)
{
	(void)state;
	check_found("gcc", "-gdwarf-5");
	check_found("gcc", "-gdwarf-4");
	check_found("gcc", "-gdwarf-5 -gz=zlib");
}

static void
test_clang(void **state)
{
	(void)state;
	check_found("clang", "-gdwarf-5");
	check_found("clang", "-gdwarf-4");
}

/* -o ../obj/prog.o: the name of the .dwo file begins so, too, and is below no root as it is. */
static void
test_beside(void **state)
{
	const struct debug_files_config config = { .root = "/" };

	(void)state;
	make_split("gcc", "-gdwarf-5");
	scene_run("rm src/prog.dwo prog && mkdir obj && cd src && "
		  "gcc -O1 -gsplit-dwarf -gdwarf-5 -c -o ../obj/prog.o prog.c && "
		  "gcc -Wl,--build-id -o ../prog ../obj/prog.o");
	check(&config, true, NULL);
}

/* Makes all units of a new handle whole; returns how much memory was said to go there. */
static Dwarf *
open_split(struct scene_open *scene, uint64_t *size)
{
	Dwarf *dwarf = debug_file_dwarf(scene->files, &scene->file);
	Dwarf_CU *cu = NULL;

	*size = 0;
	assert_non_null(dwarf);
	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, NULL, NULL) == 0)
		*size += debug_file_split(scene->files, &scene->file, cu);
	return dwarf;
}

/* It is counted while a handle has it, and one that there is no memory for is not read. */
static void
test_memory(void **state)
{
	static const char *const flags[] = { "-gdwarf-5", "-gdwarf-5 -gz=zlib" };
	const struct debug_files_config config = { .root = "/" };
	struct scene_open scene;
	uint64_t before, size;
	struct stat st;
	Dwarf *dwarf;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		make_split("gcc", flags[i]);
		assert_int_equal(stat(scene_path("src/prog.dwo"), &st), 0);
		scene_open(&scene, "prog", &config);
		debug_file_dwarf_end(scene.files, &scene.file,
				     debug_file_dwarf(scene.files, &scene.file));
		before = scene.files->dwarf_left;
		dwarf = open_split(&scene, &size);
		assert_true(size >= (uint64_t)st.st_size);
		assert_int_equal(scene.files->dwarf_left, before - size);
		debug_file_dwarf_end(scene.files, &scene.file, dwarf);
		assert_int_equal(scene.files->dwarf_left, before);
		assert_true(scene_has_function(&scene, "marker"));
		scene.files->dwarf_left = size - 1;
		assert_false(scene_has_function(&scene, "marker"));
		assert_int_equal(scene_said(&scene, "more memory than there is to spare"), 1);
		scene_close(&scene);
		scene_run("rm -r src prog");
	}
}

/* In an object that the target has made it is not looked for. */
static void
test_jit(void **state)
{
	const struct debug_files_config config = { .root = "/" };
	struct scene_open scene;

	(void)state;
	make_split("gcc", "-gdwarf-5");
	scene_open(&scene, "prog", &config);
	assert_true(scene_has_function(&scene, "marker"));
	scene_open_jit(&scene);
	assert_false(scene_has_function(&scene, "marker"));
	scene_run("rm src/prog.dwo");
	assert_false(scene_has_function(&scene, "marker"));
	assert_int_equal(scene_said(&scene, "wallsample: "), 0);
	scene_close(&scene);
}

/* What else could be at the path: libdw alone waits for ever, or opens it. */
static void
test_traps(void **state)
{
	static const char *const trap[][2] = {
		{ "mkfifo src/prog.dwo", "no such regular file" },
		{ "mkdir src/prog.dwo", "no such regular file" },
		{ "ln -s ../there src/prog.dwo", "no such regular file" },
		{ "head -c 600 there >src/prog.dwo", "truncated" },
		{ "echo rubbish >src/prog.dwo", "truncated" },
		{ "cp plain src/prog.dwo", "its DWARF is damaged" },
		{ "cp other.dwo src/prog.dwo", "its DWO id is another" },
		{ "objcopy --add-section .gnu_debugaltlink=there there src/prog.dwo",
		  "it names further files" },
		{ "cp whole src/prog.dwo", "its DW" },
	};
	const struct debug_files_config config = { .root = "/" };

	(void)state;
	scene_needs("objcopy");
	make_split("gcc", "-gdwarf-5 -DOTHER");
	scene_run("mv src/prog.dwo other.dwo && rm prog");
	make_split("gcc", "-gdwarf-5");
	scene_run("mv src/prog.dwo there && cp prog whole");
	/* Its id is made of the whole text, so let that differ. */
	scene_run("sed -i 's/x \\* of/x + of/' src/prog.c && cd src && "
		  "gcc -O1 -g -gsplit-dwarf -c -o other.o prog.c && mv other.dwo ..");
	for (size_t i = 0; i < ARRAY_SIZE(trap); i++) {
		scene_run("%s", trap[i][0]);
		check(&config, false, trap[i][1]);
		scene_run("rm -r src/prog.dwo");
	}
	scene_run("cp there src/prog.dwo");
	check(&config, true, NULL);
}

/* Names that are absolute, short, shared with others, or not in .debug_str at all. */
static void
test_names(void **state)
{
	static const char *const edit[] = {
		"s/prog\\.dwo/x.dwo/",            /* shorter */
		"s/\"prog\\.dwo\"/\"\"/",         /* empty */
		"s/\"prog\\.dwo\"/\"\\/dev\\/zero\"/",
	};
	const struct debug_files_config config = { .root = "/" };
	struct scene_open scene;

	(void)state;
	make_split("gcc", "-gdwarf-5");
	for (size_t i = 0; i < ARRAY_SIZE(edit); i++) {
		scene_run("cd src && gcc -O1 -gsplit-dwarf -gdwarf-5 -S -o prog.s prog.c && "
			  "sed '%s' prog.s >edit.s && gcc -c -o edit.o edit.s && "
			  "gcc -Wl,--build-id -o ../prog edit.o", edit[i]);
		scene_open(&scene, "prog", &config);
		assert_false(scene_has_function(&scene, "marker"));
		scene_close(&scene);
	}
}

/* A text without an end must not be read beyond its section; valgrind and ASan would tell. */
static void
test_endless_text(void **state)
{
	static const char *const section[] = { ".debug_str", ".debug_line_str", ".debug_info" };
	struct scene_open scene;

	(void)state;
	scene_needs("objcopy");
	for (size_t i = 0; i < ARRAY_SIZE(section); i++) {
		scene_compile("prog", "-g");
		scene_run("objcopy --dump-section %s=part prog && tr '\\000' x <part >endless && "
			  "objcopy --update-section %s=endless prog", section[i], section[i]);
		scene_open(&scene, "prog", NULL);
		(void)scene_has_function(&scene, "marker");
		scene_close(&scene);
	}
}

/* libdw keeps a kilobyte of each unit, however small. */
static void
test_many_units(void **state)
{
	/* length, version, abbreviations, size of addresses, and a zero for a DIE */
	static const char unit[] = "\\10\\0\\0\\0\\4\\0\\0\\0\\0\\0\\10\\0";
	static const struct {
		unsigned doublings;
		int refused;
	} many[] = { { 10, 0 }, { 21, 1 } };
	struct scene_open scene;

	(void)state;
	scene_needs("objcopy");
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		scene_compile("prog", "-g");
		scene_run("printf '%s' >units; i=0; while [ $i -lt %u ]; do cat units units >more "
			  "&& mv more units; i=$((i + 1)); done; "
			  "objcopy --update-section .debug_info=units prog", unit,
			  many[i].doublings);
		scene_open(&scene, "prog", NULL);
		assert_false(scene_has_function(&scene, "marker"));
		assert_int_equal(scene_said(&scene, "more units than can be read"),
				 many[i].refused);
		scene_close(&scene);
	}
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_gcc), SCENE(test_clang), SCENE(test_beside),
		SCENE(test_memory), SCENE(test_jit), SCENE(test_traps), SCENE(test_names),
		SCENE(test_endless_text), SCENE(test_many_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
