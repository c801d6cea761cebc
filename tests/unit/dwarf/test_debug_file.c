/* SPDX-License-Identifier: MIT */
/*
 * test_debug_file.c - which file a module's debug information is taken from, and which not.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "dwarf/debug_file_internal.h"
#include "../scene/debug_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/elf_open.h"

/* Compiles `name` with -g, moves its debug information to name.debug, and strips it. */
static void
make_separate(const char *name, const char *flags)
{
	scene_needs("objcopy");
	scene_compile(name, flags);
	scene_run("objcopy --only-keep-debug %s %s.debug && strip %s", name, name, name);
}

/* Copies a debug file to where the build-id of `name` has it looked for. */
static void
put_by_id(const char *name, const char *from, const char *directory)
{
	struct module *module = scene_module(name);
	char id[160];

	snprintf(id, sizeof(id), "%s", scene_id(module, true));
	scene_run("mkdir -p %s/%.2s && cp %s %s/%s.debug", directory, id, from, directory, id);
	scene_module_free(module);
}

static void
check_none(struct scene_open *scene)
{
	assert_null(scene->file.elf);
	assert_null(scene->file.path);
	assert_non_null(scene->file.own);
	assert_false(scene_has_function(scene, "marker"));
}

static void
check_separate(struct scene_open *scene, const char *path)
{
	assert_non_null(scene->file.path);
	assert_string_equal(scene->file.path, scene_path(path));
	assert_true(scene_has_function(scene, "marker"));
	assert_true(scene_has_function(scene, "marker")); /* a second handle */
	assert_true(scene_has_symbol(scene->file.elf, "marker"));
	assert_int_equal(scene_said(scene, "wallsample: "), 0);
}

static void
test_nothing(void **state)
{
	struct scene_open scene;

	(void)state;
	scene_compile("prog", "-s");
	scene_open(&scene, "prog", NULL);
	check_none(&scene);
	assert_null(scene.file.mini);
	assert_int_equal(scene_said(&scene, "wallsample: "), 0);
	scene_close(&scene);
}

static void
test_own(void **state)
{
	static const char *const flags[] = { "-g", "-g -gz=zlib", "-g -gz=zlib-gnu",
					     "-gdwarf-4", "-gdwarf-5 -fdebug-types-section" };
	struct scene_open scene;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		scene_compile("prog", flags[i]);
		scene_open(&scene, "prog", NULL);
		assert_null(scene.file.elf);
		assert_true(scene_has_function(&scene, "marker"));
		assert_int_equal(scene_said(&scene, "wallsample: "), 0);
		scene_close(&scene);
	}
}

static void
test_by_id(void **state)
{
	static const char *const layout[] = { "d/.build-id", "e" };
	const char *dirs[] = { "/nonexistent", NULL, NULL, NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	struct scene_open scene;
	char path[256];

	(void)state;
	make_separate("prog", "-g");
	dirs[1] = scene_path("d");
	dirs[2] = scene_path("e");
	for (size_t i = 0; i < ARRAY_SIZE(layout); i++) {
		put_by_id("prog", "prog.debug", layout[i]);
		scene_open(&scene, "prog", &config);
		snprintf(path, sizeof(path), "%s/%s.debug", layout[i],
			 scene_id(scene.module, true));
		check_separate(&scene, path);
		scene_close(&scene);
		scene_run("rm -r %s", layout[i]);
	}
}

/* Links in a debug directory are followed: Fedora's are made of them. */
static void
test_by_id_links(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL };
	struct debug_files_config config = { .debug_dirs = dirs };
	struct scene_open scene;

	(void)state;
	make_separate("prog", "-g");
	put_by_id("prog", "prog.debug", "d/.build-id");
	scene_run("f=$(echo d/.build-id/*/*.debug); mv $f there && ln -s \"$PWD/there\" $f");
	scene_open(&scene, "prog", &config);
	assert_non_null(scene.file.path);
	scene_close(&scene);
	/* Not in what could be the target's. */
	scene_run("mkdir -p sys/usr/lib && mv d sys/usr/lib/debug");
	config = (struct debug_files_config){ .root = scene_path("sys") };
	scene_open(&scene, "prog", &config);
	check_none(&scene);
	assert_int_equal(scene_said(&scene, "symbolic link"), 1);
	scene_close(&scene);
	scene_run("f=$(echo sys/usr/lib/debug/.build-id/*/*.debug); rm $f && mv there $f");
	scene_open(&scene, "prog", &config);
	assert_non_null(scene.file.path);
	scene_close(&scene);
}

