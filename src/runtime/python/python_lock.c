/* SPDX-License-Identifier: MIT */
/* python_lock.c - the locks of CPython's interpreters. */
#include <inttypes.h>

#include "runtime/python/python_internal.h"

uint64_t
python_lock_of(const struct cpython *cpython, uint64_t interpreter)
{
	const struct python_layout *layout = &cpython->place.layout;
	const struct memory *memory = &cpython->base.tools->memory;
	uint64_t lock;
	int32_t enabled;

	if (layout->runtime_gil != MEMBER_ABSENT)
		return cpython->place.runtime + layout->runtime_gil;
	lock = python_pointer(memory, interpreter, layout->interpreter_gil);
	if (lock != 0 && layout->gil_enabled != MEMBER_ABSENT &&
	    (!memory_read(memory, lock + layout->gil_enabled, &enabled, sizeof(enabled)) ||
	     enabled == 0))
		return 0;
	return lock;
}

void
python_lock_add(struct cpython *cpython, uint64_t interpreter, uint64_t lock)
{
	const uint64_t id = python_pointer(&cpython->base.tools->memory, interpreter,
					   cpython->place.layout.interpreter_id);
	struct python_lock *added;

	for (size_t i = 0; i < cpython->lock_count; i++)
		if (cpython->lock[i].address == lock)
			return;
	cpython->lock = xgrow(cpython->lock, &cpython->lock_capacity, cpython->lock_count + 1,
			      sizeof(*cpython->lock));
	added = &cpython->lock[cpython->lock_count++];
	*added = (struct python_lock){ .address = lock };
	snprintf(added->name, sizeof(added->name), "of interpreter %" PRIu64, id);
}

bool
python_lock_is_known(const struct cpython *cpython, uint64_t lock)
{
	for (size_t i = 0; i < cpython->lock_count; i++)
		if (cpython->lock[i].address == lock)
			return true;
	return lock == 0;
}

uint64_t
python_lock_holder(const struct python_layout *layout, const struct memory *memory, uint64_t lock)
{
	uint32_t locked;

	if (lock == 0 || !memory_read(memory, lock + layout->gil_locked, &locked, sizeof(locked)) ||
	    locked != 1)
		return 0;
	return python_pointer(memory, lock, layout->gil_holder);
}
