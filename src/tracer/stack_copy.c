/* SPDX-License-Identifier: MIT */
/* stack_copy.c - copies a stack up to the end of its mapping. */
#include "tracer/stop_internal.h"

#include <errno.h>

#include "wallsample/tracer/process_memory.h"

static bool
is_in_known(const struct watch *watch, uint64_t sp)
{
	return sp >= watch->stack_start && sp < watch->stack_end;
}

/*
 * Finds the mapping of the stack. The search takes 3 us, and is made at the first copy of a thread
 * and when it has changed stacks. Before Linux 6.11 (PROCMAP_QUERY) the search would take too long,
 * and all memory counts as one mapping.
 */
static void
find_stack(const struct process *process, struct watch *watch, uint64_t sp)
{
	int error = process_mapping_at(process, watch->tid, sp, &watch->stack_start,
				       &watch->stack_end);

	if (error == ENOTTY || error == EINVAL) {
		watch->stack_start = 0;
		watch->stack_end = UINT64_MAX;
	}
}

static size_t
copy(const struct target_memory *memory, pid_t tid, uint64_t sp, void *to, size_t size)
{
	return memory != NULL ? target_memory_copy_stack(memory, tid, sp, to, size) :
				memory_read_process(tid, sp, to, size);
}

size_t
stack_copy_again(const struct target_memory *memory, const struct watch *watch, uint64_t sp,
		 void *to, size_t size)
{
	if (!is_in_known(watch, sp))
		return 0;
	if (size > watch->stack_end - sp)
		size = (size_t)(watch->stack_end - sp);
	return copy(memory, watch->tid, sp, to, size);
}

size_t
stack_copy(const struct process *process, const struct target_memory *memory, struct watch *watch,
	   uint64_t sp, void *to, size_t size)
{
	if (!is_in_known(watch, sp))
		find_stack(process, watch, sp);
	if (is_in_known(watch, sp))
		return stack_copy_again(memory, watch, sp, to, size);
	/* The mapping is unknown: all readable bytes are copied. */
	return copy(memory, watch->tid, sp, to, size);
}
