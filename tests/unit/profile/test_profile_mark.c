/* SPDX-License-Identifier: MIT */
/*
 * test_profile_mark.c - the difference of two marks is the profile that is filled with what was
 * added between them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/profile/profile_mark.h"

#define THREADS 4
#define STACKS 5
#define WAITS 3
#define OPERATIONS 400
#define MARKS 12

enum kind { ADD, ADD_AGAIN, CHARGE, BLAME, TICK, DEADLOCK, KINDS };

struct operation {
	enum kind kind;
	struct profile_entry sample; /* of ADD_AGAIN and CHARGE: what they add to its entry */
	struct profile_blame blame;
	uint64_t span_ns;
	uint32_t parallelism, runnable, ready;
	struct profile_stuck stuck[2];
};

static uint32_t
random_below(uint64_t *state, uint32_t limit)
{
	*state = hash_u64(*state + 1);
	return (uint32_t)(*state % limit);
}

/* A profile with all names, so that ids are the same in each. */
static struct profile *
named_profile(void)
{
	struct profile *profile = profile_create();
	uint32_t stack = STACK_NONE;
	char name[16];

	for (int i = 0; i < THREADS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		profile_add_thread(profile, 0, 10 + i, 1, name);
	}
	for (int i = 0; i < STACKS; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		stack = profile_intern_stack(profile, profile_intern_named(profile, name), stack);
	}
	for (uint32_t i = 1; i < WAITS; i++)
		profile_add_wait(profile,
				 &(struct profile_wait){ .kind = WAIT_SLEEP, .object = i });
	return profile;
}

static struct operation
random_operation(uint64_t *state)
{
	struct operation operation = { .kind = (enum kind)random_below(state, KINDS) };
	struct profile_entry *sample = &operation.sample;

	sample->thread = random_below(state, THREADS);
	sample->stack = random_below(state, STACKS);
	sample->carrier = random_below(state, 2);
	sample->state = random_below(state, 2) ? RUN_RUNNING : RUN_SLEEPING;
	sample->syscall = (int32_t)random_below(state, 2);
	sample->wait = random_below(state, WAITS);
	sample->gil = random_below(state, 2) ? GIL_HAS : GIL_UNKNOWN;
	sample->samples = (int64_t)random_below(state, 9) - 4;
	for (int w = 0; w < WEIGHT_COUNT; w++)
		sample->ns[w] = (int64_t)random_below(state, 2000) - 1000;
	operation.blame = (struct profile_blame){
		.wait = 1 + random_below(state, WAITS - 1),
		.thread = sample->thread,
		.stack = sample->stack,
		.state = sample->state,
		.samples = 1,
		.ns = random_below(state, 100),
	};
	operation.span_ns = random_below(state, 1000);
	operation.parallelism = random_below(state, 5);
	operation.runnable = random_below(state, 5);
	operation.ready = random_below(state, 7);
	for (uint32_t i = 0; i < 2; i++)
		operation.stuck[i] = (struct profile_stuck){
			.thread = (sample->thread + i) % THREADS,
			.stack = sample->stack,
			.wait = 1 + i,
		};
	return operation;
}

