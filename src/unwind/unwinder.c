/* SPDX-License-Identifier: MIT */
/* unwinder.c - drives the methods over a snapshot and says why the walk ended. */
#include <string.h>

#include "unwind/unwind_method_internal.h"
#include "wallsample/base/base.h"

/* How many guesses of one kind are tried before giving up. */
#define GUESSES 8

/* Known answers to "are there tables for this address", a direct-mapped cache. */
#define COVER_SLOTS 1024
struct cover_slot {
	uint64_t address;
	bool used, covered;
};

struct slot {
	const struct unwind_method *method;
	void *state;
};

struct unwinder {
	struct maps *maps;
	struct slot slot[8];
	size_t slot_count, table_count; /* the first table_count go by unwind tables */
	struct cover_slot cover[COVER_SLOTS];
	uint64_t cover_generation;
	struct live_cache live, code;
	struct address_range *interpreter;
	size_t interpreter_count, interpreter_capacity;
	struct unwinder_stats stats;
};

struct unwinder *
unwinder_create(struct maps *maps, enum unwind_choice choice)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->maps = maps;
	if (choice == UNWIND_AUTO) {
		unwinder->slot[unwinder->slot_count++].method = &unwind_by_go;
		unwinder->slot[unwinder->slot_count++].method = &unwind_by_rule;
	}
	unwinder->slot[unwinder->slot_count++].method = &unwind_by_signal;
	if (choice != UNWIND_LIBDW)
		unwinder->slot[unwinder->slot_count++].method = &unwind_by_libunwind;
	if (choice != UNWIND_LIBUNWIND)
		unwinder->slot[unwinder->slot_count++].method = &unwind_by_libdw;
	unwinder->table_count = unwinder->slot_count;
	unwinder->slot[unwinder->slot_count++].method = &unwind_by_epilogue;
	unwinder->slot[unwinder->slot_count++].method = &unwind_by_interpreter;
	unwinder->slot[unwinder->slot_count++].method = &unwind_by_pointer;
	for (size_t i = 0; i < unwinder->slot_count; i++) {
		struct slot *slot = &unwinder->slot[i];

		if (slot->method->create != NULL)
			slot->state = slot->method->create(maps);
	}
	return unwinder;
}

void
unwinder_free(struct unwinder *unwinder)
{
	if (unwinder == NULL)
		return;
	for (size_t i = 0; i < unwinder->slot_count; i++)
		if (unwinder->slot[i].method->free != NULL)
			unwinder->slot[i].method->free(unwinder->slot[i].state);
	free(unwinder->interpreter);
	free(unwinder);
}

static bool
look_for_tables(struct unwinder *unwinder, uint64_t address)
{
	const struct mapping *mapping = maps_find(unwinder->maps, address);

	for (size_t i = 0; mapping != NULL && mapping->image != NULL && i < unwinder->table_count;
	     i++) {
		struct slot *slot = &unwinder->slot[i];

		if (slot->method->covers != NULL &&
		    slot->method->covers(slot->state, mapping, address))
			return true;
	}
	return false;
}

static bool
has_tables(struct unwinder *unwinder, uint64_t address)
{
	struct cover_slot *slot = &unwinder->cover[(address ^ address >> 10) % COVER_SLOTS];

	if (unwinder->cover_generation != maps_generation(unwinder->maps)) {
		unwinder->cover_generation = maps_generation(unwinder->maps);
		memset(unwinder->cover, 0, sizeof(unwinder->cover));
	}
	if (!slot->used || slot->address != address) {
		slot->covered = look_for_tables(unwinder, address);
		slot->used = true;
		slot->address = address;
	}
	return slot->covered;
}

/* Is the walk's last frame in a file, which ought to have tables, but has none here? The
 * C library musl is one. Code without a file is JIT code. */
static bool
in_bare_file(struct unwinder *unwinder, const struct walk *walk)
{
	const struct mapping *mapping = maps_find(walk->maps, walk_lookup(walk));

	return mapping != NULL && mapping->image != NULL &&
	       !has_tables(unwinder, walk_lookup(walk));
}

/* Is the walk's last frame in code without a file? No tables tell of that. */
static bool
in_memory(const struct walk *walk)
{
	const struct mapping *mapping = maps_find(walk->maps, walk_lookup(walk));

	return mapping != NULL && mapping->image == NULL;
}

