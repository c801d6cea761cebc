/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - walks the stacks of a child whose two threads sleep in a known place, with
 * each way to unwind: whole, with copies that end early, and with bytes that make no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sleeping_child.h"
#include "wallsample/base.h"
#include "wallsample/tracer.h"
#include "wallsample/unwind.h"

/* --- the child ------------------------------------------------------------------ */

/* Where the functions were called from, as the threads of the child tell. */
struct told {
	_Atomic int tid; /* set last */
	uint64_t caller[3];
	uint64_t fp; /* of f2: the frame pointer while it sleeps */
};

#define THREADS 2
static struct told *told; /* shared with the child */
static volatile int sink;

#define FRAME __attribute__((noinline, noclone))
/* Behind a call: it is no tail call, and no two functions are the same. */
#define KEEP_FRAME() (sink = __LINE__)

static FRAME void
f2(int fd, struct told *mine)
{
	char byte;

	mine->caller[2] = (uintptr_t)__builtin_return_address(0);
	/* To ask for it makes the compiler set it up here. */
	mine->fp = (uintptr_t)__builtin_frame_address(0);
	atomic_store(&mine->tid, (int)syscall(SYS_gettid));
	/* Not read(2): under a sanitizer that would be a function of its own, with a frame. */
	syscall(SYS_read, fd, &byte, 1);
	KEEP_FRAME();
}

static FRAME void
f1(int fd, struct told *mine)
{
	mine->caller[1] = (uintptr_t)__builtin_return_address(0);
	f2(fd, mine);
	KEEP_FRAME();
}

static FRAME void
f0(int fd, struct told *mine)
{
	mine->caller[0] = (uintptr_t)__builtin_return_address(0);
	f1(fd, mine);
	KEEP_FRAME();
}

static void *
second_thread(void *fd)
{
	f0(*(int *)fd, &told[1]);
	return NULL;
}

static void
sleep_in_f2(int in, int out)
{
	pthread_t thread;

	(void)out;
	if (pthread_create(&thread, NULL, second_thread, &in) != 0)
		return;
	f0(in, &told[0]);
}

/* --- what all tests work on: snapshots in which the frame pointer is known ---------------------------------------------------- */

static const enum unwind_choice choices[] = { UNWIND_AUTO, UNWIND_LIBUNWIND, UNWIND_LIBDW };
#define CHOICES ARRAY_SIZE(choices)

#define STACK_WANT ((size_t)256 << 10)

struct scene {
	struct sleeping_child child;
	struct snapshot snapshot[THREADS];
	struct modules *modules;
	struct maps *maps;
	struct unwinder *unwinder[CHOICES];
	struct chain whole[THREADS]; /* by UNWIND_AUTO */
	bool allowed;
};

static bool
capture(const struct scene *scene, int thread, struct snapshot *snapshot)
{
	struct syscall_info info;
	struct sched sched;
	struct watch watch;
	bool allowed;

	while (atomic_load(&told[thread].tid) == 0)
		sched_yield(); /* the alarm is the bound */
	watch_init(&watch, atomic_load(&told[thread].tid), sched_source_probe(), true);
	allowed = sleeping_child_settle(&scene->child, &watch, SYS_read, &sched, &info);
	if (allowed)
		assert_int_equal(tracer_read_sleeper(scene->child.process, &watch, &sched, &info,
						     STACK_WANT, snapshot),
				 READ_CAPTURED);
	regs_set(&snapshot->regs, regs_fp_number, told[thread].fp);
	watch_release(&watch);
	return allowed;
}

static int
scene_start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));

	*state = scene;
	told = mmap(NULL, THREADS * sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return -1;
	sleeping_child_start(&scene->child, sleep_in_f2);
	scene->modules = modules_create();
	scene->maps = maps_create(scene->child.process, scene->modules);
	for (size_t i = 0; i < CHOICES; i++)
		scene->unwinder[i] = unwinder_create(scene->maps, choices[i]);
	scene->allowed = true;
	for (int i = 0; i < THREADS; i++) {
		snapshot_init(&scene->snapshot[i]);
		chain_init(&scene->whole[i]);
		scene->allowed = scene->allowed && capture(scene, i, &scene->snapshot[i]);
		if (scene->allowed)
			unwinder_walk(scene->unwinder[0], &scene->snapshot[i], false,
				      &scene->whole[i]);
	}
	return 0;
}

