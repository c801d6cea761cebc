/* SPDX-License-Identifier: MIT */
/* python_threads.c - reads CPython's lists of interpreters and their threads. */
#include "runtime/python/python_internal.h"

/* Most attempts to read the lists of threads, which may be inconsistent while threads begin and
 * end. */
#define LIST_ATTEMPTS 3
/* Most new elements at the heads that are read without reading all lists. */
#define NEW_MOST 256
/* With at most HEADS_FEW interpreters and at most THREADS_FEW threads, the heads of the lists are
 * read at each tick, also when the budget for lists is used up. Measured for one interpreter: 26
 * us, with cold caches 100 us; 12 us more after a new thread if there are THREADS_FEW threads. */
#define HEADS_FEW 8
#define THREADS_FEW 1000
/* Searches for a thread are counted for this time, and for at most this number of threads: its tid
 * may belong to another thread afterwards. */
#define STRANGERS_NS (10 * NS_PER_SEC)
#define STRANGERS_MOST 65536

/* --- the lists --------------------------------------------------------------------------- */

static void
python_threads_clear(struct python_threads *threads)
{
	threads->count = 0;
	table_clear(&threads->by_state);
	table_clear(&threads->by_tid);
}

/* Sets *thread from the PyThreadState at `state`. Returns false when that is not readable, or
 * belongs to another interpreter. */
static bool
python_thread_read(const struct cpython *cpython, uint64_t state, uint64_t interpreter,
		   struct python_thread *thread)
{
	const struct python_layout *layout = &cpython->place.layout;
	const struct memory *memory = &cpython->base.tools->memory;
	uint8_t bytes[PYTHON_THREAD_BYTES];

	if (!memory_read(memory, state, bytes, layout->thread_size) ||
	    member_u64(bytes, layout->thread_interpreter) != interpreter)
		return false;
	*thread = (struct python_thread){
		.state = state,
		.interpreter = interpreter,
		.native = member_u64(bytes, layout->thread_native),
		.pthread = member_u64(bytes, layout->thread_pthread),
		.after = member_u64(bytes, layout->thread_next),
	};
	if (thread->native == 0 && thread->pthread != 0)
		thread->inner = pthread_tid_read(memory, thread->pthread);
	return true;
}

/* Returns true when both are the same PyThreadState with the same ids. Its address and its
 * pthread_t, the only id before 3.11, may have been reused for another thread. */
static bool
python_thread_is_same(const struct python_thread *a, const struct python_thread *b)
{
	return a->state == b->state && a->interpreter == b->interpreter && a->native == b->native &&
	       a->pthread == b->pthread && a->inner == b->inner;
}

/*
 * Returns the thread's tid; 0: not found. The tid is found by the native id, or by the pthread_t if
 * no thread has the native id: versions before 3.11 have none, and in a forked child of some
 * versions the native id is still that of the parent's thread. The C library's structure at the
 * pthread_t contains a tid.
 */
static pid_t
python_thread_find_tid(const struct cpython *cpython, const struct python_thread *thread)
{
	const struct runtimes_config *config = cpython->base.tools->config;
	pid_t tid = 0;

	if (thread->native > 0 && thread->native <= INT32_MAX)
		tid = config->thread(config->context, (pid_t)thread->native);
	if (tid <= 0 && thread->pthread != 0)
		tid = config->thread(config->context, pthread_tid_read(&cpython->base.tools->memory,
								       thread->pthread));
	return tid > 0 ? tid : 0;
}

/* Copies tid and memo from the previous list, if that has the PyThreadState with the same ids.
 * Returns false when it does not, when the tid is not known there, and when the latest capture has
 * missed the thread, which then counts as new. */
static bool
python_thread_take_over(const struct cpython *cpython, struct python_thread *thread)
{
	const struct python_threads *before = &cpython->before;
	const struct python_thread *old;
	uint32_t at;

	if (!table_find(&before->by_state, thread->state, 0, &at))
		return false;
	old = &before->thread[at];
	if (old->tid == 0 || old->missed || !python_thread_is_same(old, thread))
		return false;
	thread->tid = old->tid;
	thread->memo = old->memo;
	return true;
}

/* Adds a thread, finds its tid, and reports a thread that was not in the previous list
 * (instance_add_new). Returns false when the PyThreadState has already been added, as in a circular
 * list. */
