/* SPDX-License-Identifier: MIT */
/* shared_waits.c - names objects in memory that processes share, and finds the threads of other
 * processes that hold them. */
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"
#include "wallsample/sampler/stack.h"

/* Seconds for which the answer is used that a process has mapped an object, or has not. A process
 * that has not may do so at any time. */
#define MAPPED_SECONDS 10
#define UNMAPPED_SECONDS 1
/* Most of these answers that are kept. */
#define MAPPED_MOST 4096

/* A thread is looked for again after this time, and at most this number of threads is known. */
#define THREAD_NS NS_PER_SEC
#define THREADS_MOST 4096

/* Most texts of holders, which have names and ids of processes, that have a frame of their own. */
#define NAMED_MOST 1024

void
shared_waits_release(struct shared_waits *shared)
{
	endpoints_free(shared->endpoints);
	server_programs_free(shared->programs);
	shared_names_free(shared->names);
	table_release(&shared->mapped);
	table_release(&shared->named);
	table_release(&shared->threads);
	free(shared->thread);
}

/* --- objects ------------------------------------------------------------------------------ */

/* Stores the place of the wait's object. Returns false if it is not in shared memory. */
static bool
find_place(struct waits *waits, const struct wait *wait, uint64_t now_ns,
	   struct shared_place *place)
{
	if (wait->object == 0)
		return false;
	if (waits->memory == NULL)
		waits->memory = shared_memory_create(waits->process->process);
	return shared_place_of_futex(waits->memory, wait->object, !wait->shared, now_ns, place);
}

bool
shared_add_object(struct waits *waits, const struct wait *wait, struct strbuf *out)
{
	struct shared_waits *shared = &waits->run->shared;
	struct shared_place place;

	if (!find_place(waits, wait, clock_now_ns(), &place))
		return false;
	if (shared->names == NULL)
		shared->names = shared_names_create();
	shared_names_add(shared->names, &place, out);
	return true;
}

/* --- threads of other processes ------------------------------------------------------------ */

/* For a target in another pid namespace, if the kernel does not translate ids: the threads of the
 * run's processes in that namespace. Returns -1 if none has the id. */
static pid_t
find_in_run(const struct waits *waits, pid_t inner)
{
	const struct process_list *processes = &waits->run->processes;

	for (size_t i = 0; i < processes->count; i++) {
		struct sampled_process *other = processes->item[i];
		pid_t tid;

		if (other == waits->process || other->own_namespace ||
		    process_pid_namespace(other->process) != waits->pid_namespace)
			continue;
		tid = sampled_process_thread(other, inner);
		if (tid > 0)
			return tid;
	}
	return -1;
}

/* Returns the thread with this id, which is read again after THREAD_NS. `waits`: NULL if the id is
 * one of wallsample's pid namespace, else those of a process in the namespace of the id. */
static const struct holder_thread *
thread_of_id(struct run *run, const struct waits *waits, pid_t id)
{
	struct shared_waits *shared = &run->shared;
	const uint64_t now_ns = clock_now_ns();
	const uint64_t key[] = { (uint64_t)id, waits != NULL ? waits->pid_namespace : 0 };
	struct holder_thread *thread;
	uint32_t at;

	if (shared->threads.count >= THREADS_MOST)
		table_clear(&shared->threads);
	shared->thread = table_row(&shared->threads, key, shared->thread, &shared->thread_capacity,
				   sizeof(*shared->thread), &at);
	thread = &shared->thread[at];
	if (now_ns < thread->until_ns)
		return thread;
	thread->until_ns = now_ns + THREAD_NS;
	thread->tid = waits != NULL ? process_translate_tid(waits->process->process, id) : id;
	if (thread->tid < 0 && waits != NULL)
		thread->tid = find_in_run(waits, id);
	thread->pid = 0;
	if (thread->tid > 0 && !process_of_thread(thread->tid, &thread->pid, thread->comm))
		thread->tid = 0;
	return thread;
}

pid_t
shared_find_thread(void *context, pid_t inner)
{
	struct waits *waits = context;

	if (waits->process->own_namespace) {
		const struct sampled_thread *thread = threads_find(&waits->run->threads, inner);

		return thread != NULL && !thread->gone ? inner :
							 thread_of_id(waits->run, NULL, inner)->tid;
	}
	if (waits->pid_namespace == 0)
		waits->pid_namespace = process_pid_namespace(waits->process->process);
	return thread_of_id(waits->run, waits, inner)->tid;
}

/* Returns the id of the process to which a thread belongs; 0: the thread has ended. */
static pid_t
process_of_id(struct run *run, pid_t tid)
{
	const struct sampled_thread *thread = threads_find(&run->threads, tid);

	return thread != NULL ? thread->process->process->pid : thread_of_id(run, NULL, tid)->pid;
}

/* Returns false if the process has not mapped the object. While a stop is late, the mappings of the
 * process are not read, because that may take milliseconds: the last answer is used, or true. */
static bool
may_be_mapped(struct run *run, pid_t pid, const struct shared_object *object, uint64_t now_ns)
{
	struct shared_waits *shared = &run->shared;
	const uint64_t words[] = { (uint64_t)object->kind, object->dev, object->inode,
				   object->ipc };
	const uint32_t now = (uint32_t)(now_ns / NS_PER_SEC);
	uint32_t *answer;

	if (shared->mapped.count >= MAPPED_MOST)
		table_clear(&shared->mapped);
	answer = table_insert(&shared->mapped, (uint64_t)pid, hash_bytes(words, sizeof(words)), 0,
			      NULL);
	if (*answer / 2 <= now && run->late_count > 0)
		return *answer == 0 || *answer % 2 != 0;
	if (*answer / 2 <= now) {
		const bool mapped = shared_object_may_be_mapped(pid, object);

		*answer = (now + (mapped ? MAPPED_SECONDS : UNMAPPED_SECONDS)) * 2 + mapped;
	}
	return *answer % 2 != 0;
}

void
shared_check_owner(struct waits *waits, const struct wait *wait, struct wait_owner *owner)
{
	const uint64_t now_ns = clock_now_ns();
	struct shared_place place;
	pid_t pid;

	if (owner->holder != HOLDER_FOREIGN || owner->tid <= 0)
		return;
	pid = process_of_id(waits->run, owner->tid);
	if (pid <= 0 || !find_place(waits, wait, now_ns, &place) ||
	    !may_be_mapped(waits->run, pid, &place.object, now_ns))
		owner->tid = 0;
}

bool
shared_add_process(struct run *run, pid_t tid, struct strbuf *out)
{
	const struct holder_thread *holder = thread_of_id(run, NULL, tid);

	if (holder->pid > 0)
		strbuf_add_format(out, "%s (%d)", holder->comm, (int)holder->pid);
	return holder->pid > 0;
}

uint32_t
shared_stack_of_text(struct run *run, const char *text)
{
	struct table *named = &run->shared.named;
	const uint64_t hash = hash_bytes(text, strlen(text));
	uint32_t value;

	if (named->count >= NAMED_MOST && !table_find(named, hash, 0, &value))
		return STACK_NONE;
	table_insert(named, hash, 0, 0, NULL);
	return stack_of_text(run->profile, text, STACK_NONE);
}

uint32_t
shared_stack_of_process(struct run *run, pid_t tid, const char *before)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t stack = STACK_NONE;

	strbuf_add_text(&text, before);
	if (shared_add_process(run, tid, &text)) {
		strbuf_add_text(&text, "]");
		stack = shared_stack_of_text(run, text.data);
	}
	strbuf_release(&text);
	return stack;
}
