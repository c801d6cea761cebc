/* SPDX-License-Identifier: MIT */
/* test_chain.c - a call chain: how deep it gets, why it ends, where names are looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "wallsample/unwind/chain.h"

static void
test_depth(void **state)
{
	struct chain chain;

	(void)state;
	chain_init(&chain);
	chain_clear(&chain);
	for (uint64_t i = 0; i < CHAIN_MAX_DEPTH; i++)
		assert_true(chain_add(&chain, i + 1, 0, FRAME_CFI, false));
	assert_int_equal(chain.count, CHAIN_MAX_DEPTH);
	assert_int_equal(chain.end, CHAIN_OUTERMOST);
	for (int i = 0; i < 3; i++) {
		assert_false(chain_add(&chain, 99, 0, FRAME_GUESS, true));
		assert_int_equal(chain.end, CHAIN_DEPTH);
		assert_int_equal(chain.count, CHAIN_MAX_DEPTH);
	}
	for (uint64_t i = 0; i < CHAIN_MAX_DEPTH; i++)
		assert_true(chain.frame[i].address == i + 1);
	/* What was cleared may be filled again, and nothing of before is left. */
	chain.end_address = 1;
	chain.stack_used = 1;
	chain.read_live = true;
	chain_clear(&chain);
	assert_int_equal(chain.count, 0);
	assert_int_equal(chain.end, CHAIN_OUTERMOST);
	assert_int_equal(chain.end_address, 0);
	assert_int_equal(chain.stack_used, 0);
	assert_false(chain.read_live);
	assert_true(chain_add(&chain, 7, 0, FRAME_REGISTERS, true));
	assert_int_equal(chain.frame[0].address, 7);
	chain_release(&chain);
	assert_null(chain.frame);
	assert_int_equal(chain.capacity, 0);
}

/* Adds frames innermost first; the frames from index `start` on repeat in steps of `period`. Each
 * repetition begins with a lower stack pointer than the frame before it. Returns the number of
 * calls until chain_add() refuses one. */
static size_t
add_cycle(struct chain *chain, size_t start, size_t period)
{
	for (size_t i = 0;; i++) {
		size_t index = i < start ? i : start + (i - start) % period;

		if (!chain_add(chain, 100 + index, 1000 + index, FRAME_CFI, false))
			return i + 1;
	}
}

/* A repetition ends the chain before the first frame that repeats, whatever its length. */
static void
test_cycle(void **state)
{
	struct chain chain;

	(void)state;
	chain_init(&chain);
	for (size_t start = 0; start < 40; start++) {
		for (size_t period = 1; period < 40; period++) {
			chain_clear(&chain);
			assert_true(add_cycle(&chain, start, period) <= 4 * (start + period));
			assert_int_equal(chain.end, CHAIN_CYCLE);
			assert_int_equal(chain.count, start + period);
			for (size_t i = 0; i < chain.count; i++)
				assert_true(chain.frame[i].address == 100 + i);
		}
	}
	/* A recursion has other stack pointers; of unknown ones nothing is concluded. */
	chain_clear(&chain);
	for (uint64_t i = 0; i < 100; i++)
		assert_true(chain_add(&chain, 100, 1000 + i, FRAME_CFI, false));
	for (uint64_t i = 0; i < 100; i++)
		assert_true(chain_add(&chain, 100, 0, FRAME_CFI, false));
	chain_release(&chain);
}

/* A return address may be the first of the next function. */
static void
test_lookup(void **state)
{
	struct chain chain;

	(void)state;
	chain_init(&chain);
	assert_true(chain_add(&chain, 0x1000, 0, FRAME_REGISTERS, true));
	assert_true(chain_add(&chain, 0x2000, 0, FRAME_CFI, false));
	assert_true(chain_add(&chain, 0x3000, 0, FRAME_CFI, true)); /* a signal came here */
	assert_true(chain_add(&chain, 0x4000, 0, FRAME_POINTER, false));
	assert_true(chain_add(&chain, 0, 0, FRAME_GUESS, true));
	assert_int_equal(chain_frame_lookup(&chain.frame[0]), 0x1000);
	assert_int_equal(chain_frame_lookup(&chain.frame[1]), 0x1fff);
	assert_int_equal(chain_frame_lookup(&chain.frame[2]), 0x3000);
	assert_int_equal(chain_frame_lookup(&chain.frame[3]), 0x3fff);
	assert_int_equal(chain_frame_lookup(&chain.frame[4]), 0);
	assert_int_equal(chain.frame[0].origin, FRAME_REGISTERS);
	assert_int_equal(chain.frame[4].origin, FRAME_GUESS);
	chain_release(&chain);
}

/* Each end but one leaves something out, and what is left out has a name in brackets. */
static void
test_ends(void **state)
{
	(void)state;
	for (int i = 0; i < CHAIN_END_COUNT; i++) {
		enum chain_end end = (enum chain_end)i;
		const char *text = chain_end_text(end);

		assert_int_equal(chain_end_is_whole(end), end == CHAIN_OUTERMOST);
		if (end == CHAIN_OUTERMOST) {
			assert_string_equal(text, "");
			continue;
		}
		assert_memory_equal(text, "[truncated: ", 12);
		assert_int_equal(text[strlen(text) - 1], ']');
		for (int j = 0; j < i; j++)
			assert_string_not_equal(text, chain_end_text((enum chain_end)j));
	}
	assert_string_equal(frame_origin_text(FRAME_GUESS), "guess");
	assert_string_equal(frame_origin_text(FRAME_REGISTERS), "registers");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