static void
test_wrong_id(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	struct debug_file again;
	struct scene_open scene;

	(void)state;
	make_separate("other", "-g");
	make_separate("prog", "-g");
	put_by_id("prog", "other.debug", "d/.build-id");
	scene_open(&scene, "prog", &config);
	check_none(&scene);
	assert_int_equal(scene_said(&scene, "its build-id is another"), 1);
	assert_int_equal(scene_said(&scene, scene_id(scene.module, true)), 1);
	debug_file_open(scene.files, scene.module, &again);
	debug_file_close(&again);
	assert_int_equal(scene_said(&scene, "wallsample: "), 1);
	scene_close(&scene);
}

static void
test_truncated(void **state)
{
	static const char *const cut[] = { "-20", "30", "0", "700" };
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	struct scene_open scene;

	(void)state;
	make_separate("prog", "-g");
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
		put_by_id("prog", "prog.debug", "d/.build-id");
		scene_run("f=$(echo d/.build-id/*/*.debug); chmod +w $f; head -c %s "
			  "prog.debug >$f", cut[i]);
		scene_open(&scene, "prog", &config);
		check_none(&scene);
		assert_int_equal(scene_said(&scene, "it is truncated"), 1);
		assert_int_equal(scene_said(&scene, "wallsample: "), 1);
		scene_close(&scene);
	}
}

static void
test_no_regular_file(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	struct scene_open scene;

	(void)state;
	make_separate("prog", "-g");
	put_by_id("prog", "prog.debug", "d/.build-id");
	scene_run("f=$(echo d/.build-id/*/*.debug); rm -f $f; mkfifo $f");
	scene_open(&scene, "prog", &config);
	check_none(&scene);
	assert_int_equal(scene_said(&scene, "no regular file"), 1);
	scene_close(&scene);
}

/* --- debug links -------------------------------------------------------------------- */

static void
make_linked(void)
{
	make_separate("prog", "-g");
	scene_run("objcopy --add-gnu-debuglink=prog.debug prog && mkdir -p sys/opt && "
		  "mv prog.debug sys/opt && mkdir opt && cp prog opt && mv prog sys/opt");
}

static void
test_link(void **state)
{
	static const char *const place[] = { "sys/opt", "sys/opt/.debug", "sys/usr/lib/debug/opt",
					     "d/opt", "d" };
	const char *dirs[] = { scene_path("d"), NULL };
	const char *from = "sys/opt";
	struct scene_open scene;
	char path[256];

	(void)state;
	make_linked();
	for (size_t i = 0; i < 2 * ARRAY_SIZE(place); i++) {
		const char *to = place[i / 2];
		struct debug_files_config config = { .debug_dirs = dirs };

		if (i % 2 == 0)
			config.root = scene_path("sys");
		else
			config.symfs = scene_path("sys");
		if (strcmp(from, to) != 0)
			scene_run("mkdir -p %s && mv %s/prog.debug %s", to, from, to);
		from = to;
		scene_open(&scene, "opt/prog", &config);
		snprintf(path, sizeof(path), "%s/prog.debug", to);
		check_separate(&scene, path);
		scene_close(&scene);
	}
}

/* Files that fit one by one may not fit together. */
static void
test_budget(void **state)
{
	struct scene_open scene;
	struct debug_file again;
	uint64_t before;

	(void)state;
	scene_compile("prog", "-g");
	scene_open(&scene, "prog", NULL);
	before = scene.files->dwarf_left;
	assert_true(scene_has_function(&scene, "marker"));
	assert_true(scene_has_function(&scene, "marker"));
	assert_true(scene.files->dwarf_left < before);
	/* as much as is left when many have been read */
	scene.files->dwarf_left = before - scene.files->dwarf_left - 1;
	debug_file_open(scene.files, scene.module, &again);
	assert_null(debug_file_dwarf(scene.files, &again));
	debug_file_close(&again);
	assert_int_equal(scene_said(&scene, "more memory than there is to spare"), 1);
	scene_close(&scene);
}

