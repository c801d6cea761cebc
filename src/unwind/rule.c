/* SPDX-License-Identifier: MIT */
/* rule.c - compiles the entries of an image's unwind tables into rules, and applies these. */
#include "unwind/rule_internal.h"

#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/frame_table.h"
#include "wallsample/tracer/snapshot.h"

struct rule_source {
	struct frame_table *table;
	/* Sections of the rules' expressions; .high is 0 until a rule was made from the section. */
	struct frame_section eh_frame, debug_frame;
};

struct rule_source *
rule_source_open(const struct image *image, struct frame_budget *budget)
{
	struct rule_source *source = xcalloc(1, sizeof(*source));

	source->table = frame_table_open(image, budget);
	return source;
}

void
rule_source_free(struct rule_source *source)
{
	if (source == NULL)
		return;
	frame_table_free(source->table);
	free(source);
}

static bool
is_expression(const struct cfi_value *value)
{
	return value->how == CFI_SAVED_EXPR || value->how == CFI_EXPR;
}

/* Converts a value to the 32 bits that a rule keeps. Returns false when they do not suffice. */
static bool
compile_value(const struct frame_section *section, const struct cfi_value *from, int32_t *to)
{
	if (is_expression(from)) {
		const uint64_t distance = (uint64_t)from->value - section->low;

		*to = (int32_t)(uint32_t)distance;
		return distance <= UINT32_MAX;
	}
	*to = (int32_t)from->value;
	return *to == from->value;
}

/* Adds a register of the caller to the rule. Leaves it out when it is not known, or a rule cannot
 * represent it. */
static void
compile_register(const struct frame_section *section, const struct cfi_row *row, unsigned number,
		 struct rule *rule)
{
	const struct cfi_value *from = &row->reg[number];
	int32_t value;

	/* rule_apply() uses the CFA as the caller's stack pointer, so the rule omits it. */
	if (number == regs_sp_number && from->how == CFI_OFFSET && from->value == 0)
		return;
	if (from->how == CFI_UNDEFINED || rule->count == RULE_REGISTERS ||
	    !compile_value(section, from, &value))
		return;
	if (from->how == CFI_REGISTER && (value < 0 || (unsigned)value >= regs_count))
		return;
	rule->reg[rule->count].number = (uint8_t)number;
	rule->reg[rule->count].how = (uint8_t)from->how;
	rule->reg[rule->count].value = value;
	rule->count++;
	rule->has_expression |= is_expression(from);
}

static void
compile(const struct frame_section *section, const struct frame_entry *entry,
	const struct cfi_row *row, struct rule *rule)
{
	struct cfi_row defaults = { .cfa = { CFI_UNDEFINED, 0 } };

	rule->kind = RULE_DAMAGED;
	if (entry->return_register >= regs_count)
		return;
	rule->return_register = (uint8_t)entry->return_register;
	rule->signal_frame = entry->signal_frame;
	rule->signed_return = row->signed_return;
	rule->debug_frame = section->debug_frame;
	if (row->reg[rule->return_register].how == CFI_UNDEFINED) {
		rule->kind = RULE_END;
		return;
	}
	if (row->cfa.how == CFI_UNDEFINED || row->cfa_register >= regs_count ||
	    !compile_value(section, &row->cfa, &rule->cfa_value))
		return;
	rule->cfa_how = (uint8_t)row->cfa.how;
	rule->cfa_register = (uint8_t)row->cfa_register;
	rule->has_expression = is_expression(&row->cfa);
	/* The return register is the first, so that it is not left out. */
	compile_register(section, row, rule->return_register, rule);
	if (rule->count == 0)
		return;
	/* Then those that functions preserve, and that callers may need. */
	arch_cfi_defaults(&defaults);
	for (int kept = 1; kept >= 0; kept--)
		for (unsigned number = 0; number < regs_count; number++)
			if (number != rule->return_register &&
			    (defaults.reg[number].how != CFI_UNDEFINED) == (kept != 0))
				compile_register(section, row, number, rule);
	rule->kind = RULE_PLAIN;
}

void
rule_source_find(struct rule_source *source, uint64_t vaddr, struct rule *rule)
{
	const struct frame_section *section;
	struct frame_entry entry;
	struct cfi_row row;

	memset(rule, 0, sizeof(*rule));
	if (!frame_table_find(source->table, vaddr, &entry, &section))
		return;
	rule->kind = cfi_row_at(section, &entry, vaddr, &row) ? RULE_PLAIN : RULE_DAMAGED;
	rule->executed = row.executed;
	if (rule->kind == RULE_DAMAGED)
		return;
	if (section->debug_frame)
		source->debug_frame = *section;
	else
		source->eh_frame = *section;
	compile(section, &entry, &row, rule);
}

