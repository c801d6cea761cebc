/* SPDX-License-Identifier: MIT */
/* cfi_expression.c - evaluates the expressions of unwind tables (DWARF 5, 2.5.1). */
#include <dwarf.h>

#include "unwind/cfi_internal.h"

/* Largest number of operations of one evaluation. Jumps may repeat operations. */
#define OPERATIONS_MOST 4096
/* Largest number of values on the stack. */
#define VALUES_MOST 64

struct evaluation {
	const struct cfi_place *place;
	struct frame_cursor cursor;
	uint64_t start; /* place of the first operation */
	uint64_t value[VALUES_MOST];
	size_t count;
	bool failed;
};

static void
push(struct evaluation *evaluation, uint64_t value)
{
	if (evaluation->count == VALUES_MOST)
		evaluation->failed = true;
	else
		evaluation->value[evaluation->count++] = value;
}

static uint64_t
pop(struct evaluation *evaluation)
{
	if (evaluation->count == 0) {
		evaluation->failed = true;
		return 0;
	}
	return evaluation->value[--evaluation->count];
}

/* Pushes a copy of the value that has `above` values above it. */
static void
pick(struct evaluation *evaluation, uint64_t above)
{
	if (above >= evaluation->count)
		evaluation->failed = true;
	else
		push(evaluation, evaluation->value[evaluation->count - 1 - above]);
}

/* Moves the topmost value below the `count` - 1 values under it. */
static void
rotate(struct evaluation *evaluation, size_t count)
{
	uint64_t *top = evaluation->value + evaluation->count;
	uint64_t first;

	if (evaluation->count < count) {
		evaluation->failed = true;
		return;
	}
	first = top[-1];
	for (size_t i = 1; i < count; i++)
		top[-(ptrdiff_t)i] = top[-(ptrdiff_t)i - 1];
	top[-(ptrdiff_t)count] = first;
}

/* Pushes a register plus an offset. */
static void
push_register(struct evaluation *evaluation, uint64_t number, int64_t offset)
{
	struct walk *walk = evaluation->place->walk;
	uint64_t value;

	if (number == arch_pc_number) {
		value = walk->regs.pc;
	} else if (number >= regs_count || !regs_get(&walk->regs, (unsigned)number, &value)) {
		walk->missing_register = true;
		evaluation->failed = true;
		return;
	}
	push(evaluation, value + (uint64_t)offset);
}

/* Replaces the address on the stack by the `size` bytes in memory to which it points. */
static void
dereference(struct evaluation *evaluation, size_t size)
{
	const uint64_t address = pop(evaluation);
	const unsigned within = address % sizeof(uint64_t);
	uint64_t word;

	/* Stacks are read in aligned words, and no compiler refers to a part of two words. */
	if (size == 0 || size + within > sizeof(word) ||
	    !walk_read_word(evaluation->place->walk, address - within, &word)) {
		evaluation->failed = true;
		return;
	}
	word >>= 8 * within;
	if (size < sizeof(word))
		word &= (UINT64_C(1) << (8 * size)) - 1;
	push(evaluation, word);
}

/* Reads a distance, and jumps by it if `taken` is true. */
static void
jump(struct evaluation *evaluation, bool taken)
{
	struct frame_cursor *cursor = &evaluation->cursor;
	const int64_t distance = (int16_t)frame_take(cursor, 2);
	const uint64_t to = cursor->at + (uint64_t)distance;

	if (!taken)
		return;
	if (to < evaluation->start || to > cursor->end)
		evaluation->failed = true;
	else
		cursor->at = to;
}

/* Pushes the constant that follows the operation. Returns false when `code` is not such an
 * operation. */
static bool
execute_constant(struct evaluation *evaluation, unsigned code)
{
	struct frame_cursor *cursor = &evaluation->cursor;

	if (code >= DW_OP_lit0 && code <= DW_OP_lit31) {
		push(evaluation, code - DW_OP_lit0);
		return true;
	}
	switch (code) {
	case DW_OP_addr:
		push(evaluation, frame_take(cursor, 8) + evaluation->place->bias);
		return true;
	case DW_OP_const1u:
		push(evaluation, frame_take_byte(cursor));
		return true;
	case DW_OP_const1s:
		push(evaluation, (uint64_t)(int64_t)(int8_t)frame_take_byte(cursor));
		return true;
	case DW_OP_const2u:
		push(evaluation, frame_take(cursor, 2));
		return true;
	case DW_OP_const2s:
		push(evaluation, (uint64_t)(int64_t)(int16_t)frame_take(cursor, 2));
		return true;
	case DW_OP_const4u:
		push(evaluation, frame_take(cursor, 4));
		return true;
	case DW_OP_const4s:
		push(evaluation, (uint64_t)(int64_t)(int32_t)frame_take(cursor, 4));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(evaluation, frame_take(cursor, 8));
		return true;
	case DW_OP_constu:
		push(evaluation, frame_take_unsigned(cursor));
		return true;
	case DW_OP_consts:
		push(evaluation, (uint64_t)frame_take_signed(cursor));
		return true;
	default:
		return false;
	}
}

/* Executes an operation on the order of the stack, a jump, or a read of a register or of memory.
 * Returns false when `code` is not such an operation. */
