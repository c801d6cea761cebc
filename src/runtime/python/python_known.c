/* SPDX-License-Identifier: MIT */
/* python_known.c - finds a thread in the lists that were read (python_threads.c), and checks that
 * its PyThreadState still belongs to it. */
#include "runtime/python/python_internal.h"

struct python_thread *
python_threads_find(struct cpython *cpython, pid_t tid)
{
	uint32_t first;

	if (!table_find(&cpython->threads.by_tid, (uint64_t)tid, 0, &first))
		return NULL;
	return &cpython->threads.thread[first - 1];
}

struct python_thread *
python_threads_next(struct cpython *cpython, const struct python_thread *thread)
{
	return thread->next != 0 ? &cpython->threads.thread[thread->next - 1] : NULL;
}

bool
python_threads_know(struct cpython *cpython, pid_t tid)
{
	const struct python_thread *thread = python_threads_find(cpython, tid);
	uint8_t state[PYTHON_THREAD_BYTES];

	return thread != NULL &&
	       memory_read(&cpython->base.tools->memory, thread->state, state,
			   cpython->place.layout.thread_size) &&
	       python_threads_confirm(cpython, thread, state);
}

bool
python_threads_confirm(const struct cpython *cpython, const struct python_thread *thread,
		       const uint8_t *state)
{
	const struct python_layout *layout = &cpython->place.layout;

	return member_u64(state, layout->thread_interpreter) == thread->interpreter &&
	       member_u64(state, layout->thread_native) == thread->native &&
	       member_u64(state, layout->thread_pthread) == thread->pthread;
}
