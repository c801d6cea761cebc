/* SPDX-License-Identifier: MIT */
/*
 * test_python_find.c - the CPythons of real processes: those that are installed here, of pyenv too,
 * and those that $PYTHONS names (paths with colons between; a script that execs one will do).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/python/python_find_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/process_memory.h"

#define EXIT_SKIPPED 77
/* Scripts of pyenv itself begin with the same words: only what is in its versions is a Python. */
#define BINARIES "python3.*[0-9dt]"
#define CALLS_MOST 5000

struct target {
	pid_t pid;
	int to, from; /* its standard input and output */
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct runtimes_config config;
	struct runtime_tools tools;
	struct finder *finder;
};

static bool
read_target(void *context, uint64_t address, void *to, size_t size)
{
	const struct target *t = context;

	return memory_read_process(t->pid, address, to, size) == size;
}

/* `held`: it stands still when it has executed, as a tracee of ours. */
static void
start(struct target *t, const char *path, const char *script, bool held)
{
	int in[2], out[2];

	*t = (struct target){ 0 };
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	t->pid = fork();
	assert_true(t->pid >= 0);
	if (t->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		if (held)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, "-c", script, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	t->to = in[1];
	t->from = out[0];
}

static void
open_target(struct target *t)
{
	struct error err = { 0 };

	assert_int_equal(process_open(t->pid, &t->process, &err), 0);
	t->modules = modules_create();
	t->maps = maps_create(t->process, t->modules);
	t->config.maps = t->maps;
	t->tools = (struct runtime_tools){ .config = &t->config, .memory = { read_target, t } };
	t->finder = finder_create(&python_finder, &t->tools);
}

static void
stop(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	finder_free(t->finder);
	maps_free(t->maps);
	modules_free(t->modules);
	process_free(t->process);
	close(t->to);
	close(t->from);
}

/* One look: how many CPythons there are, and the place of the first one. */
static size_t
look_once(struct target *t, const struct python_place **place, bool *busy)
{
	const struct finder_candidate *candidate;
	size_t count = 0;

	*busy = finder_look(t->finder);
	for (size_t at = 0; (candidate = finder_next(t->finder, &at)) != NULL; count++)
		if (count == 0)
			*place = finder_place(t->finder, candidate);
	return count;
}

/* Looks until nothing more is to come. */
static size_t
look(struct target *t, const struct python_place **place)
{
	bool busy = true;
	size_t count = 0;

	for (int i = 0; i < CALLS_MOST && busy; i++)
		count = look_once(t, place, &busy);
	return count;
}

/* What the target says, without the newline. */
static void
read_line(const struct target *t, char *line, size_t size)
{
	size_t length = 0;

	while (length < size && read(t->from, line + length, 1) == 1 && line[length] != '\n')
		length++;
	assert_true(length > 0 && length < size && line[length] == '\n');
	line[length] = '\0';
}

static void
check_place(const struct python_place *place, const char *says)
{
	static const char *const sources[] = {
		[PYTHON_BY_ITSELF] = "itself",
		[PYTHON_BY_TABLE] = "the table",
		[PYTHON_BY_DWARF] = "DWARF",
	};
	char text[PYTHON_VERSION_TEXT];

	python_version_text(place->layout.version, text);
	assert_string_equal(text, says);
	print_message("  %s by %s\n", text, sources[place->layout.source]);
	assert_true(python_layout_is_sane(&place->layout));
	assert_in_range(place->eval_count, 1, PYTHON_EVAL_MOST);
	for (size_t i = 0; i < place->eval_count; i++)
		assert_true(place->eval[i].size > 0);
}

static void
check_python(const char *path)
{
	static const char script[] = "import sys, platform\n"
				     "print(platform.python_version(), flush=True)\n"
				     "sys.stdin.readline()\n";
	const struct python_place *place;
	char says[PYTHON_VERSION_TEXT];
	struct target t;
	size_t count;

	print_message("%s\n", path);
	start(&t, path, script, false);
	read_line(&t, says, sizeof(says));
	open_target(&t);
	count = look(&t, &place);
	if (says[2] < '8' && says[3] == '.') {
		assert_int_equal(count, 0);
		print_message("%s\n", finder_why(t.finder));
	} else {
		assert_null(finder_why(t.finder));
		assert_int_equal(count, 1);
		check_place(&place[0], says);
	}
	stop(&t);
}

/* The first that is there, and has its CPython in the program itself; NULL: none. */
static const char *
find_static(const glob_t *pythons)
{
	struct stat st;

	for (size_t i = 0; i < pythons->gl_pathc; i++)
		if (strstr(pythons->gl_pathv[i], "python3.1") != NULL &&
		    stat(pythons->gl_pathv[i], &st) == 0 && st.st_size > 1 << 20)
			return pythons->gl_pathv[i];
	return NULL;
}

/* A program that has not begun: there is nothing yet, and one comes. */
static void
test_from_the_beginning(void **state)
{
	const char *path = find_static(*state);
	const struct python_place *place;
	char line[16];
	struct target t;
	bool busy;
	int status;

	if (path == NULL)
		skip();
	start(&t, path, "print('ready', flush=True); input()", true);
	assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
	assert_true(WIFSTOPPED(status));
	open_target(&t);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(look_once(&t, &place, &busy), 0);
		assert_null(finder_why(t.finder));
		assert_true(busy);
	}
	assert_int_equal(ptrace(PTRACE_DETACH, t.pid, NULL, NULL), 0);
	read_line(&t, line, sizeof(line));
	maps_refresh(t.maps);
	assert_int_equal(look(&t, &place), 1);
	/* And found again, without end, for no more than a look. */
	assert_int_equal(look_once(&t, &place, &busy), 1);
	assert_false(busy);
	stop(&t);
}

