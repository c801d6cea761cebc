/* SPDX-License-Identifier: MIT */
/* unwinder.c - runs the unwind methods on a snapshot and determines why the walk ended. */
#include "unwind/guess_internal.h"
#include "unwind/walk_end_internal.h"

/* Largest number of frame records, and of return addresses, that are tried as guesses for one
 * frame. */
#define GUESSES 8

/* A direct-mapped cache that keeps for addresses whether they have unwind tables. */
#define COVER_SLOTS 1024
struct cover_slot {
	uint64_t address;
	bool used, covered;
};

#define WITH(name) (1U << UNWIND_##name)
#define WITH_ALL (WITH(AUTO) | WITH(LIBUNWIND) | WITH(LIBDW))

/* The methods in the order in which a walk tries them. Those with uses_tables come first: they need
 * unwind tables or a signal trampoline, which only code of a file has. */
static const struct {
	const struct unwind_method *method;
	unsigned choices; /* a bit 1 << enum unwind_choice for each choice that uses the method */
	bool uses_tables;
} methods[] = {
	{ &unwind_by_pclntab, WITH(AUTO), true },
	{ &unwind_by_rule, WITH(AUTO), true },
	{ &unwind_by_signal, WITH_ALL, true },
	{ &unwind_by_libunwind, WITH(LIBUNWIND), true },
	{ &unwind_by_libdw, WITH(LIBDW), true },
	{ &unwind_by_epilogue, WITH_ALL, false },
	{ &unwind_by_interpreter, WITH_ALL, false },
	{ &unwind_by_pointer, WITH_ALL, false },
};

struct slot {
	const struct unwind_method *method;
	void *state;
};

struct unwinder {
	struct maps *maps;
	struct slot slot[ARRAY_SIZE(methods)];
	size_t slot_count, table_count; /* the first table_count slots have uses_tables */
	struct cover_slot cover[COVER_SLOTS];
	uint64_t cover_generation;
	struct live_cache live, code;
	struct address_range *interpreter;
	size_t interpreter_count, interpreter_capacity;
};

struct unwinder *
unwinder_create(struct maps *maps, enum unwind_choice choice)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->maps = maps;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		struct slot *slot = &unwinder->slot[unwinder->slot_count];

		if (!(methods[i].choices & (1U << choice)))
			continue;
		slot->method = methods[i].method;
		if (slot->method->create != NULL)
			slot->state = slot->method->create(maps);
		unwinder->slot_count++;
		unwinder->table_count += methods[i].uses_tables;
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
find_tables(struct unwinder *unwinder, uint64_t address)
{
	const struct mapping *mapping = maps_find(unwinder->maps, address);
	bool found = false;

	for (size_t i = 0;
	     !found && mapping != NULL && mapping->image != NULL && i < unwinder->table_count;
	     i++) {
		struct slot *slot = &unwinder->slot[i];

		found = slot->method->covers != NULL && slot->method->covers(slot->state, address);
	}
	return found;
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
		slot->covered = find_tables(unwinder, address);
		slot->used = true;
		slot->address = address;
	}
	return slot->covered;
}

/* Returns true when the walk's last frame is in code of a file that has no unwind tables for this
 * code, such as the C library musl; false for code without a file. */
static bool
in_bare_file(struct unwinder *unwinder, const struct walk *walk)
{
	const struct mapping *mapping = maps_find(walk->maps, walk_lookup(walk));

	return mapping != NULL && mapping->image != NULL &&
	       !has_tables(unwinder, walk_lookup(walk));
}

/* Returns true when the walk's last frame is in code without a file. Such code has no unwind
 * tables. */
static bool
in_fileless_code(const struct walk *walk)
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
	walk->bad_tables = false;
}

/* Returns true when the last frame's address is not in code, and so cannot be a return address.
 * This occurs where a runtime switches stacks: unwind tables lead to a wrong address there. */
static bool
is_outside_code(const struct walk *walk)
{
	const struct chain *chain = walk->chain;

	return maps_find(walk->maps, chain_frame_lookup(&chain->frame[chain->count - 1])) == NULL;
}

/*
 * Runs the methods in the order of unwinder->slot until none can append a frame. When a method has
 * appended a frame, the order starts again, because the caller may be in another language: at the
 * second method if the first has appended the frame, otherwise at the first.
 */