static int
scene_end(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < THREADS; i++) {
		snapshot_release(&scene->snapshot[i]);
		chain_release(&scene->whole[i]);
	}
	for (size_t i = 0; i < CHOICES; i++)
		unwinder_free(scene->unwinder[i]);
	unwinder_free(NULL);
	maps_free(scene->maps);
	modules_free(scene->modules);
	sleeping_child_release(&scene->child);
	munmap(told, THREADS * sizeof(*told));
	free(scene);
	return 0;
}

static struct scene *
scene_of(void **state)
{
	struct scene *scene = *state;

	if (!scene->allowed)
		skip(); /* the kernel does not let us look at our own child */
	return scene;
}

/* A copy of the snapshot of which the first `size` bytes are known, and no live memory. */
static void
copy_part(const struct snapshot *from, size_t size, struct snapshot *to)
{
	snapshot_reserve(to, from->stack_size);
	to->tid = from->tid;
	to->regs = from->regs;
	to->stack_address = from->stack_address;
	to->stack_size = to->stack_wanted = size;
	to->live_limit = 0;
	memcpy(to->stack, from->stack, size);
}

static void
check_sane(const struct chain *chain, const struct snapshot *snapshot)
{
	assert_true(chain->count >= 1 && chain->count <= CHAIN_MAX_DEPTH);
	assert_true(chain->count <= chain->capacity);
	assert_true(chain->frame[0].address == snapshot->regs.pc);
	assert_int_equal(chain->frame[0].origin, FRAME_REGISTERS);
	assert_true(chain->end < CHAIN_END_COUNT);
	assert_true(chain->stack_used <= snapshot->stack_size);
	for (size_t i = 0; i < chain->count; i++)
		assert_non_null(frame_origin_text((enum frame_origin)chain->frame[i].origin));
}

/* --- tests ------------------------------------------------------------------------ */

static bool
is_in(void (*function)(int, struct told *), const struct chain_frame *frame)
{
	uint64_t offset = chain_frame_lookup(frame) - (uintptr_t)function;

	return offset < 1024; /* more than these functions have, instrumented or not */
}

/* f2, f1, f0, one after the other, each where it was called from. */
static void
check_shape(const struct chain *chain, const struct told *mine)
{
	size_t at = 0;

	while (at < chain->count && chain->frame[at].address != mine->caller[2])
		at++;
	assert_true(at >= 1 && at + 2 < chain->count);
	assert_true(chain->frame[at + 1].address == mine->caller[1]);
	assert_true(chain->frame[at + 2].address == mine->caller[0]);
	assert_true(is_in(f2, &chain->frame[at - 1]));
	assert_true(is_in(f1, &chain->frame[at]));
	assert_true(is_in(f0, &chain->frame[at + 1]));
	for (size_t i = 0; i < chain->count; i++) {
		assert_int_equal(chain->frame[i].exact, i == 0);
		assert_true(i == 0 || chain->frame[i].origin == FRAME_CFI);
	}
}

static void
test_whole(void **state)
{
	struct scene *scene = scene_of(state);
	struct chain chain;

	chain_init(&chain);
	for (int thread = 0; thread < THREADS; thread++) {
		const struct chain *whole = &scene->whole[thread];

		for (size_t i = 0; i < CHOICES; i++) {
			const struct snapshot *snapshot = &scene->snapshot[thread];

			unwinder_walk(scene->unwinder[i], snapshot, false, &chain);
			check_sane(&chain, snapshot);
			assert_int_equal(chain.end, CHAIN_OUTERMOST);
			assert_int_equal(chain.end_address, 0);
			assert_true(chain.stack_used > 0);
			check_shape(&chain, &told[thread]);
			assert_int_equal(chain.count, whole->count);
			for (size_t j = 0; j < chain.count; j++)
				assert_true(chain.frame[j].address == whole->frame[j].address);
		}
	}
	chain_release(&chain);
}

static void
check_prefix(const struct chain *chain, const struct chain *whole)
{
	assert_true(chain->count <= whole->count);
	for (size_t i = 0; i < chain->count; i++)
		assert_true(chain->frame[i].address == whole->frame[i].address);
	if (chain->end == CHAIN_STACK_LIMIT)
		assert_true(chain->count < whole->count && chain->end_address != 0);
	else
		assert_true(chain->end == CHAIN_OUTERMOST && chain->count == whole->count);
}

