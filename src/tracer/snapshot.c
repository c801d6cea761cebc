/* SPDX-License-Identifier: MIT */
/* snapshot.c - registers and stack bytes of one moment. */
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/tracer/snapshot.h"

/* The buffer of the copy grows in steps, so that it is not reallocated at every sample of a
 * deepening stack. */
#define ROOM_STEP ((size_t)16 << 10)

void
regs_set_sp_pc(struct regs *regs, uint64_t sp, uint64_t pc)
{
	regs->known = 0;
	regs->sp = sp;
	regs->pc = pc;
	regs_set(regs, regs_sp_number, sp);
}

void
regs_set_caller(struct regs *regs, uint64_t sp, uint64_t pc)
{
	const uint64_t fp_bit = UINT64_C(1) << regs_fp_number;
	const uint64_t fp_known = regs->known & fp_bit;

	regs_set_sp_pc(regs, sp, pc);
	regs->known |= fp_known;
}

void
regs_set(struct regs *regs, unsigned number, uint64_t value)
{
	if (number >= REGS_MAX)
		return;
	regs->reg[number] = value;
	regs->known |= UINT64_C(1) << number;
}

bool
regs_get(const struct regs *regs, unsigned number, uint64_t *value)
{
	if (number >= REGS_MAX || (regs->known >> number & 1) == 0)
		return false;
	*value = regs->reg[number];
	return true;
}

void
snapshot_init(struct snapshot *snapshot)
{
	memset(snapshot, 0, sizeof(*snapshot));
}

void
snapshot_release(struct snapshot *snapshot)
{
	free(snapshot->stack);
	snapshot_init(snapshot);
}

void
snapshot_reserve(struct snapshot *snapshot, size_t size)
{
	if (size <= snapshot->stack_capacity)
		return;
	free(snapshot->stack);
	snapshot->stack_capacity = (size + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
	snapshot->stack = xmalloc(snapshot->stack_capacity);
}

bool
snapshot_is_whole(const struct snapshot *snapshot)
{
	return snapshot->stack_size < snapshot->stack_wanted;
}

bool
snapshot_read(const struct snapshot *snapshot, uint64_t address, void *to, size_t size)
{
	uint64_t offset = address - snapshot->stack_address;

	if (offset >= snapshot->stack_size || size > snapshot->stack_size - offset)
		return false;
	memcpy(to, snapshot->stack + offset, size);
	return true;
}
