/* SPDX-License-Identifier: MIT */
/* test_peer_choice.c - which process and which thread another one waits for, and chains of such
 * waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/waits/peers_internal.h"
#include "wallsample/base/base.h"

static void
test_process(void **state)
{
	struct peer_candidate both[] = { { .sampled = true, .active = true }, { .sampled = true } };

	(void)state;
	assert_int_equal(peer_choose_process(both, 0), PEER_NONE);
	/* The only one is awaited, whatever it does, but must be sampled. */
	assert_int_equal(peer_choose_process(&both[1], 1), 0);
	assert_int_equal(peer_choose_process(&(struct peer_candidate){ .active = true }, 1),
			 PEER_NONE);
	/* The other one has inherited the end. */
	assert_int_equal(peer_choose_process(both, 2), 0);
	both[1].active = true;
	assert_int_equal(peer_choose_process(both, 2), PEER_NONE);
	both[0].active = both[1].active = false;
	assert_int_equal(peer_choose_process(both, 2), PEER_NONE);
	/* What a process that is not sampled does is not known: it has inherited the end. */
	both[0].sampled = false;
	both[1].active = true;
	assert_int_equal(peer_choose_process(both, 2), 1);
}

static void
test_thread(void **state)
{
	struct peer_thread threads[3] = { { .waits_elsewhere = true } };

	(void)state;
	assert_int_equal(peer_choose_thread(threads, 1), 0);
	assert_int_equal(peer_choose_thread(threads, 3), PEER_NONE);
	threads[1].works = true;
	assert_int_equal(peer_choose_thread(threads, 3), 1);
	threads[2].works = true;
	assert_int_equal(peer_choose_thread(threads, 3), PEER_NONE);
	/* The last user comes before others that work, but not if it waits for something else. */
	threads[0].last_user = true;
	assert_int_equal(peer_choose_thread(threads, 3), PEER_NONE);
	threads[0].waits_elsewhere = false;
	assert_int_equal(peer_choose_thread(threads, 3), 0);
	threads[2].uses_end = true;
	assert_int_equal(peer_choose_thread(threads, 3), 2);
	/* Two that wait for the same end: either may read what comes. */
	threads[1].uses_end = true;
	threads[0].last_user = false;
	assert_int_equal(peer_choose_thread(threads, 3), PEER_NONE);
}

static uint32_t
next_of(void *context, uint32_t from)
{
	return ((const uint32_t *)context)[from];
}

static void
test_chain(void **state)
{
	uint32_t next[20], path[PEER_HOPS_MOST];

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(next); i++)
		next[i] = i + 1;
	/* The number of hops is bounded. */
	assert_int_equal(peer_follow(0, next_of, next, path), PEER_HOPS_MOST);
	assert_int_equal(path[PEER_HOPS_MOST - 1], PEER_HOPS_MOST);
	next[3] = PEER_NO_HOP;
	assert_int_equal(peer_follow(3, next_of, next, path), 0);
	assert_int_equal(peer_follow(0, next_of, next, path), 3);
	assert_int_equal(path[0], 1);
	assert_int_equal(path[2], 3);
	/* Two wait for each other; one waits for itself; the first one waits for a ring. */
	next[3] = 2;
	assert_int_equal(peer_follow(2, next_of, next, path), 1);
	assert_int_equal(path[0], 3);
	assert_int_equal(peer_follow(0, next_of, next, path), 3);
	next[5] = 5;
	assert_int_equal(peer_follow(5, next_of, next, path), 0);
}

static void
test_keys(void **state)
{
	(void)state;
	assert_int_equal(peer_key("socket:[12]", true), peer_key("socket:[12]", false));
	assert_int_not_equal(peer_key("socket:[12]", false), peer_key("socket:[13]", false));
	assert_int_not_equal(peer_key("pipe:[12]", true), peer_key("pipe:[12]", false));
	assert_int_not_equal(peer_key("", false), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
