/* SPDX-License-Identifier: MIT */
/* sim_runtime.c - reads the runtime of targets/sim_tasks.c from outside. */
#include "sim_runtime.h"

#include <stdlib.h>
#include <string.h>

#include "targets/sim_tasks.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/symbol_search.h"

#define TASKS_MOST 1000000
#define LOOKS_AT_ONCE 512
#define SEARCH_BYTES (UINT64_C(64) << 20)
/* So much of a task's own stack is copied with its thread. */
#define STACK_COPY 4096

struct sim {
	const struct runtime_tools *tools;
	uint64_t address;       /* of sim_runtime; 0: not found yet */
	struct sim_runtime own; /* as it was at this tick */
	bool there, counts;
	size_t told;            /* so many workers are known to the sampler */
	pid_t tid[SIM_WORKERS_MOST]; /* as we call them */
	uint8_t *looks;         /* LOOKS_AT_ONCE structures */
};

struct sim_captured {
	bool is_worker, runs;
	uint64_t sp, address;
	uint8_t bytes[sizeof(struct sim_task)];
	pid_t tid;
	uint8_t stack[STACK_COPY];
	size_t stack_size;
};

static void *
create(const struct runtime_tools *tools)
{
	struct sim *sim = xcalloc(1, sizeof(*sim));

	sim->tools = tools;
	sim->looks = xcalloc(LOOKS_AT_ONCE, SIM_REGS_END);
	return sim;
}

static void *
create_counting(const struct runtime_tools *tools)
{
	struct sim *sim = create(tools);

	sim->counts = true;
	return sim;
}

static void
sim_free(void *state)
{
	struct sim *sim = state;

	free(sim->looks);
	free(sim);
}

static bool
read_memory(const struct sim *sim, uint64_t address, void *to, size_t size)
{
	return sim->tools->memory.read(sim->tools->memory.context, address, to, size);
}

/* --- what there is --------------------------------------------------------------------------- */

static void
find(struct sim *sim)
{
	static const struct symbol_wanted wanted = { .name = "sim_runtime" };
	struct maps *maps = sim->tools->config->maps;

	for (size_t i = 0; i < maps_count(maps) && sim->address == 0; i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct symbol_search_found *found;
		uint64_t budget = SEARCH_BYTES;
		struct symbol_search search;

		if (mapping->image == NULL)
			continue;
		symbol_search_init(&search, mapping->image, &wanted, 1);
		symbol_search_step(&search, &budget);
		found = symbol_search_first(&search, 0);
		if (found != NULL)
			sim->address = found->vaddr + mapping->bias;
	}
}

static void
tick(void *state, uint64_t now_ns)
{
	struct sim *sim = state;
	const struct runtimes_config *config = sim->tools->config;

	(void)now_ns;
	if (sim->address == 0)
		find(sim);
	sim->there = sim->address != 0 &&
		     read_memory(sim, sim->address, &sim->own, sizeof(sim->own)) &&
		     sim->own.magic == SIM_MAGIC && sim->own.task_count <= TASKS_MOST &&
		     sim->own.worker_count <= SIM_WORKERS_MOST;
	for (size_t i = 0; sim->there && i < sim->own.worker_count; i++)
		sim->tid[i] = config->thread(config->context, sim->own.worker[i].tid);
}

static pid_t
next_new(void *state)
{
	struct sim *sim = state;

	return sim->there && sim->told < sim->own.worker_count ? sim->tid[sim->told++] : 0;
}

static bool
any(const void *state)
{
	return ((const struct sim *)state)->there;
}

