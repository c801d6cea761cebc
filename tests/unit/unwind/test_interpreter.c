/* SPDX-License-Identifier: MIT */
/*
 * test_interpreter.c - walks made-up stacks of V8's interpreter: what its frames execute, the
 * frame that the code of a bytecode leads past, and words that are damaged.
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

#include "wallsample/base/base.h"
#include "wallsample/unwind/unwind.h"

/* The interpreter, and in the same memory the code of bytecodes. */
#define INTERPRETER 0x100
#define INTERPRETER_SIZE 0x80
#define RETURN (INTERPRETER + 0x40)
#define BYTECODE 0x800
#define CALLER 0xc00
#define CODE_SIZE 4096

#define STACK UINT64_C(0x7ffd10000000)
#define WORDS 64

/* Frame pointers, by word of the stack; the innermost first. */
#define FP0 16
#define FP1 30
#define FP2 44
#define OUTER 56

#define ARRAY_OF(fp) (UINT64_C(0x171414857001) + (uint64_t)(fp) * 0x100)
#define REFERENCE UINT64_C(0x09aecf580fd1)

struct scene {
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct unwinder *unwinder;
	struct address_range interpreter[3];
	uint8_t *code;
	uint64_t word[WORDS];
	struct snapshot snapshot;
	struct chain chain;
};

static uint64_t
at(const struct scene *scene, uint64_t offset)
{
	return (uintptr_t)scene->code + offset;
}

static uint64_t
address_of(unsigned word)
{
	return STACK + word * sizeof(uint64_t);
}

/* A frame of the interpreter: `caller` is the frame pointer above, `back` where it returns. */
static void
put_frame(struct scene *scene, unsigned fp, uint64_t caller, uint64_t back)
{
	scene->word[fp - 5] = UINT64_C(0x1c) << 32; /* offset in the bytecode */
	scene->word[fp - 4] = ARRAY_OF(fp);
	scene->word[fp - 3] = 1;                    /* arguments */
	scene->word[fp - 2] = REFERENCE;
	scene->word[fp - 1] = REFERENCE;
	scene->word[fp] = caller;
	scene->word[fp + 1] = back;
}

/* Three functions, the innermost in the code of a bytecode that has no frame. */
static void
put_stack(struct scene *scene)
{
	memset(scene->word, 0, sizeof(scene->word));
	scene->word[1] = at(scene, RETURN);
	put_frame(scene, FP0, address_of(FP1), at(scene, RETURN));
	put_frame(scene, FP1, address_of(FP2), at(scene, RETURN));
	put_frame(scene, FP2, address_of(OUTER), at(scene, CALLER));
	scene->word[OUTER] = 0;
	scene->word[OUTER + 1] = 0;
}

static void
walk_from(struct scene *scene, uint64_t pc, unsigned sp, uint64_t fp)
{
	struct snapshot *snapshot = &scene->snapshot;

	memset(&snapshot->regs, 0, sizeof(snapshot->regs));
	regs_set_sp_pc(&snapshot->regs, address_of(sp), pc);
	if (fp != 0)
		regs_set(&snapshot->regs, regs_fp_number, fp);
	snapshot->tid = getpid();
	snapshot->stack_address = address_of(sp);
	snapshot->stack_size = snapshot->stack_wanted = (WORDS - sp) * sizeof(uint64_t);
	snapshot_reserve(snapshot, snapshot->stack_size);
	memcpy(snapshot->stack, scene->word + sp, snapshot->stack_size);
	unwinder_walk(scene->unwinder, snapshot, false, &scene->chain);
	assert_true(scene->chain.count >= 1);
}

/* In the code of a bytecode. */
static void
walk(struct scene *scene)
{
	walk_from(scene, at(scene, BYTECODE), 0, address_of(FP0));
}

static int
start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	struct error err;

	*state = scene;
	scene->code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(scene->code != MAP_FAILED);
	assert_int_equal(process_open(getpid(), &scene->process, &err), 0);
	scene->modules = modules_create();
	scene->maps = maps_create(scene->process, scene->modules);
	scene->unwinder = unwinder_create(scene->maps, UNWIND_AUTO);
	scene->interpreter[0] = (struct address_range){ at(scene, 0), 0x10 };
	scene->interpreter[1] = (struct address_range){ at(scene, INTERPRETER), INTERPRETER_SIZE };
	scene->interpreter[2] = (struct address_range){ at(scene, CALLER + 0x40), 0x10 };
	unwinder_set_interpreters(scene->unwinder, scene->interpreter, 3);
	snapshot_init(&scene->snapshot);
	chain_init(&scene->chain);
	put_stack(scene);
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
	process_free(scene->process);
	munmap(scene->code, CODE_SIZE);
	free(scene);
	return 0;
}

static void
check_frame(const struct scene *scene, size_t index, uint64_t offset, uint64_t executes)
{
	assert_true(index < scene->chain.count);
	assert_true(scene->chain.frame[index].address == at(scene, offset));
	assert_true(scene->chain.frame[index].executes == executes);
	assert_int_equal(scene->chain.frame[index].exact, index == 0);
}

static void
check_whole(const struct scene *scene)
{
	check_frame(scene, 0, BYTECODE, 0);
	check_frame(scene, 1, RETURN, ARRAY_OF(FP0));
	check_frame(scene, 2, RETURN, ARRAY_OF(FP1));
	check_frame(scene, 3, RETURN, ARRAY_OF(FP2));
	check_frame(scene, 4, CALLER, 0);
	assert_int_equal(scene->chain.count, 5);
	assert_int_equal(scene->chain.end, CHAIN_OUTERMOST);
}

