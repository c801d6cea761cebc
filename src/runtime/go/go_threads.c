/* SPDX-License-Identifier: MIT */
/* go_threads.c - reads the list of threads of a Go runtime. */
#include <stdlib.h>

#include "runtime/go/go_internal.h"

/* Number of readings of the list after which a thread whose tid is unknown to the sampler no longer
 * causes another reading. */
#define TRIES_MOST 20
/*
 * Most attempts of go_threads_tid to read a thread's structure within one tick. It reads that of a
 * thread to which a goroutine refers, if the list does not contain the thread or its tid is not
 * known yet.
 */
#define LATE_MOST 64

/* --- the list ---------------------------------------------------------------------------- */

static pid_t
go_thread_find_tid(const struct go_runtime *go, uint64_t inner)
{
	const struct runtimes_config *config = go->base.tools->config;
	pid_t tid;

	if (inner == 0 || inner > INT32_MAX)
		return 0;
	tid = config->thread(config->context, (pid_t)inner);
	return tid > 0 ? tid : 0;
}

/* Copies `tries` of the thread from the previous list, and tid and memo if its inner tid is
 * unchanged. Returns false when the tid is not known from there. */
static bool
go_thread_take_over(const struct go_runtime *go, struct go_thread *thread)
{
	const struct go_thread *old;
	uint32_t at;

	if (!table_find(&go->before.by_address, thread->address, 0, &at))
		return false;
	old = &go->before.thread[at];
	thread->tries = old->tries;
	if (old->tid == 0 || old->inner != thread->inner)
		return false;
	thread->tid = old->tid;
	thread->memo = old->memo;
	return true;
}

/* Sets the tid of the thread, from the previous list or by its inner tid. Reports a thread with a
 * new tid (instance_add_new). If the tid is not known, the list is read again at the next tick, up
 * to TRIES_MOST times. */
static void
go_thread_identify(struct go_runtime *go, struct go_thread *thread)
{
	if (go_thread_take_over(go, thread))
		return;
	thread->tid = go_thread_find_tid(go, thread->inner);
	if (thread->tid != 0)
		instance_add_new(&go->base, thread->tid);
	else if (++thread->tries < TRIES_MOST)
		go->base.stale = true;
}

/* Sets the tid of thread[at], and adds it to by_tid. */
static void
go_thread_settle(struct go_runtime *go, uint32_t at)
{
	struct go_threads *threads = &go->threads;
	struct go_thread *thread = &threads->thread[at];

	go_thread_identify(go, thread);
	if (thread->tid != 0)
		*table_insert(&threads->by_tid, (uint64_t)thread->tid, 0, at, NULL) = at;
}

/* Adds the thread. Returns false when the list contains it already. */
static bool
go_threads_add(struct go_runtime *go, const struct go_thread *thread)
{
	struct go_threads *threads = &go->threads;
	const uint32_t at = (uint32_t)threads->count;
	bool added;

	table_insert(&threads->by_address, thread->address, 0, at, &added);
	if (!added)
		return false;
	threads->thread = xgrow(threads->thread, &threads->capacity, threads->count + 1,
				sizeof(*threads->thread));
	threads->thread[threads->count++] = *thread;
	go_thread_settle(go, at);
	return true;
}

/*
 * Returns the number of bytes of runtime.m up to the end of the last member that this file and
 * go_fit_thread read.
 */
static size_t
head_size(const struct go_layout *layout)
{
	uint32_t last = layout->m_g0;

	if (layout->m_tid > last)
		last = layout->m_tid;
	if (layout->m_current > last)
		last = layout->m_current;
	if (layout->m_next > last)
		last = layout->m_next;
	return last + sizeof(uint64_t);
}

/*
 * Adds the threads of the linked list whose first thread is at the address. A thread that is being
 * created is the first of the list before its structure is complete; it is skipped, and the list is
 * read again at a later tick. Any other implausible or unreadable structure ends the reading.
 */
static void
go_threads_list_from(struct go_runtime *go, uint64_t address)
{
	const struct go_layout *layout = &go->home.layout;
	const size_t size = head_size(layout);
	uint8_t bytes[GO_M_MOST];
	uint32_t at;

	for (size_t i = 0; address != 0 && i < GO_THREADS_MOST; i++) {
		struct go_thread thread = { .address = address };

		if (!memory_read(&go->base.tools->memory, address, bytes, size))
			return;
		thread.inner = member_u64(bytes, layout->m_tid);
		address = member_u64(bytes, layout->m_next);
		if (!table_find(&go->before.by_address, thread.address, 0, &at) &&
		    !go_fit_thread(go->base.tools, layout, thread.address, bytes)) {
			if (i > 0)
				return;
			go->base.stale = true;
		} else if (!go_threads_add(go, &thread)) {
			/* this thread and those after it were added already: they are also in the
			 * list of another head, or the list is circular */
			return;
		}
	}
}