/* An attribute of /sys says that it is a file of 4096 bytes; to read it is to do something. */
static void
test_attribute(void **state)
{
	static const char *const path[] = { "devices/system/cpu/online", "kernel/notes" };
	const struct debug_place place = { .path = (char *)(uintptr_t)"/sys", .prefix = "",
					   .trusted = true };
	const struct debug_place below = { .path = (char *)(uintptr_t)"/sys", .prefix = "",
					   .top = open("/sys", O_PATH | O_CLOEXEC) };
	struct strbuf opened;

	(void)state;
	strbuf_init(&opened);
	for (size_t i = 0; i < ARRAY_SIZE(path); i++) {
		if (faccessat(below.top, path[i], R_OK, 0) != 0)
			continue;
		assert_int_equal(debug_place_open(&place, path[i], &opened), -1);
		assert_int_equal(errno, EINVAL);
		assert_int_equal(debug_place_open(&below, path[i], &opened), -1);
		assert_int_equal(errno, EINVAL);
	}
	strbuf_release(&opened);
	close(below.top);
}

/* A path that is refused is not reported as a file of the wrong kind. */
static void
test_refused_path(void **state)
{
	const struct debug_place place = { .path = (char *)(uintptr_t)"/", .prefix = "",
					   .trusted = true };
	struct strbuf opened = STRBUF_INIT, path = STRBUF_INIT;

	(void)state;
	assert_int_equal(debug_place_open(&place, "etc/../etc/passwd", &opened), -1);
	assert_int_equal(errno, EXDEV);
	while (path.length < PATH_MAX)
		strbuf_add_text(&path, "directory/");
	assert_int_equal(debug_place_open(&place, path.data, &opened), -1);
	assert_int_equal(errno, EOVERFLOW);
	strbuf_release(&path);
	strbuf_release(&opened);
}

/* The root is that of a process, which has ended when names are asked for. */
static void
test_link_of_ended(void **state)
{
	struct debug_files_config config = { 0 };
	struct debug_files *files;
	struct debug_file file;
	struct module *module;
	char root[32];
	pid_t child;

	(void)state;
	make_linked();
	scene_run("mv sys/opt/prog.debug opt");
	module = scene_module("opt/prog");
	free(module->path);
	module->path = xstrdup(scene_path("opt/prog"));
	module->name = "prog";
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		while (true)
			pause();
	snprintf(root, sizeof(root), "/proc/%d/root", (int)child);
	config.root = root;
	files = debug_files_create(&config);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	debug_file_open(files, module, &file);
	assert_non_null(file.path);
	assert_non_null(strstr(file.path, "/opt/prog.debug"));
	debug_file_close(&file);
	debug_files_free(files);
	scene_module_free(module);
}

static void
test_wrong_crc(void **state)
{
	const struct debug_files_config config = { .root = scene_path("sys") };
	struct scene_open scene;

	(void)state;
	make_linked();
	scene_run("echo >>sys/opt/prog.debug");
	scene_open(&scene, "opt/prog", &config);
	check_none(&scene);
	assert_int_equal(scene_said(&scene, "sys/opt/prog.debug is not used as the debug file of "
					    "prog: its CRC is not that of the debug link"), 1);
	scene_close(&scene);
}

/* All files of a run together have so many bytes read for their CRCs. */
static void
test_crc_budget(void **state)
{
	const struct debug_files_config config = { .root = scene_path("sys") };
	struct scene_open scene;
	struct debug_file again;
	uint64_t size;

	(void)state;
	make_linked();
	scene_open(&scene, "opt/prog", &config);
	assert_non_null(scene.file.elf);
	size = DEBUG_CRC_MOST - scene.files->crc_left;
	assert_true(size > 1000);
	scene.files->crc_left = size;
	debug_file_open(scene.files, scene.module, &again);
	assert_non_null(again.elf);
	debug_file_close(&again);
	assert_int_equal(scene.files->crc_left, 0);
	scene.files->crc_left = size - 1;
	debug_file_open(scene.files, scene.module, &again);
	assert_null(again.elf);
	debug_file_close(&again);
	assert_int_equal(scene_said(&scene, "too much would have to be read"), 1);
	scene_close(&scene);
}

/* What the target could lay out: nothing hangs, no link is followed. */
static void
test_hostile_link(void **state)
{
	static const char *const trap[] = {
		"mkfifo sys/opt/prog.debug",
		"ln -s ../../there sys/opt/prog.debug",
		"mkdir sys/opt/prog.debug",
		"ln sys/opt/prog sys/opt/prog.debug",
	};
	const struct debug_files_config config = { .root = scene_path("sys") };
	struct scene_open scene;

	(void)state;
	make_linked();
	scene_run("mv sys/opt/prog.debug there");
	for (size_t i = 0; i < ARRAY_SIZE(trap); i++) {
		scene_run("%s", trap[i]);
		scene_open(&scene, "opt/prog", &config);
		check_none(&scene);
		assert_int_equal(scene_said(&scene, "sys/opt/prog.debug is not used"), 1);
		scene_close(&scene);
		scene_run("rm -r sys/opt/prog.debug");
	}
	/* The directory is a link out of the root. */
	scene_run("mv sys/opt out && ln -s ../out sys/opt && cp there out/prog.debug");
	scene_open(&scene, "opt/prog", &config);
	check_none(&scene);
	scene_close(&scene);
}

