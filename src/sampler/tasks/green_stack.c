/* SPDX-License-Identifier: MIT */
/* green_stack.c - call chains of tasks, and what a thread's own has of the task that it runs. */
#include <string.h>

#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/memory.h"

/* Others share a record with those that began with the same function, as threads do. */
#define MOST_UNITS 10000

/* --- who it is -------------------------------------------------------------------------------- */

static uint32_t
enter_profile(struct sampler *sampler, const struct green_task *task,
	      const struct green_task_words *words)
{
	struct stack_state *stacks = &sampler->stacks;
	const size_t known = profile_thread_count(sampler->profile);
	uint32_t number;
	struct profile_thread unit = {
		.is_task = true,
		.system = task->system,
		.name = profile_intern_text(sampler->profile, words->noun),
		.task_id = task->id,
		.creator = task->creator,
		.entry = FRAME_NONE,
		.created_at = FRAME_NONE,
	};

	if (task->entry != 0)
		unit.entry = stacks_frame(stacks, task->entry, true);
	if (task->created_at != 0)
		unit.created_at = stacks_frame(stacks, task->created_at, false);
	if (!sampler->config.all_tasks && sampler->tasks.units >= MOST_UNITS) {
		unit.task_id = unit.creator = 0;
		unit.created_at = FRAME_NONE;
	}
	number = profile_add_task(sampler->profile, &unit, task->address);
	sampler->tasks.units += profile_thread_count(sampler->profile) - known;
	return number;
}

uint32_t
task_find(struct sampler *sampler, const struct green_task *task,
	  const struct green_task_words *words, uint32_t guess)
{
	struct tasks *tasks = &sampler->tasks;
	struct tracked_task *of;
	bool added;
	uint32_t at;

	if (guess < tasks->count && tasks->task[guess].address == task->address &&
	    tasks->task[guess].id == task->id && tasks->task[guess].begins == task->entry)
		return guess;
	at = *table_place(&tasks->by_address, task->address, 0, (uint32_t)tasks->count, &added);
	if (added) {
		tasks->task = xgrow(tasks->task, &tasks->capacity, tasks->count + 1,
				    sizeof(*tasks->task));
		tasks->task[tasks->count++] = (struct tracked_task){ .unit = THREAD_NONE };
	}
	of = &tasks->task[at];
	/* Of one that was read while another began in it the function may be the old one's. */
	if (of->unit == THREAD_NONE || of->id != task->id || of->begins != task->entry) {
		sampler->stats.tasks_seen += of->unit == THREAD_NONE || of->id != task->id;
		*of = (struct tracked_task){
			.id = task->id,
			.address = task->address,
			.begins = task->entry,
			.unit = enter_profile(sampler, task, words),
			.carried = of->id == task->id ? of->carried : 0,
		};
	}
	return at;
}

/* --- its call chain ----------------------------------------------------------------------- */

static void
set_regs(struct regs *regs, const struct green_task *task)
{
	memset(regs, 0, sizeof(*regs));
	regs_set_sp_pc(regs, task->sp, task->pc);
	if (task->fp != 0)
		regs_set(regs, regs_fp_number, task->fp);
}

/* Room for so much of its stack. */
static uint8_t *
begin_snapshot(struct sampler *sampler, size_t size)
{
	snapshot_reserve(&sampler->tasks.snapshot, size);
	return sampler->tasks.snapshot.stack;
}

/* Walks the snapshot, which has so much of its stack. */
static void
walk(struct sampler *sampler, const struct green_task *task, size_t size)
{
	struct tasks *tasks = &sampler->tasks;
	struct snapshot *snapshot = &tasks->snapshot;
	const uint64_t room = task->stack_high > task->sp ? task->stack_high - task->sp : 0;
	const uint64_t began = clock_now_ns();

	snapshot->tid = sampler->process->pid;
	snapshot->stack_address = task->sp;
	snapshot->stack_size = size;
	/* Where there is no more than that the stack is at its end, not the copy. */
	snapshot->stack_wanted = size >= room ? size + 1 : size;
	snapshot->live_limit = 0;
	set_regs(&snapshot->regs, task);
	unwinder_walk(sampler->unwinder, snapshot, false, &tasks->chain);
	/* What has called its scheduler goes on behind that call; what is new, where it begins. */
	if (tasks->chain.count > 0)
		tasks->chain.frame[0].exact = task->pc == task->entry;
	sampler->stats.unwind_ns += clock_now_ns() - began;
	sampler->stats.unwind_frames += tasks->chain.count;
}

