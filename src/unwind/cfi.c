/* SPDX-License-Identifier: MIT */
/* cfi.c - executes the instructions of an entry of unwind tables (DWARF 5, 6.4.2). */
#include <dwarf.h>
#include <string.h>

#include "unwind/cfi_internal.h"

/* Largest number of instructions of one entry. The entries of the largest functions of Debian's
 * programs, evaluation loops of interpreters and compilers included, have some thousand. */
#define INSTRUCTIONS_MOST 65536
/* Largest number of rows that are remembered at one time; compilers remember one or two. */
#define REMEMBERED_MOST 16

/* Instructions of the LSB and of GCC, which some versions of dwarf.h lack. */
#define CFA_MIPS_ADVANCE_LOC8 0x1d
#define CFA_GNU_ARGS_SIZE 0x2e
#define CFA_GNU_NEGATIVE_OFFSET_EXTENDED 0x2f

/* The high two bits of an instruction, and the operand in its other bits. */
#define PRIMARY_MASK 0xc0
#define OPERAND_MASK 0x3f

struct machine {
	const struct frame_entry *entry;
	struct frame_cursor cursor;
	uint64_t location;             /* the row is valid from this address on */
	uint64_t vaddr;                /* the address whose row is wanted */
	bool passed;                   /* the row of `vaddr` is complete */
	const struct cfi_row *initial; /* the row after the CIE's instructions; NULL in the CIE */
	struct cfi_row row;
	struct cfi_row remembered[REMEMBERED_MOST];
	size_t remembered_count;
};

static void
move_to(struct machine *machine, uint64_t location)
{
	machine->location = location;
	machine->passed = location > machine->vaddr;
}

static void
advance(struct machine *machine, uint64_t distance)
{
	const uint64_t location = machine->location + distance * machine->entry->code_alignment;

	/* A location can only grow. */
	if (location < machine->location)
		machine->cursor.bad = true;
	else
		move_to(machine, location);
}

/* Sets how to find a register, unless the unwinder does not know the register. */
static void
set(struct machine *machine, uint64_t number, enum cfi_how how, int64_t value)
{
	if (number < regs_count)
		machine->row.reg[number] = (struct cfi_value){ how, value };
}

/* Sets how to find a register by an offset in units of the data alignment. */
static void
set_factored(struct machine *machine, uint64_t number, enum cfi_how how, int64_t offset)
{
	const int64_t factor = machine->entry->data_alignment;
	int64_t value;

	if (__builtin_mul_overflow(offset, factor, &value))
		machine->cursor.bad = true;
	else
		set(machine, number, how, value);
}

static void
set_cfa_factored(struct machine *machine, int64_t offset)
{
	int64_t value;

	if (__builtin_mul_overflow(offset, machine->entry->data_alignment, &value))
		machine->cursor.bad = true;
	machine->row.cfa = (struct cfi_value){ CFI_OFFSET, value };
}

static void
restore(struct machine *machine, uint64_t number)
{
	if (machine->initial == NULL)
		machine->cursor.bad = true;
	else if (number < regs_count)
		machine->row.reg[number] = machine->initial->reg[number];
}

/* Skips an expression, and returns the place of its length. */
static int64_t
take_expression(struct machine *machine)
{
	struct frame_cursor *cursor = &machine->cursor;
	const uint64_t place = cursor->at;
	const uint64_t size = frame_take_unsigned(cursor);

	if (size > cursor->end - cursor->at)
		cursor->bad = true;
	else
		cursor->at += size;
	return (int64_t)place;
}

/* Copies a row up to the last register that the architecture has. */
static void
copy_row(struct cfi_row *to, const struct cfi_row *from)
{
	memcpy(to, from, offsetof(struct cfi_row, reg) + regs_count * sizeof(from->reg[0]));
}

static void
remember(struct machine *machine)
{
	if (machine->remembered_count == REMEMBERED_MOST)
		machine->cursor.bad = true;
	else
		copy_row(&machine->remembered[machine->remembered_count++], &machine->row);
}

static void
recall(struct machine *machine)
{
	const uint32_t executed = machine->row.executed;

	if (machine->remembered_count == 0)
		machine->cursor.bad = true;
	else
		copy_row(&machine->row, &machine->remembered[--machine->remembered_count]);
	machine->row.executed = executed;
}

/* Executes an instruction that moves to another row. Returns false when `code` is not such an
 * instruction. */
static bool
execute_move(struct machine *machine, unsigned code)
{
	struct frame_cursor *cursor = &machine->cursor;

	switch (code) {
	case DW_CFA_set_loc:
		move_to(machine, frame_take_address(cursor, machine->entry->encoding));
		return true;
	case DW_CFA_advance_loc1:
		advance(machine, frame_take_byte(cursor));
		return true;
	case DW_CFA_advance_loc2:
		advance(machine, frame_take(cursor, 2));
		return true;
	case DW_CFA_advance_loc4:
		advance(machine, frame_take(cursor, 4));
		return true;
	case CFA_MIPS_ADVANCE_LOC8:
		advance(machine, frame_take(cursor, 8));
		return true;
	default:
		return false;
	}
}

/* Executes an instruction that defines the CFA. Returns false when `code` is not such an
 * instruction. */
