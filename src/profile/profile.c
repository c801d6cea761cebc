/* SPDX-License-Identifier: MIT */
/*
 * profile.c - what was sampled, in flat arrays: frames, stacks, threads, summed
 * samples; each kind found again through a hash table of its whole key.
 */
#include "profile/profile_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"

const char *
weight_word(enum weight weight)
{
	static const char *const words[] = {
#define X(name, title, word) word,
		WEIGHTS(X)
#undef X
	};

	return words[weight];
}

struct profile *
profile_create(void)
{
	struct profile *profile = xcalloc(1, sizeof(*profile));

	profile->texts = strings_create();
	table_init(&profile->frame_table);
	table_init(&profile->bytecode_table);
	table_init(&profile->script_table);
	table_init(&profile->stack_table);
	table_init(&profile->thread_table);
	table_init(&profile->wait_table);
	table_init(&profile->doing_table);
	table_init(&profile->entry_table);
	table_init(&profile->blame_table);
	table_init(&profile->deadlock_table);
	profile_add_wait(profile, &(struct profile_wait){ .object = FRAME_NONE });
	return profile;
}

void
profile_free(struct profile *profile)
{
	if (profile == NULL)
		return;
	table_release(&profile->frame_table);
	table_release(&profile->bytecode_table);
	table_release(&profile->script_table);
	table_release(&profile->stack_table);
	table_release(&profile->thread_table);
	table_release(&profile->wait_table);
	table_release(&profile->doing_table);
	table_release(&profile->entry_table);
	table_release(&profile->blame_table);
	table_release(&profile->deadlock_table);
	free(profile->frame);
	free(profile->renamed);
	free(profile->stack);
	free(profile->thread);
	free(profile->wait);
	free(profile->entry);
	free(profile->blame);
	for (size_t i = 0; i < profile->deadlock_count; i++)
		free(profile->deadlock[i].stuck);
	free(profile->deadlock);
	free(profile->parallelism);
	strings_free(profile->texts);
	free(profile);
}

void
profile_set_recorder(struct profile *profile, const struct profile_recorder *recorder)
{
	profile->recorder = recorder;
}

uint32_t
profile_intern_text(struct profile *profile, const char *text)
{
	return strings_intern(profile->texts, text);
}

const char *
profile_text(const struct profile *profile, uint32_t id)
{
	return strings_text(profile->texts, id);
}

/* The number of the frame in the table, which is a fresh one's if it was not there. */
static uint32_t
place_frame(struct profile *profile, uint32_t number, bool added,
	    const struct profile_frame *frame)
{
	if (!added)
		return number;
	profile->frame = xgrow(profile->frame, &profile->frame_capacity,
			       profile->frame_count + 1, sizeof(*profile->frame));
	profile->frame[profile->frame_count++] = *frame;
	return number;
}

