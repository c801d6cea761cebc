/* SPDX-License-Identifier: MIT */
/*
 * by_rule.c - the fast method for code with unwind tables: applies rules (rule_internal.h), each of
 * which is compiled once for an address.
 *
 * Measured: a frame takes a tenth of the time that it takes in libunwind, which blocks and unblocks
 * signals with two system calls at each access to its cache. Unlike libunwind and libdw, the method
 * bounds the time and memory that the tables of a hostile program can take (cfi_internal.h,
 * frame_table.h).
 */
#include "unwind/rule_internal.h"
#include "unwind/unwind_method_internal.h"
#include "wallsample/base/table.h"

/* When there are this many rules, all are discarded: a bound on memory (17 MiB). */
#define MOST_RULES ((size_t)1 << 17)

struct state {
	struct maps *maps;
	uint64_t generation;
	struct rule *rule;
	size_t count, capacity;
	struct table by_address; /* address -> index of a rule */
	/* The unwind tables of the modules, indexed by module number; NULL: not opened yet. */
	struct rule_source **source;
	size_t source_count;
	struct frame_budget budget;
};

static void *
state_create(struct maps *maps)
{
	struct state *state = xcalloc(1, sizeof(*state));

	state->maps = maps;
	state->budget = frame_budget_of_run;
	state->generation = maps_generation(maps);
	table_init(&state->by_address);
	return state;
}

static void
state_free(void *opaque)
{
	struct state *state = opaque;

	for (size_t i = 0; i < state->source_count; i++)
		rule_source_free(state->source[i]);
	table_release(&state->by_address);
	free(state->source);
	free(state->rule);
	free(state);
}

/* Returns the unwind tables of the mapping's module. */
static struct rule_source *
source_of(struct state *state, const struct mapping *mapping)
{
	struct rule_source **source;

	state->source = array_for_module(state->source, &state->source_count, mapping->module,
					 sizeof(*state->source));
	source = &state->source[mapping->module];
	if (*source == NULL)
		*source = rule_source_open(mapping->image, &state->budget);
	return *source;
}

static void
compile(struct state *state, uint64_t address, struct rule *rule)
{
	const struct mapping *mapping = maps_find(state->maps, address);

	memset(rule, 0, sizeof(*rule));
	if (mapping != NULL && mapping->image != NULL)
		rule_source_find(source_of(state, mapping), address - mapping->bias, rule);
}

/* Returns the rule for the address, valid until the next call; its kind is RULE_NONE when there are
 * no tables. Adds to *work the number of instructions that were executed for it. */
static const struct rule *
find_rule(struct state *state, uint64_t address, uint32_t *work)
{
	uint64_t generation = maps_generation(state->maps);
	uint32_t index;
	struct rule rule;

	/* Rules are kept by address; when mappings have changed, an address may contain other
	 * code. */
	if (generation != state->generation || state->count >= MOST_RULES) {
		state->generation = generation;
		state->count = 0;
		table_clear(&state->by_address);
	}
	if (table_find(&state->by_address, address, 0, &index))
		return &state->rule[index];
	compile(state, address, &rule);
	*work += rule.executed;
	/* For an unknown address, maps_find() in compile() may have found new mappings: then all
	 * rules are discarded, and the search is repeated. */
	if (maps_generation(state->maps) != state->generation)
		return find_rule(state, address, work);
	state->rule = xgrow(state->rule, &state->capacity, state->count + 1, sizeof(*state->rule));
	state->rule[state->count] = rule;
	*table_insert(&state->by_address, address, 0, 0, NULL) = (uint32_t)state->count;
	return &state->rule[state->count++];
}

/* Finds the caller's registers with the rule; see rule_apply(). */
static bool
apply(struct state *state, struct walk *walk, const struct rule *rule, struct regs *caller)
{
	const struct rule_source *source = NULL;
	uint64_t bias = 0;

	if (rule->has_expression) {
		const struct mapping *mapping = maps_find(walk->maps, walk_lookup(walk));

		if (mapping == NULL || mapping->image == NULL)
			return false;
		source = source_of(state, mapping);
		bias = mapping->bias;
	}
	return rule_apply(source, rule, walk, bias, caller);
}

static enum advance
advance(void *opaque, struct walk *walk)
{
	struct state *state = opaque;

	for (;;) {
		const struct rule *rule = find_rule(state, walk_lookup(walk), &walk->work);
		struct regs caller;
		bool exact = rule->signal_frame;

		if (walk->work > WALK_WORK_MOST) {
			walk->bad_tables = true;
			return ADVANCE_STUCK;
		}
		if (exact) /* the kernel stored the trampoline's address; no call did */
			walk->chain->frame[walk->chain->count - 1].exact = walk->exact = true;
		if (rule->kind == RULE_END)
			return ADVANCE_DONE;
		walk->no_info |= rule->kind == RULE_NONE;
		walk->bad_tables |= rule->kind == RULE_DAMAGED;
		if (rule->kind != RULE_PLAIN || !apply(state, walk, rule, &caller))
			return ADVANCE_STUCK;
		if (caller.pc == 0)
			return ADVANCE_DONE;
		/* The caller's sp may be lower: signal handlers and coroutines have stacks of their
		 * own. A cycle ends when chain_add() finds it. */
		if (!walk_add(walk, &caller, FRAME_CFI, exact))
			return ADVANCE_FULL;
	}
}

static bool
covers(void *opaque, uint64_t address)
{
	struct state *state = opaque;
	const struct mapping *mapping = maps_find(state->maps, address);

	return mapping != NULL && mapping->image != NULL &&
	       rule_source_covers(source_of(state, mapping), address - mapping->bias);
}

static uint64_t
start_by_entry(void *opaque, uint64_t address)
{
	struct state *state = opaque;
	const struct mapping *mapping = maps_find(state->maps, address);
	uint64_t start;

	if (mapping == NULL || mapping->image == NULL)
		return 0;
	start = rule_source_start(source_of(state, mapping), address - mapping->bias);
	return start != 0 ? start + mapping->bias : 0;
}

const struct unwind_method unwind_by_rule = {
	.create = state_create,
	.free = state_free,
	.advance = advance,
	.covers = covers,
	.function_start = start_by_entry,
};
