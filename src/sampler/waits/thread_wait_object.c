/* SPDX-License-Identifier: MIT */
/* thread_wait_object.c - makes the frames of the profile that name what threads wait for: locks,
 * sockets, threads. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"
#include "wallsample/runtime/locks.h"
#include "wallsample/wait/system_v.h"

/* Most objects, such as locks and sockets, that have a frame of their own. Further objects share
 * one frame, because programs may create objects without end. */
#define OBJECTS_MOST 16384
#define ONE_OF_MANY "[one of many]"

/* Most bytes that are read of a list of children; those behind are not counted. */
#define CHILDREN_SIZE ((size_t)4096)
#define CHILDREN_UNKNOWN SIZE_MAX

#define WCHAN_SIZE 124 /* longest text that is read from /proc/PID/wchan, in bytes */
/* Characters of the names of kernel functions in /proc/PID/wchan. */
#define WCHAN_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/* Adds the object with the key (a, b) to the known objects. Returns false if it is not known and
 * there are OBJECTS_MOST already. */
static bool
know_object(struct waits *waits, uint64_t a, uint64_t b)
{
	struct table *known = &waits->known;
	uint32_t value;

	if (table_find(known, a, b, &value))
		return true;
	if (known->count >= OBJECTS_MOST)
		return false;
	table_insert(known, a, b, 0, NULL);
	return true;
}

/* Returns the frame with this name, or the shared one if there are too many objects. */
static uint32_t
frame_of_text(struct waits *waits, const char *text)
{
	uint64_t hash = 0;

	for (const char *at = text; *at != '\0'; at++)
		hash = hash_u64(hash ^ (unsigned char)*at);
	return profile_intern_named(waits->run->profile,
				    know_object(waits, hash, WAIT_KIND_COUNT) ? text : ONE_OF_MANY);
}

uint32_t
frame_of_data(const struct maps *maps, struct profile *profile, uint64_t address)
{
	const struct mapping *mapping = maps_find_data(maps, address);
	struct profile_frame frame = { .origin = FRAME_DATA };
	char text[32];

	if (mapping == NULL || mapping->image == NULL) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
		return profile_intern_named(profile, text);
	}
	frame.module = mapping->module;
	frame.address = address - mapping->bias;
	return profile_intern_frame(profile, &frame);
}

/* Returns the frame of an object in memory: in shared memory its name there, else its address. */
static uint32_t
frame_of_memory(struct waits *waits, const struct wait *wait)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t frame;

	if (shared_add_object(waits, wait, &text))
		frame = frame_of_text(waits, text.data);
	else if (know_object(waits, wait->object, WAIT_LOCK))
		frame = frame_of_data(waits->process->maps, waits->run->profile, wait->object);
	else
		frame = profile_intern_named(waits->run->profile, ONE_OF_MANY);
	strbuf_release(&text);
	return frame;
}

static uint32_t
frame_of_descriptor(struct waits *waits, const struct wait *wait, const char *id)
{
	const size_t before = waits->known.count;
	struct strbuf text = STRBUF_INIT;
	uint32_t frame;

	/* The name contains more than the id: both ends of a pipe have the same id, and so have all
	 * descriptors of one "anon_inode:" kind, such as all eventfds. */
	strbuf_add_text(&text, id);
	strbuf_add_text(&text, wait->kind == WAIT_PIPE_WRITE ? " (written to)" : "");
	if (strncmp(id, "anon_inode:", strlen("anon_inode:")) == 0)
		strbuf_add_format(&text, " (descriptor %d)", wait->fd);
	frame = frame_of_text(waits, text.data);
	strbuf_release(&text);
	if (waits->known.count == before)
		return frame;
	waits->object = xgrow(waits->object, &waits->object_capacity, waits->object_count + 1,
			      sizeof(*waits->object));
	waits->object[waits->object_count++] = (struct object){ .frame = frame,
								.fd = wait->fd,
								.id = xstrdup(id) };
	return frame;
}

/* Returns the frame that names the thread whose end is awaited: its name and id, or only the id if
 * it is too new to be in the list of threads. FRAME_NONE: it is not known. */
static uint32_t
frame_of_thread(struct waits *waits, const struct wait *wait)
{
	const struct sampled_thread *thread;
	struct wait_owner owner;
	char name[ARRAY_SIZE(thread->name) + 24];

	wait_owner(&waits->source, wait, &owner);
	if (owner.tid <= 0)
		return FRAME_NONE;
	thread = owner.holder == HOLDER_THREAD ? threads_find(&waits->run->threads, owner.tid) :
						 NULL;
	snprintf(name, sizeof(name), "%s%s%jd", thread != NULL ? thread->name : "",
		 thread != NULL ? "-" : "", (intmax_t)owner.tid);
	return frame_of_text(waits, name);
}

