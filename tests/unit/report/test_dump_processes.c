/* SPDX-License-Identifier: MIT */
/*
 * test_dump_processes.c - dumps of several processes: groups of equal stacks over processes, and
 * what the processes are called. The golden files are in tests/replay/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/export_scene.h"
#include "../scene/golden.h"
#include "wallsample/format/exporters.h"
#include "wallsample/analysis/process_title.h"

/* Number of processes that do the same. */
#define BACKENDS 58

static const struct filter all = { 0 };

static uint32_t
add_process(struct profile *profile, pid_t pid, const char *name, const char *title)
{
	return profile_add_process(profile, pid, 5, name, title);
}

/* A server of a database, 58 processes for its clients, and one of another name with 2 threads. */
static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();
	uint32_t process = add_process(profile, 100, "postgres", "/usr/bin/postgres -D /data");
	char title[80];

	scene_add(profile, profile_add_thread(profile, process, 100, 5, "postgres"), RUN_SLEEPING,
		  7, 10, STACK(START, MAIN, POLL));
	for (int i = 0; i < BACKENDS; i++) {
		snprintf(title, sizeof(title), "postgres: app shop 10.0.0.%d(%d) idle", i % 7,
			 5000 + i);
		process = add_process(profile, 101 + i, "postgres", title);
		scene_add(profile,
			  profile_add_thread(profile, process, 101 + i, 5, "postgres"),
			  RUN_SLEEPING, 45, 10, STACK(START, MAIN, LOOP));
	}
	process = add_process(profile, 300, "nginx", "nginx: worker process");
	scene_add(profile, profile_add_thread(profile, process, 300, 5, "nginx"), RUN_RUNNING, -1,
		  10, STACK(START, MAIN, PARSE));
	scene_add(profile, profile_add_thread(profile, process, 301, 5, "pool"), RUN_SLEEPING, 45,
		  10, STACK(START, LOOP));
	process = add_process(profile, 302, "nginx", "nginx: cache manager");
	scene_add(profile, profile_add_thread(profile, process, 302, 5, "nginx"), RUN_SLEEPING, 45,
		  10, STACK(START, LOOP));
	return profile;
}

static void
check_dump(const char *golden, const char *format, const struct filter *filter)
{
	struct scene scene = scene_make(&all);
	struct export_input input = scene_input(&scene);
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, filter, VIEW_BY_ADDRESS);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	input.view = view;
	input.filtered = filter_selects_processes(filter);
	exporter_by_name(format)->write_dump(&input, out);
	assert_int_equal(fclose(out), 0);
	golden_check(golden, text, size);
	free(text);
	view_free(view);
	profile_free(profile);
	scene_release(&scene);
}

static void
test_text(void **state)
{
	(void)state;
	check_dump("dump-processes.txt", "text", &all);
}

static void
test_json(void **state)
{
	(void)state;
	check_dump("dump-processes.json", "json", &all);
}

static void
test_selected(void **state)
{
	const char *process = "nginx,100";

	(void)state;
	check_dump("dump-process.txt", "text", &(struct filter){ .process = { &process, 1 } });
}

static void
check_common(const char *expected, const uint32_t *process, size_t count)
{
	struct profile *profile = make_profile();
	struct strbuf text = STRBUF_INIT;

	process_add_common(profile, process, count, &text);
	assert_string_equal(text.data, expected);
	strbuf_release(&text);
	profile_free(profile);
}

/* The ids of processes are 0, 1, 2, … in the order in which they were added. */
static void
test_common(void **state)
{
	(void)state;
	check_common("postgres -D /data", (const uint32_t[]){ 0 }, 1);
	check_common("postgres: app shop 10.0.0.…(…) idle", (const uint32_t[]){ 1, 2 }, 2);
	check_common("postgres: app shop 10.0.0.0(…) idle", (const uint32_t[]){ 1, 8, 15 }, 3);
	check_common("postgres", (const uint32_t[]){ 0, 1 }, 2);
	check_common("nginx", (const uint32_t[]){ BACKENDS + 1, BACKENDS + 2 }, 2);
	check_common("postgres, nginx", (const uint32_t[]){ 0, 1, BACKENDS + 1 }, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
