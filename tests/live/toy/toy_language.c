/* SPDX-License-Identifier: MIT */
/* toy_language.c - the language of toy_program.c: a whole language runtime in one file. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/runtime_kind_internal.h"
#include "toy_vm.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/runtime/language.h"

#define SEARCH_BYTES (UINT64_C(64) << 20)
#define MARKER "[toy: "
#define BROKEN MARKER "frames not readable]"

struct toy {
	const struct runtime_tools *tools;
	uint64_t address; /* of toy_vm; 0: not found */
	struct toy_vm vm; /* as read at this tick */
	pid_t tid[TOY_THREADS]; /* in our pid namespace */
	size_t reported;        /* threads that next_new has returned */
	bool there;
};

struct toy_captured {
	bool known, broken;
	uint32_t holder, tid;
	uint64_t lock; /* its address */
	size_t count;
	struct toy_frame frame[TOY_DEPTH];
};

/* --- the instance -------------------------------------------------------------------------- */

static void *
toy_create(const struct runtime_tools *tools)
{
	struct toy *toy = xcalloc(1, sizeof(*toy));

	toy->tools = tools;
	return toy;
}

static void
toy_find(struct toy *toy)
{
	static const struct symbol_wanted wanted = { .name = "toy_vm" };
	struct maps *maps = toy->tools->config->maps;

	for (size_t i = 0; i < maps_count(maps) && toy->address == 0; i++) {
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
			toy->address = found->vaddr + mapping->bias;
	}
}

static bool
toy_read(const struct toy *toy, uint64_t address, void *to, size_t size)
{
	return toy->tools->memory.read(toy->tools->memory.context, address, to, size);
}

static void
toy_tick(void *state, uint64_t now_ns)
{
	struct toy *toy = state;
	const struct runtimes_config *config = toy->tools->config;

	(void)now_ns;
	if (toy->address == 0)
		toy_find(toy);
	toy->there = toy->address != 0 &&
		     toy_read(toy, toy->address, &toy->vm, sizeof(toy->vm)) &&
		     toy->vm.magic == TOY_MAGIC;
	for (size_t i = 0; toy->there && i < TOY_THREADS; i++)
		if (toy->vm.thread[i].tid != 0)
			toy->tid[i] = config->thread(config->context,
						     (pid_t)toy->vm.thread[i].tid);
}

static pid_t
toy_next_new(void *state)
{
	struct toy *toy = state;

	return toy->reported < TOY_THREADS && toy->tid[toy->reported] != 0 ?
		       toy->tid[toy->reported++] : 0;
}

static bool
toy_any(const void *state)
{
	return ((const struct toy *)state)->there;
}

static const char *
toy_describe(const void *state, size_t index)
{
	return toy_any(state) && index == 0 ? "ToyVM 1.0" : NULL;
}

/* --- captures ------------------------------------------------------------------------------ */

static void
toy_capture(void *state, pid_t tid, uint64_t sp, void *to)
{
	struct toy *toy = state;
	struct toy_captured *captured = to;
	struct toy_vm vm;
	uint64_t at = 0;

	(void)sp;
	memset(captured, 0, sizeof(*captured));
	pages_begin(toy->tools->pages, NULL);
	if (!toy->there || !pages_read(toy->tools->pages, toy->address, &vm, sizeof(vm)))
		return;
	captured->lock = toy->address + offsetof(struct toy_vm, lock);
	captured->holder = vm.holder;
	for (size_t i = 0; i < TOY_THREADS; i++) {
		if (toy->tid[i] != tid || vm.thread[i].tid == 0)
			continue;
		captured->known = true;
		captured->tid = (uint32_t)vm.thread[i].tid;
		at = vm.thread[i].top;
	}
	while (at != 0 && captured->count < TOY_DEPTH && !captured->broken) {
		struct toy_frame *frame = &captured->frame[captured->count];

		captured->broken = !pages_read(toy->tools->pages, at, frame, sizeof(*frame));
		captured->count += !captured->broken;
		at = frame->caller;
	}
}

static void
toy_add(struct toy *toy, struct runtime_frames *frames, size_t before,
	const struct runtime_place *place)
{
	runtime_frames_add(frames, before, runtime_places_add(toy->tools->places, place));
}

/* A frame stands inside of the call of toy_execute whose part of the stack has its anchor. */
static void
toy_merge(void *state, const void *from, const struct chain *chain, struct runtime_frames *frames)
{
	const struct toy_captured *captured = from;
	const struct runtime_place broken = { BROKEN, "", 0, true };
	size_t at = 0;

	for (size_t i = 0; i < captured->count; i++) {
		const struct toy_frame *frame = &captured->frame[i];
		const struct runtime_place place = {
			frame->function, frame->file, (uint32_t)frame->line, false,
		};

		while (at < chain->count && (at + 1 == chain->count ||
					     chain->frame[at + 1].sp <= frame->anchor))
			at++;
		toy_add(state, frames, at, &place);
	}
	if (captured->broken)
		toy_add(state, frames, chain->count, &broken);
}

/* --- the lock -------------------------------------------------------------------------------- */

static enum gil
toy_gil(const void *state, const void *from, long number, const uint64_t args[6])
{
	const struct toy_captured *captured = from;

	(void)state;
	if (!captured->known)
		return captured->lock != 0 ? GIL_NONE : GIL_UNKNOWN;
	if (captured->holder == captured->tid)
		return GIL_HAS;
	return number == SYS_futex && args[0] == captured->lock ? GIL_WAIT : GIL_NONE;
}

static bool
toy_find_lock(void *state, uint64_t word, uint64_t *lock, const char **name)
{
	const struct toy *toy = state;

	*lock = word;
	*name = "";
	return toy->there && word == toy->address + offsetof(struct toy_vm, lock);
}

static pid_t
toy_lock_owner(void *state, uint64_t lock)
{
	const struct toy *toy = state;
	const struct runtimes_config *config = toy->tools->config;
	uint32_t holder;

	(void)lock;
	if (!toy_read(toy, toy->address + offsetof(struct toy_vm, holder), &holder,
		      sizeof(holder)) || holder == 0)
		return 0;
	return config->thread(config->context, (pid_t)holder);
}

/* --- the language ---------------------------------------------------------------------------- */

static const struct runtime_kind kind = {
	.create = toy_create,
	.free = free,
	.tick = toy_tick,
	.next_new = toy_next_new,
	.any = toy_any,
	.describe = toy_describe,
	.captured_size = sizeof(struct toy_captured),
	.capture = toy_capture,
	.merge = toy_merge,
	.gil = toy_gil,
	.find_lock = toy_find_lock,
	.lock_owner = toy_lock_owner,
};

static const struct plumbing_function plumbing[] = {
	{ "toy_execute", PLUMBING_CALL, false },
	{ "toy_call", PLUMBING_CALL, false },
	{ "execute_instruction", PLUMBING_CALL, true },
	{ "toy_thread_main", PLUMBING_ROOT, false },
};

static const char *const lock_functions[] = { "toy_lock_*", NULL };

const struct runtime_language language_toy = {
	.name = "toy",
	.title = "Toy",
	.engine = "ToyVM",
	.lock = "big lock",
	.marker = MARKER,
	.plumbing = plumbing,
	.plumbing_count = ARRAY_SIZE(plumbing),
	.lock_functions = lock_functions,
	.wait_functions = lock_functions,
	.kind = &kind,
};