/* The same with more of its stack than was copied with others'. False: there is no more. */
static bool
walk_more(struct sampler *sampler, const struct green_task *task, size_t had)
{
	uint64_t size = task->stack_high > task->sp ? task->stack_high - task->sp : 0;
	struct memory_piece piece = { .address = task->sp };

	if (size > sampler->config.stack_limit)
		size = sampler->config.stack_limit;
	if (size <= had)
		return false;
	piece.size = (size_t)size;
	if (tasks_read_memory(sampler, &piece, 1, begin_snapshot(sampler, piece.size)) != 1)
		return false;
	walk(sampler, task, piece.size);
	return true;
}

static uint32_t
own_root(struct sampler *sampler, const struct green_task_words *words)
{
	return profile_intern_stack(sampler->profile,
				    profile_intern_named(sampler->profile, words->own),
				    STACK_NONE);
}

void
task_read_pieces(struct sampler *sampler, const struct memory_piece *piece, size_t count,
		 uint8_t *to, bool *got)
{
	for (size_t at = 0; at < count;) {
		const size_t whole = tasks_read_memory(sampler, piece + at, count - at, to);

		/* The one that cannot be read is passed over. */
		for (size_t i = 0; i <= whole && at < count; i++, at++) {
			got[at] = i < whole;
			to += piece[at].size;
		}
	}
}

uint64_t
task_bytes_sum(const uint8_t *bytes, size_t size)
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
task_walk(struct sampler *sampler, struct task_sight *sight, const struct green_task_words *words)
{
	struct tasks *tasks = &sampler->tasks;
	const struct green_task *task = &sight->task;

	memcpy(begin_snapshot(sampler, sight->size), sight->bytes, sight->size);
	walk(sampler, task, sight->size);
	sight->more = tasks->chain.end == CHAIN_STACK_LIMIT &&
		      walk_more(sampler, task, sight->size);
	sampler->stats.task_stacks++;
	sampler->stats.chains[tasks->chain.end]++;
	sight->stack = stack_intern(sampler, &tasks->chain, NULL,
				    task->system ? own_root(sampler, words) : STACK_NONE);
	sight->size = tasks->chain.stack_used / sizeof(uint64_t) * sizeof(uint64_t);
	if (sight->size > tasks->snapshot.stack_size)
		sight->size = tasks->snapshot.stack_size;
	sight->sum = task_bytes_sum(tasks->snapshot.stack, sight->size);
}

bool
task_stack_is(struct sampler *sampler, uint64_t sp, size_t size, uint64_t sum)
{
	const struct memory_piece piece = { .address = sp, .size = size };
	uint8_t *bytes = begin_snapshot(sampler, size);

	return tasks_read_memory(sampler, &piece, 1, bytes) == 1 &&
	       task_bytes_sum(bytes, size) == sum;
}

/* --- the thread that runs it -------------------------------------------------------------- */

/* Does the thread's own chain lead onto the task's stack? From a signal's stack, say. */
static bool
reaches(const struct chain *chain, const struct green_task *task)
{
	for (size_t i = 0; i < chain->count; i++)
		if (chain->frame[i].sp >= task->stack_low && chain->frame[i].sp < task->stack_high)
			return true;
	return false;
}

/* Behind what runs on another stack comes the task's own. */
static void
join(struct sampler *sampler, const struct green_task *task, const uint8_t *bytes, size_t size)
{
	const struct chain *from = &sampler->tasks.chain;
	struct chain *to = &sampler->chain;

	memcpy(begin_snapshot(sampler, size), bytes, size);
	walk(sampler, task, size);
	for (size_t i = 0; i < from->count; i++) {
		const struct chain_frame *frame = &from->frame[i];

		if (!chain_add(to, frame->address, frame->sp, frame->origin, frame->exact))
			return;
	}
	to->end = from->end;
	to->end_address = from->end_address;
}

uint32_t
tasks_of_thread(struct sampler *sampler, struct tracked *thread, struct runtime_capture *capture)
{
	const struct green_task_words *words;
	const uint8_t *bytes = NULL;
	struct tracked_task *of;
	struct green_task task;
	uint32_t number;
	size_t size = 0;

	thread->task = THREAD_NONE;
	if (capture == NULL || !runtime_capture_green_task(capture, &task, &words, &bytes, &size))
		return STACK_NONE;
	if (task.state != GREEN_TASK_NONE && task.pc != 0 && size > 0 && sampler->chain.count > 0 &&
	    !reaches(&sampler->chain, &task))
		join(sampler, &task, bytes, size);
	if (sampler->config.threads_only)
		return STACK_NONE;
	if (task.state == GREEN_TASK_NONE)
		return own_root(sampler, words);
	number = task_find(sampler, &task, words, UINT32_MAX);
	of = &sampler->tasks.task[number];
	of->carried = sampler->tick;
	thread->task = of->unit;
	return task.system ? own_root(sampler, words) : STACK_NONE;
}