static bool
python_threads_add(struct cpython *cpython, struct python_thread *thread)
{
	struct python_threads *threads = &cpython->threads;
	bool added;

	table_insert(&threads->by_state, thread->state, 0, (uint32_t)threads->count, &added);
	if (!added)
		return false;
	if (!python_thread_take_over(cpython, thread)) {
		thread->tid = python_thread_find_tid(cpython, thread);
		if (thread->tid != 0)
			instance_add_new(&cpython->base, thread->tid);
	}
	threads->thread = xgrow(threads->thread, &threads->capacity, threads->count + 1,
				sizeof(*threads->thread));
	threads->thread[threads->count++] = *thread;
	return true;
}

/* Adds the threads of one interpreter. Returns false when its list is unreadable or inconsistent,
 * as when a thread ends during the reading. */
static bool
list_threads(struct cpython *cpython, uint64_t interpreter, uint64_t lock)
{
	const struct python_layout *layout = &cpython->place.layout;
	const struct memory *memory = &cpython->base.tools->memory;
	uint64_t state = python_pointer(memory, interpreter, layout->interpreter_threads);

	while (state != 0 && cpython->threads.count < PYTHON_THREADS_MOST) {
		struct python_thread thread;

		if (!python_thread_read(cpython, state, interpreter, &thread))
			return false;
		thread.lock = lock;
		if (!python_threads_add(cpython, &thread))
			return true; /* the list is circular, and all of it was read */
		state = thread.after;
	}
	return true;
}

uint64_t
python_interpreter_next(const struct python_place *place, const struct memory *memory,
			uint64_t interpreter)
{
	return interpreter == 0 ?
		       python_pointer(memory, place->runtime, place->layout.runtime_interpreters) :
		       python_pointer(memory, interpreter, place->layout.interpreter_next);
}

static bool
list_interpreters(struct cpython *cpython)
{
	uint64_t interpreter = 0, lock;
	bool whole = true;
	int i;

	cpython->lock_count = 0;
	for (i = 0; i < PYTHON_INTERPRETERS_MOST; i++) {
		interpreter = python_interpreter_next(&cpython->place, &cpython->base.tools->memory,
						      interpreter);
		if (interpreter == 0)
			break;
		lock = python_lock_of(cpython, interpreter);
		if (lock != 0)
			python_lock_add(cpython, interpreter, lock);
		whole &= list_threads(cpython, interpreter, lock);
	}
	cpython->interpreters = (size_t)i;
	if (cpython->lock_count == 1)
		cpython->lock[0].name[0] = '\0';
	return whole;
}

static uint64_t
hash_thread(const struct cpython *cpython, uint64_t state, uint64_t interpreter)
{
	struct python_thread thread;
	uint64_t hash;

	if (!python_thread_read(cpython, state, interpreter, &thread))
		return state;
	hash = hash_u64(hash_u64(state) ^ thread.after);
	hash = hash_u64(hash_u64(hash ^ thread.native) ^ thread.pthread);
	return hash ^ (uint64_t)thread.inner;
}

/*
 * Returns a hash of the heads of all interpreters' lists of threads. CPython puts a new thread at
 * the head of its list: if the heads are unchanged, no thread has been added. The ids of the first
 * thread are a part of the hash, because a new PyThreadState often has the address of one that was
 * freed, and gets its ids later. Threads that have ended stay in cpython->threads until the whole
 * lists are read again, which does no harm: they are not captured.
 */
static uint64_t
hash_heads(const struct cpython *cpython)
{
	const struct memory *memory = &cpython->base.tools->memory;
	uint64_t interpreter = 0, hash = 1, head, mark = 0;

	for (int i = 0; i < PYTHON_INTERPRETERS_MOST; i++) {
		interpreter = python_interpreter_next(&cpython->place, memory, interpreter);
		if (interpreter == 0 || interpreter == mark) /* `mark`: the list is circular */
			break;
		if ((i & (i - 1)) == 0)
			mark = interpreter;
		head = python_pointer(memory, interpreter,
				      cpython->place.layout.interpreter_threads);
		hash = hash_u64(hash ^ interpreter);
		if (head != 0)
			hash = hash_u64(hash ^ hash_thread(cpython, head, interpreter));
	}
	return hash;
}

/* Adds to the new list the threads of the previous list that it lacks. Used when the reading of the
 * new list was incomplete. */