/* Returns the number of children of the thread, and stores the first one in *child: 0, and
 * CHILDREN_UNKNOWN, if they cannot be read (proc_pid_children(5) needs CONFIG_PROC_CHILDREN). A
 * child that begins or ends meanwhile may be missed. */
static size_t
count_children(const struct sampled_thread *thread, pid_t *child)
{
	size_t count = 0;
	uint64_t pid;
	char name[40];
	const char *at;
	char *list;

	*child = 0;
	snprintf(name, sizeof(name), "%d/children", (int)thread->watch.tid);
	list = file_read_text(thread->process->process->taskfd, name, CHILDREN_SIZE, NULL);
	if (list == NULL)
		return CHILDREN_UNKNOWN;
	at = list;
	while (parse_u64(&at, 10, &pid) && pid > 0 && pid <= INT_MAX) {
		if (count++ == 0)
			*child = (pid_t)pid;
		at += *at == ' ';
	}
	free(list);
	return count;
}

/*
 * Returns a frame such as "sleep (12)" for the child that is waited for, or "any of 3 children";
 * FRAME_NONE if it is not known. Sets wait->child_pid if it is one process. Of a thread that waits
 * for any child, children that other threads have started are not counted.
 */
static uint32_t
frame_of_child(struct waits *waits, const struct sampled_thread *thread, struct wait *wait)
{
	struct process *process;
	char name[ARRAY_SIZE(process->comm) + 40];
	size_t count = 1;
	pid_t child = wait->child;

	if (child <= 0 || !waits->process->own_namespace)
		count = wait->fd < 0 ? count_children(thread, &child) : CHILDREN_UNKNOWN;
	if (count == CHILDREN_UNKNOWN || count == 0)
		return FRAME_NONE;
	if (count > 1) {
		snprintf(name, sizeof(name), "any of %zu children", count);
		return wait->child == -1 ? frame_of_text(waits, name) : FRAME_NONE;
	}
	if (process_open(child, &process, NULL) == 0) {
		snprintf(name, sizeof(name), "%s (%jd)", process->comm, (intmax_t)child);
		process_free(process);
		wait->child_pid = child;
	} else {
		snprintf(name, sizeof(name), "process %jd", (intmax_t)child);
	}
	return frame_of_text(waits, name);
}

/* Adds the kernel function in which the thread sleeps, such as "in folio_wait_bit_common", with a
 * comma behind other text; nothing if its name is not readable. */
static void
add_wchan(const struct sampled_thread *thread, struct strbuf *out)
{
	char name[32];
	size_t length;
	char *wchan;

	snprintf(name, sizeof(name), "%d/wchan", (int)thread->watch.tid);
	wchan = file_read_text(thread->process->process->taskfd, name, WCHAN_SIZE, &length);
	if (wchan != NULL && length > 1 && strspn(wchan, WCHAN_LETTERS) == length)
		strbuf_add_format(out, "%sin %s", out->length > 0 ? ", " : "", wchan);
	free(wchan);
}

/* Returns a frame such as "in folio_wait_bit_common" for a page fault, or "munmap, in
 * rwsem_down_write_slowpath" for a system call; FRAME_NONE if neither name is known. */
static uint32_t
frame_of_kernel(struct waits *waits, const struct sampled_thread *thread, long number)
{
	const char *name = syscall_name(number);
	struct strbuf text = STRBUF_INIT;
	uint32_t frame = FRAME_NONE;

	if (name != NULL)
		strbuf_add_text(&text, name);
	add_wchan(thread, &text);
	if (text.length > 0)
		frame = profile_intern_named(waits->run->profile, text.data);
	strbuf_release(&text);
	return frame;
}

/* Returns a frame with the path at the address in the target's memory, as the program has given it;
 * FRAME_NONE if it is empty, longer than PATH_MAX, or not readable. */