static bool
execute_other(struct evaluation *evaluation, unsigned code)
{
	struct frame_cursor *cursor = &evaluation->cursor;
	uint64_t number;

	if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
		push_register(evaluation, code - DW_OP_breg0, frame_take_signed(cursor));
		return true;
	}
	switch (code) {
	case DW_OP_bregx:
		number = frame_take_unsigned(cursor);
		push_register(evaluation, number, frame_take_signed(cursor));
		return true;
	case DW_OP_deref:
		dereference(evaluation, sizeof(uint64_t));
		return true;
	case DW_OP_deref_size:
		dereference(evaluation, frame_take_byte(cursor));
		return true;
	case DW_OP_dup:
		pick(evaluation, 0);
		return true;
	case DW_OP_over:
		pick(evaluation, 1);
		return true;
	case DW_OP_pick:
		pick(evaluation, frame_take_byte(cursor));
		return true;
	case DW_OP_drop:
		pop(evaluation);
		return true;
	case DW_OP_swap:
		rotate(evaluation, 2);
		return true;
	case DW_OP_rot:
		rotate(evaluation, 3);
		return true;
	case DW_OP_skip:
		jump(evaluation, true);
		return true;
	case DW_OP_bra:
		jump(evaluation, pop(evaluation) != 0);
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* Replaces the topmost value. Returns false when `code` is no operation on one value. */
static bool
execute_unary(struct evaluation *evaluation, unsigned code)
{
	switch (code) {
	case DW_OP_abs: {
		const uint64_t value = pop(evaluation);

		push(evaluation, value >> 63 != 0 ? 0 - value : value);
		return true;
	}
	case DW_OP_neg:
		push(evaluation, 0 - pop(evaluation));
		return true;
	case DW_OP_not:
		push(evaluation, ~pop(evaluation));
		return true;
	case DW_OP_plus_uconst:
		push(evaluation, pop(evaluation) + frame_take_unsigned(&evaluation->cursor));
		return true;
	default:
		return false;
	}
}

static uint64_t
shift(unsigned code, uint64_t value, uint64_t by)
{
	if (code == DW_OP_shl)
		return by < 64 ? value << by : 0;
	if (code == DW_OP_shr)
		return by < 64 ? value >> by : 0;
	return (uint64_t)((int64_t)value >> (by < 63 ? by : 63)); /* DW_OP_shra */
}

/* Divides signed numbers; the remainder is that of unsigned ones, as in other readers of DWARF. */
static uint64_t
divide(struct evaluation *evaluation, unsigned code, uint64_t a, uint64_t b)
{
	if (b == 0) {
		evaluation->failed = true;
		return 0;
	}
	if (code == DW_OP_mod)
		return a % b;
	/* The division of the least number by -1 overflows. */
	return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static bool
compare(unsigned code, int64_t a, int64_t b)
{
	switch (code) {
	case DW_OP_eq:
		return a == b;
	case DW_OP_ge:
		return a >= b;
	case DW_OP_gt:
		return a > b;
	case DW_OP_le:
		return a <= b;
	case DW_OP_lt:
		return a < b;
	default: /* DW_OP_ne */
		return a != b;
	}
}

/* Replaces the two topmost values by the result of an operation on them. */
static void
execute_binary(struct evaluation *evaluation, unsigned code)
{
	const uint64_t b = pop(evaluation), a = pop(evaluation);

	switch (code) {
	case DW_OP_and:
		push(evaluation, a & b);
		break;
	case DW_OP_or:
		push(evaluation, a | b);
		break;
	case DW_OP_xor:
		push(evaluation, a ^ b);
		break;
	case DW_OP_plus:
		push(evaluation, a + b);
		break;
	case DW_OP_minus:
		push(evaluation, a - b);
		break;
	case DW_OP_mul:
		push(evaluation, a * b);
		break;
	case DW_OP_div:
	case DW_OP_mod:
		push(evaluation, divide(evaluation, code, a, b));
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		push(evaluation, shift(code, a, b));
		break;
	case DW_OP_eq:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
	case DW_OP_ne:
		push(evaluation, compare(code, (int64_t)a, (int64_t)b));
		break;
	default: /* not known, or not allowed in unwind tables */
		evaluation->failed = true;
	}
}

bool
cfi_evaluate(const struct cfi_place *place, uint64_t at, const uint64_t *cfa, uint64_t *value)
{
	struct evaluation evaluation;
	struct frame_cursor *cursor = &evaluation.cursor;
	uint64_t size;

	evaluation.place = place;
	evaluation.count = 0;
	evaluation.failed = false;
	*cursor = frame_cursor_at(place->section, at, place->section->high);
	size = frame_take_unsigned(cursor);
	if (cursor->bad || size > cursor->end - cursor->at)
		return false;
	cursor->end = cursor->at + size;
	evaluation.start = cursor->at;
	if (cfa != NULL)
		push(&evaluation, *cfa);
	for (size_t i = 0; cursor->at < cursor->end; i++) {
		const unsigned code = frame_take_byte(cursor);

		if (i == OPERATIONS_MOST || ++place->walk->work > WALK_WORK_MOST)
			return false;
		if (!execute_constant(&evaluation, code) && !execute_other(&evaluation, code) &&
		    !execute_unary(&evaluation, code))
			execute_binary(&evaluation, code);
		if (evaluation.failed || cursor->bad)
			return false;
	}
	*value = pop(&evaluation);
	return !evaluation.failed;
}
