/* SPDX-License-Identifier: MIT */
/*
 * test_finder.c - the finder refuses a runtime after 20 checks that did not fit, between which the
 * process has run, or at the last of its 2000 checks; and tries DWARF after the first 20.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/finder_internal.h"
#include "wallsample/base/base.h"

#define MISFITS 20

static bool
search_begin(void *search, const struct module *module)
{
	bool *begun = search;

	(void)module;
	if (*begun)
		return false;
	*begun = true;
	return true;
}

static bool
search_step(void *search, uint64_t *budget)
{
	(void)search;
	(void)budget;
	return true;
}

static bool
take(struct finder_candidate *candidate, const void *search)
{
	(void)candidate;
	(void)search;
	return true;
}

static bool
choose_layout(struct finder *finder, struct finder_candidate *candidate)
{
	(void)finder;
	(void)candidate;
	return true;
}

/* Number of checks since the test began, and of those before DWARF was tried. */
static size_t checks, checks_before_dwarf;

static bool
read_dwarf(struct finder *finder, struct finder_candidate *candidate, Dwarf *dwarf)
{
	(void)finder;
	(void)candidate;
	(void)dwarf;
	return false;
}

static enum finder_fit
check(struct finder *finder, struct finder_candidate *candidate)
{
	(void)finder;
	checks++;
	checks_before_dwarf += !candidate->dwarf_tried;
	return FINDER_FIT_MISFIT;
}

static void
version_text(const struct finder_candidate *candidate, char text[FINDER_VERSION_TEXT])
{
	(void)candidate;
	snprintf(text, FINDER_VERSION_TEXT, "1.2");
}

static const struct finder_kind misfit = {
	.name = "Misfit",
	.search_size = sizeof(bool),
	.candidate_size = sizeof(struct finder_candidate),
	.search_begin = search_begin,
	.search_step = search_step,
	.take = take,
	.choose_layout = choose_layout,
	.read_dwarf = read_dwarf,
	.check = check,
	.version_text = version_text,
};

/* A child that is stopped, and that uses a CPU when it is continued. */
static pid_t
start_stopped(void)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		raise(SIGSTOP);
		for (volatile unsigned i = 0;; i++)
			continue;
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	return child;
}

/* A finder of a child that is stopped. */
struct search {
	pid_t child;
	struct modules *modules;
	struct runtimes_config config;
	struct runtime_tools tools;
	struct process *process;
	struct finder *finder;
};

static void
begin(struct search *search)
{
	search->child = start_stopped();
	search->modules = modules_create();
	assert_int_equal(process_open(search->child, &search->process, NULL), 0);
	search->config = (struct runtimes_config){
		.process = search->process,
		.maps = maps_create(search->process, search->modules),
	};
	search->tools = (struct runtime_tools){ .config = &search->config };
	search->finder = finder_create(&misfit, &search->tools);
	checks = checks_before_dwarf = 0;
}

/* Checks that the runtime was refused just now, and releases all. */
static void
end(struct search *search)
{
	const char *why = finder_why(search->finder);

	assert_non_null(why);
	assert_non_null(strstr(why, "its memory is not laid out as that of version 1.2"));
	kill(search->child, SIGKILL);
	waitpid(search->child, NULL, 0);
	finder_free(search->finder);
	maps_free(search->config.maps);
	modules_free(search->modules);
	process_free(search->process);
}

/* Looks once, and expects one check that refuses nothing. */
static void
look(struct search *search)
{
	const size_t before = checks;

	assert_null(finder_why(search->finder));
	while (checks == before)
		finder_look(search->finder);
	assert_int_equal(checks, before + 1);
}

static void
test_stopped(void **state)
{
	struct search search;

	(void)state;
	begin(&search);
	while (checks < FINDER_LOOKS_MOST)
		look(&search);
	assert_int_equal(checks_before_dwarf, MISFITS);
	end(&search);
}

static void
test_running(void **state)
{
	struct search search;
	uint64_t last_ns, cpu_ns;

	(void)state;
	begin(&search);
	assert_int_equal(kill(search.child, SIGCONT), 0);
	while (checks < MISFITS) {
		look(&search);
		assert_true(process_read_cpu_ns(search.process, &last_ns));
		do
			assert_true(process_read_cpu_ns(search.process, &cpu_ns));
		while (cpu_ns == last_ns);
	}
	assert_int_equal(checks_before_dwarf, MISFITS);
	end(&search);
}

/* Threads of the target are always outstanding, unless the finder waits. */
static bool
may_read(void *context, bool wait)
{
	++*(size_t *)context;
	return wait;
}

/* While no file may be read the runtime is not refused: at last the finder waits until it may. */
static void
test_delayed(void **state)
{
	struct search search;
	size_t asked = 0;

	(void)state;
	begin(&search);
	search.config.may_read = may_read;
	search.config.context = &asked;
	while (checks < FINDER_LOOKS_MOST)
		look(&search);
	assert_true(asked > 1);
	assert_int_equal(checks_before_dwarf, MISFITS + asked - 1);
	end(&search);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_delayed),
		cmocka_unit_test(test_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
