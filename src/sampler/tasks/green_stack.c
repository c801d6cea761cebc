/* SPDX-License-Identifier: MIT */
/* green_stack.c - records of green tasks (green_task.h) in the profile, and call chains of these
 * tasks and of the threads that run one. */
#include <string.h>

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"
#include "wallsample/tracer/process_memory.h"

/* Most records of tasks in the profile, except in a dump. Further tasks share a record with those
 * that began with the same function. */
#define RECORDS_MOST 10000

/* --- records of tasks ---------------------------------------------------------------------- */

static uint32_t
enter_profile(struct green_tasks *green, const struct green_task *task,
	      const struct green_task_words *words)
{
	struct stack_state *stacks = &green->process->stacks;
	const size_t known = profile_thread_count(green->run->profile);
	uint32_t number;
	struct profile_thread record = {
		.process = green->process->id,
		.is_green = true,
		.system = task->system,
		.name = profile_intern_text(green->run->profile, words->noun),
		.green_id = task->id,
		.creator = task->creator,
		.entry = FRAME_NONE,
		.created_at = FRAME_NONE,
	};

	if (task->entry != 0)
		record.entry = stacks_frame(stacks, task->entry, true);
	if (task->created_at != 0)
		record.created_at = stacks_frame(stacks, task->created_at, false);
	if (!green->run->config.all_green && green->run->records.green_tasks >= RECORDS_MOST) {
		record.green_id = record.creator = 0;
		record.created_at = FRAME_NONE;
	}
	number = profile_add_green(green->run->profile, &record, task->address);
	green->run->records.green_tasks += profile_thread_count(green->run->profile) - known;
	return number;
}

uint32_t
green_find(struct green_tasks *green, const struct green_task *task,
	   const struct green_task_words *words, uint32_t guess)
{
	struct known_green *known;
	bool added;
	uint32_t at;

	if (guess < green->count && green->known[guess].address == task->address &&
	    green->known[guess].id == task->id && green->known[guess].begins == task->entry)
		return guess;
	at = *table_insert(&green->by_address, task->address, 0, (uint32_t)green->count, &added);
	if (added) {
		green->known = xgrow(green->known, &green->capacity, green->count + 1,
				     sizeof(*green->known));
		green->known[green->count++] = (struct known_green){ .record = THREAD_NONE };
	}
	known = &green->known[at];
	/* A new task may have taken the structure while it was read: the id is then that of the new
	 * task, and `entry` still that of the old one. A later reading corrects that. */
	if (known->record == THREAD_NONE || known->id != task->id || known->begins != task->entry) {
		green->run->stats.green_seen += known->record == THREAD_NONE ||
						known->id != task->id;
		*known = (struct known_green){
			.id = task->id,
			.address = task->address,
			.begins = task->entry,
			.record = enter_profile(green, task, words),
			.carried = known->id == task->id ? known->carried : 0,
		};
	}
	return at;
}

/* --- call chains of tasks ------------------------------------------------------------------ */

static void
set_regs(struct regs *regs, const struct green_task *task)
{
	memset(regs, 0, sizeof(*regs));
	regs_set_sp_pc(regs, task->sp, task->pc);
	if (task->fp != 0)
		regs_set(regs, regs_fp_number, task->fp);
}

/* Returns the snapshot's buffer, with room for `size` bytes of a task's stack. */
static uint8_t *
begin_snapshot(struct green_tasks *green, size_t size)
{
	snapshot_reserve(&green->snapshot, size);
	return green->snapshot.stack;
}

/* Unwinds the snapshot, which has `size` bytes of the task's stack. */
static void
unwind_snapshot(struct green_tasks *green, const struct green_task *task, size_t size)
{
	struct snapshot *snapshot = &green->snapshot;
	const uint64_t room = task->stack_high > task->sp ? task->stack_high - task->sp : 0;
	const uint64_t began = clock_now_ns();

	snapshot->tid = green->process->process->pid;
	snapshot->stack_address = task->sp;
	snapshot->stack_size = size;
	/* If stack_wanted is larger than stack_size, the unwinder takes the end of the copy for the
	 * end of the stack; if they are equal, for the end of a copy that is too short. */
	snapshot->stack_wanted = size >= room ? size + 1 : size;
	snapshot->live_limit = 0;
	set_regs(&snapshot->regs, task);
	unwinder_walk(green->process->unwinder, snapshot, false, &green->chain);
	/* pc is the first instruction of a new task; that of any other task is the return address
	 * of its call into the scheduler. */
	if (green->chain.count > 0)
		green->chain.frame[0].exact = task->pc == task->entry;
	green->run->stats.unwind_ns += clock_now_ns() - began;
	green->run->stats.unwind_frames += green->chain.count;
}

