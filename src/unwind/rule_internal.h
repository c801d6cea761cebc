/* SPDX-License-Identifier: MIT */
/*
 * rule_internal.h - how to find the caller of code at one address, in a form that is quick to
 * apply.
 *
 * What compilers write into unwind tables is nearly always the same few words: the caller's
 * stack pointer is a register and a number, the return address and some registers lie at fixed
 * places below it. libdw reads the tables, a rule keeps those words, and a walk applies them
 * with a few loads. Anything else is RULE_COMPLEX and for the full unwinders.
 */
#ifndef WALLSAMPLE_UNWIND_RULE_INTERNAL_H
#define WALLSAMPLE_UNWIND_RULE_INTERNAL_H

#include "wallsample/elf/image.h"

enum rule_kind {
	RULE_NONE,    /* no table covers the address */
	RULE_PLAIN,   /* the fields below say it all */
	RULE_END,     /* the return address is marked undefined: the first function */
	RULE_COMPLEX, /* the tables say it in a way that is not kept here */
};

/* More than the callee-saved registers of any architecture here (aarch64: 12). */
#define RULE_REGISTERS 16

struct rule {
	uint8_t kind;         /* enum rule_kind */
	bool signal_frame;    /* the code that a signal handler returns to */
	uint8_t cfa_register; /* CFA = register + offset; it is the caller's sp */
	int32_t cfa_offset;
	uint8_t return_register;
	uint8_t count;
	struct {
		uint8_t number;
		bool saved;     /* at CFA + offset; else it has not changed */
		int32_t offset;
	} reg[RULE_REGISTERS]; /* the return address among them */
};

/* The unwind tables of one image. */
struct rule_source;

/* NULL when the image has none. The image is borrowed. */
struct rule_source *rule_source_open(const struct image *image);
void rule_source_free(struct rule_source *source);
/* The rule for code at `vaddr`. */
void rule_source_find(struct rule_source *source, uint64_t vaddr, struct rule *rule);

#endif