static void
test_link_to_elsewhere(void **state)
{
	static const char *const name[] = { "../there", "/etc/passwd", "..", "." };
	const struct debug_files_config config = { .root = scene_path("sys") };
	struct scene_open scene;

	(void)state;
	make_linked();
	scene_run("cp sys/opt/prog.debug sys/there");
	for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
		scene_run("printf '%s\\0\\0\\0\\0\\0\\0\\0\\0' >link && objcopy --update-section "
			  ".gnu_debuglink=link opt/prog 2>/dev/null", name[i]);
		scene_open(&scene, "opt/prog", &config);
		check_none(&scene);
		assert_int_equal(scene_said(&scene, "wallsample: "), 0);
		scene_close(&scene);
	}
}

/* The whole file, not stripped, below --symfs. */
static void
test_symfs(void **state)
{
	const struct debug_files_config config = { .symfs = scene_path("sys") };
	struct scene_open scene;

	(void)state;
	scene_compile("prog", "-g");
	scene_run("mkdir sys && cp prog sys && strip prog");
	scene_open(&scene, "prog", &config);
	check_separate(&scene, "sys/prog");
	scene_close(&scene);
}

/* --- MiniDebugInfo -------------------------------------------------------------------- */

/* As Fedora's find-debuginfo does it. */
static void
make_mini(void)
{
	scene_needs("xz");
	make_separate("prog", "-g");
	scene_run("nm prog.debug --format=posix --defined-only | "
		  "awk '$2 ~ /[Tt]/ { print $1 }' | sort >keep && "
		  "objcopy -S --remove-section .comment --keep-symbols=keep prog.debug mini && "
		  "xz mini && objcopy --add-section .gnu_debugdata=mini.xz prog");
}

static void
test_mini(void **state)
{
	struct scene_open scene;

	(void)state;
	make_mini();
	scene_open(&scene, "prog", NULL);
	check_none(&scene);
	assert_true(scene_has_symbol(scene.file.mini, "marker"));
	assert_int_equal(scene_said(&scene, "wallsample: "), 0);
	scene_close(&scene);
}

static void
test_damaged_mini(void **state)
{
	static const char *const damage[] = {
		"head -c 100 mini.xz >bad",                    /* truncated */
		"echo no xz file at all >bad",
		"echo no ELF file | xz >bad",
		"head -c 300M /dev/zero | xz -1 >bad",         /* more than is unpacked */
		"{ head -c 80 mini.xz; echo xxxxxxxxxxxxx; tail -c +90 mini.xz; } >bad",
	};
	struct scene_open scene;

	(void)state;
	make_mini();
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		scene_run("%s; objcopy --update-section .gnu_debugdata=bad prog", damage[i]);
		scene_open(&scene, "prog", NULL);
		assert_null(scene.file.mini);
		assert_int_equal(scene_said(&scene, "its .gnu_debugdata"), 1);
		scene_close(&scene);
	}
}

/* --- dwz ------------------------------------------------------------------------------ */

/* Two programs with much in common, and dwz's file of it at d/.dwz/common. */
static void
make_dwz(const char *link)
{
	scene_needs("dwz");
	scene_needs("objcopy");
	for (int i = 0; i < 2; i++) {
		const char *name = i == 0 ? "prog" : "prog2";

		scene_run("printf '#include <stdio.h>\\n#include <stdlib.h>\\n"
			  "#include <sys/stat.h>\\nstruct stat st%d; lldiv_t d;\\n"
			  "__attribute__((noinline)) int marker(FILE *f, struct stat *s)\\n"
			  "{ return fileno(f) + (int)s->st_size; }\\n"
			  "int main(void) { return marker(stdin, &st%d); }\\n' >%s.c", i, i, name);
		scene_run("cc -g -O1 -Wl,--build-id -o %s %s.c && objcopy --only-keep-debug %s "
			  "%s.debug && strip %s", name, name, name, name, name);
	}
	scene_run("mkdir -p d/.dwz && dwz -m d/.dwz/common -M %s prog.debug prog2.debug", link);
	put_by_id("prog", "prog.debug", "d/.build-id");
}