/*
 * Keeps live threads of the previous reading that are in no list of this reading. They were added
 * because a goroutine referred to them (go_threads_tid): in programs without symbols the right head
 * of the list may not be known.
 */
static void
go_threads_keep_others(struct go_runtime *go)
{
	const struct go_layout *layout = &go->home.layout;
	uint8_t bytes[GO_M_MOST];
	uint32_t at;

	for (size_t i = 0; i < go->before.count && go->threads.count < GO_THREADS_MOST; i++) {
		const struct go_thread *thread = &go->before.thread[i];

		if (thread->tid != 0 &&
		    !table_find(&go->threads.by_address, thread->address, 0, &at) &&
		    go_thread_find_tid(go, thread->inner) == thread->tid &&
		    memory_read(&go->base.tools->memory, thread->address, bytes,
				head_size(layout)) &&
		    member_u64(bytes, layout->m_tid) == thread->inner &&
		    go_fit_thread(go->base.tools, layout, thread->address, bytes))
			go_threads_add(go, &(struct go_thread){ .address = thread->address,
								.inner = thread->inner });
	}
}

static void
go_threads_clear(struct go_threads *threads)
{
	threads->count = 0;
	table_clear(&threads->by_address);
	table_clear(&threads->by_tid);
}

void
go_threads_list(struct go_runtime *go, uint64_t now_ns)
{
	const struct go_threads before = go->before;
	uint64_t first[GO_HEADS_MOST] = { 0 }, heads = 1;

	go->late = 0;
	if (!cpu_budget_begin(&go->base.list_budget, now_ns))
		return;
	for (size_t i = 0; i < go->home.head_count; i++) {
		if (!memory_read(&go->base.tools->memory, go->home.head[i], &first[i],
				 sizeof(first[i])))
			first[i] = 0;
		heads = hash_u64(heads ^ first[i]);
	}
	if (instance_list_compare(&go->base, heads, now_ns) != LIST_UNCHANGED) {
		go->before = go->threads;
		go->threads = before;
		go_threads_clear(&go->threads);
		for (size_t i = 0; i < go->home.head_count; i++)
			go_threads_list_from(go, first[i]);
		go_threads_keep_others(go);
	}
	cpu_budget_end(&go->base.list_budget);
}

static void
go_threads_free(struct go_threads *threads)
{
	free(threads->thread);
	threads->thread = NULL;
	threads->count = threads->capacity = 0;
	table_release(&threads->by_address);
	table_release(&threads->by_tid);
}

void
go_threads_release(struct go_runtime *go)
{
	go_threads_free(&go->threads);
	go_threads_free(&go->before);
}

/* --- one thread -------------------------------------------------------------------------- */

struct go_thread *
go_threads_find(struct go_runtime *go, pid_t tid)
{
	uint32_t at;

	if (!table_find(&go->threads.by_tid, (uint64_t)tid, 0, &at))
		return NULL;
	return &go->threads.thread[at];
}

pid_t
go_threads_tid(struct go_runtime *go, uint64_t address)
{
	const struct go_layout *layout = &go->home.layout;
	struct go_thread thread = { .address = address };
	uint8_t bytes[GO_M_MOST];
	uint32_t at;
	const bool known = table_find(&go->threads.by_address, address, 0, &at);

	if (known && go->threads.thread[at].tid != 0)
		return go->threads.thread[at].tid;
	if (go->late == LATE_MOST || go->threads.count == GO_THREADS_MOST)
		return 0;
	go->late++;
	if (!memory_read(&go->base.tools->memory, address, bytes, head_size(layout)) ||
	    !go_fit_thread(go->base.tools, layout, address, bytes))
		return 0;
	thread.inner = member_u64(bytes, layout->m_tid);
	if (known) {
		go->threads.thread[at].inner = thread.inner;
		go_thread_settle(go, at);
	} else {
		at = (uint32_t)go->threads.count;
		go_threads_add(go, &thread);
	}
	return go->threads.thread[at].tid;
}