bool
rule_source_covers(struct rule_source *source, uint64_t vaddr)
{
	const struct frame_section *section;
	struct frame_entry entry;

	return frame_table_find(source->table, vaddr, &entry, &section);
}

uint64_t
rule_source_start(struct rule_source *source, uint64_t vaddr)
{
	const struct frame_section *section;
	struct frame_entry entry;

	return frame_table_find(source->table, vaddr, &entry, &section) ? entry.start : 0;
}

/* --- applying a rule ---------------------------------------------------------------------- */

static bool
evaluate(const struct rule_source *source, const struct rule *rule, struct walk *walk,
	 uint64_t bias, int32_t distance, const uint64_t *cfa, uint64_t *value)
{
	const struct frame_section *section = rule->debug_frame ? &source->debug_frame :
								  &source->eh_frame;
	const struct cfi_place place = { .walk = walk, .section = section, .bias = bias };

	if (cfi_evaluate(&place, section->low + (uint32_t)distance, cfa, value))
		return true;
	/* The expression is damaged unless another flag already gives the reason. */
	walk->bad_tables |= !walk->missing_register && !walk->bad_memory && !walk->beyond_copy;
	return false;
}

static bool
take_register(struct walk *walk, unsigned number, uint64_t *value)
{
	if (regs_get(&walk->regs, number, value))
		return true;
	walk->missing_register = true;
	return false;
}

/* Finds the value of the rule's register `i` in the caller; false, with a flag of the walk set,
 * when it is not known. */
static bool
find_register(const struct rule_source *source, const struct rule *rule, unsigned i,
	      struct walk *walk, uint64_t bias, uint64_t cfa, uint64_t *value)
{
	const int32_t number = rule->reg[i].value;
	uint64_t address;

	switch ((enum cfi_how)rule->reg[i].how) {
	case CFI_SAVED:
		return walk_read_word(walk, cfa + (uint64_t)(int64_t)number, value);
	case CFI_SAME:
		return take_register(walk, rule->reg[i].number, value);
	case CFI_OFFSET:
		*value = cfa + (uint64_t)(int64_t)number;
		return true;
	case CFI_REGISTER:
		return take_register(walk, (unsigned)number, value);
	case CFI_EXPR:
		return evaluate(source, rule, walk, bias, number, &cfa, value);
	case CFI_SAVED_EXPR:
		return evaluate(source, rule, walk, bias, number, &cfa, &address) &&
		       walk_read_word(walk, address, value);
	default:
		return false;
	}
}

/* A copy of the flags of struct walk that give the reason why a walk ended. */
struct reasons {
	bool beyond_copy, bad_memory, missing_register, bad_tables;
};

static struct reasons
reasons_of(const struct walk *walk)
{
	return (struct reasons){ walk->beyond_copy, walk->bad_memory, walk->missing_register,
				 walk->bad_tables };
}

static void
set_reasons(struct walk *walk, const struct reasons *reasons)
{
	walk->beyond_copy = reasons->beyond_copy;
	walk->bad_memory = reasons->bad_memory;
	walk->missing_register = reasons->missing_register;
	walk->bad_tables = reasons->bad_tables;
}

bool
rule_apply(const struct rule_source *source, const struct rule *rule, struct walk *walk,
	   uint64_t bias, struct regs *caller)
{
	uint64_t cfa;

	if (rule->cfa_how == CFI_EXPR) {
		if (!evaluate(source, rule, walk, bias, rule->cfa_value, NULL, &cfa))
			return false;
	} else if (regs_get(&walk->regs, rule->cfa_register, &cfa)) {
		cfa += (uint64_t)(int64_t)rule->cfa_value;
	} else {
		walk->missing_register = true;
		return false;
	}
	regs_set_sp_pc(caller, cfa, 0);
	for (unsigned i = 0; i < rule->count; i++) {
		const unsigned number = rule->reg[i].number;
		const struct reasons before = reasons_of(walk);
		uint64_t value;

		if (find_register(source, rule, i, walk, bias, cfa, &value)) {
			regs_set(caller, number, value);
			if (number == regs_sp_number)
				caller->sp = value;
		} else if (number == rule->return_register) {
			return false;
		} else {
			/* The caller is found without this register. */
			set_reasons(walk, &before);
		}
	}
	if (!regs_get(caller, rule->return_register, &caller->pc)) {
		walk->missing_register = true;
		return false;
	}
	/* The return register keeps its value in `caller`, because on aarch64 it is also a general
	 * register; x86-64 has no such register. */
	if (rule->signed_return)
		caller->pc = arch_strip_signature(walk, caller->pc);
	return true;
}