static enum advance
run(struct unwinder *unwinder, struct walk *walk)
{
	struct walk why = { .maps = NULL };
	enum advance result = ADVANCE_STUCK;

	for (size_t i = 0; i < unwinder->slot_count;) {
		struct slot *slot = &unwinder->slot[i];
		size_t before = walk->chain->count;

		/* Interpreter frames have no unwind tables, so each of them is the last frame of
		 * the chain at some time at this place. */
		if (walk->interpreter_count > 0)
			interpreter_keep(walk);
		if (i < unwinder->table_count && in_fileless_code(walk)) {
			i = unwinder->table_count;
			continue;
		}
		/* Code that has unwind tables may use the frame pointer register for other
		 * values. */
		if (i >= unwinder->table_count && has_tables(unwinder, walk_lookup(walk))) {
			walk->no_info = false;
			break;
		}
		clear_flags(walk);
		result = slot->method->advance(slot->state, walk);
		if (walk->chain->count > before && is_outside_code(walk)) {
			walk->chain->count--;
			walk->missing_register = false;
			walk->no_info = true;
			return ADVANCE_STUCK;
		}
		why.missing_register |= walk->missing_register;
		why.bad_memory |= walk->bad_memory;
		why.bad_tables |= walk->bad_tables;
		if (result != ADVANCE_STUCK || walk->beyond_copy)
			break;
		if (walk->chain->count > before) {
			/* These flags describe the frame that is now the last one. */
			why.missing_register = walk->missing_register;
			why.bad_memory = walk->bad_memory;
			why.bad_tables = walk->bad_tables;
			i = i == 0 ? 1 : 0;
		} else {
			i++;
		}
	}
	walk->missing_register = why.missing_register;
	walk->bad_memory |= why.bad_memory;
	walk->bad_tables |= why.bad_tables;
	return result;
}

/* Restores the walk to the state *to, with the first `count` frames of its chain, so that another
 * guess can be tried. read_live, stack_used and work keep their values. */
static void
rewind_walk(struct walk *walk, const struct walk *to, size_t count)
{
	bool read_live_memory = walk->read_live;
	size_t stack_used = walk->stack_used;
	uint32_t work = walk->work;

	*walk = *to;
	walk->read_live = read_live_memory;
	walk->stack_used = stack_used;
	walk->work = work;
	walk->chain->count = count;
}

/* Finds the next word on the stack that may be a return address into code with unwind tables. */
static bool
next_candidate(struct unwinder *unwinder, struct walk *walk, uint64_t *cursor, uint64_t *address)
{
	while (guess_return_address(walk, cursor, address))
		if (has_tables(unwinder, *address - 1))
			return true;
	return false;
}

/* Returns true when the frame pointer is known, or the chain has a guessed frame. In both cases it
 * would not help to stop the thread in order to read the register. */
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

/* Returns true when the last frame is in a file without unwind tables, its callee has tables, and
 * the searched part of the stack above has no return address into code with tables. The last frame
 * is then the function in which a C library without tables starts threads or calls main(). */
static bool
is_bare_start(struct unwinder *unwinder, struct walk *walk)
{
	const struct chain *chain = walk->chain;
	uint64_t cursor = walk->regs.sp, address;

	return chain->count >= 2 && !walk_is_unreadable(walk) && has_frame_pointer(walk) &&
	       has_tables(unwinder, chain_frame_lookup(&chain->frame[chain->count - 2])) &&
	       in_bare_file(unwinder, walk) && !next_candidate(unwinder, walk, &cursor, &address);
}

/*
 * Returns true when the walk has ended as it does after a correct guess: at the thread's first
 * function, at the depth limit, at the end of the copied stack, or at a thread start in a file
 * without tables. After wrong guesses walks rarely end like this.
 */
static bool
is_good_end(struct unwinder *unwinder, struct walk *walk, enum advance result)
{
	if (result == ADVANCE_FULL)
		return walk->chain->end == CHAIN_DEPTH;
	return result == ADVANCE_DONE || walk->beyond_copy || is_bare_start(unwinder, walk);
}

/* Returns the first address of the function that contains `address`; 0 when it is not known. */
static uint64_t
function_start(struct unwinder *unwinder, uint64_t address)
{
	uint64_t start = 0;

	for (size_t i = 0; start == 0 && i < unwinder->slot_count; i++) {
		struct slot *slot = &unwinder->slot[i];

		if (slot->method->function_start != NULL)
			start = slot->method->function_start(slot->state, address);
	}
	return start;
}

/*
 * Returns true when the return address in the frame record cannot be read, or follows a direct call
 * of another function than `function`. Indirect calls are accepted, because their target is not
 * known.
 */
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

