/* SPDX-License-Identifier: MIT */
/*
 * test_epilogue.c - walks through code without a file that has neither tables nor a frame
 * pointer: the trampolines that Python makes for profilers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unwind/unwind_method_internal.h"
#include "../scene/sleeping_child.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/tracer.h"
#include "wallsample/unwind/unwind.h"
#include "wallsample/tracer/sleeper.h"

#define TRAMPOLINES 3
#define CODE_SIZE 64

/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret, as Python's. */
static const uint8_t small[] = {
	0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3,
};
/* The same with a frame of 0x1008 bytes. */
static const uint8_t large[] = {
	0x48, 0x81, 0xec, 0x08, 0x10, 0, 0, 0xff, 0xd1, 0x48, 0x81, 0xc4, 0x08, 0x10, 0, 0, 0xc3,
};

struct told {
	_Atomic int tid;             /* set last */
	uint64_t code; /* where the trampolines lie */
};

static struct told *told; /* the same in test and child */
static uint8_t *code;
static volatile int sink;

typedef void step(long left, int fd, void *unused, void *inner);

/* --- the child ------------------------------------------------------------------ */

__attribute__((noinline, noclone)) static void
through(long left, int fd, void *unused, void *self)
{
	char byte;

	(void)unused;
	if (left > 0) {
		step *next = (step *)(uintptr_t)(code + (left - 1) * CODE_SIZE);

		next(left - 1, fd, NULL, self);
		sink = (int)left;
		return;
	}
	atomic_store(&told->tid, (int)syscall(SYS_gettid));
	syscall(SYS_read, fd, &byte, 1);
	sink = 0;
}

static void
sleep_in_jit(int in, int out)
{
	(void)out;
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (code == MAP_FAILED)
		_exit(1);
	memcpy(code, small, sizeof(small));
	memcpy(code + CODE_SIZE, large, sizeof(large));
	memcpy(code + 2 * CODE_SIZE, small, sizeof(small));
	told->code = (uintptr_t)code;
	through(TRAMPOLINES, in, NULL, (void *)(uintptr_t)through);
}

/* --- the test -------------------------------------------------------------------- */

struct scene {
	struct sleeping_child child;
	struct snapshot snapshot;
	struct modules *modules;
	struct maps *maps;
	struct unwinder *unwinder;
	struct chain chain;
	bool allowed;
};

static int
start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	struct syscall_info info;
	struct sched sched;
	struct watch watch;

	*state = scene;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(told != MAP_FAILED);
	sleeping_child_start(&scene->child, sleep_in_jit);
	while (atomic_load(&told->tid) == 0)
		sched_yield(); /* the alarm is the bound */
	scene->modules = modules_create();
	scene->maps = maps_create(scene->child.process, scene->modules);
	scene->unwinder = unwinder_create(scene->maps, UNWIND_AUTO);
	snapshot_init(&scene->snapshot);
	chain_init(&scene->chain);
	watch_init(&watch, atomic_load(&told->tid), sched_source_probe(), true);
	scene->allowed = sleeping_child_settle(&scene->child, &watch, SYS_read, &sched, &info);
	if (scene->allowed)
		assert_int_equal(tracer_read_sleeper(scene->child.process, NULL, &watch, &sched,
						     &info, (size_t)256 << 10, &scene->snapshot),
				 READ_CAPTURED);
	watch_release(&watch);
	return 0;
}

static int
end(void **state)
{
	struct scene *scene = *state;

	snapshot_release(&scene->snapshot);
	chain_release(&scene->chain);
	unwinder_free(scene->unwinder);
	maps_free(scene->maps);
	modules_free(scene->modules);
	sleeping_child_release(&scene->child);
	munmap(told, sizeof(*told));
	free(scene);
	return 0;
}

/* From this frame to the next trampoline nothing was guessed. */
static void
check_sure(const struct chain *chain, size_t at)
{
	for (; at < chain->count && chain->frame[at].address - told->code >= 4096; at++) {
		assert_int_not_equal(chain->frame[at].origin, FRAME_GUESS);
		assert_int_not_equal(chain->frame[at].origin, FRAME_POINTER);
	}
}

/* Each trampoline has its frame, and each has its caller. */
static void
check_whole(struct scene *scene)
{
	static const uint8_t behind_call[TRAMPOLINES] = { 6, 9, 6 };
	const struct chain *chain = &scene->chain;
	size_t at = 0;

	for (size_t i = 0; i < TRAMPOLINES; i++) {
		const uint64_t wanted = told->code + i * CODE_SIZE + behind_call[i];

		while (at < chain->count && chain->frame[at].address != wanted)
			at++;
		assert_true(at + 1 < chain->count);
		/* Into `through`, out of it. */
		assert_int_equal(chain->frame[at + 1].origin, FRAME_EPILOGUE);
		assert_true(chain_frame_lookup(&chain->frame[at + 1]) - (uintptr_t)through < 1024);
		if (i + 1 < TRAMPOLINES)
			check_sure(chain, at + 1);
		at++;
	}
	assert_int_equal(chain->end, CHAIN_OUTERMOST);
}

