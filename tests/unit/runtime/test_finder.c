/* SPDX-License-Identifier: MIT */
/*
 * test_finder.c - the finder refuses a runtime after 20 checks that did not fit, and counts a check
 * only if the process has run since the one before.
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
#define STOPPED_LOOKS 500
#define RUNNING_NS (20 * NS_PER_SEC)

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
	(void)candidate;
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

static void
test_misfits(void **state)
{
	const pid_t child = start_stopped();
	struct modules *modules = modules_create();
	struct runtimes_config config = { .log = NULL };
	const struct runtime_tools tools = { .config = &config };
	struct process *process;
	struct finder *finder;
	const char *why = NULL;
	uint64_t end_ns;
	size_t looks = 0;

	(void)state;
	assert_int_equal(process_open(child, &process, NULL), 0);
	config.process = process;
	config.maps = maps_create(process, modules);
	finder = finder_create(&misfit, &tools);
	for (size_t i = 0; i < STOPPED_LOOKS; i++) {
		assert_true(finder_look(finder));
		assert_null(finder_why(finder));
	}
	assert_int_equal(kill(child, SIGCONT), 0);
	end_ns = clock_now_ns() + RUNNING_NS;
	while (why == NULL && clock_now_ns() < end_ns) {
		finder_look(finder);
		looks++;
		why = finder_why(finder);
		usleep(1000);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_non_null(why);
	assert_non_null(strstr(why, "its memory is not laid out as that of version 1.2"));
	/* A few misfits may count before the child stops, and in looks while it does. */
	assert_true(looks > MISFITS / 2);
	finder_free(finder);
	maps_free(config.maps);
	modules_free(modules);
	process_free(process);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_misfits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
