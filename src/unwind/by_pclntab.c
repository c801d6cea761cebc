/* SPDX-License-Identifier: MIT */
/*
 * by_pclntab.c - unwinds Go code by its own tables, which have the stack depth at each instruction.
 *
 * Stripped programs have these tables, too. The tables need no register but the stack pointer, so
 * sleeping threads are unwound without a stop.
 *
 * For functions that set the stack pointer to another stack (systemstack, mcall, asmcgocall,
 * morestack, the functions that read the clock) the depth is right only while the function is on
 * its caller's stack. Such a function is taken for the first function of the current stack, unless
 * the word at that depth is the return address of a direct call of this function.
 */
#include "unwind/unwind_method_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/elf/pclntab.h"

/* When there are this many rules, all are discarded: a bound on memory. */
#define MOST_RULES ((size_t)1 << 17)

enum kind {
	/* Not Go code, or code that the table does not describe. */
	KIND_NONE,
	KIND_STEP,
	KIND_TOP,       /* the first function of its stack */
	KIND_SWITCH,    /* sets the stack pointer to another stack */
	KIND_SIGRETURN, /* the kernel's signal frame is at the stack pointer */
};

struct pclntab_rule {
	uint8_t kind;
	/* The function was not called but entered in the middle of its caller, whose address is
	 * therefore exact. */
	bool interrupts;
	bool is_assembler;
	bool is_morestack;
	/* bytes from the stack pointer to the end of the frame; see pclntab_stack_depth() */
	uint32_t depth;
	uint64_t entry; /* address of the function's first instruction in the target */
};

struct state {
	struct maps *maps;
	uint64_t generation;
	struct pclntab_rule *rule;
	size_t count, capacity;
	struct table by_address; /* (address, exact) -> index of a rule */
	struct module_slot {
		bool tried;            /* pclntab_open() was called for the module */
		struct pclntab *table; /* NULL: the module has no table */
	} * module;                    /* indexed by module number */
	size_t module_count;
	struct strbuf name; /* the name of the function that is being examined */
};

static void *
state_create(struct maps *maps)
{
	struct state *state = xcalloc(1, sizeof(*state));

	state->maps = maps;
	state->generation = maps_generation(maps);
	table_init(&state->by_address);
	strbuf_init(&state->name);
	return state;
}

static void
state_free(void *opaque)
{
	struct state *state = opaque;

	for (size_t i = 0; i < state->module_count; i++)
		pclntab_free(state->module[i].table);
	table_release(&state->by_address);
	strbuf_release(&state->name);
	free(state->module);
	free(state->rule);
	free(state);
}

/* Returns the function table of the mapping's module, or NULL when it has none. The table is opened
 * when it is needed first. */
static const struct pclntab *
table_of(struct state *state, const struct mapping *mapping)
{
	struct module_slot *slot;

	if (mapping == NULL || mapping->image == NULL)
		return NULL;
	state->module = array_for_module(state->module, &state->module_count, mapping->module,
					 sizeof(*state->module));
	slot = &state->module[mapping->module];
	if (!slot->tried) {
		slot->tried = true;
		slot->table = pclntab_open(mapping->image);
	}
	return slot->table;
}

/* --- rules ------------------------------------------------------------------------- */

/*
 * Functions for which the flags in the table are missing or misleading. The first instructions of a
 * program (_rt0_…) have no caller. Signal handlers (sigtramp), and runtime.cgocallback, through
 * which C calls Go, have a caller, whatever their flags are. At runtime.sigreturn the stack has the
 * kernel's signal frame. The last four functions have a frame as if the code that they interrupt
 * (for preemption, faults or debuggers) had called them.
 */
static const struct {
	const char *name;
	enum kind kind;
	bool interrupts;
} special[] = {
	{ "_rt0_amd64_linux", KIND_TOP, false },
	{ "_rt0_amd64", KIND_TOP, false },
	{ "_rt0_arm64_linux", KIND_TOP, false },
	{ "runtime.sigtramp", KIND_STEP, false },
	{ "runtime.cgoSigtramp", KIND_STEP, false },
	{ "runtime.sigreturn", KIND_SIGRETURN, false },
	{ "runtime.sigreturn__sigaction", KIND_SIGRETURN, false },
	{ "runtime.cgocallback", KIND_STEP, false },
	{ "runtime.asyncPreempt", KIND_STEP, true },
	{ "runtime.sigpanic", KIND_STEP, true },
	{ "runtime.sigpanic0", KIND_STEP, true },
	{ "runtime.debugCallV2", KIND_STEP, true },
};

static void
classify(struct state *state, const struct pclntab *table, const struct pclntab_function *function,
	 struct pclntab_rule *rule)
{
	rule->kind = (function->flags & PCLNTAB_FLAG_TOP) != 0      ? KIND_TOP :
		     (function->flags & PCLNTAB_FLAG_SP_WRITE) != 0 ? KIND_SWITCH :
								      KIND_STEP;
	rule->is_assembler = (function->flags & PCLNTAB_FLAG_ASM) != 0;
	strbuf_clear(&state->name);
	if (!pclntab_name(table, function->name, &state->name))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(special); i++) {
		if (strcmp(state->name.data, special[i].name) != 0)
			continue;
		rule->kind = special[i].kind;
		rule->interrupts = special[i].interrupts;
	}
	rule->is_morestack = strcmp(state->name.data, "runtime.morestack") == 0;
}