/*
 * Tries as frame pointer the addresses of the frame records that guess_frame_record() finds with
 * `function`, and continues the walk with each, until is_good_end() is true. `here` is the first
 * address of the last frame's function; 0: not known. If `function` is 0, the caller is marked as
 * guessed. Returns false, with the walk unchanged, when no record is accepted.
 */
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
 * Guesses the frame pointer, whose value is not known for a sleeping thread, and continues the
 * walk. The frame records on the stack are tried from the innermost outwards, and the first with
 * which is_good_end() is true is accepted. Records whose return address follows a direct call of
 * the last frame's function are tried first; with `sure`, only these are tried. Returns false, with
 * the walk unchanged, when no record is accepted.
 */
static bool
guess_frame_pointer(struct unwinder *unwinder, struct walk *walk, bool sure, enum advance *result)
{
	uint64_t function = function_start(unwinder, walk_lookup(walk));

	if (function != 0 && try_records(unwinder, walk, function, function, result))
		return true;
	return !sure && try_records(unwinder, walk, 0, function, result);
}

/* Continues the walk, and guesses the frame pointer when a register is missing. */
static enum advance
run_guessing(struct unwinder *unwinder, struct walk *walk)
{
	enum advance result = run(unwinder, walk);

	if (result == ADVANCE_STUCK && walk->missing_register)
		guess_frame_pointer(unwinder, walk, false, &result);
	return result;
}

/*
 * Guesses the caller where no method finds it, and continues the walk. Words on the stack that may
 * be return addresses into code with unwind tables are tried from the innermost outwards. The first
 * with which is_good_end() is true is accepted; with `any_end`, the first with which the walk finds
 * one more frame. Returns false when no word is accepted.
 */
static bool
guess_caller(struct unwinder *unwinder, struct walk *walk, bool any_end, enum advance *result)
{
	const struct walk start = *walk;
	size_t count = walk->chain->count;
	uint64_t cursor = walk->regs.sp, address;

	for (int i = 0; i < GUESSES && next_candidate(unwinder, walk, &cursor, &address); i++) {
		/* The cursor is one word above the return address: it is the caller's stack
		 * pointer. */
		if (!walk_add_caller(walk, cursor, address, FRAME_GUESS))
			return false;
		*result = run_guessing(unwinder, walk);
		if (is_good_end(unwinder, walk, *result) ||
		    (any_end && walk->chain->count > count + 1))
			return true;
		rewind_walk(walk, &start, count);
	}
	*result = ADVANCE_STUCK;
	return false;
}

/* Appends the caller of an address without code that was called, such as a null pointer. On x86-64
 * the call has pushed the return address, which is at the stack pointer, and no register has
 * changed since. */
static void
leave_bad_call(struct walk *walk)
{
	uint64_t cursor = walk->regs.sp, address;

	if (is_outside_code(walk) && guess_return_address(walk, &cursor, &address) &&
	    cursor == walk->regs.sp + sizeof(address))
		walk_add_return(walk, cursor, address, FRAME_GUESS);
}

/* Unwinds the whole snapshot. If the methods end early, the missing information determines which
 * guess is tried first. */
static enum chain_end
walk_all(struct unwinder *unwinder, struct walk *walk, bool may_stop)
{
	enum advance result = ADVANCE_STUCK;
	uint64_t fp;

	/* If a thread sleeps in a file without tables and its frame pointer is not known, its
	 * callers are found by their direct calls. */
	while (!regs_get(&walk->regs, regs_fp_number, &fp) && in_bare_file(unwinder, walk) &&
	       guess_frameless(walk))
		;
	leave_bad_call(walk);
	/*
	 * In a system call wrapper of a library without tables, the frame pointer is that of a
	 * caller, and following it would leave out one frame. So the caller is guessed from the
	 * stack first.
	 */
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
	return walk_end(walk, result);
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
	chain->end_address = walk.regs.pc;
	if (chain->end == CHAIN_CYCLE)
		chain->end_address = chain->frame[chain->count - 1].address;
	else if (chain_end_is_whole(chain->end))
		chain->end_address = 0;
	chain->read_live = walk.read_live;
	chain->stack_used = walk.stack_used;
}

void
unwinder_set_interpreters(struct unwinder *unwinder, const struct address_range *range,
			  size_t count)
{
	unwinder->interpreter = xgrow(unwinder->interpreter, &unwinder->interpreter_capacity, count,
				      sizeof(*range));
	if (count > 0)
		memcpy(unwinder->interpreter, range, count * sizeof(*range));
	unwinder->interpreter_count = count;
}
