/* SPDX-License-Identifier: MIT */
/* test_priority.c - our place among those who want a CPU: raised, urgent, and as it was before. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/priority_internal.h"

struct place {
	int nice, class, slack;
};

static struct place
place_now(void)
{
	return (struct place){
		.nice = getpriority(PRIO_PROCESS, 0),
		.class = sched_getscheduler(0),
		.slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL),
	};
}

static void
assert_same(struct place a, struct place b)
{
	assert_int_equal(a.nice, b.nice);
	assert_int_equal(a.class, b.class);
	assert_int_equal(a.slack, b.slack);
}

static void
test_there_and_back(void **state)
{
	const struct place before = place_now();
	struct priority priority = { .urgent = false };

	(void)state;
	priority_raise(&priority);
	const struct place raised = place_now();
	assert_int_equal(raised.nice, priority.nice);
	assert_true(raised.nice <= before.nice);
	assert_int_equal(raised.class, before.class);
	for (int i = 0; i < 3; i++) {
		priority_urgent(&priority, true);
		assert_int_equal(sched_getscheduler(0),
				 priority.urgent ? SCHED_FIFO : before.class);
		priority_urgent(&priority, true);
		priority_urgent(&priority, false);
		assert_same(place_now(), raised);
	}
	priority_restore(&priority);
	assert_same(place_now(), before);
	if (!priority.may_be_urgent)
		skip(); /* so far it is true without the real-time class, too */
}

/* What is not permitted is left alone: nothing fails, nothing is asked twice. */
static void
test_not_permitted(void **state)
{
	const struct place before = place_now();
	struct priority priority = { .urgent = false };
	struct error err;

	(void)state;
	if (geteuid() == 0 && seteuid(65534) != 0)
		skip();
	if (setrlimit(RLIMIT_RTPRIO, &(struct rlimit){ 0, 0 }) != 0)
		skip();
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }) == 0) {
		const struct sched_param none = { .sched_priority = 0 };

		assert_return_code(sched_setscheduler(0, SCHED_OTHER, &none), 0);
		skip(); /* by a capability of its own */
	}
	assert_true(priority_check_urgent(&err) != 0);
	assert_non_null(strstr(err.text, "RLIMIT_RTPRIO"));
	assert_same(place_now(), before);
	priority_raise(&priority);
	priority_urgent(&priority, true);
	assert_false(priority.urgent || priority.may_be_urgent);
	assert_int_equal(sched_getscheduler(0), before.class);
	priority_urgent(&priority, false);
	priority_restore(&priority);
	assert_same(place_now(), before);
	if (getuid() == 0)
		assert_return_code(seteuid(0), 0);
}

/* A class that somebody has chosen for us stays. */
static void
test_class_of_others(void **state)
{
	const struct sched_param none = { .sched_priority = 0 };
	struct priority priority = { .urgent = false };
	struct error err;

	(void)state;
	if (sched_setscheduler(0, SCHED_BATCH, &none) != 0)
		skip();
	assert_true(priority_check_urgent(&err) != 0);
	assert_non_null(strstr(err.text, "chrt"));
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	priority_raise(&priority);
	priority_urgent(&priority, true);
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	priority_urgent(&priority, false);
	priority_restore(&priority);
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	assert_return_code(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

/* The class can be entered and left again, and the limit of its CPU time is restored. */
static void
test_check_and_limit(void **state)
{
	const struct place before = place_now();
	struct priority priority = { .urgent = false };
	struct rlimit old, limit;
	struct error err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_RTTIME, &old), 0);
	priority_limit(&priority);
	assert_int_equal(getrlimit(RLIMIT_RTTIME, &limit), 0);
	assert_true(limit.rlim_cur <= old.rlim_cur && limit.rlim_cur <= 200000);
	assert_true(limit.rlim_max == old.rlim_max);
	priority_unlimit(&priority);
	assert_int_equal(getrlimit(RLIMIT_RTTIME, &limit), 0);
	assert_true(limit.rlim_cur == old.rlim_cur);
	if (priority_check_urgent(&err) != 0)
		skip();
	assert_int_equal(place_now().class, before.class);
	assert_int_equal(place_now().nice, before.nice);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_check_and_limit),
		cmocka_unit_test(test_class_of_others),
		cmocka_unit_test(test_not_permitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
