/* SPDX-License-Identifier: MIT */
/* test_rings.c - rings of who waits for whom, against a search that follows each way to its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/sampler/rings.h"
#include "wallsample/base/base.h"

#define MOST 40

/* After so many steps a way that has not ended goes round. */
static uint32_t
walk(const struct rings *rings, uint32_t from, size_t steps)
{
	while (steps-- > 0 && from != RINGS_NONE)
		from = rings->next[from];
	return from;
}

static void
check(const struct rings *rings)
{
	for (uint32_t i = 0; i < rings->count; i++) {
		const uint32_t end = walk(rings, i, rings->count);
		bool comes_back = false;

		for (size_t steps = 1; steps <= rings->count; steps++)
			comes_back |= walk(rings, i, steps) == i;
		assert_int_equal(rings->in_ring[i], comes_back);
		assert_int_equal(rings->ring[i] == RINGS_NONE, end == RINGS_NONE);
		if (end != RINGS_NONE)
			assert_int_equal(rings->ring[i], rings->ring[end]);
	}
}

static void
check_lists(const struct rings *rings)
{
	uint32_t list[MOST];
	size_t listed = 0, stuck = 0, in_ring;

	for (uint32_t ring = 0; ring < rings->rings; ring++) {
		const size_t count = rings_list(rings, ring, list, &in_ring);

		assert_true(in_ring >= 1 && in_ring <= count && count <= rings->count);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(rings->ring[list[i]], ring);
			assert_int_equal(rings->in_ring[list[i]], i < in_ring);
			if (i < in_ring)
				assert_int_equal(rings->next[list[i]], list[(i + 1) % in_ring]);
		}
		listed += count;
	}
	for (size_t i = 0; i < rings->count; i++)
		stuck += rings->ring[i] != RINGS_NONE;
	assert_int_equal(listed, stuck);
}

static void
test_all_ways(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (int round = 0; round < 20000; round++) {
		const size_t count = rng_next(&rng) % MOST;
		const uint64_t waits = rng_next(&rng) % 5; /* in four */
		struct rings rings;

		rings_init(&rings, count);
		for (size_t i = 0; i < count; i++)
			if (rng_next(&rng) % 4 < waits)
				rings.next[i] = (uint32_t)(rng_next(&rng) % count);
		rings_find(&rings);
		check(&rings);
		check_lists(&rings);
		rings_release(&rings);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
