/* SPDX-License-Identifier: MIT */
/* sleeper.c - the stack of a sleeping thread, read without a stop. */
#include "tracer/stop_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/sleeper.h"

/*
 * The order of the reads makes the copy consistent: the counters (`before`), the system call, the
 * stack, the counters again. If the thread ran in between, it was scheduled in, and its count of
 * switches has changed.
 */
enum read_end
tracer_read_sleeper(const struct process *process, const struct target_memory *memory,
		    struct watch *watch, const struct sched *before,
		    const struct syscall_info *info, size_t stack_want, struct snapshot *snapshot)
{
	struct sched after;
	enum watch_end end;

	if (info->running)
		return READ_MOVED;
	if (info->sp == 0)
		return READ_GONE; /* the thread is exiting and has no user stack */
	snapshot_reserve(snapshot, stack_want);
	snapshot->tid = watch->tid;
	snapshot->stack_address = info->sp;
	snapshot->stack_wanted = stack_want;
	snapshot->stack_size = stack_copy(process, memory, watch, info->sp, snapshot->stack,
					  stack_want);
	snapshot->live_limit = stack_want;
	regs_set_sp_pc(&snapshot->regs, info->sp, info->pc);
	/* A system call does not change the registers that hold its arguments. */
	if (info->number != SYSCALL_NONE)
		for (size_t i = 0; i < ARRAY_SIZE(info->args); i++)
			regs_set(&snapshot->regs, regs_argument[i], info->args[i]);

	end = watch_read_sched(watch, process, &after);
	if (end != WATCH_OK)
		return end == WATCH_GONE ? READ_GONE : READ_FAILED;
	if (after.switches != before->switches)
		return READ_MOVED;
	return snapshot->stack_size > 0 ? READ_CAPTURED : READ_FAILED;
}