static void
compile(struct state *state, const struct mapping *mapping, const struct pclntab *table,
	uint64_t address, bool exact, struct pclntab_rule *rule)
{
	const uint64_t vaddr = address - mapping->bias;
	struct pclntab_function function;

	*rule = (struct pclntab_rule){ .kind = KIND_NONE };
	/* A signal handler returns to the beginning of the trampoline, which no call precedes.
	 * Unless `exact`, `vaddr` is then one byte before the trampoline, in another function. */
	if (arch_is_signal_trampoline(mapping->image, exact ? vaddr : vaddr + 1) ||
	    !pclntab_find(table, vaddr, &function))
		return;
	rule->entry = function.entry + mapping->bias;
	classify(state, table, &function, rule);
	if (!pclntab_stack_depth(table, &function, vaddr, &rule->depth) &&
	    (rule->kind == KIND_STEP || rule->kind == KIND_SWITCH))
		rule->kind = KIND_NONE;
}

/* Returns the rule for the address, valid until the next call; NULL when the module has no Go
 * code. */
static const struct pclntab_rule *
find_rule(struct state *state, uint64_t address, bool exact)
{
	const struct mapping *mapping = maps_find(state->maps, address);
	const struct pclntab *table = table_of(state, mapping);
	const uint64_t generation = maps_generation(state->maps);
	uint32_t *place;
	bool added;

	if (table == NULL)
		return NULL;
	/* Rules are kept by address; when mappings have changed, an address may contain other
	 * code. */
	if (generation != state->generation || state->count >= MOST_RULES) {
		state->generation = generation;
		state->count = 0;
		table_clear(&state->by_address);
	}
	place = table_insert(&state->by_address, address, exact, (uint32_t)state->count, &added);
	if (!added)
		return &state->rule[*place];
	state->rule = xgrow(state->rule, &state->capacity, state->count + 1, sizeof(*state->rule));
	compile(state, mapping, table, address, exact, &state->rule[state->count]);
	return &state->rule[state->count++];
}

/* --- steps -------------------------------------------------------------------------- */

/* Returns true when `caller` is the return address of a direct call of the rule's function. Then
 * the function has not switched to another stack yet, or has switched back. */
static bool
is_called(struct state *state, const struct pclntab_rule *rule, uint64_t caller)
{
	const struct mapping *mapping = maps_find(state->maps, caller - 1);
	const uint64_t entry = rule->entry;
	struct pclntab_function function;
	uint64_t target;

	if (mapping == NULL || mapping->image == NULL ||
	    !arch_call_target(mapping->image, caller - mapping->bias, &target))
		return false;
	if (target + mapping->bias == entry)
		return true;
	/* Nearly all functions call runtime.morestack through morestack_noctxt, which only jumps
	 * there. */
	strbuf_clear(&state->name);
	return rule->is_morestack && table_of(state, mapping) != NULL &&
	       pclntab_find(table_of(state, mapping), target, &function) &&
	       function.entry == target &&
	       pclntab_name(table_of(state, mapping), function.name, &state->name) &&
	       strcmp(state->name.data, "runtime.morestack_noctxt") == 0;
}

/* Finds the caller's registers. Returns false, with a flag of the walk set, when they are not
 * known. */
static bool
step(struct walk *walk, const struct pclntab_rule *rule, struct regs *caller)
{
	if (rule->kind == KIND_SIGRETURN)
		return arch_signal_registers(walk, walk->regs.sp, caller);
	return arch_pclntab_caller(walk, rule->depth, rule->is_assembler, caller);
}

static enum advance
advance(void *opaque, struct walk *walk)
{
	struct state *state = opaque;

	for (;;) {
		const struct pclntab_rule *found = find_rule(state, walk_lookup(walk), walk->exact);
		struct pclntab_rule rule;
		struct regs caller;
		bool exact;

		if (found == NULL || found->kind == KIND_NONE) {
			walk->no_info = true;
			return ADVANCE_STUCK;
		}
		rule = *found;
		if (rule.kind == KIND_TOP)
			return ADVANCE_DONE;
		exact = rule.interrupts || rule.kind == KIND_SIGRETURN;
		if (!step(walk, &rule, &caller))
			return rule.kind == KIND_SWITCH && !walk->beyond_copy ? ADVANCE_DONE :
										ADVANCE_STUCK;
		if (caller.pc == 0 ||
		    (rule.kind == KIND_SWITCH && !is_called(state, &rule, caller.pc)))
			return ADVANCE_DONE;
		if (!walk_add(walk, &caller, FRAME_CFI, exact))
			return ADVANCE_FULL;
	}
}

static bool
covers(void *opaque, uint64_t address)
{
	const struct pclntab_rule *rule = find_rule(opaque, address, true);

	return rule != NULL && rule->kind != KIND_NONE;
}

static uint64_t
function_start(void *opaque, uint64_t address)
{
	struct state *state = opaque;
	const struct mapping *mapping = maps_find(state->maps, address);
	const struct pclntab *table = table_of(state, mapping);
	struct pclntab_function function;

	if (table == NULL || !pclntab_find(table, address - mapping->bias, &function))
		return 0;
	return function.entry + mapping->bias;
}

const struct unwind_method unwind_by_pclntab = {
	.create = state_create,
	.free = state_free,
	.advance = advance,
	.covers = covers,
	.function_start = function_start,
};