/* A copy that ends early cuts the chain at its outer end, and nothing else. */
static void
test_cut_short(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;

	snapshot_init(&part);
	chain_init(&chain);
	for (int thread = 0; thread < THREADS; thread++) {
		const struct snapshot *snapshot = &scene->snapshot[thread];
		size_t used = scene->whole[thread].stack_used, before[CHOICES] = { 0 };

		for (size_t size = 0; size < used + 128 && size <= snapshot->stack_size;
		     size += 64) {
			copy_part(snapshot, size, &part);
			for (size_t i = 0; i < CHOICES; i++) {
				unwinder_walk(scene->unwinder[i], &part, false, &chain);
				check_sane(&chain, &part);
				check_prefix(&chain, &scene->whole[thread]);
				assert_false(chain.read_live);
				/* more stack, never fewer frames */
				assert_true(chain.count >= before[i]);
				before[i] = chain.count;
			}
		}
		for (size_t i = 0; i < CHOICES; i++)
			assert_int_equal(before[i], scene->whole[thread].count);
	}
	snapshot_release(&part);
	chain_release(&chain);
}

/*
 * A sleeper's frame pointer is not known, and f2 needs it. The frame record of a function that
 * was called directly is found for sure; nothing else will do for a thread that may be stopped.
 */
static void
test_guessed_register(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;

	snapshot_init(&part);
	chain_init(&chain);
	for (int thread = 0; thread < THREADS; thread++) {
		const struct chain *whole = &scene->whole[thread];
		size_t used = whole->stack_used;

		for (size_t size = 0; size < used + 128; size += 64) {
			copy_part(&scene->snapshot[thread], size, &part);
			part.regs.known &= ~(UINT64_C(1) << regs_fp_number);
			unwinder_walk(scene->unwinder[0], &part, true, &chain);
			check_sane(&chain, &part);
			if (chain.end == CHAIN_NEEDS_REGISTER)
				assert_true(chain.count < 4 && size < used);
			else
				check_prefix(&chain, whole);
		}
		assert_int_equal(chain.end, CHAIN_OUTERMOST);
		assert_int_equal(chain.count, whole->count);
	}
	snapshot_release(&part);
	chain_release(&chain);
}

/* The stack ends there, and it was not the limit: then memory is bad. */
static void
test_ends_early(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;

	snapshot_init(&part);
	chain_init(&chain);
	copy_part(&scene->snapshot[0], 64, &part);
	part.stack_wanted = 4096;
	for (size_t i = 0; i < CHOICES; i++) {
		unwinder_walk(scene->unwinder[i], &part, false, &chain);
		check_sane(&chain, &part);
		assert_false(chain_end_is_whole(chain.end));
		assert_int_not_equal(chain.end, CHAIN_STACK_LIMIT);
	}
	snapshot_release(&part);
	chain_release(&chain);
}

/* What the copy lacks is read from the sleeper, up to the limit. */
static void
test_live_memory(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;

	snapshot_init(&part);
	chain_init(&chain);
	for (int thread = 0; thread < THREADS; thread++) {
		copy_part(&scene->snapshot[thread], 64, &part);
		part.live_limit = STACK_WANT;
		for (size_t i = 0; i < CHOICES; i++) {
			unwinder_walk(scene->unwinder[i], &part, false, &chain);
			check_sane(&chain, &part);
			assert_int_equal(chain.end, CHAIN_OUTERMOST);
			assert_true(chain.read_live);
			check_prefix(&chain, &scene->whole[thread]);
		}
	}
	snapshot_release(&part);
	chain_release(&chain);
}

static void
walk_all_ways(struct scene *scene, const struct snapshot *snapshot, bool may_stop,
	      struct chain *chain)
{
	for (size_t i = 0; i < CHOICES; i++) {
		unwinder_walk(scene->unwinder[i], snapshot, may_stop, chain);
		check_sane(chain, snapshot);
	}
}

/* Nothing that was walked meanwhile is remembered wrongly. */
static void
check_unharmed(struct scene *scene, struct chain *chain)
{
	for (int thread = 0; thread < THREADS; thread++)
		for (size_t i = 0; i < CHOICES; i++) {
			unwinder_walk(scene->unwinder[i], &scene->snapshot[thread], false, chain);
			assert_int_equal(chain->end, CHAIN_OUTERMOST);
			check_prefix(chain, &scene->whole[thread]);
		}
}