/* Reads the stack up to its end, or config.stack_limit bytes of it, and unwinds it. Returns false
 * if these are no more than the `had` bytes that were unwound before, or not readable. */
static bool
unwind_more(struct green_tasks *green, const struct green_task *task, size_t had)
{
	uint64_t size = task->stack_high > task->sp ? task->stack_high - task->sp : 0;
	struct memory_piece piece = { .address = task->sp };

	if (size > green->run->config.stack_limit)
		size = green->run->config.stack_limit;
	if (size <= had)
		return false;
	piece.size = (size_t)size;
	if (green_read_memory(green, &piece, 1, begin_snapshot(green, piece.size)) != 1)
		return false;
	unwind_snapshot(green, task, piece.size);
	return true;
}

/* Returns a stack with one frame, which names the runtime. It is used as the caller of the
 * outermost frame of code or tasks that belong to the runtime itself. */
static uint32_t
runtime_root(struct green_tasks *green, const struct green_task_words *words)
{
	return stack_of_text(green->run->profile, words->own, STACK_NONE);
}

uint64_t
green_hash(const uint8_t *bytes, size_t size)
{
	uint64_t sum = size, word;

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 29;
	}
	return hash_u64(sum);
}

void
green_unwind(struct green_tasks *green, struct green_reading *reading,
	     const struct green_task_words *words)
{
	const struct green_task *task = &reading->value;

	memcpy(begin_snapshot(green, reading->size), reading->bytes, reading->size);
	unwind_snapshot(green, task, reading->size);
	reading->more = green->chain.end == CHAIN_STACK_LIMIT &&
			unwind_more(green, task, reading->size);
	green->run->stats.green_stacks++;
	green->run->stats.chains[green->chain.end]++;
	reading->stack = stacks_intern(&green->process->stacks, &green->chain, NULL,
				       green->run->tick.number,
				       task->system ? runtime_root(green, words) : STACK_NONE);
	reading->size = green->chain.stack_used / sizeof(uint64_t) * sizeof(uint64_t);
	if (reading->size > green->snapshot.stack_size)
		reading->size = green->snapshot.stack_size;
	reading->hash = green_hash(green->snapshot.stack, reading->size);
}

bool
green_stack_is(struct green_tasks *green, uint64_t sp, size_t size, uint64_t sum)
{
	const struct memory_piece piece = { .address = sp, .size = size };
	uint8_t *bytes = begin_snapshot(green, size);

	return green_read_memory(green, &piece, 1, bytes) == 1 && green_hash(bytes, size) == sum;
}

/* --- threads that run a task ---------------------------------------------------------------- */

/* True if the chain has a frame on the task's stack. Unwinding may have begun on another stack,
 * such as a signal stack, and have reached the task's stack from there. */
static bool
reaches_stack(const struct chain *chain, const struct green_task *task)
{
	for (size_t i = 0; i < chain->count; i++)
		if (chain->frame[i].sp >= task->stack_low && chain->frame[i].sp < task->stack_high)
			return true;
	return false;
}

/* Appends the call chain of the task's own stack to a chain of frames on another stack. */
static void
append_green_frames(struct green_tasks *green, struct chain *to, const struct green_task *task,
		    const uint8_t *bytes, size_t size)
{
	const struct chain *from = &green->chain;

	memcpy(begin_snapshot(green, size), bytes, size);
	unwind_snapshot(green, task, size);
	for (size_t i = 0; i < from->count; i++) {
		const struct chain_frame *frame = &from->frame[i];

		if (!chain_add(to, frame->address, frame->sp, frame->origin, frame->exact))
			return;
	}
	to->end = from->end;
	to->end_address = from->end_address;
}

uint32_t
green_of_thread(struct green_tasks *green, struct runtime_capture *capture, struct chain *chain,
		uint32_t *root)
{
	const struct green_task_words *words;
	const uint8_t *bytes = NULL;
	struct known_green *known;
	struct green_task task;
	uint32_t number;
	size_t size = 0;

	*root = STACK_NONE;
	if (capture == NULL || !runtime_capture_green_task(capture, &task, &words, &bytes, &size))
		return THREAD_NONE;
	if (task.state != GREEN_TASK_NONE && task.pc != 0 && size > 0 && chain != NULL &&
	    chain->count > 0 && !reaches_stack(chain, &task))
		append_green_frames(green, chain, &task, bytes, size);
	if (green->run->config.threads_only)
		return THREAD_NONE;
	if (task.state == GREEN_TASK_NONE || task.system)
		*root = runtime_root(green, words);
	if (task.state == GREEN_TASK_NONE)
		return THREAD_NONE;
	/* `known` is set after green_find, which may move green->known. */
	number = green_find(green, &task, words, UINT32_MAX);
	known = &green->known[number];
	known->carried = green->run->tick.number;
	return known->record;
}