static void
test_frames(void **state)
{
	struct scene *scene = *state;

	walk(scene);
	check_whole(scene);
}

/* Without an interpreter that is known it is code like any other. */
static void
test_unknown(void **state)
{
	struct scene *scene = *state;
	struct address_range range = { at(scene, CALLER + 0x40), 0x10 };

	for (size_t count = 0; count < 2; count++) {
		unwinder_set_interpreters(scene->unwinder, &range, count);
		walk(scene);
		check_frame(scene, 0, BYTECODE, 0);
		check_frame(scene, 1, RETURN, 0);
		check_frame(scene, 2, RETURN, 0);
		check_frame(scene, 3, CALLER, 0);
		assert_int_equal(scene->chain.count, 4);
	}
}

/* In the interpreter itself, and in code that has a frame of its own. */
static void
test_other_places(void **state)
{
	struct scene *scene = *state;

	walk_from(scene, at(scene, INTERPRETER + 8), 0, address_of(FP0));
	check_frame(scene, 0, INTERPRETER + 8, ARRAY_OF(FP0));
	check_frame(scene, 1, RETURN, ARRAY_OF(FP1));
	assert_int_equal(scene->chain.count, 4);
	scene->word[4] = address_of(FP0);
	scene->word[5] = at(scene, RETURN);
	walk_from(scene, at(scene, BYTECODE), 0, address_of(4));
	check_whole(scene);
}

/* The layout before Node 16, which has no number of arguments. */
static void
test_old_layout(void **state)
{
	static const unsigned fp[] = { FP0, FP1, FP2 };
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(fp); i++) {
		scene->word[fp[i] - 5] = 0x7ffd;
		scene->word[fp[i] - 4] = UINT64_C(0x1c) << 32;
		scene->word[fp[i] - 3] = ARRAY_OF(fp[i]);
	}
	walk(scene);
	check_whole(scene);
}

/* The return address is at the stack pointer, or some pushed words above; never far up. */
static void
test_pushed_words(void **state)
{
	struct scene *scene = *state;

	for (unsigned i = 0; i < FP0 - 5; i++) {
		memset(scene->word, 0, (FP0 - 5) * sizeof(scene->word[0]));
		scene->word[i] = at(scene, RETURN);
		walk(scene);
		check_whole(scene);
	}
	memset(scene->word, 0, (FP0 - 5) * sizeof(scene->word[0]));
	walk(scene);
	check_frame(scene, 1, RETURN, ARRAY_OF(FP1));
	assert_int_equal(scene->chain.count, 4);
}

/* A frame that does not look like the interpreter's is not taken for one. */
static void
test_other_frame(void **state)
{
	static const struct {
		unsigned below;
		uint64_t word;
	} row[] = {
		{ 1, 0x12 }, { 2, 0 }, { 2, REFERENCE + 2 }, { 4, 0x1000 }, { 5, REFERENCE },
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		put_stack(scene);
		scene->word[FP0 - 3] = 2;
		scene->word[FP0 - row[i].below] = row[i].word;
		walk(scene);
		check_frame(scene, 1, RETURN, ARRAY_OF(FP1));
		assert_int_equal(scene->chain.count, 4);
	}
}

/* Any word may be anything: the chain ends, and only interpreters execute. */
static void
test_damage(void **state)
{
	struct scene *scene = *state;
	const uint64_t value[] = {
		0, 1, 3, UINT64_MAX, UINT64_MAX - 2, REFERENCE, at(scene, RETURN), address_of(0),
		address_of(FP0), address_of(FP1) + 1, address_of(WORDS), address_of(WORDS - 1), 8,
		at(scene, INTERPRETER), at(scene, INTERPRETER + INTERPRETER_SIZE) + 1,
	};

	for (unsigned word = 0; word < WORDS; word++) {
		for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
			put_stack(scene);
			scene->word[word] = value[i];
			walk(scene);
			assert_true(scene->chain.count <= WORDS);
			for (size_t f = 0; f < scene->chain.count; f++)
				assert_true(scene->chain.frame[f].executes == 0 ||
					    chain_frame_lookup(&scene->chain.frame[f]) -
							    at(scene, INTERPRETER) <
						    INTERPRETER_SIZE);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
		put_stack(scene);
		walk_from(scene, at(scene, BYTECODE), 0, value[i]);
		walk_from(scene, at(scene, INTERPRETER), 0, value[i]);
	}
}

/* A copy that ends early: frames that cannot be read execute nothing, and the end says why. */
static void
test_cut_short(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot = &scene->snapshot;
	size_t before = 0;

	walk(scene);
	for (size_t size = 0; size < (OUTER + 2) * sizeof(uint64_t); size += sizeof(uint64_t)) {
		snapshot->stack_size = snapshot->stack_wanted = size;
		unwinder_walk(scene->unwinder, snapshot, false, &scene->chain);
		assert_int_equal(scene->chain.end, CHAIN_STACK_LIMIT);
		assert_true(scene->chain.count >= before);
		before = scene->chain.count;
		for (size_t i = 0; i < scene->chain.count; i++)
			assert_true(scene->chain.frame[i].address == at(scene, BYTECODE) ||
				    scene->chain.frame[i].address == at(scene, RETURN) ||
				    scene->chain.frame[i].address == at(scene, CALLER));
	}
	snapshot->stack_size = snapshot->stack_wanted = WORDS * sizeof(uint64_t);
	unwinder_walk(scene->unwinder, snapshot, false, &scene->chain);
	check_whole(scene);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, start, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(test_frames),       ROW(test_unknown),     ROW(test_other_places),
		ROW(test_old_layout),   ROW(test_pushed_words), ROW(test_other_frame),
		ROW(test_damage),       ROW(test_cut_short),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
