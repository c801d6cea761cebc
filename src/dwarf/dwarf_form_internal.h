/* SPDX-License-Identifier: MIT */
/*
 * dwarf_form_internal.h - how many bytes an attribute takes, by its form (DWARF 5, §7.5.6).
 */
#ifndef WALLSAMPLE_DWARF_DWARF_FORM_INTERNAL_H
#define WALLSAMPLE_DWARF_DWARF_FORM_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* What the sizes of a unit's forms depend on. */
struct dwarf_form_sizes {
	uint8_t address, offset, reference; /* bytes */
	bool swapped; /* its numbers are not of this machine's byte order */
};

enum dwarf_step_kind {
	DWARF_STEP_FIXED,    /* `size` bytes */
	DWARF_STEP_ULEB,     /* bytes up to the first below 0x80 */
	DWARF_STEP_STRING,   /* bytes up to a zero */
	DWARF_STEP_BLOCK,    /* a number of `size` bytes, that many bytes */
	DWARF_STEP_EXPRESSION, /* a ULEB number, that many bytes */
	DWARF_STEP_INDIRECT, /* a ULEB number: the form of what follows */
};

struct dwarf_step {
	uint32_t kind, size;
};

bool dwarf_form_sizes_of(Dwarf_Die *unit, struct dwarf_form_sizes *sizes);
/* The step over a form; false when the form is not known. */
bool dwarf_form_step(const struct dwarf_form_sizes *sizes, unsigned int form,
		     struct dwarf_step *step);
/* Moves *at over it; false, with *at anywhere up to `end`, when it does not end before `end`. */
bool dwarf_form_skip(const struct dwarf_form_sizes *sizes, const struct dwarf_step *step,
		     const unsigned char **at, const unsigned char *end);
/* Reads a ULEB128 number; bits above the 64th are dropped. */
bool dwarf_form_uleb(const unsigned char **at, const unsigned char *end, uint64_t *value);

#endif
