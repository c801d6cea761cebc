/* SPDX-License-Identifier: MIT */
/*
 * rule_internal.h - rules: how to find the caller of the code at one address, in a form that is
 * fast to apply.
 *
 * Nearly all entries that compilers write into unwind tables have one form: the caller's stack
 * pointer is a register plus an offset, and the return address and some registers are saved at
 * fixed offsets below it. A rule keeps these values, and the unwinder applies them with a few
 * loads. Where a value is given by an expression, the rule keeps the place of the expression, which
 * is evaluated each time the rule is applied.
 */
#ifndef WALLSAMPLE_UNWIND_RULE_INTERNAL_H
#define WALLSAMPLE_UNWIND_RULE_INTERNAL_H

#include "unwind/cfi_internal.h"
#include "wallsample/elf/frame_table.h"

enum rule_kind {
	RULE_NONE,    /* no table has a readable entry for the address */
	RULE_PLAIN,   /* the rule describes the caller: see rule_apply() */
	RULE_END,     /* the return address is undefined: the thread's first function */
	RULE_DAMAGED, /* the instructions are invalid, or do not define the caller */
};

/* Largest number of registers in a rule: a signal frame of x86-64 has 17. Further registers are
 * omitted; the return address and preserved registers (aarch64: 12) come first. */
#define RULE_REGISTERS 17

/* A value of struct cfi_value in 32 bits: an offset, the number of a register, or the distance of
 * an expression from the beginning of its section, which is unsigned. */
struct rule {
	uint8_t kind;            /* enum rule_kind */
	bool signal_frame;       /* the code is a signal handler's return trampoline */
	bool signed_return;      /* see struct cfi_row */
	bool has_expression;     /* the CFA or a register has one */
	bool debug_frame;        /* expressions are in .debug_frame, else in .eh_frame */
	uint8_t cfa_how;         /* CFI_OFFSET: CFA = cfa_register + cfa_value; or CFI_EXPR */
	uint8_t cfa_register;    /* for CFI_OFFSET */
	uint8_t return_register; /* DWARF number of the register with the return address */
	uint8_t count;           /* number of elements of `reg` */
	int32_t cfa_value;
	uint32_t executed; /* number of instructions that were executed to make the rule */
	/* How to find the caller's registers, return_register included. */
	struct {
		uint8_t number;
		uint8_t how; /* enum cfi_how, not CFI_UNDEFINED */
		int32_t value;
	} reg[RULE_REGISTERS];
};

/* The unwind tables of one image. */
struct rule_source;

/* Opens the unwind tables of the image. The image and the budget (frame_table.h) are borrowed. The
 * result must be freed with rule_source_free(), which accepts NULL. */
struct rule_source *rule_source_open(const struct image *image, struct frame_budget *budget);
void rule_source_free(struct rule_source *source);
/* Sets *rule for the code at `vaddr`, an address in the image before relocation; its kind is
 * RULE_NONE if no table covers the address. */
void rule_source_find(struct rule_source *source, uint64_t vaddr, struct rule *rule);
/* Returns true if a table has a readable entry for `vaddr`. Its instructions are not checked. */
bool rule_source_covers(struct rule_source *source, uint64_t vaddr);
/* Returns the start of the function that contains `vaddr`; 0 when no table covers the address. */
uint64_t rule_source_start(struct rule_source *source, uint64_t vaddr);
/*
 * Finds the caller's registers, as far as they are known, with a rule that rule_source_find() made
 * for the walk's last frame, and that is RULE_PLAIN. `source` is read only if the rule has an
 * expression. `bias` is the address of the module minus its vaddr. Returns false, with a flag of
 * the walk set, when the CFA or the return address is not known.
 */
bool rule_apply(const struct rule_source *source, const struct rule *rule, struct walk *walk,
		uint64_t bias, struct regs *caller);

#endif
