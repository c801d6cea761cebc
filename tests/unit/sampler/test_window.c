/* SPDX-License-Identifier: MIT */
/* test_window.c - the samples of a thread in one window, and the donors of a class of states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sampler/weights/weights_internal.h"

/* --- windows --------------------------------------------------------------------------------- */

static void
test_classes(void **state)
{
	(void)state;
	for (int run = 0; run < RUN_STATE_COUNT; run++) {
		const enum weight_class class = weight_class_of((enum run_state)run);

		assert_int_equal(class, run == RUN_RUNNING ? CLASS_CPU :
					run == RUN_QUEUED  ? CLASS_QUEUE :
							     CLASS_BLOCKED);
	}
}

/* Samples of one entry are one cell after window_merge, whatever their order; no sum is lost. */
static void
test_merge(void **state)
{
	static const uint32_t entry[] = { 7, 2, 7, 7, 5, 2, 9, 2 };
	struct thread_window window;

	(void)state;
	window_init(&window);
	window_merge(&window);
	assert_int_equal(window.count, 0);
	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++)
		window_add(&window, entry[i], RUN_RUNNING, 1, (int64_t)(100 + i));
	window_charge(&window, 2, 40);
	window_charge(&window, 7, 30);
	window_charge(&window, 7, 3);
	window_charge(&window, 8, 1000); /* has no sample: no effect */
	window_merge(&window);
	assert_int_equal(window.count, 4);
	assert_int_equal(window.cell[0].entry, 2);
	assert_int_equal(window.cell[0].samples, 3);
	assert_int_equal(window.cell[0].ns, 101 + 105 + 107);
	assert_true(window.cell[0].part == 101 + 105 + 107);
	assert_int_equal(window.cell[0].latency_ns, 40);
	assert_int_equal(window.cell[1].entry, 5);
	assert_int_equal(window.cell[1].ns, 104);
	assert_int_equal(window.cell[2].entry, 7);
	assert_int_equal(window.cell[2].samples, 3);
	assert_int_equal(window.cell[2].ns, 100 + 102 + 103);
	assert_int_equal(window.cell[2].latency_ns, 33);
	assert_int_equal(window.cell[3].entry, 9);
	window_release(&window);
}

static void
test_importance(void **state)
{
	struct thread_window window;

	(void)state;
	window_init(&window);
	window_add(&window, 1, RUN_RUNNING, 1, 100);
	window.importance = 0.25;
	window_add(&window, 1, RUN_RUNNING, 1, 100);
	assert_int_equal(window.cell[0].ns, 200);
	assert_true(window.cell[0].part == 125);
	assert_int_equal(window.donors[CLASS_CPU]->count, 2);
	assert_true(window.donors[CLASS_CPU]->donor[0].weight == 100);
	assert_true(window.donors[CLASS_CPU]->donor[1].weight == 25);
	assert_true(window.donors[CLASS_CPU]->donor[0].importance == 1);
	assert_true(window.donors[CLASS_CPU]->donor[1].importance == 0.25);
	window_release(&window);
}

/* A runnable sample becomes a donor of its class; corrections without a sample do not. Of blocked
 * samples the window keeps the entry of the last one. */
static void
test_window_donors(void **state)
{
	struct thread_window window;

	(void)state;
	window_init(&window);
	assert_int_equal(window.blocked, UINT32_MAX);
	window_add(&window, 3, RUN_SLEEPING, 1, 100);
	window_add(&window, 4, RUN_UNINTERRUPTIBLE, 1, 100);
	assert_int_equal(window.blocked, 4);
	window_add(&window, 5, RUN_RUNNING, 0, 100);
	window_add(&window, 5, RUN_RUNNING, -2, -200);
	assert_null(window.donors[CLASS_CPU]);
	window_add(&window, 5, RUN_RUNNING, 1, 100);
	window_add(&window, 6, RUN_QUEUED, 1, 100);
	assert_int_equal(window.donors[CLASS_CPU]->count, 1);
	assert_int_equal(window.donors[CLASS_CPU]->donor[0].entry, 5);
	assert_int_equal(window.donors[CLASS_QUEUE]->count, 1);
	assert_int_equal(window.donors[CLASS_QUEUE]->donor[0].entry, 6);
	window_release(&window);
	assert_int_equal(window.count, 0);
	assert_null(window.donors[CLASS_CPU]);
}

/* --- donors ---------------------------------------------------------------------------------- */

/* Each donor gets parts in proportion to its weight: after any number of whole rounds exactly, and
 * never more than one part away from that. */
static void
test_donor_shares(void **state)
{
	static const unsigned weight[] = { 1, 2, 5 };
	struct donors donors;
	int parts[3] = { 0 };

	(void)state;
	memset(&donors, 0, sizeof(donors));
	for (uint32_t i = 0; i < 3; i++)
		donors_add(&donors, i, weight[i] * 1e7, weight[i] * 1e7);
	for (int n = 1; n <= 80; n++) {
		parts[donors_next(&donors)]++;
		for (int i = 0; i < 3; i++) {
			const double due = (double)n * weight[i] / 8;

			assert_true(parts[i] > due - 1.001 && parts[i] < due + 1.001);
		}
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(parts[i], 10 * weight[i]);
}

/* The latest DONORS_MOST samples remain. A sample without weight, or with a negative one, is none.
 */
static void
test_donor_ring(void **state)
{
	struct donors donors;

	(void)state;
	memset(&donors, 0, sizeof(donors));
	donors_add(&donors, 1000, 0, 0);
	donors_add(&donors, 1001, -5, -5);
	assert_int_equal(donors.count, 0);
	for (uint32_t i = 0; i < DONORS_MOST; i++)
		donors_add(&donors, i, 1, 1);
	assert_int_equal(donors.count, DONORS_MOST);
	donors_add(&donors, 500, 1, 1);
	donors_add(&donors, 501, 1, 1);
	assert_int_equal(donors.count, DONORS_MOST);
	for (uint32_t i = 0; i < donors.count; i++) {
		const uint32_t entry = donors_next(&donors);

		assert_true((entry >= 2 && entry < DONORS_MOST) || entry == 500 || entry == 501);
	}
	memset(&donors, 0, sizeof(donors));
	donors_add(&donors, 9, 1e-3, 1e-3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(donors_next(&donors), 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),      cmocka_unit_test(test_merge),
		cmocka_unit_test(test_importance),   cmocka_unit_test(test_window_donors),
		cmocka_unit_test(test_donor_shares), cmocka_unit_test(test_donor_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
