/* SPDX-License-Identifier: MIT */
/* profile_names.c - interns texts, frames, stacks, processes, threads and waits. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/module.h"
#include "wallsample/unwind/chain.h"

/* Appends `value` to the array names->kind. */
#define APPEND(names, kind, value)                                                                 \
	((names)->kind = xgrow((names)->kind, &(names)->kind##_capacity,                           \
			       (names)->kind##_count + 1, sizeof(*(names)->kind)),                 \
	 (names)->kind[(names)->kind##_count++] = (value))

struct profile_names *
names_create(void)
{
	struct profile_names *names = xcalloc(1, sizeof(*names));

	names->texts = strings_create();
	return names;
}

void
names_free(struct profile_names *names)
{
	for (int i = 0; i < NAMES_TABLES; i++)
		table_release(&names->table[i]);
	free(names->frame);
	free(names->renamed);
	free(names->stack);
	free(names->process);
	free(names->thread);
	free(names->wait);
	strings_free(names->texts);
	free(names);
}

/* --- texts and frames ------------------------------------------------------------------------ */

uint32_t
profile_intern_text(struct profile *profile, const char *text)
{
	return strings_intern(profile->names->texts, text);
}

const char *
profile_text(const struct profile *profile, uint32_t id)
{
	return strings_text(profile->names->texts, id);
}

uint32_t
profile_intern_frame(struct profile *profile, const struct profile_frame *frame)
{
	/* A profile has few epochs: the lowest 24 bits of an epoch identify it. */
	const uint64_t epoch = frame->epoch & 0xffffff;
	const uint64_t a = (uint64_t)frame->module << 32 | epoch << 8 | frame->origin;
	struct profile_names *names = profile->names;
	struct profile_frame plain = *frame;
	bool added;
	uint32_t id = *table_insert(&names->table[NAMES_FRAME], a, frame->address,
				    (uint32_t)names->frame_count, &added);

	plain.bytecode = plain.bytecode_size = 0;
	if (added)
		APPEND(names, frame, plain);
	if (frame->bytecode == 0)
		return id;
	id = *table_insert(&names->table[NAMES_BYTECODE], (uint64_t)id << 32 | frame->bytecode_size,
			   frame->bytecode, (uint32_t)names->frame_count, &added);
	if (added)
		APPEND(names, frame, *frame);
	return id;
}

enum named_frame
named_frame_of(const char *text)
{
	static const struct {
		enum named_frame kind;
		const char *text;
	} rows[] = {
#define X(name, text) { NAMED_##name, text },
		NAMED_FRAMES(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const size_t length = strlen(rows[i].text);

		if (strncmp(text, rows[i].text, length) == 0 &&
		    (rows[i].text[length - 1] != ']' || text[length] == '\0'))
			return rows[i].kind;
	}
	return NAMED_OTHER;
}

uint32_t
profile_intern_named(struct profile *profile, const char *text)
{
	const struct profile_frame frame = {
		.module = MODULE_NONE,
		.named = (uint8_t)named_frame_of(text),
		.address = profile_intern_text(profile, text),
	};

	return profile_intern_frame(profile, &frame);
}

uint32_t
profile_intern_script(struct profile *profile, uint32_t name, uint32_t file, uint32_t line)
{
	const struct profile_frame frame = {
		.module = MODULE_NONE,
		.origin = FRAME_SCRIPT,
		.address = name,
		.file = file,
		.line = line,
	};
	struct profile_names *names = profile->names;
	bool added;
	const uint32_t id = *table_insert(&names->table[NAMES_SCRIPT], (uint64_t)name << 32 | file,
					  line, (uint32_t)names->frame_count, &added);

	if (added)
		APPEND(names, frame, frame);
	return id;
}

void
profile_rename_frame(struct profile *profile, uint32_t frame, const char *text)
{
	struct profile_names *names = profile->names;

	names->frame[frame].address = profile_intern_text(profile, text);
	names->frame[frame].named = (uint8_t)named_frame_of(text);
	APPEND(names, renamed, frame);
}

size_t
profile_renamed_count(const struct profile *profile)
{
	return profile->names->renamed_count;
}

uint32_t
profile_renamed(const struct profile *profile, size_t index)
{
	return profile->names->renamed[index];
}

static int
compare_addresses(const void *left, const void *right, void *frames)
{
	const uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
	const struct profile_frame *a = &((const struct profile_frame *)frames)[l];
	const struct profile_frame *b = &((const struct profile_frame *)frames)[r];

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (l > r) - (l < r);
}

uint32_t *
profile_frames_by_address(const struct profile *profile)
{
	const size_t count = profile->names->frame_count;
	uint32_t *order = xcalloc(count + 1, sizeof(*order));

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_addresses, profile->names->frame);
	return order;
}

size_t
profile_frame_count(const struct profile *profile)
{
	return profile->names->frame_count;
}

const struct profile_frame *
profile_frame(const struct profile *profile, uint32_t id)
{
	return &profile->names->frame[id];
}

/* --- stacks ----------------------------------------------------------------------------------- */

uint32_t
profile_intern_stack(struct profile *profile, uint32_t frame, uint32_t caller)
{
	const struct profile_stack stack = { .frame = frame, .caller = caller };
	struct profile_names *names = profile->names;
	bool added;
	const uint32_t id = *table_insert(&names->table[NAMES_STACK], frame, caller,
					  (uint32_t)names->stack_count, &added);

	if (added)
		APPEND(names, stack, stack);
	return id;
}

size_t
profile_stack_count(const struct profile *profile)
{
	return profile->names->stack_count;
}

const struct profile_stack *
profile_stack(const struct profile *profile, uint32_t id)
{
	return &profile->names->stack[id];
}

/* --- processes and threads ------------------------------------------------------------------- */

uint32_t
profile_add_process(struct profile *profile, pid_t pid, uint64_t start_time, const char *name,
		    const char *cmdline)
{
	const struct profile_process process = { .pid = pid, .start_time = start_time };
	struct profile_names *names = profile->names;
	bool added;
	const uint32_t id = *table_insert(&names->table[NAMES_PROCESS], (uint64_t)pid, start_time,
					  (uint32_t)names->process_count, &added);

	if (added)
		APPEND(names, process, process);
	names->process[id].name = profile_intern_text(profile, name);
	names->process[id].cmdline = profile_intern_text(profile, cmdline);
	return id;
}

void
profile_set_parent(struct profile *profile, uint32_t process, pid_t parent)
{
	profile->names->process[process].parent = parent;
}

size_t
profile_process_count(const struct profile *profile)
{
	return profile->names->process_count;
}

const struct profile_process *
profile_process(const struct profile *profile, uint32_t id)
{
	return &profile->names->process[id];
}

/* Returns the id of the thread with the key (a, b), which is added if there is none. */
static uint32_t
intern_thread(struct profile_names *names, uint64_t a, uint64_t b,
	      const struct profile_thread *thread)
{
	bool added;
	const uint32_t id = *table_insert(&names->table[NAMES_THREAD], a, b,
					  (uint32_t)names->thread_count, &added);

	if (added)
		APPEND(names, thread, *thread);
	return id;
}

uint32_t
profile_add_thread(struct profile *profile, uint32_t process, pid_t tid, uint64_t start_time,
		   const char *name)
{
	const struct profile_thread thread = {
		.process = process,
		.tid = tid,
		.start_time = start_time,
		.entry = FRAME_NONE,
		.created_at = FRAME_NONE,
	};
	const uint32_t id = intern_thread(profile->names, (uint64_t)process << 32 | (uint32_t)tid,
					  start_time, &thread);

	profile_rename_thread(profile, id, name);
	return id;
}

uint32_t
profile_add_green(struct profile *profile, const struct profile_thread *task, uint64_t address)
{
	/*
	 * Name and entry frame are hashed before they are combined with green_id by XOR: green
	 * tasks that reuse an address have similar ids and entry frames, and without the hash two
	 * different pairs could give the same result.
	 */
	const uint64_t kind = hash_u64(hash_u64((uint64_t)task->name << 32 | task->entry) ^
				       task->process);

	/* The highest bit, which no thread id has, distinguishes green tasks from threads. */
	return intern_thread(profile->names, UINT64_C(1) << 63 | (kind ^ task->green_id),
			     task->green_id != 0 ? address : 0, task);
}

/*
 * No other thread has tid 0 and this start time: apart from the thread for unknown holders, only
 * shared records have tid 0 (thread_records.c).
 */
#define NO_THREAD_TIME 1

uint32_t
profile_no_thread(struct profile *profile)
{
	return profile_add_thread(profile, PROCESS_FIRST, 0, NO_THREAD_TIME, "[no thread]");
}

bool
profile_is_no_thread(const struct profile *profile, uint32_t thread)
{
	const struct profile_thread *of = profile_thread(profile, thread);

	return of->tid == 0 && !of->is_green && of->start_time == NO_THREAD_TIME;
}

void
profile_set_waiting(struct profile *profile, uint32_t thread, uint64_t waiting_ns)
{
	profile->names->thread[thread].waiting_ns = waiting_ns;
}

void
profile_rename_thread(struct profile *profile, uint32_t thread, const char *name)
{
	profile->names->thread[thread].name = profile_intern_text(profile, name);
}

size_t
profile_thread_count(const struct profile *profile)
{
	return profile->names->thread_count;
}

const struct profile_thread *
profile_thread(const struct profile *profile, uint32_t id)
{
	return &profile->names->thread[id];
}

/* --- waits ------------------------------------------------------------------------------------ */

uint32_t
profile_add_wait(struct profile *profile, const struct profile_wait *wait)
{
	const uint64_t kind = (uint64_t)wait->kind << 1 | wait->timed;
	struct profile_names *names = profile->names;
	bool added;
	const uint32_t id = *table_insert(&names->table[NAMES_WAIT], kind, wait->object,
					  (uint32_t)names->wait_count, &added);

	if (added)
		APPEND(names, wait, *wait);
	profile_raise_most(profile, id, wait->most);
	return id;
}

void
profile_raise_most(struct profile *profile, uint32_t wait, uint32_t most)
{
	if (most > profile->names->wait[wait].most)
		profile->names->wait[wait].most = most;
}

size_t
profile_wait_count(const struct profile *profile)
{
	return profile->names->wait_count;
}

const struct profile_wait *
profile_wait(const struct profile *profile, uint32_t id)
{
	return &profile->names->wait[id];
}