static bool
execute_cfa(struct machine *machine, unsigned code)
{
	struct frame_cursor *cursor = &machine->cursor;
	struct cfi_row *row = &machine->row;

	switch (code) {
	case DW_CFA_def_cfa:
		row->cfa_register = frame_take_unsigned(cursor);
		row->cfa = (struct cfi_value){ CFI_OFFSET, (int64_t)frame_take_unsigned(cursor) };
		return true;
	case DW_CFA_def_cfa_sf:
		row->cfa_register = frame_take_unsigned(cursor);
		set_cfa_factored(machine, frame_take_signed(cursor));
		return true;
	case DW_CFA_def_cfa_register:
		row->cfa_register = frame_take_unsigned(cursor);
		cursor->bad |= row->cfa.how != CFI_OFFSET;
		return true;
	case DW_CFA_def_cfa_offset:
		cursor->bad |= row->cfa.how != CFI_OFFSET;
		row->cfa.value = (int64_t)frame_take_unsigned(cursor);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		cursor->bad |= row->cfa.how != CFI_OFFSET;
		set_cfa_factored(machine, frame_take_signed(cursor));
		return true;
	case DW_CFA_def_cfa_expression:
		row->cfa = (struct cfi_value){ CFI_EXPR, take_expression(machine) };
		return true;
	default:
		return false;
	}
}

/* Executes an instruction that defines how to find a register. `number` is the register, the first
 * operand, which the caller has read. Returns false when `code` is not such an instruction. */
static bool
execute_register(struct machine *machine, unsigned code, uint64_t number)
{
	struct frame_cursor *cursor = &machine->cursor;

	switch (code) {
	case DW_CFA_offset_extended:
		set_factored(machine, number, CFI_SAVED, (int64_t)frame_take_unsigned(cursor));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_factored(machine, number, CFI_SAVED,
			     (int64_t)(0 - frame_take_unsigned(cursor)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_factored(machine, number, CFI_SAVED, frame_take_signed(cursor));
		return true;
	case DW_CFA_val_offset:
		set_factored(machine, number, CFI_OFFSET, (int64_t)frame_take_unsigned(cursor));
		return true;
	case DW_CFA_val_offset_sf:
		set_factored(machine, number, CFI_OFFSET, frame_take_signed(cursor));
		return true;
	case DW_CFA_restore_extended:
		restore(machine, number);
		return true;
	case DW_CFA_undefined:
		set(machine, number, CFI_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set(machine, number, CFI_SAME, 0);
		return true;
	case DW_CFA_register:
		set(machine, number, CFI_REGISTER, (int64_t)frame_take_unsigned(cursor));
		return true;
	case DW_CFA_expression:
		set(machine, number, CFI_SAVED_EXPR, take_expression(machine));
		return true;
	case DW_CFA_val_expression:
		set(machine, number, CFI_EXPR, take_expression(machine));
		return true;
	default:
		return false;
	}
}

/* Executes an instruction of the group whose high two bits are 0. */
static void
execute_extended(struct machine *machine, unsigned code)
{
	struct frame_cursor *cursor = &machine->cursor;

	switch (code) {
	case DW_CFA_nop:
		return;
	case DW_CFA_remember_state:
		remember(machine);
		return;
	case DW_CFA_restore_state:
		recall(machine);
		return;
	case CFA_GNU_ARGS_SIZE:
		frame_take_unsigned(cursor);
		return;
	default:
		break;
	}
	if (execute_move(machine, code) || execute_cfa(machine, code) ||
	    arch_cfi_instruction(&machine->row, code))
		return;
	if (!execute_register(machine, code, frame_take_unsigned(cursor)))
		cursor->bad = true;
}

static void
execute(struct machine *machine)
{
	struct frame_cursor *cursor = &machine->cursor;
	const unsigned code = frame_take_byte(cursor);
	const unsigned operand = code & OPERAND_MASK;

	switch (code & PRIMARY_MASK) {
	case DW_CFA_advance_loc:
		advance(machine, operand);
		break;
	case DW_CFA_offset:
		set_factored(machine, operand, CFI_SAVED, (int64_t)frame_take_unsigned(cursor));
		break;
	case DW_CFA_restore:
		restore(machine, operand);
		break;
	default:
		execute_extended(machine, code);
	}
}

/* Executes the instructions of the span, until the row of `vaddr` is complete. Returns false when
 * an instruction is not valid, or the limit is exceeded. */
static bool
execute_all(struct machine *machine, struct frame_span span)
{
	struct frame_cursor *cursor = &machine->cursor;

	cursor->at = span.at;
	cursor->end = span.end;
	while (cursor->at < cursor->end && !machine->passed) {
		struct cfi_row *row = &machine->row;

		if (row->executed++ == INSTRUCTIONS_MOST)
			return false;
		execute(machine);
		if (cursor->bad || row->cfa_register > UINT32_MAX)
			return false;
	}
	return true;
}

bool
cfi_row_at(const struct frame_section *section, const struct frame_entry *entry, uint64_t vaddr,
	   struct cfi_row *row)
{
	struct machine machine;
	struct cfi_row initial;
	bool done;

	/* The remembered rows, which are large, need no initial value. */
	memset(&machine, 0, offsetof(struct machine, remembered));
	machine.remembered_count = 0;
	machine.entry = entry;
	machine.cursor = frame_cursor_at(section, 0, 0);
	machine.location = entry->start;
	machine.vaddr = vaddr;
	arch_cfi_defaults(&machine.row);
	done = execute_all(&machine, entry->common);
	/* Instructions of the CIE do not move; if they did, the row would not be that of the
	 * start. */
	done = done && machine.location == entry->start;
	copy_row(&initial, &machine.row);
	machine.initial = &initial;
	machine.remembered_count = 0;
	done = done && execute_all(&machine, entry->own);
	copy_row(row, &machine.row);
	return done;
}
