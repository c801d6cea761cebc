/* SPDX-License-Identifier: MIT */
/*
 * rule_internal.h - rules: how to find the caller of the code at one address, in a form that is
 * fast to apply.
 *
 * Nearly all entries that compilers write into unwind tables have one form: the caller's stack
 * pointer is a register plus an offset, and the return address and some registers are saved at
 * fixed offsets below it. libdw reads the tables, a rule keeps these values, and the unwinder
 * applies them with a few loads. An entry of another form becomes RULE_COMPLEX and is left to
 * libunwind and libdw.
 */
#ifndef WALLSAMPLE_UNWIND_RULE_INTERNAL_H
#define WALLSAMPLE_UNWIND_RULE_INTERNAL_H

#include <libelf.h>

#include "wallsample/elf/image.h"

enum rule_kind {
	RULE_NONE,    /* no table covers the address */
	RULE_PLAIN,   /* the fields of struct rule describe the caller completely */
	RULE_END,     /* the return address is undefined: the thread's first function */
	RULE_COMPLEX, /* the entry has a form that a rule cannot keep */
};

/* Largest number of registers in a rule, more than the callee-saved registers of any supported
 * architecture (aarch64: 12). */
#define RULE_REGISTERS 16

struct rule {
	uint8_t kind;         /* enum rule_kind */
	bool signal_frame;    /* the code is a signal handler's return trampoline */
	uint8_t cfa_register; /* CFA = this register + cfa_offset; the CFA is the caller's sp */
	int32_t cfa_offset;
	uint8_t return_register; /* DWARF number of the register with the return address */
	uint8_t count;           /* number of elements of `reg` */
	/* How to find the caller's registers, return_register included. */
	struct {
		uint8_t number;
		bool saved; /* the value is at CFA + offset; if false, the register is unchanged */
		int32_t offset;
	} reg[RULE_REGISTERS];
};

/* The unwind tables of one image. */
struct rule_source;

/* Opens the unwind tables of the image, which is borrowed. The result must be freed with
 * rule_source_free(), which accepts NULL. Returns NULL when the image cannot be opened. */
struct rule_source *rule_source_open(const struct image *image);
void rule_source_free(struct rule_source *source);
/* Sets *rule for the code at `vaddr`, an address in the image before relocation; its kind is
 * RULE_NONE if no table covers the address. */
void rule_source_find(struct rule_source *source, uint64_t vaddr, struct rule *rule);

/*
 * Returns true when the file has a .debug_frame, and all of its debug sections together have at
 * most 256 MiB when unpacked. To reach .debug_frame, libdw reads and unpacks all debug sections;
 * for some programs this would take seconds and gigabytes while samples are taken. `elf` is
 * borrowed.
 */
bool debug_frame_is_cheap(Elf *elf);

#endif