static uint32_t
frame_of_path(struct waits *waits, uint64_t address)
{
	char path[PATH_MAX];
	size_t length = 0;

	/* Bytes behind the end of the path may be in a page that is not readable. */
	while (length < sizeof(path)) {
		const size_t left = MEMORY_PAGE - (address + length) % MEMORY_PAGE;
		const size_t size = left < sizeof(path) - length ? left : sizeof(path) - length;

		if (!memory_read(&waits->source.memory, address + length, path + length, size))
			return FRAME_NONE;
		if (memchr(path + length, '\0', size) != NULL)
			return path[0] != '\0' ? frame_of_text(waits, path) : FRAME_NONE;
		length += size;
	}
	return FRAME_NONE;
}

static uint32_t
frame_of_file_lock(struct waits *waits, struct wait *wait)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t frame = FRAME_NONE;

	if (file_locks_add_object(waits, wait, &text))
		frame = frame_of_text(waits, text.data);
	strbuf_release(&text);
	return frame;
}

/* Returns a frame with the name of a semaphore or message queue of System V. Numbers a semaphore:
 * the ids of sets are below 2^31, those of semaphores below 2^16 (struct sembuf). */
static uint32_t
frame_of_system_v(struct waits *waits, struct wait *wait)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t frame;

	if (!waits->ipc_read)
		waits->ipc_namespace = system_v_namespace(waits->process->process);
	waits->ipc_read = true;
	system_v_add_object(wait, waits->ipc_namespace, &text);
	frame = frame_of_text(waits, text.data);
	strbuf_release(&text);
	wait->object = (uint64_t)(uint32_t)wait->system_id << 32 |
		       (uint64_t)(wait->semaphore + 1) << 1 | 1;
	return frame;
}

/* Returns a frame with the name of the interpreter lock that the thread waits for, such as "of
 * interpreter 2"; FRAME_NONE if the process has only one such lock. */
static uint32_t
frame_of_runtime(struct waits *waits, const struct wait *wait)
{
	const char *name;
	uint64_t lock;

	if (!runtimes_find_lock(waits->process->runtimes, wait->object, &lock, &name) ||
	    name[0] == '\0')
		return FRAME_NONE;
	return frame_of_text(waits, name);
}

uint32_t
waits_descriptor(struct waits *waits, const struct sampled_thread *thread, struct wait *wait)
{
	const char *id;
	const enum descriptor_kind kind = descriptor_look(waits->descriptors, wait->fd, &id);

	if (kind == DESCRIPTOR_GONE)
		return FRAME_NONE;
	wait->kind = wait_kind_of_descriptor(wait, kind);
	if (thread != NULL && (kind == DESCRIPTOR_PIPE || kind == DESCRIPTOR_SOCKET) &&
	    wait->kind != WAIT_ACCEPT)
		peers_note(waits, thread, wait, id);
	return frame_of_descriptor(waits, wait, id);
}

/* Returns a frame with the name of the lock for which the process of a database server waits in
 * this call; FRAME_NONE if there is none. */
static uint32_t
frame_of_database(struct waits *waits, const struct wait *wait)
{
	struct strbuf name = STRBUF_INIT;
	uint32_t frame = FRAME_NONE;

	if (server_process_add_lock(&waits->server, &waits->source.memory, wait->kind, &name))
		frame = frame_of_text(waits, name.data);
	strbuf_release(&name);
	return frame;
}

uint32_t
waits_object(struct waits *waits, const struct sampled_thread *thread, const struct wait_call *call,
	     struct wait *wait)
{
	uint32_t frame = frame_of_database(waits, wait);

	if (frame != FRAME_NONE) {
		wait->kind = WAIT_DATABASE;
		return frame;
	}
	if (wait->kind == WAIT_JOIN)
		return frame_of_thread(waits, wait);
	if (wait->kind == WAIT_FAULT ||
	    (wait->kind == WAIT_OTHER && call->state == RUN_UNINTERRUPTIBLE))
		return frame_of_kernel(waits, thread, call->number);
	if (wait->kind == WAIT_CHILD)
		return frame_of_child(waits, thread, wait);
	if (wait->kind == WAIT_GIL)
		return frame_of_runtime(waits, wait);
	if (wait->kind == WAIT_FILE_LOCK)
		return frame_of_file_lock(waits, wait);
	if (wait->kind >= WAIT_SYSTEM_SEMAPHORE && wait->kind <= WAIT_MESSAGE_SEND)
		return frame_of_system_v(waits, wait);
	if (wait->object != 0)
		return frame_of_memory(waits, wait);
	if (wait->path != 0)
		frame = frame_of_path(waits, wait->path);
	if (frame != FRAME_NONE || wait->fd < 0)
		return frame;
	return waits_descriptor(waits, thread, wait);
}
