/* SPDX-License-Identifier: MIT */
/* profile_internal.h - what the files of this folder share. */
#ifndef WALLSAMPLE_PROFILE_PROFILE_INTERNAL_H
#define WALLSAMPLE_PROFILE_PROFILE_INTERNAL_H

#include "wallsample/profile/profile.h"
#include "wallsample/base/table.h"

/* Numbers are 32 bits wide, and UINT32_MAX is STACK_NONE: memory ends long before. */
struct profile {
	struct strings *texts;

	struct profile_frame *frame;
	size_t frame_count, frame_capacity;
	struct table frame_table; /* (module and origin, address) */
	struct table bytecode_table; /* (such a frame and size, bytecode) */
	struct table script_table; /* (name and file, line) */

	uint32_t *renamed; /* frames */
	size_t renamed_count, renamed_capacity;

	struct profile_stack *stack;
	size_t stack_count, stack_capacity;
	struct table stack_table; /* (frame, caller) */

	struct profile_thread *thread;
	size_t thread_count, thread_capacity;
	struct table thread_table; /* (tid, start time) */

	struct profile_wait *wait;
	size_t wait_count, wait_capacity;
	struct table wait_table; /* (kind and timed, object) */

	/* (GIL, state and system call, wait and carrier): all numbers of a doing */
	struct table doing_table;
	struct profile_entry *entry;
	size_t entry_count, entry_capacity;
	struct table entry_table; /* (thread and stack, doing) */

	struct profile_blame *blame;
	size_t blame_count, blame_capacity;
	struct table blame_table; /* (wait and thread, stack and state) */

	struct profile_parallelism *parallelism;
	size_t parallelism_count, parallelism_capacity;

	struct profile_deadlock *deadlock;
	size_t deadlock_count, deadlock_capacity;
	struct table deadlock_table; /* (sum of its threads and waits, size of the ring) */

	uint64_t ticks, wall_ns;
	uint32_t ready, ready_most; /* of the next tick; at any */
	double ready_ns;
	const struct profile_recorder *recorder; /* NULL: none */
};

#endif
