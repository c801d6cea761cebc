/* SPDX-License-Identifier: MIT */
/*
 * test_profile.c - interning of frames, stacks, threads, and sums of samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"
#include "wallsample/profile/profile.h"

static uint32_t
add_frame(struct profile *profile, uint32_t module, enum frame_origin origin, uint64_t address)
{
	const struct profile_frame frame = {
		.module = module,
		.origin = (uint8_t)origin,
		.address = address,
	};

	return profile_intern_frame(profile, &frame);
}

static void
test_frames(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t a = add_frame(profile, 1, FRAME_CFI, 0x1000);
	const uint32_t b = add_frame(profile, 2, FRAME_CFI, 0x1000);
	const uint32_t c = add_frame(profile, 1, FRAME_GUESS, 0x1000);
	const uint32_t d = add_frame(profile, 1, FRAME_CFI, 0x1001);
	const uint32_t named = profile_intern_named(profile, "[failed: thread exited]");
	const struct profile_frame *frame;

	(void)state;
	assert_int_equal(profile_frame_count(profile), 5);
	assert_int_equal(add_frame(profile, 1, FRAME_CFI, 0x1000), a);
	assert_int_equal(add_frame(profile, 2, FRAME_CFI, 0x1000), b);
	assert_int_equal(add_frame(profile, 1, FRAME_GUESS, 0x1000), c);
	assert_int_equal(add_frame(profile, 1, FRAME_CFI, 0x1001), d);
	assert_int_equal(profile_intern_named(profile, "[failed: thread exited]"), named);
	assert_int_equal(profile_frame_count(profile), 5);
	frame = profile_frame(profile, c);
	assert_int_equal(frame->module, 1);
	assert_int_equal(frame->origin, FRAME_GUESS);
	assert_int_equal(frame->address, 0x1000);
	frame = profile_frame(profile, named);
	assert_int_equal(frame->module, MODULE_NONE);
	assert_string_equal(profile_text(profile, (uint32_t)frame->address),
			    "[failed: thread exited]");
	profile_free(profile);
}

/* The kind of a named frame follows from its text, also when the text is replaced. */
static void
test_named_frames(void **state)
{
	static const struct {
		const char *text;
		enum named_frame kind;
	} cases[] = {
		{ "[waiting]", NAMED_GAP },
		{ "[waiting] for", NAMED_OTHER },
		{ "[sleeping in futex: mutex]", NAMED_SLEEPING },
		{ "[uninterruptible]", NAMED_UNINTERRUPTIBLE },
		{ "[nothing ran until the end]", NAMED_IDLE },
		{ "[failed: task already finished]", NAMED_TASK_FINISHED },
		{ "[failed: thread exited]", NAMED_FAILED },
		{ "[truncated: no unwind information]", NAMED_TRUNCATED },
		{ "[running: not stopped]", NAMED_OTHER },
		{ "main", NAMED_OTHER },
		{ "", NAMED_OTHER },
	};
	struct profile *profile = profile_create();
	uint32_t id;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		id = profile_intern_named(profile, cases[i].text);
		assert_int_equal(profile_frame(profile, id)->named, cases[i].kind);
	}
	id = profile_intern_script(profile, profile_intern_text(profile, "[waiting]"), 0, 0);
	assert_int_equal(profile_frame(profile, id)->named, NAMED_NONE);
	assert_int_equal(profile_frame(profile, add_frame(profile, 1, FRAME_CFI, 1))->named,
			 NAMED_NONE);
	id = profile_intern_named(profile, "socket:[7]");
	profile_rename_frame(profile, id, "[uninterruptible]");
	assert_int_equal(profile_frame(profile, id)->named, NAMED_UNINTERRUPTIBLE);
	profile_free(profile);
}

