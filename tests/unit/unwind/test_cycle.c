/* SPDX-License-Identifier: MIT */
/*
 * test_cycle.c - stacks whose unwinding would never end, a caller in JIT code of a function that
 * only libunwind can unwind, and stacks of threads that have not run yet.
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

#include "jit/objects/jit_elf_internal.h"
#include "../scene/made_object.h"
#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/unwind/unwind.h"

#if defined(__x86_64__)

#define CHOICES 3
#define WORDS 64
/* Address of the copied stack: outside of all mappings. */
#define STACK UINT64_C(0x10000)

static const enum unwind_choice choices[CHOICES] = { UNWIND_AUTO, UNWIND_LIBUNWIND, UNWIND_LIBDW };

/*
 * No code here runs. The CFA of each function, where its return address is, and its first address:
 * up      CFA = sp + 16, return address at CFA - 8
 * down    CFA = sp - 16, return address at CFA
 * still   CFA = sp, return address at CFA
 * stub    CFA = sp + 8 as an expression, as in a procedure linkage table; return address at CFA - 8
 * outer   no return address: the thread's first function
 * cloning as up, with a system call in place of the second nop
 * Each begins with a nop, because the address behind it is used as return address.
 */
__asm__(".text\n"
	"up: .cfi_startproc\n .cfi_def_cfa %rsp, 16\n nop\n nop\n ret\n .cfi_endproc\n"
	"down: .cfi_startproc\n .cfi_def_cfa %rsp, -16\n .cfi_offset %rip, 0\n"
	" nop\n nop\n ret\n .cfi_endproc\n"
	"still: .cfi_startproc\n .cfi_def_cfa %rsp, 0\n .cfi_offset %rip, 0\n"
	" nop\n nop\n ret\n .cfi_endproc\n"
	/* DW_CFA_def_cfa_expression: DW_OP_breg7 8, DW_OP_nop */
	"stub: .cfi_startproc\n .cfi_escape 0x0f, 3, 0x77, 8, 0x96\n"
	" nop\n nop\n ret\n .cfi_endproc\n"
	"outer: .cfi_startproc\n .cfi_undefined %rip\n nop\n nop\n ret\n .cfi_endproc\n"
	"cloning: .cfi_startproc\n .cfi_def_cfa %rsp, 16\n nop\n syscall\n ret\n .cfi_endproc\n");
extern const char up[], down[], still[], stub[], outer[], cloning[];

struct scene {
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct unwinder *unwinder[CHOICES];
	uint8_t *code; /* anonymous executable memory with a JIT object */
	struct snapshot snapshot;
	struct chain chain;
};

static uint64_t
behind_nop(const char *function)
{
	return (uintptr_t)function + 1;
}

/* Makes a JIT object, of which .eh_frame has no search table, as the GDB JIT interface has it. */
static void
add_jit_object(struct scene *scene)
{
	uint8_t *bytes = xmalloc(sizeof(struct made_object));
	struct made_object file;
	struct mapping mapping = { .start = 0 };
	struct jit_elf elf;

	scene->code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(scene->code != MAP_FAILED);
	maps_refresh(scene->maps);
	made_object_init(&file, (uintptr_t)scene->code, (uintptr_t)scene->code + 2048);
	memcpy(bytes, &file, sizeof(file));
	assert_true(jit_elf_open(&elf, bytes, sizeof(file), NULL));
	assert_true(elf.has_tables);
	mapping.start = elf.range[0].start;
	mapping.end = elf.range[0].end;
	mapping.image = elf.image;
	mapping.low = elf.image->low;
	mapping.high = elf.image->high;
	mapping.module = modules_add_object(scene->modules, elf.image);
	maps_set_objects(scene->maps, &mapping, 1);
}

static int
start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	struct error err;

	*state = scene;
	assert_int_equal(process_open(getpid(), &scene->process, &err), 0);
	scene->modules = modules_create();
	scene->maps = maps_create(scene->process, scene->modules);
	add_jit_object(scene);
	for (size_t i = 0; i < CHOICES; i++)
		scene->unwinder[i] = unwinder_create(scene->maps, choices[i]);
	chain_init(&scene->chain);
	return 0;
}

static int
end(void **state)
{
	struct scene *scene = *state;

	snapshot_release(&scene->snapshot);
	chain_release(&scene->chain);
	for (size_t i = 0; i < CHOICES; i++)
		unwinder_free(scene->unwinder[i]);
	maps_free(scene->maps);
	modules_free(scene->modules);
	process_free(scene->process);
	munmap(scene->code, 4096);
	free(scene);
	return 0;
}

/* Makes a snapshot of a thread at `pc` whose stack begins with two unused words, and then `word`.
 * The stack pointer points to `word`. */
