/* SPDX-License-Identifier: MIT */
/* thread_wait_object.c - the frame that stands for what is waited for: lock, socket, thread. */
#include <stdlib.h>
#include <string.h>

#include "sampler/pipeline_internal.h"

/* Programs may have sockets, locks and threads without end: after so many the next ones are one. */
#define OBJECTS_MOST 16384
#define ONE_OF_MANY "[one of many]"

/* What names of the kernel's functions are made of. */
#define WCHAN_LETTERS                                                          \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/* False: it is not known, and one too many. */
static bool
know_object(struct sampler *sampler, uint64_t a, uint64_t b)
{
	struct table *known = &sampler->waits.known;
	uint32_t value;

	if (table_find(known, a, b, &value))
		return true;
	if (known->count >= OBJECTS_MOST)
		return false;
	table_place(known, a, b, 0, NULL);
	return true;
}

/* The frame with this name, if it is one of those that are told apart. */
static uint32_t
frame_of_text(struct sampler *sampler, const char *text)
{
	uint64_t hash = 0;

	for (const char *at = text; *at != '\0'; at++)
		hash = hash_u64(hash ^ (unsigned char)*at);
	return profile_intern_named(sampler->profile,
				    know_object(sampler, hash, WAIT_KIND_COUNT) ? text :
										  ONE_OF_MANY);
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

static uint32_t
frame_of_address(struct sampler *sampler, uint64_t address)
{
	if (!know_object(sampler, address, WAIT_LOCK))
		return profile_intern_named(sampler->profile, ONE_OF_MANY);
	return frame_of_data(sampler->maps, sampler->profile, address);
}

static uint32_t
frame_of_descriptor(struct sampler *sampler, const struct wait *wait, const char *id)
{
	struct waits *waits = &sampler->waits;
	const size_t before = waits->known.count;
	struct strbuf text;
	uint32_t frame;

	/* Both ends of a pipe have one id, and so have all event descriptors. */
	strbuf_init(&text);
	strbuf_add_text(&text, id);
	strbuf_add_text(&text, wait->kind == WAIT_PIPE_WRITE ? " (written to)" : "");
	if (strncmp(id, "anon_inode:", strlen("anon_inode:")) == 0)
		strbuf_add_format(&text, " (descriptor %d)", wait->fd);
	frame = frame_of_text(sampler, text.data);
	strbuf_release(&text);
	if (waits->known.count == before)
		return frame;
	waits->object = xgrow(waits->object, &waits->object_capacity, waits->object_count + 1,
			      sizeof(*waits->object));
	waits->object[waits->object_count++] =
		(struct object){ .frame = frame, .fd = wait->fd, .id = xstrdup(id) };
	return frame;
}

/* Who is awaited; it may be one that is not known yet. */
static uint32_t
frame_of_thread(struct sampler *sampler, const struct wait *wait)
{
	const struct tracked *thread;
	struct wait_owner owner;
	struct strbuf text;
	uint32_t frame;

	wait_owner(&sampler->waits.source, wait, &owner);
	if (owner.tid <= 0)
		return FRAME_NONE;
	thread = owner.holder == HOLDER_THREAD ? thread_of_tid(sampler, owner.tid) : NULL;
	strbuf_init(&text);
	if (thread != NULL)
		strbuf_add_format(&text, "%s-", thread->name);
	strbuf_add_format(&text, "%jd", (intmax_t)owner.tid);
	frame = frame_of_text(sampler, text.data);
	strbuf_release(&text);
	return frame;
}

/* "process 12 (sleep)": the child that is awaited, if it is a certain one. */
static uint32_t
frame_of_child(struct sampler *sampler, pid_t child)
{
	struct process *process;
	struct strbuf text;
	uint32_t frame;

	if (child <= 0)
		return FRAME_NONE;
	strbuf_init(&text);
	strbuf_add_format(&text, "process %jd", (intmax_t)child);
	if (sampler->waits.own_namespace && process_open(child, &process, NULL) == 0) {
		strbuf_add_format(&text, " (%s)", process->comm);
		process_free(process);
	}
	frame = frame_of_text(sampler, text.data);
	strbuf_release(&text);
	return frame;
}

/* "in folio_wait_bit_common": the function of the kernel that it sleeps in, if that is told. */
static uint32_t
frame_of_wchan(struct sampler *sampler, const struct tracked *thread)
{
	char name[32], text[128];
	size_t length;
	char *wchan;
	uint32_t frame = FRAME_NONE;

	snprintf(name, sizeof(name), "%d/wchan", (int)thread->watch.tid);
	wchan = file_read_text(sampler->process->taskfd, name, sizeof(text) - 4, &length);
	if (wchan != NULL && length > 1 && strspn(wchan, WCHAN_LETTERS) == length) {
		snprintf(text, sizeof(text), "in %s", wchan);
		frame = profile_intern_named(sampler->profile, text);
	}
	free(wchan);
	return frame;
}

/* "of interpreter 2": of several such locks. */
static uint32_t
frame_of_runtime(struct sampler *sampler, const struct wait *wait)
{
	const char *name;
	uint64_t lock;

	if (!runtimes_find_lock(sampler->runtimes, wait->object, &lock, &name) || name[0] == '\0')
		return FRAME_NONE;
	return frame_of_text(sampler, name);
}

uint32_t
waits_object(struct sampler *sampler, const struct tracked *thread, struct wait *wait)
{
	enum descriptor_kind kind;
	const char *id;

	if (wait->kind == WAIT_JOIN)
		return frame_of_thread(sampler, wait);
	if (wait->kind == WAIT_DISK || wait->kind == WAIT_FAULT)
		return frame_of_wchan(sampler, thread);
	if (wait->kind == WAIT_CHILD)
		return frame_of_child(sampler, wait->child);
	if (wait->kind == WAIT_GIL)
		return frame_of_runtime(sampler, wait);
	if (wait->object != 0)
		return frame_of_address(sampler, wait->object);
	if (wait->fd < 0)
		return FRAME_NONE;
	kind = descriptor_look(sampler->waits.descriptors, wait->fd, &id);
	if (kind == DESCRIPTOR_GONE)
		return FRAME_NONE;
	wait->kind = wait_kind_of_descriptor(wait, kind);
	return frame_of_descriptor(sampler, wait, id);
}