static void
clear_flags(struct walk *walk)
{
	walk->beyond_copy = false;
	walk->bad_memory = false;
	walk->missing_register = false;
	walk->no_info = false;
}

/* Is the last frame's address in no code at all? Then it was no return address: the tables
 * say nothing good where a runtime changes stacks (pclntab.h). */
static bool
is_nowhere(const struct walk *walk)
{
	const struct chain *chain = walk->chain;

	return maps_find(walk->maps, chain_frame_lookup(&chain->frame[chain->count - 1])) == NULL;
}

/*
 * Runs the methods in turn until none gets any further. A method that is not the
 * first and has made a step gives the turn back to the first: one language calls the other.
 */
static enum advance
run(struct unwinder *unwinder, struct walk *walk)
{
	struct walk why = { .maps = NULL };
	enum advance result = ADVANCE_STUCK;

	for (size_t i = 0; i < unwinder->slot_count;) {
		struct slot *slot = &unwinder->slot[i];
		size_t before = walk->chain->count;

		/* No tables tell of interpreters, so that each of their frames passes here. */
		if (walk->interpreter_count > 0)
			interpreter_keep(walk);
		if (i < unwinder->table_count && in_memory(walk)) {
			i = unwinder->table_count;
			continue;
		}
		/* What tables cover is theirs: the frame pointer may hold anything there. */
		if (i >= unwinder->table_count && has_tables(unwinder, walk_lookup(walk))) {
			walk->no_info = false;
			break;
		}
		clear_flags(walk);
		result = slot->method->advance(slot->state, walk);
		if (walk->chain->count > before && is_nowhere(walk)) {
			walk->chain->count--;
			walk->missing_register = false;
			walk->no_info = true;
			return ADVANCE_STUCK;
		}
		why.missing_register |= walk->missing_register;
		why.bad_memory |= walk->bad_memory;
		if (result != ADVANCE_STUCK || walk->beyond_copy)
			break;
		if (walk->chain->count > before) {
			/* What stopped it stands in the way of the frame it got to. */
			why.missing_register = walk->missing_register;
			why.bad_memory = walk->bad_memory;
			i = i == 0 ? 1 : 0;
		} else {
			i++;
		}
	}
	walk->missing_register = why.missing_register;
	walk->bad_memory |= why.bad_memory;
	return result;
}

static enum chain_end
chain_end_of(const struct walk *walk, enum advance result)
{
	if (result == ADVANCE_DONE)
		return CHAIN_OUTERMOST;
	if (result == ADVANCE_FULL)
		return CHAIN_DEPTH;
	if (walk->beyond_copy)
		return CHAIN_STACK_LIMIT;
	if (walk->missing_register)
		return CHAIN_NEEDS_REGISTER;
	return walk->bad_memory && !walk->no_info ? CHAIN_BAD_MEMORY : CHAIN_NO_UNWIND_INFO;
}

/* Cuts the chain back to `count` frames, to try another way from there. */
static void
rewind_walk(struct walk *walk, const struct walk *to, size_t count)
{
	bool read_live_memory = walk->read_live;
	size_t stack_used = walk->stack_used;

	*walk = *to;
	walk->read_live = read_live_memory;
	walk->stack_used = stack_used;
	walk->chain->count = count;
}

/* The next word on the stack that is a return address into code that has tables. */
static bool
next_candidate(struct unwinder *unwinder, struct walk *walk, uint64_t *cursor, uint64_t *address)
{
	while (guess_return_address(walk, cursor, address))
		if (has_tables(unwinder, *address - 1))
			return true;
	return false;
}

/* Is the frame pointer as good as it will get: known, or past being known by a guess? */
static bool
has_frame_pointer(const struct walk *walk)
{
	uint64_t fp;

	if (regs_get(&walk->regs, regs_fp_number, &fp))
		return true;
	for (size_t i = 0; i < walk->chain->count; i++)
		if (walk->chain->frame[i].origin == FRAME_GUESS)
			return true;
	return false;
}

/*
 * Code with tables was called by code of a file without them, and nothing further up the
 * stack has any: that is a C library without tables that has started the thread.
 */
static bool
is_bare_start(struct unwinder *unwinder, struct walk *walk)
{
	const struct chain *chain = walk->chain;
	uint64_t cursor = walk->regs.sp, address;

	return chain->count >= 2 && !walk->bad_memory && has_frame_pointer(walk) &&
	       has_tables(unwinder, chain_frame_lookup(&chain->frame[chain->count - 2])) &&
	       in_bare_file(unwinder, walk) && !next_candidate(unwinder, walk, &cursor, &address);
}