static void
check_alternate(struct scene_open *scene, bool there)
{
	Dwarf *dwarf = debug_file_dwarf(scene->files, &scene->file);

	assert_non_null(dwarf);
	if (there)
		assert_non_null(dwarf_getalt(dwarf));
	else
		assert_null(dwarf_getalt(dwarf));
	debug_file_dwarf_end(scene->files, &scene->file, dwarf);
}

static void
check_dwz(struct scene_open *scene, bool there)
{
	check_alternate(scene, there);
	assert_int_equal(scene_said(scene, "dwz moved"), !there);
	if (there)
		assert_true(scene_has_function(scene, "marker"));
}

static void
test_dwz(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	struct scene_open scene;

	(void)state;
	make_dwz("/usr/lib/debug/.dwz/common");
	scene_open(&scene, "prog", &config);
	check_dwz(&scene, true);
	scene_close(&scene);
	/* Another file of that name, then none. */
	scene_run("cp prog.debug d/.dwz/common");
	scene_open(&scene, "prog", &config);
	check_alternate(&scene, false);
	assert_int_equal(scene_said(&scene, ".dwz/common is not used"), 2);
	assert_int_equal(scene_said(&scene, "its build-id is another"), 1);
	scene_close(&scene);
	scene_run("rm d/.dwz/common");
	scene_open(&scene, "prog", &config);
	check_dwz(&scene, false);
	scene_close(&scene);
}

static void
test_dwz_by_path(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	char link[256];
	struct scene_open scene;

	(void)state;
	snprintf(link, sizeof(link), "%s", scene_path("d/elsewhere/parts"));
	make_dwz(link);
	scene_run("mkdir d/elsewhere && mv d/.dwz/common d/elsewhere/parts");
	scene_open(&scene, "prog", &config);
	check_dwz(&scene, true);
	scene_close(&scene);
	/* Relative to the file with the link. */
	make_dwz("../../elsewhere/parts");
	scene_run("mv d/.dwz/common d/elsewhere/parts");
	scene_open(&scene, "prog", &config);
	check_dwz(&scene, true);
	scene_close(&scene);
}

/* An object that the target has made: what it asks for is not looked for. */
static void
test_jit(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	struct scene_open scene;

	(void)state;
	make_dwz("/usr/lib/debug/.dwz/common");
	/* The whole file with the link in it, and what it links to. */
	scene_open(&scene, "prog.debug", &config);
	assert_non_null(scene.file.own);
	check_dwz(&scene, true);
	scene_open_jit(&scene);
	check_alternate(&scene, false);
	assert_int_equal(scene_said(&scene, "wallsample: "), 0);
	scene_close(&scene);
	scene_run("rm d/.dwz/common");
	scene_open(&scene, "prog.debug", &config);
	scene_open_jit(&scene);
	check_alternate(&scene, false);
	assert_int_equal(scene_said(&scene, "wallsample: "), 0);
	scene_close(&scene);
	/* Its debug file by build-id. */
	scene_open(&scene, "prog", &config);
	scene_open_jit(&scene);
	assert_null(scene.file.elf);
	scene_close(&scene);
}

/* libdw would open whatever is there: a pipe, for ever. */
static void
test_dwz_outside(void **state)
{
	const char *dirs[] = { scene_path("d"), NULL };
	const struct debug_files_config config = { .debug_dirs = dirs };
	char link[256];
	struct scene_open scene;

	(void)state;
	snprintf(link, sizeof(link), "%s", scene_path("outside"));
	make_dwz(link);
	scene_run("rm d/.dwz/common; mkfifo outside");
	scene_open(&scene, "prog", &config);
	check_dwz(&scene, false);
	(void)scene_has_function(&scene, "marker");
	scene_close(&scene);
	/* The same in the program itself. */
	scene_compile("own", "-g");
	scene_run("printf '%s\\0twenty bytes of an id' >link && "
		  "objcopy --add-section .gnu_debugaltlink=link own", link);
	scene_open(&scene, "own", &config);
	check_dwz(&scene, false);
	assert_true(scene_has_function(&scene, "marker"));
	scene_close(&scene);
}

/* --- debuginfod's cache ----------------------------------------------------------------- */