/* An interpreter's frames are told apart by what they execute, its own address included. */
static void
test_interpreted_frames(void **state)
{
	struct profile *profile = profile_create();
	const struct profile_frame plain = { .module = 1, .address = 0x1000 };
	struct profile_frame frame = plain;
	uint32_t id[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		frame.bytecode = 0x5000 + i / 2;
		frame.bytecode_size = 10 + i % 2;
		id[i] = profile_intern_frame(profile, &frame);
		assert_int_equal(profile_intern_frame(profile, &frame), id[i]);
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(id[i], id[j]);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(profile_frame(profile, id[i])->bytecode, 0x5000 + i / 2);
		assert_int_equal(profile_frame(profile, id[i])->bytecode_size, 10 + i % 2);
		assert_int_not_equal(profile_intern_frame(profile, &plain), id[i]);
	}
	assert_int_equal(profile_frame(profile, profile_intern_frame(profile, &plain))->bytecode,
			 0);
	frame.epoch = 1;
	assert_int_not_equal(profile_intern_frame(profile, &frame), id[3]);
	profile_free(profile);
}

static void
test_stacks(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t outer = profile_intern_named(profile, "outer");
	const uint32_t inner = profile_intern_named(profile, "inner");
	const uint32_t root = profile_intern_stack(profile, outer, STACK_NONE);
	const uint32_t leaf = profile_intern_stack(profile, inner, root);

	(void)state;
	assert_int_not_equal(root, leaf);
	assert_int_equal(profile_intern_stack(profile, outer, STACK_NONE), root);
	assert_int_equal(profile_intern_stack(profile, inner, root), leaf);
	assert_int_not_equal(profile_intern_stack(profile, inner, STACK_NONE), leaf);
	assert_int_equal(profile_stack_count(profile), 3);
	assert_int_equal(profile_stack(profile, leaf)->frame, inner);
	assert_int_equal(profile_stack(profile, leaf)->caller, root);
	assert_int_equal(profile_stack(profile, root)->caller, STACK_NONE);
	profile_free(profile);
}

static void
test_threads(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t a = profile_add_thread(profile, 0, 100, 5, "first");
	const uint32_t b = profile_add_thread(profile, 0, 100, 6, "second life");

	(void)state;
	assert_int_not_equal(a, b);
	assert_int_equal(profile_add_thread(profile, 0, 100, 5, "renamed"), a);
	assert_int_equal(profile_thread_count(profile), 2);
	assert_string_equal(profile_text(profile, profile_thread(profile, a)->name), "renamed");
	profile_rename_thread(profile, b, "worker");
	assert_string_equal(profile_text(profile, profile_thread(profile, b)->name), "worker");
	assert_int_equal(profile_thread(profile, b)->tid, 100);
	assert_int_equal(profile_thread(profile, b)->start_time, 6);
	profile_free(profile);
}

static uint32_t
add_task(struct profile *profile, uint64_t id, uint32_t entry, uint64_t address)
{
	const struct profile_thread task = {
		.is_green = true,
		.name = profile_intern_text(profile, "goroutine"),
		.green_id = id,
		.entry = entry,
		.created_at = FRAME_NONE,
	};

	return profile_add_green(profile, &task, address);
}

/* One address has many, one after the other: all numbers and functions near others are apart. */
static void
test_tasks(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t many = add_task(profile, 0, 3, 0xc000);

	(void)state;
	for (uint32_t id = 1; id <= 64; id++)
		for (uint32_t entry = 0; entry < 8; entry++)
			add_task(profile, id, entry, 0xc000);
	assert_int_equal(profile_thread_count(profile), 1 + 64 * 8);
	assert_int_equal(add_task(profile, 0, 3, 0xd000), many);
	assert_int_not_equal(add_task(profile, 0, 4, 0xc000), many);
	assert_int_not_equal(add_task(profile, 64, 7, 0xd000), add_task(profile, 64, 7, 0xc000));
	profile_free(profile);
}