/* A value as a wild program might leave it: near the stack, near code, small, or any. */
static uint64_t
wild_value(const struct scene *scene, const struct snapshot *snapshot, struct rng *rng)
{
	const struct mapping *mapping =
		maps_at(scene->maps, rng_next(rng) % maps_count(scene->maps));

	switch (rng_next(rng) % 6) {
	case 0:
		return snapshot->stack_address + rng_next(rng) % (snapshot->stack_size + 64);
	case 1:
		return (snapshot->stack_address + rng_next(rng) % snapshot->stack_size) & ~7ULL;
	case 2:
		return mapping->start + rng_next(rng) % (mapping->end - mapping->start);
	case 3:
		return rng_next(rng) % 64;
	case 4:
		return UINT64_MAX - rng_next(rng) % 64;
	default:
		return rng_next(rng);
	}
}

static void
test_damaged_stack(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;
	struct rng rng;

	rng_seed(&rng, 60);
	snapshot_init(&part);
	chain_init(&chain);
	for (int variant = 0; variant < 3000; variant++) {
		int thread = variant % THREADS;
		const struct snapshot *snapshot = &scene->snapshot[thread];
		size_t used = scene->whole[thread].stack_used;
		size_t changes = 1 + rng_next(&rng) % 40;

		copy_part(snapshot, used, &part);
		for (size_t i = 0; i < changes; i++) {
			if (rng_next(&rng) % 2 != 0) {
				part.stack[rng_next(&rng) % used] = (uint8_t)rng_next(&rng);
			} else {
				uint64_t value = wild_value(scene, snapshot, &rng);

				memcpy(part.stack + rng_next(&rng) % (used / 8) * 8, &value, 8);
			}
		}
		part.stack_wanted += rng_next(&rng) % 2;
		part.live_limit = rng_next(&rng) % 4 == 0 ? STACK_WANT : 0;
		walk_all_ways(scene, &part, rng_next(&rng) % 2 != 0, &chain);
	}
	check_unharmed(scene, &chain);
	snapshot_release(&part);
	chain_release(&chain);
}

static void
test_damaged_registers(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;
	struct rng rng;

	rng_seed(&rng, 70);
	snapshot_init(&part);
	chain_init(&chain);
	for (int variant = 0; variant < 3000; variant++) {
		const struct snapshot *snapshot = &scene->snapshot[variant % THREADS];
		uint64_t sp = wild_value(scene, snapshot, &rng);

		copy_part(snapshot, snapshot->stack_size, &part);
		/* What is copied begins at the stack pointer, whatever that is. */
		if (rng_next(&rng) % 2 != 0)
			part.stack_address = sp;
		regs_set_sp_pc(&part.regs, sp, wild_value(scene, snapshot, &rng));
		for (unsigned i = 0; i < regs_count; i++)
			if (i != regs_sp_number && rng_next(&rng) % 2 != 0)
				regs_set(&part.regs, i, wild_value(scene, snapshot, &rng));
		part.live_limit = rng_next(&rng) % 4 == 0 ? STACK_WANT : 0;
		walk_all_ways(scene, &part, rng_next(&rng) % 2 != 0, &chain);
	}
	check_unharmed(scene, &chain);
	snapshot_release(&part);
	chain_release(&chain);
}

static void
test_stats(void **state)
{
	struct scene *scene = scene_of(state);
	struct unwinder *unwinder = unwinder_create(scene->maps, UNWIND_AUTO);
	struct chain chain;

	chain_init(&chain);
	for (int i = 0; i < 3; i++)
		unwinder_walk(unwinder, &scene->snapshot[0], false, &chain);
	assert_int_equal(unwinder_stats(unwinder)->walks, 3);
	assert_int_equal(unwinder_stats(unwinder)->frames, 3 * scene->whole[0].count);
	assert_int_equal(unwinder_stats(unwinder)->by_guess, 0);
	assert_int_equal(unwinder_stats(unwinder)->by_pointer, 0);
	chain_release(&chain);
	unwinder_free(unwinder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_guessed_register),
		cmocka_unit_test(test_ends_early),
		cmocka_unit_test(test_live_memory),
		cmocka_unit_test(test_damaged_stack),
		cmocka_unit_test(test_damaged_registers),
		cmocka_unit_test(test_stats),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, scene_start, scene_end);
}
