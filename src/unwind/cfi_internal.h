/* SPDX-License-Identifier: MIT */
/*
 * cfi_internal.h - interprets call frame information (CFI): the instructions of an entry of unwind
 * tables (frame_entry.h), and the expressions to which they refer.
 *
 * Instructions and expressions come from the target's files and are not trusted. One entry executes
 * at most 65,536 instructions and remembers at most 16 rows; an expression executes at most 4,096
 * operations on a stack of 64 values. Neither allocates memory. An entry that
 * is not valid or exceeds a limit gives no caller, and the walk ends with CHAIN_BAD_TABLES; an
 * expression does so if the caller cannot be found without it. All entries and expressions of one
 * walk together execute about WALK_WORK_MOST instructions and operations, which takes some
 * milliseconds; the walk then ends.
 */
#ifndef WALLSAMPLE_UNWIND_CFI_INTERNAL_H
#define WALLSAMPLE_UNWIND_CFI_INTERNAL_H

#include "unwind/unwind_method_internal.h"
#include "wallsample/elf/frame_entry.h"

/* Largest number of instructions and operations in one walk. Real entries have about ten
 * instructions on average and a few thousand at most, and by_rule.c executes them once for an
 * address. */
#define WALK_WORK_MOST (UINT32_C(1) << 20)

/* How to find the value that a register has in the caller; the meaning of cfi_value.value. */
enum cfi_how {
	CFI_UNDEFINED,  /* the value is not preserved */
	CFI_SAME,       /* the register is unchanged */
	CFI_SAVED,      /* saved in memory at CFA + value */
	CFI_OFFSET,     /* it is CFA + value; for the CFA itself: register + value */
	CFI_REGISTER,   /* it is in the register with the number `value` */
	CFI_SAVED_EXPR, /* saved in memory; the expression at the place `value` gives the address */
	CFI_EXPR,       /* the expression at the place `value` gives it */
};

struct cfi_value {
	enum cfi_how how;
	int64_t value;
};

/* A row of the table that the instructions describe: how to find the caller's registers from the
 * code at one address. */
struct cfi_row {
	struct cfi_value cfa; /* CFI_OFFSET from cfa_register, CFI_EXPR, or CFI_UNDEFINED */
	uint64_t cfa_register;
	uint32_t executed;  /* number of instructions that were executed for the row */
	bool signed_return; /* aarch64: the return address is signed (pointer authentication) */
	struct cfi_value reg[REGS_MAX];
};

/*
 * Executes the instructions of the entry up to the row of `vaddr`, which must be in the entry's
 * range. Registers that CFI may name and the unwinder does not know are ignored. Returns false when
 * an instruction is not valid or not known, or a limit is exceeded; of *row, only `executed` is
 * then valid.
 */
bool cfi_row_at(const struct frame_section *section, const struct frame_entry *entry,
		uint64_t vaddr, struct cfi_row *row);

/* Where an expression is evaluated. */
struct cfi_place {
	struct walk *walk; /* for registers and memory */
	const struct frame_section *section;
	uint64_t bias; /* address of the module minus its vaddr */
};

/*
 * Evaluates the expression at `at`, a place in the section at which its length is stored. `cfa` is
 * the first value on its stack, and NULL when the expression gives the CFA. Returns false when the
 * expression is not valid or exceeds a limit, and, with a flag of the walk set, when a register or
 * memory that it needs is not known.
 */
bool cfi_evaluate(const struct cfi_place *place, uint64_t at, const uint64_t *cfa, uint64_t *value);

/* Sets the ABI's rules for registers that an entry does not mention, in a row that is all zero:
 * preserved registers are unchanged, the stack pointer is the CFA, and the return address is where
 * a call puts it. Other registers stay undefined. */
void arch_cfi_defaults(struct cfi_row *row);
/* Executes an instruction that only this architecture has; false when there is none with this
 * code. */
bool arch_cfi_instruction(struct cfi_row *row, unsigned code);
/* Removes the signature of pointer authentication from `address`, a code address in the walk's
 * process, and returns the result. */
uint64_t arch_strip_signature(const struct walk *walk, uint64_t address);
/* DWARF number by which expressions refer to the program counter. */
extern const unsigned arch_pc_number;

#endif