/* Is the walk at an end that a right guess leads to? A wrong one seldom gets as far as
 * the end of the copy. */
static bool
is_good_end(struct unwinder *unwinder, struct walk *walk, enum advance result)
{
	return result != ADVANCE_STUCK || walk->beyond_copy || is_bare_start(unwinder, walk);
}

static uint64_t
function_start(struct unwinder *unwinder, uint64_t address)
{
	const struct mapping *mapping = maps_find(unwinder->maps, address);
	uint64_t start = 0;

	for (size_t i = 0; mapping != NULL && mapping->image != NULL && start == 0 &&
			   i < unwinder->slot_count; i++) {
		struct slot *slot = &unwinder->slot[i];

		if (slot->method->function_start != NULL)
			start = slot->method->function_start(slot->state, mapping, address);
	}
	return start;
}

/* Does the record's return address follow a direct call of another function than `function`?
 * Calls through tables of pointers tell nothing. */
static bool
contradicts(struct unwinder *unwinder, struct walk *walk, uint64_t record, uint64_t function)
{
	const struct mapping *mapping;
	uint64_t address, target;

	if (!walk_read_word(walk, record + sizeof(address), &address))
		return true;
	mapping = maps_find(walk->maps, address - 1);
	if (mapping == NULL || mapping->image == NULL ||
	    !arch_call_target(mapping->image, address - mapping->bias, &target))
		return false;
	target += mapping->bias;
	return target != function && function_start(unwinder, target) == target;
}

/* One kind of guess: see guess_frame_record for `function`; `here` is where the function
 * begins, if known. What an unsure guess finds is marked as guessed. */
static bool
try_records(struct unwinder *unwinder, struct walk *walk, uint64_t function, uint64_t here,
	    enum advance *result)
{
	const struct walk start = *walk;
	size_t count = walk->chain->count;
	uint64_t cursor = walk->regs.sp, record;

	for (int i = 0; i < GUESSES && guess_frame_record(walk, function, &cursor, &record); i++) {
		if (function == 0 && here != 0 && contradicts(unwinder, walk, record, here))
			continue;
		regs_set(&walk->regs, regs_fp_number, record);
		*result = run(unwinder, walk);
		if (is_good_end(unwinder, walk, *result)) {
			unwinder->stats.guessed_registers++;
			if (function == 0 && walk->chain->count > count)
				walk->chain->frame[count].origin = FRAME_GUESS;
			return true;
		}
		rewind_walk(walk, &start, count);
	}
	*result = ADVANCE_STUCK;
	return false;
}

/*
 * A sleeper's frame pointer is not known. Most code does not need it; where it does,
 * the frame records on the stack are tried from the innermost up, and the first is
 * taken with which the walk comes to a good end. One whose return address follows a call
 * of the very function that needs it is as good as known; any other only will do when
 * the thread may not be stopped.
 */
static bool
guess_frame_pointer(struct unwinder *unwinder, struct walk *walk, bool sure,
		    enum advance *result)
{
	uint64_t function = function_start(unwinder, walk_lookup(walk));

	if (function != 0 && try_records(unwinder, walk, function, function, result))
		return true;
	return !sure && try_records(unwinder, walk, 0, function, result);
}

/* Runs on, and when a frame pointer is all that is missing, guesses it. */
static enum advance
run_guessing(struct unwinder *unwinder, struct walk *walk)
{
	enum advance result = run(unwinder, walk);

	if (result == ADVANCE_STUCK && walk->missing_register)
		guess_frame_pointer(unwinder, walk, false, &result);
	return result;
}

/*
 * Where nothing says who called, takes the first word on the stack that is a return
 * address into code that has tables, and from which a walk comes to a good end; with
 * `any_end`, from which it gets anywhere.
 */
static bool
guess_caller(struct unwinder *unwinder, struct walk *walk, bool any_end, enum advance *result)
{
	const struct walk start = *walk;
	size_t count = walk->chain->count;
	uint64_t cursor = walk->regs.sp, address;

	for (int i = 0; i < GUESSES && next_candidate(unwinder, walk, &cursor, &address); i++) {
		if (!chain_add(walk->chain, address, cursor, FRAME_GUESS, false))
			return false;
		/* The cursor is above the return address now: the caller's stack pointer. */
		regs_set_caller(&walk->regs, cursor, address);
		walk->exact = false;
		*result = run_guessing(unwinder, walk);
		if (is_good_end(unwinder, walk, *result) ||
		    (any_end && walk->chain->count > count + 1))
			return true;
		rewind_walk(walk, &start, count);
	}
	*result = ADVANCE_STUCK;
	return false;
}