static void
test_samples_are_summed(void **state)
{
	struct profile *profile = profile_create();
	struct profile_entry sample = {
		.thread = 1, .stack = 2, .state = RUN_SLEEPING, .syscall = 202,
		.samples = 1, .ns[WEIGHT_WALL] = 10,
	};

	(void)state;
	profile_add(profile, &sample);
	sample.samples = 31;
	sample.ns[WEIGHT_WALL] = 310;
	profile_add(profile, &sample);
	sample.samples = -2;
	sample.ns[WEIGHT_WALL] = -20;
	profile_add(profile, &sample);
	assert_int_equal(profile_entry_count(profile), 1);
	assert_int_equal(profile_entry(profile, 0)->samples, 30);
	assert_int_equal(profile_entry(profile, 0)->ns[WEIGHT_WALL], 300);

	/* Each part of the key tells entries apart. */
	sample.thread = 2;
	profile_add(profile, &sample);
	sample.stack = 1;
	profile_add(profile, &sample);
	sample.state = RUN_UNINTERRUPTIBLE;
	profile_add(profile, &sample);
	sample.syscall = (int32_t)SYSCALL_NONE;
	profile_add(profile, &sample);
	sample.syscall = (int32_t)SYSCALL_UNKNOWN;
	profile_add(profile, &sample);
	sample.stack = STACK_NONE;
	profile_add(profile, &sample);
	assert_int_equal(profile_entry_count(profile), 7);
	assert_int_equal(profile_entry(profile, 1)->ns[WEIGHT_WALL], -20);
	profile_free(profile);
}

static void
test_ticks(void **state)
{
	struct profile *profile = profile_create();

	(void)state;
	profile_add_tick(profile, 10 * NS_PER_MS, 3, 3);
	profile_add_tick(profile, 12 * NS_PER_MS, 0, 0);
	assert_int_equal(profile_tick_count(profile), 2);
	assert_int_equal(profile_wall_ns(profile), 22 * NS_PER_MS);
	profile_free(profile);
}

/* Many of each kind, so that arrays and tables have grown, are still found. */
static void
test_many(void **state)
{
	enum { MANY = 100000 };
	struct profile *profile = profile_create();

	(void)state;
	for (int round = 0; round < 2; round++) {
		uint32_t caller = STACK_NONE;

		for (uint32_t i = 0; i < MANY; i++) {
			const uint32_t frame = add_frame(profile, i % 7, FRAME_CFI, i);
			const struct profile_entry sample = {
				.thread = i % 100, .stack = i, .samples = 1, .ns[WEIGHT_WALL] = i,
			};

			assert_int_equal(frame, i);
			caller = profile_intern_stack(profile, frame, caller);
			assert_int_equal(caller, i);
			profile_add(profile, &sample);
		}
	}
	assert_int_equal(profile_entry_count(profile), MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(profile_entry(profile, i)->ns[WEIGHT_WALL], 2 * (int64_t)i);
	profile_free(profile);
}

/* What is known only when the tick is over. */
static void
test_charge(void **state)
{
	struct profile *profile = profile_create();
	const struct profile_entry sample = {
		.samples = 1, .ns = { 10, 10, 0 }, .state = RUN_RUNNING,
	};
	const uint32_t entry = profile_add(profile, &sample);

	(void)state;
	profile_charge(profile, entry, 5);
	assert_int_equal(profile_add(profile, &sample), entry);
	profile_charge(profile, entry, 3);
	assert_int_equal(profile_entry(profile, entry)->ns[WEIGHT_WALL], 20);
	assert_int_equal(profile_entry(profile, entry)->ns[WEIGHT_CPU], 20);
	assert_int_equal(profile_entry(profile, entry)->ns[WEIGHT_LATENCY], 8);
	profile_free(profile);
}

static void
test_parallelism(void **state)
{
	struct profile *profile = profile_create();

	(void)state;
	assert_int_equal(profile_parallelism_count(profile), 0);
	profile_add_tick(profile, 10, 3, 3);
	profile_add_tick(profile, 20, 0, 0);
	profile_add_tick(profile, 5, 3, 3);
	assert_int_equal(profile_parallelism_count(profile), 4);
	assert_int_equal(profile_parallelism(profile, 3)->ticks, 2);
	assert_int_equal(profile_parallelism(profile, 3)->time_ns, 15);
	assert_int_equal(profile_parallelism(profile, 3)->cpu_ns, 45);
	assert_int_equal(profile_parallelism(profile, 0)->time_ns, 20);
	assert_int_equal(profile_parallelism(profile, 0)->cpu_ns, 0);
	assert_int_equal(profile_parallelism(profile, 1)->ticks, 0);
	assert_int_equal(profile_wall_ns(profile), 35);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charge),
		cmocka_unit_test(test_parallelism),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_named_frames),
		cmocka_unit_test(test_interpreted_frames),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_samples_are_summed),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