static void
place(struct scene *scene, uint64_t pc, const uint64_t *word, size_t count)
{
	struct snapshot *snapshot = &scene->snapshot;

	snapshot_release(snapshot);
	snapshot_init(snapshot);
	snapshot_reserve(snapshot, WORDS * 8);
	memset(snapshot->stack, 0, WORDS * 8);
	memcpy(snapshot->stack + 16, word, count * 8);
	snapshot->tid = getpid();
	snapshot->stack_address = STACK;
	snapshot->stack_size = WORDS * 8;
	snapshot->stack_wanted = 2 * WORDS * 8;
	regs_set_sp_pc(&snapshot->regs, STACK + 16, pc);
	for (unsigned i = 0; i < regs_count; i++)
		if (i != regs_sp_number)
			regs_set(&snapshot->regs, i, 0);
}

static void
check_chain(const struct scene *scene, const uint64_t *address, size_t count, enum chain_end why)
{
	const struct chain *chain = &scene->chain;

	assert_int_equal(chain->end, why);
	assert_int_equal(chain->count, count);
	for (size_t i = 0; i < count; i++)
		assert_true(chain->frame[i].address == address[i]);
}

/* down's caller is up, with a lower stack pointer, whose caller is down: two frames again and
 * again. */
static void
test_two_frames(void **state)
{
	struct scene *scene = *state;
	const uint64_t word[] = { behind_nop(up), behind_nop(down) };
	const uint64_t address[] = { behind_nop(up), behind_nop(down) };

	place(scene, behind_nop(up), word, ARRAY_SIZE(word));
	for (size_t i = 0; i < CHOICES; i++) {
		unwinder_walk(scene->unwinder[i], &scene->snapshot, false, &scene->chain);
		check_chain(scene, address, ARRAY_SIZE(address), CHAIN_CYCLE);
		assert_true(scene->chain.end_address == behind_nop(down));
	}
}

/* The stack pointer of each caller equals that of its callee. */
static void
test_one_frame(void **state)
{
	struct scene *scene = *state;
	const uint64_t word[] = { behind_nop(still) };

	place(scene, behind_nop(still), word, ARRAY_SIZE(word));
	for (size_t i = 0; i < CHOICES; i++) {
		unwinder_walk(scene->unwinder[i], &scene->snapshot, false, &scene->chain);
		assert_in_range(scene->chain.count, 1, 2);
		assert_false(chain_end_is_whole(scene->chain.end));
		assert_int_not_equal(scene->chain.end, CHAIN_DEPTH);
	}
}

/*
 * A stub whose CFA is an expression, called by a JIT object without a search table. libunwind
 * stepped to the JIT object and by_rule.c continued there, with the registers of the stub: the same
 * frames again and again, up to the depth limit.
 */
static void
test_stub_called_by_jit(void **state)
{
	struct scene *scene = *state;
	const uint64_t jit = (uintptr_t)scene->code + FUNCTION_AT + 16;
	uint64_t word[FRAME_SIZE / 8 + 1] = { jit };
	const uint64_t address[] = { behind_nop(stub), jit, behind_nop(outer) };

	word[FRAME_SIZE / 8] = behind_nop(outer);
	place(scene, behind_nop(stub), word, ARRAY_SIZE(word));
	unwinder_walk(scene->unwinder[0], &scene->snapshot, false, &scene->chain);
	check_chain(scene, address, ARRAY_SIZE(address), CHAIN_OUTERMOST);
}

/*
 * A thread that has not run since clone() made it is behind the system call, and its stack has no
 * return address. Such a stack counted as incomplete: on a busy machine wallsample ended with
 * status 1 because of a program that starts threads.
 */
static void
test_new_thread(void **state)
{
	struct scene *scene = *state;
	const uint64_t pc = (uintptr_t)cloning + 3;
	const uint64_t word[] = { 0x1234, 0x5678 }; /* not in code */

	for (uint64_t result = 0; result < 2; result++) {
		place(scene, pc, word, ARRAY_SIZE(word));
		regs_set(&scene->snapshot.regs, 0, result);
		unwinder_walk(scene->unwinder[0], &scene->snapshot, false, &scene->chain);
		check_chain(scene, &pc, 1, result == 0 ? CHAIN_OUTERMOST : CHAIN_NO_UNWIND_INFO);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_frames),
		cmocka_unit_test(test_one_frame),
		cmocka_unit_test(test_stub_called_by_jit),
		cmocka_unit_test(test_new_thread),
	};

	return cmocka_run_group_tests(tests, start, end);
}

#else

int
main(void)
{
	return 77; /* the functions of this test are written for x86-64 */
}

#endif
