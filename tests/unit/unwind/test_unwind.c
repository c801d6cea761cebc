/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - walks stacks of a known shape with each way to unwind: whole, with copies
 * that end early, and with a register that is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../scene/unwind_scene.h"
#include "wallsample/base/base.h"

static bool
is_in(void (*function)(int, struct child_report *), const struct chain_frame *frame)
{
	uint64_t offset = chain_frame_lookup(frame) - (uintptr_t)function;

	return offset < 1024; /* more than these functions have, instrumented or not */
}

/* f2, f1, f0, one after the other, each where it was called from. */
static void
check_shape(const struct chain *chain, const struct child_report *mine)
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
			check_shape(&chain, &scene->report[thread]);
			assert_int_equal(chain.count, whole->count);
			for (size_t j = 0; j < chain.count; j++)
				assert_true(chain.frame[j].address == whole->frame[j].address);
		}
	}
	chain_release(&chain);
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

/* Of the stack only the return address into f2 is left, so that nothing can be guessed. Once
 * those who have two ways to go on forgot what the first had stopped at. */
static void
test_needs_register(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;

	snapshot_init(&part);
	chain_init(&chain);
	copy_part(&scene->snapshot[0], scene->whole[0].stack_used, &part);
	memset(part.stack + sizeof(uint64_t), 0, part.stack_size - sizeof(uint64_t));
	part.regs.known &= ~(UINT64_C(1) << regs_fp_number);
	for (size_t i = 0; i < CHOICES; i++) {
		unwinder_walk(scene->unwinder[i], &part, true, &chain);
		check_sane(&chain, &part);
		assert_int_equal(chain.end, CHAIN_NEEDS_REGISTER);
		assert_int_equal(chain.count, 2);
		assert_true(is_in(f2, &chain.frame[1]));
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

/* The walks of one unwinder find the same frames, and all of them by unwind tables. */
static void
test_origins(void **state)
{
	struct scene *scene = scene_of(state);
	struct unwinder *unwinder = unwinder_create(scene->maps, UNWIND_AUTO);
	struct chain chain;

	chain_init(&chain);
	for (int i = 0; i < 3; i++) {
		unwinder_walk(unwinder, &scene->snapshot[0], false, &chain);
		assert_int_equal(chain.count, scene->whole[0].count);
		for (size_t frame = 1; frame < chain.count; frame++)
			assert_int_equal(chain.frame[frame].origin, FRAME_CFI);
	}
	chain_release(&chain);
	unwinder_free(unwinder);
}

/* A snapshot made by hand: code at `pc`, a copied stack of WORDS words at STACK, all zero. */
enum { WORDS = 512, STACK = 0x10000000 };

static void
make_snapshot(struct snapshot *snapshot, uint64_t pc, uint64_t fp)
{
	snapshot_reserve(snapshot, WORDS * sizeof(uint64_t));
	memset(snapshot->stack, 0, WORDS * sizeof(uint64_t));
	snapshot->tid = (pid_t)getpid();
	snapshot->stack_address = STACK;
	snapshot->stack_size = snapshot->stack_wanted = WORDS * sizeof(uint64_t);
	snapshot->live_limit = 0;
	snapshot->regs = (struct regs){ .known = 0 };
	regs_set_sp_pc(&snapshot->regs, STACK, pc);
	regs_set(&snapshot->regs, regs_fp_number, fp);
}

static void
check_walk(struct unwinder *unwinder, const struct snapshot *snapshot, size_t count,
	   enum chain_end end)
{
	struct chain chain;

	chain_init(&chain);
	unwinder_walk(unwinder, snapshot, false, &chain);
	assert_int_equal(chain.count, count);
	assert_int_equal(chain.end, end);
	chain_release(&chain);
}

/* Two pages that may be executed, of a file that is no ELF file, or of none. */
static uint8_t *
map_code(bool file)
{
	char path[] = "/tmp/wallsample-code-XXXXXX";
	int fd = file ? mkstemp(path) : -1;
	void *code;

	assert_true(!file || (fd >= 0 && unlink(path) == 0 && ftruncate(fd, 8192) == 0));
	code = mmap(NULL, 8192, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | (file ? 0 : MAP_ANONYMOUS), fd, 0);
	if (file)
		close(fd);
	return code;
}

/*
 * In code of a file that cannot be read, the register may hold anything that points up. Only
 * when it has led to a caller is what it needs a larger copy; else copies grew for nothing,
 * and the stack's size was given as the reason.
 */
static void
test_unproven_pointer(void **state)
{
	const uint64_t far = STACK + (UINT64_C(64) << 20), near = STACK + 64;
	uint8_t *gone = map_code(true), *jit = map_code(false);
	struct modules *modules = modules_create();
	struct process *process;
	struct unwinder *unwinder;
	struct snapshot snapshot;
	struct maps *maps;
	struct error err;
	uint64_t record[2];

	(void)state;
	if (gone == MAP_FAILED || jit == MAP_FAILED)
		skip();
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	maps = maps_create(process, modules);
	unwinder = unwinder_create(maps, UNWIND_AUTO);
	snapshot_init(&snapshot);
	make_snapshot(&snapshot, (uintptr_t)gone + 100, far);
	check_walk(unwinder, &snapshot, 1, CHAIN_NO_UNWIND_INFO);
	/* It leads to a record, and that to one which was not copied. */
	make_snapshot(&snapshot, (uintptr_t)gone + 100, near);
	record[0] = far;
	record[1] = (uintptr_t)gone + 200;
	memcpy(snapshot.stack + (near - STACK), record, sizeof(record));
	check_walk(unwinder, &snapshot, 2, CHAIN_STACK_LIMIT);
	/* Compilers at run time keep it. */
	make_snapshot(&snapshot, (uintptr_t)jit + 100, far);
	check_walk(unwinder, &snapshot, 1, CHAIN_STACK_LIMIT);
	snapshot_release(&snapshot);
	unwinder_free(unwinder);
	maps_free(maps);
	modules_free(modules);
	process_free(process);
	munmap(gone, 8192);
	munmap(jit, 8192);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_guessed_register),
		cmocka_unit_test(test_needs_register),
		cmocka_unit_test(test_ends_early),
		cmocka_unit_test(test_live_memory),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_unproven_pointer),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, scene_start, scene_end);
}