static void
test_cache(void **state)
{
	struct debug_files_config config = { .debuginfod = DEBUGINFOD_CACHE };
	struct scene_open scene;
	char path[256];

	(void)state;
	make_separate("prog", "-g");
	setenv("DEBUGINFOD_CACHE_PATH", scene_path("cache"), 1);
	scene_open(&scene, "prog", &config);
	check_none(&scene);
	snprintf(path, sizeof(path), "cache/%s", scene_id(scene.module, false));
	scene_close(&scene);
	/* An empty file: no server had it. */
	scene_run("mkdir -p %s && : >%s/debuginfo", path, path);
	scene_open(&scene, "prog", &config);
	check_none(&scene);
	assert_int_equal(scene_said(&scene, "wallsample: "), 0);
	scene_close(&scene);
	scene_run("cp prog.debug %s/debuginfo", path);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/debuginfo");
	scene_open(&scene, "prog", &config);
	check_separate(&scene, path);
	scene_close(&scene);
	config.debuginfod = DEBUGINFOD_OFF;
	scene_open(&scene, "prog", &config);
	check_none(&scene);
	scene_close(&scene);
	unsetenv("DEBUGINFOD_CACHE_PATH");
}

/* --- headers that libelf must not see -------------------------------------------------- */

static void
test_headers(void **state)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(header), .e_shentsize = sizeof(Elf64_Shdr),
	};
	const char *why = "";

	(void)state;
	assert_null(elf_open_memory(&header, sizeof(header), &why));
	assert_null(why); /* sound, without sections */
	header.e_shoff = sizeof(header);
	assert_null(elf_open_memory(&header, sizeof(header), &why));
	assert_string_equal(why, "its ELF header is damaged");
	header.e_shnum = 1;
	assert_null(elf_open_memory(&header, sizeof(header), &why));
	assert_non_null(strstr(why, "truncated"));
	header.e_phnum = PN_XNUM;
	assert_null(elf_open_memory(&header, sizeof(header), &why));
	assert_non_null(strstr(why, "damaged"));
	assert_null(elf_open_memory(&header, 20, &why));
	header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_null(elf_open_memory(&header, sizeof(header), &why));
	assert_non_null(strstr(why, "not an ELF file"));
	assert_null(elf_open_fd(-1, NULL));
}

/* libelf would read them whole, however many, and with each search for the last zero. */
static void
test_section_names(void **state)
{
	const uint64_t large = UINT64_C(1) << 40;
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr section[2];
		char names[12];
	} file = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_ehsize = sizeof(file.header), .e_shoff = sizeof(file.header),
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 2, .e_shstrndx = 1,
		},
		.section[1] = {
			.sh_name = 1, .sh_type = SHT_STRTAB, .sh_addralign = 1,
			.sh_offset = offsetof(__typeof__(file), names), .sh_size = 11,
		},
		.names = "\0.shstrtab",
	};
	const int fd = memfd_create("names", MFD_CLOEXEC);
	const char *why = "";
	Elf *elf;

	(void)state;
	elf = elf_open_memory(&file, sizeof(file), &why);
	assert_non_null(elf);
	elf_end(elf);
	file.section[1].sh_size = 10; /* no zero at the end */
	assert_null(elf_open_memory(&file, sizeof(file), &why));
	assert_string_equal(why, "the names of its sections are damaged");
	file.section[1].sh_size = large;
	assert_null(elf_open_memory(&file, sizeof(file), &why));
	assert_string_equal(why, "the names of its sections are damaged");
	/* They are there, in a file that takes no room on the disk. */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	assert_int_equal(ftruncate(fd, (off_t)(2 * large)), 0);
	assert_null(elf_open_fd(fd, &why));
	assert_string_equal(why, "the names of its sections are damaged");
	close(fd);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_nothing), SCENE(test_own), SCENE(test_budget), SCENE(test_by_id),
		SCENE(test_by_id_links), SCENE(test_wrong_id), SCENE(test_truncated),
		SCENE(test_no_regular_file), SCENE(test_attribute), SCENE(test_refused_path),
		SCENE(test_link),
		SCENE(test_link_of_ended),
		SCENE(test_wrong_crc), SCENE(test_crc_budget),
		SCENE(test_hostile_link),
		SCENE(test_link_to_elsewhere), SCENE(test_symfs), SCENE(test_mini),
		SCENE(test_damaged_mini), SCENE(test_dwz), SCENE(test_dwz_by_path), SCENE(test_jit),
		SCENE(test_dwz_outside), SCENE(test_cache), cmocka_unit_test(test_headers),
		cmocka_unit_test(test_section_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