/* Fills in what ADD_AGAIN and CHARGE do not add. */
static void
apply(struct profile *profile, struct operation *operation)
{
	struct profile_entry *sample = &operation->sample;
	struct profile_entry key = *sample;
	uint32_t entry;

	switch (operation->kind) {
	case ADD_AGAIN:
	case CHARGE:
		sample->samples = operation->kind == CHARGE ? 0 : sample->samples;
		sample->ns[WEIGHT_WALL] = operation->kind == CHARGE ? 0 : sample->ns[WEIGHT_WALL];
		sample->ns[WEIGHT_CPU] = 0;
		sample->ns[WEIGHT_LATENCY] *= operation->kind == CHARGE;
		key.samples = 0;
		for (int w = 0; w < WEIGHT_COUNT; w++)
			key.ns[w] = 0;
		entry = profile_add(profile, &key);
		if (operation->kind == CHARGE)
			profile_charge(profile, entry, sample->ns[WEIGHT_LATENCY]);
		else
			profile_add_again(profile, entry, sample->samples,
					  sample->ns[WEIGHT_WALL]);
		break;
	case BLAME:
		profile_add_blame(profile, &operation->blame);
		break;
	case TICK:
		profile_set_ready(profile, operation->ready);
		profile_add_tick(profile, operation->span_ns, operation->parallelism,
				 operation->runnable);
		break;
	case DEADLOCK:
		profile_add_deadlock(profile, operation->stuck, 2, 1 + operation->ready % 2);
		break;
	default:
		profile_add(profile, sample);
	}
}

static void
compare_entries(const struct profile *a, const struct profile *b)
{
	assert_int_equal(profile_entry_count(a), profile_entry_count(b));
	for (size_t i = 0; i < profile_entry_count(a); i++) {
		const struct profile_entry *x = profile_entry(a, i), *y = profile_entry(b, i);

		assert_int_equal(x->thread, y->thread);
		assert_int_equal(x->stack, y->stack);
		assert_int_equal(x->carrier, y->carrier);
		assert_int_equal(x->state, y->state);
		assert_int_equal(x->syscall, y->syscall);
		assert_int_equal(x->wait, y->wait);
		assert_int_equal(x->gil, y->gil);
		assert_int_equal(x->samples, y->samples);
		for (int w = 0; w < WEIGHT_COUNT; w++)
			assert_int_equal(x->ns[w], y->ns[w]);
	}
}

static void
compare_blame(const struct profile *a, const struct profile *b)
{
	assert_int_equal(profile_blame_count(a), profile_blame_count(b));
	for (size_t i = 0; i < profile_blame_count(a); i++) {
		const struct profile_blame *x = profile_blame(a, i), *y = profile_blame(b, i);

		assert_int_equal(x->wait, y->wait);
		assert_int_equal(x->thread, y->thread);
		assert_int_equal(x->stack, y->stack);
		assert_int_equal(x->state, y->state);
		assert_int_equal(x->samples, y->samples);
		assert_int_equal(x->ns, y->ns);
	}
	assert_int_equal(profile_deadlock_count(a), profile_deadlock_count(b));
	for (size_t i = 0; i < profile_deadlock_count(a); i++) {
		const struct profile_deadlock *x = profile_deadlock(a, i);
		const struct profile_deadlock *y = profile_deadlock(b, i);

		assert_int_equal(x->count, y->count);
		assert_int_equal(x->ring, y->ring);
		assert_memory_equal(x->stuck, y->stuck, x->count * sizeof(*x->stuck));
	}
}

static void
compare_ticks(const struct profile *a, const struct profile *b)
{
	assert_int_equal(profile_tick_count(a), profile_tick_count(b));
	assert_int_equal(profile_wall_ns(a), profile_wall_ns(b));
	assert_true(profile_ready_ns(a) == profile_ready_ns(b));
	assert_int_equal(profile_ready_most(a), profile_ready_most(b));
	assert_int_equal(profile_parallelism_count(a), profile_parallelism_count(b));
	for (size_t i = 0; i < profile_parallelism_count(a); i++) {
		const struct profile_parallelism *x = profile_parallelism(a, i);
		const struct profile_parallelism *y = profile_parallelism(b, i);

		assert_int_equal(x->ticks, y->ticks);
		assert_int_equal(x->time_ns, y->time_ns);
		assert_int_equal(x->cpu_ns, y->cpu_ns);
		assert_int_equal(x->alone_ns, y->alone_ns);
		assert_true(x->time_squares == y->time_squares); /* integers below 2^53 */
	}
}