static void
test_trampolines(void **state)
{
	struct scene *scene = *state;

	if (!scene->allowed)
		skip();
	unwinder_walk(scene->unwinder, &scene->snapshot, false, &scene->chain);
	check_whole(scene);
}

/* As of a thread that has run on: its stack is the copy's, its code is looked at. */
static void
test_no_live_stack(void **state)
{
	struct scene *scene = *state;

	if (!scene->allowed)
		skip();
	scene->snapshot.live_limit = 0;
	unwinder_walk(scene->unwinder, &scene->snapshot, false, &scene->chain);
	check_whole(scene);
	assert_false(scene->chain.read_live);
}

/* A copy that ends anywhere cuts the chain, and says so. */
static void
test_cut_short(void **state)
{
	struct scene *scene = *state;
	size_t before = 0, used;

	if (!scene->allowed)
		skip();
	scene->snapshot.live_limit = 0;
	unwinder_walk(scene->unwinder, &scene->snapshot, false, &scene->chain);
	/* The sanitizers' runtime has code without tables: a guess may end in another way. */
	for (size_t i = 0; i < scene->chain.count; i++)
		if (scene->chain.frame[i].origin == FRAME_GUESS)
			skip();
	used = scene->chain.stack_used;
	for (size_t size = 0; size < used; size += 8) {
		scene->snapshot.stack_size = scene->snapshot.stack_wanted = size;
		unwinder_walk(scene->unwinder, &scene->snapshot, false, &scene->chain);
		assert_int_equal(scene->chain.end, CHAIN_STACK_LIMIT);
		assert_true(scene->chain.count >= before);
		before = scene->chain.count;
	}
}

/* The process has gone, and its code with it: no frame comes from what it said. */
static void
test_gone(void **state)
{
	struct scene *scene = *state;

	if (!scene->allowed)
		skip();
	sleeping_child_kill(&scene->child);
	scene->snapshot.live_limit = 0;
	unwinder_walk(scene->unwinder, &scene->snapshot, false, &scene->chain);
	assert_true(scene->chain.count >= 2);
	for (size_t i = 0; i < scene->chain.count; i++)
		assert_int_not_equal(scene->chain.frame[i].origin, FRAME_EPILOGUE);
}

static void
test_bytes(void **state)
{
	static const struct {
		uint8_t code[ARCH_EPILOGUE_BYTES];
		bool good;
		uint64_t frame;
	} row[] = {
		{ { 0x48, 0x83, 0xc4, 0x08, 0xc3 }, true, 8 },
		{ { 0x48, 0x83, 0xc4, 0x78, 0xc3 }, true, 0x78 },
		{ { 0x48, 0x83, 0xc4, 0x00, 0xc3 }, true, 0 },
		{ { 0x48, 0x81, 0xc4, 0x88, 0x01, 0, 0, 0xc3 }, true, 0x188 },
		{ { 0x48, 0x83, 0xc4, 0x07, 0xc3 }, false, 0 },
		{ { 0x48, 0x83, 0xc4, 0xf8, 0xc3 }, false, 0 },        /* takes room */
		{ { 0x48, 0x81, 0xc4, 0, 0, 0, 0x80, 0xc3 }, false, 0 },
		{ { 0x48, 0x83, 0xc4, 0x08, 0x5d, 0xc3 }, false, 0 },  /* pops %rbp */
		{ { 0x48, 0x83, 0xec, 0x08, 0xc3 }, false, 0 },
		{ { 0xc3 }, false, 0 },
		{ { 0 }, false, 0 },
	};
	uint64_t frame;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		assert_int_equal(arch_is_epilogue(row[i].code, sizeof(row[i].code), &frame),
				 row[i].good);
		assert_true(!row[i].good || frame == row[i].frame);
		/* Half of it is not enough. */
		assert_false(arch_is_epilogue(row[i].code, 4, &frame));
		assert_false(arch_is_epilogue(row[i].code, 0, &frame));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test_setup_teardown(test_trampolines, start, end),
		cmocka_unit_test_setup_teardown(test_no_live_stack, start, end),
		cmocka_unit_test_setup_teardown(test_cut_short, start, end),
		cmocka_unit_test_setup_teardown(test_gone, start, end),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