/*
 * A call of what is no code, such as a null pointer: the return address is where the call has just
 * put it, and no register has changed since.
 */
static void
leave_nowhere(struct walk *walk)
{
	uint64_t cursor = walk->regs.sp, address;

	if (!is_nowhere(walk) || !guess_return_address(walk, &cursor, &address) ||
	    cursor != walk->regs.sp + sizeof(address) ||
	    !chain_add(walk->chain, address, cursor, FRAME_GUESS, false))
		return;
	regs_set(&walk->regs, regs_sp_number, cursor);
	walk->regs.sp = cursor;
	walk->regs.pc = address;
	walk->exact = false;
}

/*
 * The whole walk. When the tables and frame pointers end early, what is missing
 * decides which guess comes first.
 */
static enum chain_end
walk_all(struct unwinder *unwinder, struct walk *walk, bool may_stop)
{
	enum advance result = ADVANCE_STUCK;
	uint64_t fp;

	/* Asleep in code without tables: calls of the code itself lead out of it. */
	while (!regs_get(&walk->regs, regs_fp_number, &fp) && in_bare_file(unwinder, walk) &&
	       guess_frameless(walk))
		;
	leave_nowhere(walk);
	/* A system call wrapper of a library without tables: the frame pointer is that
	 * of a caller and would skip one. */
	if (!in_bare_file(unwinder, walk) || !guess_caller(unwinder, walk, false, &result))
		result = run(unwinder, walk);
	if (result == ADVANCE_STUCK && walk->missing_register && !walk->beyond_copy &&
	    !guess_frame_pointer(unwinder, walk, may_stop, &result) &&
	    !is_bare_start(unwinder, walk) && may_stop)
		return CHAIN_NEEDS_REGISTER;
	if (result == ADVANCE_STUCK && !walk->beyond_copy && in_bare_file(unwinder, walk)) {
		if (is_bare_start(unwinder, walk))
			result = ADVANCE_DONE;
		else
			guess_caller(unwinder, walk, true, &result);
	}
	return chain_end_of(walk, result);
}

static void
count_frames(struct unwinder *unwinder, const struct chain *chain)
{
	unwinder->stats.walks++;
	unwinder->stats.frames += chain->count;
	for (size_t i = 0; i < chain->count; i++) {
		unwinder->stats.by_pointer += chain->frame[i].origin == FRAME_POINTER;
		unwinder->stats.by_guess += chain->frame[i].origin == FRAME_GUESS;
	}
}

void
unwinder_walk(struct unwinder *unwinder, const struct snapshot *snapshot, bool may_stop,
	      struct chain *chain)
{
	struct walk walk = {
		.maps = unwinder->maps,
		.snapshot = snapshot,
		.chain = chain,
		.live = snapshot->live_limit > 0 ? &unwinder->live : NULL,
		.code = &unwinder->code,
		.interpreter = unwinder->interpreter,
		.interpreter_count = unwinder->interpreter_count,
		.regs = snapshot->regs,
		.exact = true,
	};

	unwinder->live.walk++;
	unwinder->code.walk++;
	chain_clear(chain);
	chain_add(chain, snapshot->regs.pc, snapshot->regs.sp, FRAME_REGISTERS, true);
	chain->end = walk_all(unwinder, &walk, may_stop);
	chain->end_address = chain->end == CHAIN_OUTERMOST ? 0 : walk.regs.pc;
	chain->read_live = walk.read_live;
	chain->stack_used = walk.stack_used;
	count_frames(unwinder, chain);
}

void
unwinder_set_interpreters(struct unwinder *unwinder, const struct address_range *range,
			  size_t count)
{
	unwinder->interpreter = xgrow(unwinder->interpreter, &unwinder->interpreter_capacity,
				      count, sizeof(*range));
	if (count > 0)
		memcpy(unwinder->interpreter, range, count * sizeof(*range));
	unwinder->interpreter_count = count;
}

const struct unwinder_stats *
unwinder_stats(const struct unwinder *unwinder)
{
	return &unwinder->stats;
}