/* Compares the window with a profile that is filled with the operations of that window only. */
static void
check_window(const struct profile_mark *from, const struct profile_mark *to,
	     struct operation *operations, size_t first, size_t end)
{
	struct profile *window = profile_since(from, to), *wanted = named_profile();

	for (size_t i = first; i < end; i++)
		apply(wanted, &operations[i]);
	compare_entries(window, wanted);
	compare_blame(window, wanted);
	compare_ticks(window, wanted);
	assert_int_equal(profile_stack_count(window), profile_stack_count(wanted));
	assert_int_equal(profile_thread_count(window), profile_thread_count(wanted));
	assert_string_equal(profile_text(window, profile_thread(window, 1)->name), "t1");
	profile_free(wanted);
	profile_free(window);
}

static void
test_random(void **state)
{
	static struct operation operations[OPERATIONS];

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t random = seed << 32;
		struct profile *profile = named_profile();
		struct profile_mark *mark[MARKS] = { NULL };
		size_t at[MARKS] = { 0 }, marks = 0;

		for (size_t i = 0; i < OPERATIONS; i++) {
			if (marks < MARKS && random_below(&random, OPERATIONS / MARKS) == 0) {
				at[marks] = i;
				mark[marks++] = profile_mark(profile);
			}
			operations[i] = random_operation(&random);
			apply(profile, &operations[i]);
		}
		/* Marks are freed at random; windows between the others do not change. */
		while (marks > 0) {
			const size_t from = random_below(&random, (uint32_t)marks);
			const size_t to = from + random_below(&random, (uint32_t)(marks - from));
			const size_t gone = random_below(&random, (uint32_t)marks);

			check_window(mark[from], mark[to], operations, at[from], at[to]);
			check_window(mark[from], NULL, operations, at[from], OPERATIONS);
			profile_mark_free(mark[gone]);
			marks--;
			for (size_t i = gone; i < marks; i++) {
				mark[i] = mark[i + 1];
				at[i] = at[i + 1];
			}
		}
		profile_free(profile);
	}
}

/* A window between two marks at the same moment is empty, and names what the profile does. */
static void
test_empty(void **state)
{
	struct profile *profile = named_profile();
	struct profile_entry sample = { .samples = 1, .ns = { 5, 5, 5 } };
	struct profile_mark *first, *second;
	struct profile *window;

	(void)state;
	profile_add(profile, &sample);
	first = profile_mark(profile);
	second = profile_mark(profile);
	window = profile_since(first, second);
	assert_int_equal(profile_entry_count(window), 0);
	assert_int_equal(profile_tick_count(window), 0);
	assert_int_equal(profile_parallelism_count(window), 0);
	assert_int_equal(profile_stack_count(window), STACKS);
	profile_free(window);
	profile_mark_free(first);
	/* Without marks the profile adds to its own sums only. */
	profile_mark_free(second);
	profile_add(profile, &sample);
	assert_int_equal(profile_entry(profile, 0)->samples, 2);
	profile_mark_free(NULL);
	profile_free(profile);
}

/* Names that come later have the same ids in the window, and a window stays as it was made. */
static void
test_names(void **state)
{
	struct profile *profile = named_profile();
	struct profile_entry sample = { .samples = 1, .ns = { 5, 0, 0 } };
	struct profile_mark *mark = profile_mark(profile);
	struct profile *window;

	(void)state;
	sample.thread = profile_add_thread(profile, 0, 99, 1, "late");
	profile_add(profile, &sample);
	window = profile_since(mark, NULL);
	profile_mark_free(mark);
	profile_add(profile, &sample);
	profile_rename_thread(profile, sample.thread, "renamed");
	assert_int_equal(profile_entry_count(window), 1);
	assert_int_equal(profile_entry(window, 0)->samples, 1);
	assert_int_equal(profile_entry(window, 0)->thread, sample.thread);
	assert_string_equal(profile_text(window, profile_thread(window, sample.thread)->name),
			    "renamed");
	profile_free(window);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