static const char *
describe(const void *state, size_t index)
{
	return any(state) && index == 0 ? "simulated tasks" : NULL;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static size_t
slots(void *state)
{
	const struct sim *sim = state;

	return sim->there ? sim->own.task_count : 0;
}

static uint64_t
address_of(const struct sim *sim, uint64_t slot)
{
	return (uint64_t)(uintptr_t)sim->own.task + slot * sizeof(struct sim_task);
}

static pid_t
outer_tid(const struct sim *sim, int32_t inner)
{
	for (size_t i = 0; i < sim->own.worker_count; i++)
		if (sim->own.worker[i].tid == inner)
			return sim->tid[i];
	return 0;
}

/* What its structure says; bytes up to SIM_REGS_END. */
static void
convert(const struct sim *sim, uint64_t address, const uint8_t *bytes, struct green_task *out)
{
	static const enum green_task_state states[] = {
		[SIM_NONE] = GREEN_TASK_NONE,       [SIM_RUNNING] = GREEN_TASK_RUNNING,
		[SIM_CALLING] = GREEN_TASK_CALLING, [SIM_READY] = GREEN_TASK_READY,
		[SIM_WAITING] = GREEN_TASK_WAITING,
	};
	struct sim_task from;

	memset(&from, 0, sizeof(from));
	memcpy(&from, bytes, SIM_REGS_END);
	*out = (struct green_task){
		.id = from.id,
		.address = address,
		.state = from.state < ARRAY_SIZE(states) ? states[from.state] : GREEN_TASK_NONE,
		.stack_low = from.stack_low,
		.stack_high = from.stack_high,
		.entry = from.entry,
		.created_at = from.created_at,
		.creator = from.creator,
		.counts_runs = sim->counts,
		.runs = sim->counts ? from.runs % 256 : 0,
	};
	if (out->state == GREEN_TASK_WAITING)
		out->reason = from.reason;
	if (out->state == GREEN_TASK_RUNNING || out->state == GREEN_TASK_CALLING)
		out->tid = outer_tid(sim, from.tid);
	sim_registers(&from, &out->pc, &out->sp, &out->fp);
}

static void
look_at_some(struct sim *sim, const uint32_t *slot, size_t count, struct green_task *out)
{
	struct memory_piece piece[LOOKS_AT_ONCE];
	bool got[LOOKS_AT_ONCE];

	for (size_t i = 0; i < count; i++)
		piece[i] = (struct memory_piece){ address_of(sim, slot[i]), SIM_REGS_END };
	runtime_read_pieces(sim->tools, piece, count, sim->looks, got);
	for (size_t i = 0; i < count; i++) {
		out[i] = (struct green_task){ .state = GREEN_TASK_NONE };
		if (got[i])
			convert(sim, piece[i].address, sim->looks + i * SIM_REGS_END, &out[i]);
		if (out[i].state == GREEN_TASK_RUNNING || out[i].state == GREEN_TASK_CALLING)
			out[i].pc = out[i].sp = out[i].fp = 0;
	}
}

static void
look(void *state, const uint32_t *slot, size_t count, struct green_task *out)
{
	/* as runtime_kind_internal.h promises it */
	for (size_t i = 1; i < count; i++)
		if (slot[i] <= slot[i - 1])
			abort();
	for (size_t at = 0; at < count; at += LOOKS_AT_ONCE)
		look_at_some(state, slot + at,
			     count - at < LOOKS_AT_ONCE ? count - at : LOOKS_AT_ONCE, out + at);
}

static const char *
reason(const void *state, uint32_t number)
{
	(void)state;
	return number == SIM_CHANNEL ? SIM_CHANNEL_TEXT : NULL;
}

/* --- the task of a thread --------------------------------------------------------------------- */

/* What it has left on its own stack, when its thread is on another. */
static void
copy_stack(const struct sim *sim, struct sim_captured *captured, const struct green_task *task)
{
	uint64_t size = task->stack_high - task->sp;

	if (task->sp < task->stack_low || task->sp >= task->stack_high)
		return;
	if (size > STACK_COPY)
		size = STACK_COPY;
	if (pages_read(sim->tools->pages, task->sp, captured->stack, size))
		captured->stack_size = size;
}

static bool
is_within(uint64_t sp, const struct green_task *task)
{
	return sp >= task->stack_low && sp < task->stack_high;
}

static void
capture(void *state, pid_t tid, uint64_t sp, void *to)
{
	struct sim *sim = state;
	struct sim_captured *captured = to;
	uint64_t current = 0;
	struct green_task task;

	captured->is_worker = captured->runs = false;
	captured->sp = sp;
	captured->stack_size = 0;
	pages_begin(sim->tools->pages, NULL);
	for (size_t i = 0; sim->there && i < sim->own.worker_count; i++)
		if (sim->tid[i] == tid)
			captured->is_worker = pages_read(
				sim->tools->pages,
				sim->address + offsetof(struct sim_runtime, worker) +
					i * sizeof(struct sim_worker) +
					offsetof(struct sim_worker, current),
				&current, sizeof(current));
	if (!captured->is_worker || current == 0 ||
	    !pages_read(sim->tools->pages, current, captured->bytes, SIM_REGS_END))
		return;
	captured->runs = true;
	captured->tid = tid;
	captured->address = current;
	convert(sim, current, captured->bytes, &task);
	if (sp != 0 && !is_within(sp, &task))
		copy_stack(sim, captured, &task);
}

static bool
running(void *state, const void *from, struct green_task *task, const uint8_t **stack,
	size_t *stack_size)
{
	const struct sim_captured *captured = from;

	if (!captured->is_worker)
		return false;
	*task = (struct green_task){ .state = GREEN_TASK_NONE };
	*stack = captured->stack;
	*stack_size = captured->stack_size;
	if (!captured->runs)
		return true;
	convert(state, captured->address, captured->bytes, task);
	/* Its thread is about to take it up, or has just left it. */
	if (task->state != GREEN_TASK_CALLING)
		task->state = GREEN_TASK_RUNNING;
	task->tid = captured->tid;
	if (captured->sp == 0 || is_within(captured->sp, task))
		task->pc = task->sp = task->fp = 0;
	return true;
}

/* --- what it has not -------------------------------------------------------------------------- */

static const struct runtime_scheduler scheduler = {
	.words = { .noun = SIM_NOUN, .own = SIM_OWN },
	.slots = slots,
	.look = look,
	.reason = reason,
	.running = running,
};

#define SIM_KIND                                                               \
	.free = sim_free, .tick = tick, .next_new = next_new, .any = any, \
	.describe = describe, .captured_size = sizeof(struct sim_captured),    \
	.capture = capture, .scheduler = &scheduler

const struct runtime_kind sim_runtime_kind = { SIM_KIND, .create = create };
const struct runtime_kind sim_runtime_counting = { SIM_KIND, .create = create_counting };
