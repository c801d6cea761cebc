/* SPDX-License-Identifier: MIT */
/*
 * julia_queues_internal.h - the queues of tasks that are ready to run, by which they are told
 * from those of conditions: a task knows the queue that it is in, and both kinds are lists of
 * the same type.
 *
 * Base.Workqueues is an array of them, one for each thread. It is looked up by its name among
 * the variables of the module Base, once; where that is not known all that are in a queue wait.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_QUEUES_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_QUEUES_INTERNAL_H

#include "runtime/julia/julia_find_internal.h"
#include "runtime/runtime_kind_internal.h"

struct julia_queues {
	uint64_t base;          /* place->base of what follows */
	unsigned rounds;        /* through all names, in vain */
	uint64_t table, size;   /* the module's names: their address, how many words are */
	uint64_t at;            /* looked at; */
	uint64_t array;         /* the object; 0: not found (yet) */
	uint64_t list[JULIA_THREADS_MOST]; /* in ascending order */
	size_t count;
};

/* Once a tick: looks for the array, at a bounded cost a call, and reads which queues there are. */
void julia_queues_update(struct julia_queues *queues, const struct runtime_tools *tools,
			 const struct julia_place *place);
/* Has it more names to look through? */
bool julia_queues_searching(const struct julia_queues *queues);
/* Is what is in this queue ready to run? */
bool julia_queues_has(const struct julia_queues *queues, uint64_t queue);

#endif