/* The same program executes itself: what was found is gone, and another is found. */
static void
test_executes_itself(void **state)
{
	static const char script[] =
		"import os, sys\n"
		"print('ready', flush=True)\n"
		"os.read(0, 1)\n"
		"os.execv(sys.executable, [sys.executable] + sys.orig_argv[1:])\n";
	const char *path = find_static(*state);
	const struct python_place *place;
	char line[16];
	struct target t;

	if (path == NULL)
		skip();
	start(&t, path, script, false);
	read_line(&t, line, sizeof(line));
	open_target(&t);
	for (int i = 0; i < 2; i++) {
		maps_refresh(t.maps);
		assert_int_equal(look(&t, &place), 1);
		assert_int_equal(write(t.to, "x", 1), 1);
		/* In the midst of it anything may be found, but nothing is said. */
		look(&t, &place);
		assert_null(finder_why(t.finder));
		read_line(&t, line, sizeof(line));
	}
	maps_refresh(t.maps);
	assert_int_equal(look(&t, &place), 1);
	assert_true(python_layout_is_sane(&place->layout));
	stop(&t);
}

/* Threads come and go all the time. */
static void
test_restless(void **state)
{
	static const char script[] = "import threading\n"
				     "print('ready', flush=True)\n"
				     "while True:\n"
				     "    t = [threading.Thread(target=int) for i in range(9)]\n"
				     "    [x.start() for x in t]\n"
				     "    [x.join() for x in t]\n";
	const glob_t *pythons = *state;

	for (size_t i = 0; i < pythons->gl_pathc; i++) {
		const struct python_place *place;
		char line[16];
		struct target t;
		bool busy;

		if (strstr(pythons->gl_pathv[i], "3.6") || strstr(pythons->gl_pathv[i], "3.7"))
			continue;
		start(&t, pythons->gl_pathv[i], script, false);
		read_line(&t, line, sizeof(line));
		open_target(&t);
		assert_int_equal(look(&t, &place), 1);
		for (int n = 0; n < 1000; n++)
			assert_int_equal(look_once(&t, &place, &busy), 1);
		assert_null(finder_why(t.finder));
		stop(&t);
	}
}

static void
test_installed(void **state)
{
	const glob_t *pythons = *state;

	for (size_t i = 0; i < pythons->gl_pathc; i++)
		check_python(pythons->gl_pathv[i]);
}

static void
add_pattern(glob_t *found, const char *folder, const char *below)
{
	char pattern[1024];

	snprintf(pattern, sizeof(pattern), "%s%s", folder, below);
	glob(pattern, found->gl_pathc > 0 ? GLOB_APPEND : 0, NULL, found);
}

static void
find_pythons(glob_t *found)
{
	const char *pyenv = getenv("PYENV_ROOT"), *home = getenv("HOME"), *more = getenv("PYTHONS");
	char *list = strdup(more != NULL ? more : ""), *rest = list, *word;

	add_pattern(found, "/usr/bin/" BINARIES, "");
	if (pyenv != NULL)
		add_pattern(found, pyenv, "/versions/3.*/bin/" BINARIES);
	else if (home != NULL)
		add_pattern(found, home, "/.pyenv/versions/3.*/bin/" BINARIES);
	while ((word = strsep(&rest, ":")) != NULL)
		if (word[0] != '\0')
			add_pattern(found, word, "");
	free(list);
}

int
main(void)
{
	glob_t pythons = { 0 };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(test_installed, &pythons),
		cmocka_unit_test_prestate(test_from_the_beginning, &pythons),
		cmocka_unit_test_prestate(test_executes_itself, &pythons),
		cmocka_unit_test_prestate(test_restless, &pythons),
	};
	int status;

	find_pythons(&pythons);
	if (pythons.gl_pathc == 0) {
		printf("no python3 is there\n");
		return EXIT_SKIPPED;
	}
	status = cmocka_run_group_tests(tests, NULL, NULL);
	globfree(&pythons);
	return status;
}