uint32_t
profile_intern_frame(struct profile *profile, const struct profile_frame *frame)
{
	/* Of epochs, of which there are few, 24 bits are enough to tell them apart. */
	const uint64_t epoch = frame->epoch & 0xffffff;
	const uint64_t a = (uint64_t)frame->module << 32 | epoch << 8 | frame->origin;
	bool added;
	uint32_t id = *table_place(&profile->frame_table, a, frame->address,
				   (uint32_t)profile->frame_count, &added);

	if (frame->bytecode == 0)
		return place_frame(profile, id, added, frame);
	if (added) {
		struct profile_frame plain = *frame;

		plain.bytecode = plain.bytecode_size = 0;
		place_frame(profile, id, added, &plain);
	}
	id = *table_place(&profile->bytecode_table, (uint64_t)id << 32 | frame->bytecode_size,
			  frame->bytecode, (uint32_t)profile->frame_count, &added);
	return place_frame(profile, id, added, frame);
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
profile_intern_named(struct profile *profile, const char *name)
{
	const struct profile_frame frame = {
		.module = MODULE_NONE,
		.named = (uint8_t)named_frame_of(name),
		.address = profile_intern_text(profile, name),
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
	bool added;
	const uint32_t id = *table_place(&profile->script_table, (uint64_t)name << 32 | file, line,
					 (uint32_t)profile->frame_count, &added);

	return place_frame(profile, id, added, &frame);
}

void
profile_rename_frame(struct profile *profile, uint32_t frame, const char *name)
{
	profile->frame[frame].address = profile_intern_text(profile, name);
	profile->frame[frame].named = (uint8_t)named_frame_of(name);
	profile->renamed = xgrow(profile->renamed, &profile->renamed_capacity,
				 profile->renamed_count + 1, sizeof(*profile->renamed));
	profile->renamed[profile->renamed_count++] = frame;
}

uint32_t
profile_intern_stack(struct profile *profile, uint32_t frame, uint32_t caller)
{
	const uint32_t fresh = (uint32_t)profile->stack_count;
	bool added;
	const uint32_t id = *table_place(&profile->stack_table, frame, caller, fresh, &added);

	if (!added)
		return id;
	profile->stack = xgrow(profile->stack, &profile->stack_capacity,
			       profile->stack_count + 1, sizeof(*profile->stack));
	profile->stack[profile->stack_count++] =
		(struct profile_stack){ .frame = frame, .caller = caller };
	return id;
}

uint32_t
profile_add_thread(struct profile *profile, pid_t tid, uint64_t start_time, const char *name)
{
	const uint32_t fresh = (uint32_t)profile->thread_count;
	bool added;
	const uint32_t id = *table_place(&profile->thread_table, (uint64_t)tid, start_time,
					 fresh, &added);

	if (added) {
		profile->thread = xgrow(profile->thread, &profile->thread_capacity,
					profile->thread_count + 1, sizeof(*profile->thread));
		profile->thread[profile->thread_count++] = (struct profile_thread){
			.tid = tid,
			.start_time = start_time,
			.entry = FRAME_NONE,
			.created_at = FRAME_NONE,
		};
	}
	profile_rename_thread(profile, id, name);
	return id;
}

uint32_t
profile_add_task(struct profile *profile, const struct profile_thread *task, uint64_t address)
{
	/* Mixed: one address has tasks of near numbers, one after the other, with near frames. */
	const uint64_t kind = hash_u64((uint64_t)task->name << 32 | task->entry);
	bool added;
	/* No thread has an id that large. */
	const uint32_t id = *table_place(&profile->thread_table,
					 UINT64_C(1) << 63 | (kind ^ task->task_id),
					 task->task_id != 0 ? address : 0,
					 (uint32_t)profile->thread_count, &added);

	if (added) {
		profile->thread = xgrow(profile->thread, &profile->thread_capacity,
					profile->thread_count + 1, sizeof(*profile->thread));
		profile->thread[profile->thread_count++] = *task;
	}
	return id;
}

void
profile_set_waiting(struct profile *profile, uint32_t task, uint64_t waiting_ns)
{
	profile->thread[task].waiting_ns = waiting_ns;
}

void
profile_rename_thread(struct profile *profile, uint32_t thread, const char *name)
{
	profile->thread[thread].name = profile_intern_text(profile, name);
}

uint32_t
profile_add(struct profile *profile, const struct profile_entry *sample)
{
	const uint64_t a = (uint64_t)sample->thread << 32 | sample->stack;
	const uint64_t b = (uint64_t)sample->gil << 40 | (uint64_t)sample->state << 32 |
			   (uint32_t)sample->syscall;
	const uint64_t c = (uint64_t)sample->carrier << 32 | sample->wait;
	const uint32_t doing = *table_place(&profile->doing_table, b, c,
					    (uint32_t)profile->doing_table.count, NULL);
	const uint32_t fresh = (uint32_t)profile->entry_count;
	bool added;
	const uint32_t id = *table_place(&profile->entry_table, a, doing, fresh, &added);

	if (profile->recorder != NULL)
		profile->recorder->sample(profile->recorder->context, sample);
	if (!added) {
		profile->entry[id].samples += sample->samples;
		for (int w = 0; w < WEIGHT_COUNT; w++)
			profile->entry[id].ns[w] += sample->ns[w];
		return id;
	}
	profile->entry = xgrow(profile->entry, &profile->entry_capacity,
			       profile->entry_count + 1, sizeof(*profile->entry));
	profile->entry[profile->entry_count++] = *sample;
	return id;
}

void
profile_add_again(struct profile *profile, uint32_t entry, int64_t samples, int64_t wall_ns)
{
	struct profile_entry *to = &profile->entry[entry], sample = *to;

	to->samples += samples;
	to->ns[WEIGHT_WALL] += wall_ns;
	if (profile->recorder == NULL)
		return;
	memset(sample.ns, 0, sizeof(sample.ns));
	sample.samples = samples;
	sample.ns[WEIGHT_WALL] = wall_ns;
	profile->recorder->sample(profile->recorder->context, &sample);
}

void
profile_charge(struct profile *profile, uint32_t entry, int64_t latency_ns)
{
	profile->entry[entry].ns[WEIGHT_LATENCY] += latency_ns;
	if (profile->recorder != NULL)
		profile->recorder->charge(profile->recorder->context, &profile->entry[entry],
					  latency_ns);
}

void
profile_set_ready(struct profile *profile, uint32_t ready)
{
	profile->ready = ready;
}

double
profile_ready_ns(const struct profile *profile)
{
	return profile->ready_ns;
}

uint32_t
profile_ready_most(const struct profile *profile)
{
	return profile->ready_most;
}

void
profile_add_tick(struct profile *profile, uint64_t span_ns, uint32_t parallelism,
		 uint32_t runnable)
{
	struct profile_parallelism *row;

	if (profile->recorder != NULL)
		profile->recorder->tick(profile->recorder->context, span_ns, parallelism,
					runnable, profile->ready);
	profile->ready_ns += (double)profile->ready * (double)span_ns;
	if (profile->ready > profile->ready_most)
		profile->ready_most = profile->ready;
	profile->ready = 0;

	while (profile->parallelism_count <= parallelism) {
		profile->parallelism =
			xgrow(profile->parallelism, &profile->parallelism_capacity,
			      profile->parallelism_count + 1, sizeof(*profile->parallelism));
		profile->parallelism[profile->parallelism_count++] =
			(struct profile_parallelism){ 0 };
	}
	row = &profile->parallelism[parallelism];
	row->ticks++;
	row->time_ns += span_ns;
	row->cpu_ns += span_ns * parallelism;
	row->alone_ns += runnable <= 1 ? span_ns : 0;
	row->time_squares += (double)span_ns * (double)span_ns;
	profile->ticks++;
	profile->wall_ns += span_ns;
}

size_t
profile_parallelism_count(const struct profile *profile)
{
	return profile->parallelism_count;
}

const struct profile_parallelism *
profile_parallelism(const struct profile *profile, size_t parallelism)
{
	return &profile->parallelism[parallelism];
}

size_t
profile_frame_count(const struct profile *profile)
{
	return profile->frame_count;
}

size_t
profile_stack_count(const struct profile *profile)
{
	return profile->stack_count;
}

size_t
profile_thread_count(const struct profile *profile)
{
	return profile->thread_count;
}

size_t
profile_renamed_count(const struct profile *profile)
{
	return profile->renamed_count;
}

uint32_t
profile_renamed(const struct profile *profile, size_t index)
{
	return profile->renamed[index];
}

size_t
profile_entry_count(const struct profile *profile)
{
	return profile->entry_count;
}

uint64_t
profile_tick_count(const struct profile *profile)
{
	return profile->ticks;
}

uint64_t
profile_wall_ns(const struct profile *profile)
{
	return profile->wall_ns;
}

const struct profile_frame *
profile_frame(const struct profile *profile, uint32_t id)
{
	return &profile->frame[id];
}

const struct profile_stack *
profile_stack(const struct profile *profile, uint32_t id)
{
	return &profile->stack[id];
}

const struct profile_thread *
profile_thread(const struct profile *profile, uint32_t id)
{
	return &profile->thread[id];
}

const struct profile_entry *
profile_entry(const struct profile *profile, size_t index)
{
	return &profile->entry[index];
}
