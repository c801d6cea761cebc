/* SPDX-License-Identifier: MIT */
/* test_process_choice.c - filters by process: ids, names, titles, and what is excluded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/analysis/diff.h"
#include "wallsample/analysis/process_choice.h"
#include "wallsample/base/base.h"
#include "wallsample/profile/profile_frame.h"

#define MS ((int64_t)NS_PER_MS)

/* No sample has a stack of code. */
size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	(void)place;
	(void)out;
	(void)most;
	fail();
	return 0;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	assert_int_equal(count, 0);
}

static void
add_time(struct profile *profile, uint32_t thread, int64_t ms)
{
	const struct profile_entry sample = {
		.thread = thread,
		.stack = STACK_NONE,
		.state = RUN_RUNNING,
		.syscall = SYSCALL_NONE,
		.samples = 1,
		.ns = { [WEIGHT_WALL] = ms * MS, [WEIGHT_CPU] = ms * MS },
	};

	profile_add(profile, &sample);
}

/* Processes 11 and 12 of nginx, and 90 of PHP, with one thread each, whose id is that of the
 * process and whose time is 1, 2 and 4 ms; and 8 ms of children that were not sampled. */
static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();
	static const struct {
		pid_t pid;
		const char *name, *cmdline;
	} all[] = {
		{ 11, "nginx", "nginx: master process /usr/sbin/nginx" },
		{ 12, "nginx", "nginx: worker process" },
		{ 90, "php-fpm8.2", "/usr/sbin/php-fpm -F" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const uint32_t process = profile_add_process(profile, all[i].pid, 5, all[i].name,
							     all[i].cmdline);

		add_time(profile,
			 profile_add_thread(profile, process, all[i].pid, 5, all[i].name), 1 << i);
	}
	add_time(profile,
		 profile_add_thread(profile, PROCESS_FIRST, 0, 7, PROFILE_UNSAMPLED_CHILDREN), 8);
	return profile;
}

/* The filter selects processes whose times have this sum, in ms. */
static void
selects(const struct filter *filter, int64_t ms)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, filter, VIEW_BY_FUNCTION);

	assert_int_equal(view_total_ns(view, WEIGHT_WALL), ms * MS);
	view_free(view);
	profile_free(profile);
}

static void
check_list(const char *list, int64_t ms)
{
	selects(&(struct filter){ .process = { &list, 1 } }, ms);
}

static void
test_process(void **state)
{
	static const char *both[] = { "12", "php*" };

	(void)state;
	selects(&(struct filter){ .blame = false }, 15);
	check_list("11", 1);
	check_list("11,90", 5);
	check_list("nginx", 3);
	check_list("nginx: worker*", 2);
	check_list("php-fpm", 4); /* the first word of the title */
	check_list("php-fpm8.2", 4);
	check_list("php-fpm -F", 4);
	check_list("*sbin*", 1); /* the folder of the program is not in the title */
	check_list("master", 0);
	check_list("*master*,90", 5);
	check_list("1*", 0); /* ids are no text */
	check_list("*", 7);  /* children that were not sampled have no process */
	selects(&(struct filter){ .process = { both, 2 } }, 6);
	selects(&(struct filter){ .process = { both, 2 }, .thread_name = "nginx" }, 2);
}

static void
test_excluded(void **state)
{
	static const char *nginx[] = { "foo,nginx" }, *all[] = { "*" }, *id[] = { "90" };
	const struct filter filter = { .exclude_process = { nginx, 1 } };
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &filter, VIEW_BY_FUNCTION);
	const struct run_excluded_processes excluded = view_excluded_processes(view);

	(void)state;
	assert_int_equal(view_total_ns(view, WEIGHT_WALL), 12 * MS);
	assert_int_equal(excluded.count, 2);
	assert_int_equal(excluded.cpu_ns, 3 * MS);
	view_free(view);
	profile_free(profile);
	selects(&(struct filter){ .exclude_process = { all, 1 } }, 8);
	selects(&(struct filter){ .exclude_process = { id, 1 } }, 15);
	selects(&(struct filter){ .exclude_process = { nginx, 1 }, .process = { all, 1 } }, 4);
}