static void
python_threads_keep_others(struct cpython *cpython)
{
	for (size_t i = 0; i < cpython->before.count; i++) {
		struct python_thread thread = cpython->before.thread[i];

		if (cpython->threads.count == PYTHON_THREADS_MOST)
			return;
		python_threads_add(cpython, &thread);
	}
}

/* Links the elements with the same tid, in their order in threads->thread, and sets by_tid and
 * unbound. */
static void
python_threads_link(struct python_threads *threads)
{
	table_clear(&threads->by_tid);
	threads->unbound = 0;
	for (size_t i = threads->count; i-- > 0;) {
		struct python_thread *thread = &threads->thread[i];
		uint32_t *first;

		thread->next = 0;
		if (thread->tid == 0) {
			threads->unbound++;
			continue;
		}
		first = table_insert(&threads->by_tid, (uint64_t)thread->tid, 0, 0, NULL);
		if (*first != 0 && threads->thread[*first - 1].interpreter == thread->interpreter)
			threads->unbound++;
		thread->next = *first;
		*first = (uint32_t)i + 1;
	}
}

static void
list_again(struct cpython *cpython)
{
	const struct python_threads before = cpython->before;
	bool whole = false;

	cpython->before = cpython->threads;
	cpython->threads = before;
	for (int i = 0; !whole && i < LIST_ATTEMPTS; i++) {
		python_threads_clear(&cpython->threads);
		whole = list_interpreters(cpython);
	}
	if (!whole)
		python_threads_keep_others(cpython);
	python_threads_link(&cpython->threads);
	cpython->base.stale = !whole;
}

/* --- new threads at the heads of the lists ------------------------------------------------- */

/*
 * Adds the new thread, or replaces the element of a thread that had a PyThreadState at the same
 * address, and reports it (instance_add_new). Returns false when another element has the same tid:
 * it may be outdated, or one of another interpreter.
 */
static bool
python_threads_put(struct cpython *cpython, struct python_thread *thread)
{
	struct python_threads *threads = &cpython->threads;
	uint32_t at, first;

	thread->tid = python_thread_find_tid(cpython, thread);
	if (!table_find(&threads->by_state, thread->state, 0, &at))
		at = (uint32_t)threads->count;
	if (at == PYTHON_THREADS_MOST ||
	    (table_find(&threads->by_tid, (uint64_t)thread->tid, 0, &first) && first != at + 1))
		return false;
	if (at == threads->count) {
		table_insert(&threads->by_state, thread->state, 0, at, NULL);
		threads->thread = xgrow(threads->thread, &threads->capacity, threads->count + 1,
					sizeof(*threads->thread));
		threads->count++;
	}
	threads->thread[at] = *thread;
	if (thread->tid != 0)
		instance_add_new(&cpython->base, thread->tid);
	return true;
}

/* Returns true when the element is in cpython->threads with the same ids, and the same element
 * follows it: then the following elements are known, too. */
static bool
python_threads_has(const struct cpython *cpython, const struct python_thread *thread)
{
	const struct python_thread *known;
	uint32_t at;

	if (!table_find(&cpython->threads.by_state, thread->state, 0, &at))
		return false;
	known = &cpython->threads.thread[at];
	return known->tid != 0 && known->after == thread->after &&
	       python_thread_is_same(known, thread);
}

/* Adds the new threads at the head of the interpreter's list, at most *left, and reduces that by
 * their number. Returns false when all lists must be read instead. */
static bool
list_new_of(struct cpython *cpython, uint64_t interpreter, uint64_t lock, int *left)
{
	uint64_t state = python_pointer(&cpython->base.tools->memory, interpreter,
					cpython->place.layout.interpreter_threads);

	for (; state != 0; (*left)--) {
		struct python_thread thread;

		if (*left == 0 || !python_thread_read(cpython, state, interpreter, &thread))
			return false;
		if (python_threads_has(cpython, &thread))
			return true;
		thread.lock = lock;
		if (!python_threads_put(cpython, &thread))
			return false;
		state = thread.after;
	}
	return true;
}

/* Adds the new threads at the heads of all lists. Returns false when all lists must be read
 * instead. */
