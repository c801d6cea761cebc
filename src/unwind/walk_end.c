/* SPDX-License-Identifier: MIT */
/* walk_end.c - determines why a walk ended. */
#include "unwind/walk_end_internal.h"
#include "wallsample/elf/code_bytes.h"

/* DWARF number of the register that has the result of a system call: rax on x86-64 (psABI figure
 * 3.36), x0 on aarch64 (AADWARF64 4.1). */
#define RESULT_REGISTER 0

bool
walk_is_unreadable(const struct walk *walk)
{
	uint64_t fp;

	return walk->bad_memory &&
	       !(regs_get(&walk->regs, regs_fp_number, &fp) && fp < walk->regs.sp);
}

/* Returns true when the walk has one frame, directly behind a system call that has returned 0: in a
 * thread that has not run since clone(2) made it, nothing has called this code. */
static bool
is_new_thread(const struct walk *walk)
{
	const struct regs *regs = &walk->snapshot->regs;
	const struct mapping *mapping = maps_find(walk->maps, regs->pc);
	uint64_t result;

	return walk->chain->count == 1 && mapping != NULL && mapping->image != NULL &&
	       code_follows_syscall(mapping->image, regs->pc - mapping->bias) &&
	       regs_get(regs, RESULT_REGISTER, &result) && result == 0;
}

enum chain_end
walk_end(const struct walk *walk, enum advance result)
{
	if (result == ADVANCE_DONE)
		return CHAIN_OUTERMOST;
	if (result == ADVANCE_FULL)
		return walk->chain->end;
	if (walk->beyond_copy)
		return CHAIN_STACK_LIMIT;
	if (walk->missing_register)
		return CHAIN_NEEDS_REGISTER;
	if (walk->bad_memory && !walk->no_info)
		return CHAIN_BAD_MEMORY;
	if (walk->bad_tables)
		return CHAIN_BAD_TABLES;
	return is_new_thread(walk) ? CHAIN_OUTERMOST : CHAIN_NO_UNWIND_INFO;
}