/* Long names are compared up to a limit, so that no pattern takes long. */
static void
test_long_title(void **state)
{
	const char *stars = "*a*a*a*b", *same = "aaaa*";
	char title[5000];

	(void)state;
	memset(title, 'a', sizeof(title));
	title[sizeof(title) - 2] = 'b';
	title[sizeof(title) - 1] = '\0';
	assert_false(filter_process(&(struct filter){ .process = { &stars, 1 } }, 1, "x", title));
	assert_true(filter_process(&(struct filter){ .process = { &same, 1 } }, 1, "x", title));
}

static void
test_check(void **state)
{
	const char *php = "php*", *none = "none,7", *all = "*";
	struct profile *profile = make_profile();
	struct error err;

	(void)state;
	assert_int_equal(process_choice_check(profile, &(struct filter){ .blame = false }, &err),
			 0);
	assert_int_equal(
		process_choice_check(profile, &(struct filter){ .process = { &php, 1 } }, &err), 0);
	assert_int_equal(process_choice_check(profile, &(struct filter){ .process = { &none, 1 } },
					      &err),
			 -ERROR_NO_MATCH);
	assert_string_equal(err.text, "the processes are nginx: master process /usr/sbin/nginx "
				      "(11), nginx: worker process (12), php-fpm -F (90)");
	assert_int_equal(process_choice_check(profile,
					      &(struct filter){ .exclude_process = { &all, 1 } },
					      &err),
			 -ERROR_NO_MATCH);
	for (pid_t pid = 100; pid < 110; pid++)
		profile_add_process(profile, pid, 5, "ab\nc", "");
	assert_int_equal(process_choice_check(profile, &(struct filter){ .process = { &none, 1 } },
					      &err),
			 -ERROR_NO_MATCH);
	assert_non_null(strstr(err.text, ", ab\\x0ac (104) and 5 more"));
	profile_free(profile);
}

/* Another run of the same programs: ids are others, and there is one more worker. */
static struct profile *
make_later(void)
{
	struct profile *profile = profile_create();
	static const char *const cmdlines[] = {
		"nginx: master process /usr/sbin/nginx",
		"nginx: worker process",
		"nginx: worker process",
		"/opt/php8.3/php-fpm -F",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cmdlines); i++) {
		const pid_t pid = 500 + (pid_t)i;
		const uint32_t process = profile_add_process(profile, pid, 9, "x", cmdlines[i]);

		add_time(profile, profile_add_thread(profile, process, pid, 9, "x"), 16);
	}
	return profile;
}

static void
check_row(const struct diff *diff, const char *name, int64_t before_ms, int64_t after_ms)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_row *row = &diff->row[i];

		if (strcmp(row->name, name) != 0)
			continue;
		assert_int_equal(row->flat.ns[DIFF_BEFORE], before_ms * MS);
		assert_int_equal(row->flat.ns[DIFF_AFTER], after_ms * MS);
		return;
	}
	fail_msg("no row %s", name);
}

/* Processes of two runs are the same if their titles are, but for numbers. */
static void
test_diff(void **state)
{
	const struct filter all = { .blame = false };
	struct profile *profile[] = { make_profile(), make_later() };
	struct diff_run run[DIFF_SIDES] = { { .view = NULL } };
	struct view *view[DIFF_SIDES];
	struct diff diff;

	(void)state;
	for (int side = 0; side < DIFF_SIDES; side++)
		run[side].view = view[side] = view_create(profile[side], NULL, &all,
							  VIEW_BY_PROCESS);
	diff_make(run, WEIGHT_CPU, &diff);
	assert_int_equal(diff.count, 4);
	check_row(&diff, "nginx: master process /usr/sbin/nginx", 1, 16);
	check_row(&diff, "nginx: worker process", 2, 32);
	check_row(&diff, "php-fpm -F", 4, 16);
	check_row(&diff, "[children not sampled]", 8, 0);
	diff_release(&diff);
	for (int side = 0; side < DIFF_SIDES; side++) {
		view_free(view[side]);
		profile_free(profile[side]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_excluded),
		cmocka_unit_test(test_long_title),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