static bool
list_new(struct cpython *cpython)
{
	uint64_t interpreter = 0;
	int left = NEW_MOST;
	bool whole = true;

	for (int i = 0; whole && i < PYTHON_INTERPRETERS_MOST; i++) {
		uint64_t lock;

		interpreter = python_interpreter_next(&cpython->place, &cpython->base.tools->memory,
						      interpreter);
		if (interpreter == 0)
			break;
		lock = python_lock_of(cpython, interpreter);
		whole = python_lock_is_known(cpython, lock) &&
			list_new_of(cpython, interpreter, lock, &left);
	}
	if (left < NEW_MOST)
		python_threads_link(&cpython->threads);
	return whole;
}

/* Reads all lists, unless the 1% of the time is used up: then a later tick reads them. Returns true
 * when they were read. */
static bool
list_all(struct cpython *cpython, uint64_t now_ns)
{
	struct instance *instance = &cpython->base;

	if (cpu_budget_begin(&instance->list_budget, now_ns))
		list_again(cpython);
	else
		instance->stale = true;
	cpu_budget_end(&instance->list_budget);
	return !instance->stale;
}

void
python_threads_list(struct instance *instance, uint64_t now_ns)
{
	struct cpython *cpython = (struct cpython *)instance;
	const bool limited = cpython->interpreters > HEADS_FEW ||
			     cpython->threads.count > THREADS_FEW;
	enum list_change change;
	bool whole;

	if (limited && !cpu_budget_begin(&instance->list_budget, now_ns))
		return;
	change = instance_list_compare(instance, hash_heads(cpython), now_ns);
	whole = change == LIST_UNCHANGED || (change == LIST_LONGER && list_new(cpython));
	if (limited)
		cpu_budget_end(&instance->list_budget);
	if (whole || list_all(cpython, now_ns))
		return;
	if (change == LIST_OUTDATED && !limited)
		list_new(cpython);
}

/* Counts a search for the thread. Returns true at the 1st, 2nd, 4th, 8th, … search since the last
 * one that has found the thread. */
static bool
stranger_is_due(struct cpython *cpython, pid_t tid, uint64_t now_ns)
{
	uint32_t *searches;

	if (now_ns >= cpython->strangers_until_ns || cpython->strangers.count == STRANGERS_MOST) {
		table_clear(&cpython->strangers);
		cpython->strangers_until_ns = now_ns + STRANGERS_NS;
	}
	searches = table_insert(&cpython->strangers, (uint64_t)tid, 0, 0, NULL);
	(*searches)++;
	return (*searches & (*searches - 1)) == 0;
}

/* As list_new, within the budget for searches (1% of the time): when that is used up, it reads
 * nothing and returns true. */
static bool
seek_new(struct cpython *cpython, uint64_t now_ns)
{
	const bool whole = !cpu_budget_begin(&cpython->seek_budget, now_ns) || list_new(cpython);

	cpu_budget_end(&cpython->seek_budget);
	return whole;
}

void
python_threads_seek(struct cpython *cpython, pid_t tid, uint64_t now_ns)
{
	const bool outdated = python_threads_find(cpython, tid) != NULL;

	if (!outdated && !stranger_is_due(cpython, tid, now_ns))
		return;
	if (outdated || !seek_new(cpython, now_ns) ||
	    (cpython->threads.unbound > 0 && python_threads_find(cpython, tid) == NULL))
		list_all(cpython, now_ns);
	if (python_threads_find(cpython, tid) != NULL)
		*table_insert(&cpython->strangers, (uint64_t)tid, 0, 0, NULL) = 0;
}

pid_t
python_threads_owner(struct cpython *cpython, uint64_t state)
{
	const uint64_t now_ns = clock_now_ns();
	uint32_t at;

	if (state == 0)
		return 0;
	if (!table_find(&cpython->threads.by_state, state, 0, &at) && !seek_new(cpython, now_ns))
		list_all(cpython, now_ns);
	return table_find(&cpython->threads.by_state, state, 0, &at) ?
		       cpython->threads.thread[at].tid :
		       0;
}

static void
release_threads(struct python_threads *threads)
{
	free(threads->thread);
	threads->thread = NULL;
	threads->count = threads->capacity = 0;
	table_release(&threads->by_state);
	table_release(&threads->by_tid);
}

void
python_threads_release(struct instance *instance)
{
	struct cpython *cpython = (struct cpython *)instance;

	release_threads(&cpython->threads);
	release_threads(&cpython->before);
	table_release(&cpython->strangers);
	free(cpython->lock);
	cpython->lock = NULL;
	cpython->lock_capacity = 0;
}
