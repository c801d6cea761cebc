/* SPDX-License-Identifier: MIT */
/* target_members.c - the sampled processes, and what is read of each: mappings, and names of code
 * that is generated at run time. */
#include <stdlib.h>
#include <string.h>

#include "cli/target_internal.h"

static void
free_member(struct target_member *member)
{
	jit_objects_free(member->jit_objects);
	jit_free(member->jit);
	maps_free(member->maps);
	process_free(member->process);
	free(member);
}

struct target_member *
target_add(struct target *target, struct process *process)
{
	struct target_member *member = xcalloc(1, sizeof(*member));

	member->process = process;
	target->member = xgrow(target->member, &target->capacity, target->count + 1,
			       sizeof(*target->member));
	target->member[target->count++] = member;
	return member;
}

void
target_open_code(struct target_member *member, struct modules *modules, struct jit_epochs *epochs,
		 const struct log *log)
{
	member->maps = maps_create(member->process, modules);
	member->jit = jit_create(member->process, member->maps, log, epochs);
	member->jit_objects = jit_objects_create(member->process, member->maps, log);
}

void
target_drop(struct target *target, size_t index)
{
	free_member(target->member[index]);
	memmove(&target->member[index], &target->member[index + 1],
		(--target->count - index) * sizeof(*target->member));
}

void
target_close(struct target *target, const struct process *process)
{
	for (size_t i = 1; i < target->count; i++) {
		struct target_member *member = target->member[i];

		if (member->process != process)
			continue;
		if (target->set != NULL)
			process_set_remove(target->set, process->pid, process->start_time);
		/* Names of its code are needed for reports. */
		if (maps_have_generated_code(member->maps))
			jit_refresh(member->jit);
		member->closed = jit_count(member->jit) > 0;
		if (member->closed)
			return;
		free_member(member);
		target->member[i] = target->member[--target->count];
		return;
	}
}

void
target_refresh_code(const struct target *target)
{
	for (size_t i = 0; i < target->count; i++)
		if (i == 0 || maps_have_generated_code(target->member[i]->maps))
			jit_refresh(target->member[i]->jit);
}

void
target_free_members(struct target *target)
{
	for (size_t i = 0; i < target->count; i++)
		free_member(target->member[i]);
	free(target->member);
	target->member = NULL;
	target->count = 0;
}
