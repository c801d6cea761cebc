/* SPDX-License-Identifier: MIT */
/*
 * python_code_internal.h - code objects of CPython: the function's name, its file, and from an
 * instruction to a line.
 *
 * A code object does not change while it lives, but another may come to lie at its address: it
 * is known by its address and the members that are compared each time (struct python_code_id).
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_CODE_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_CODE_INTERNAL_H

#include "runtime/python/python_layout_internal.h"
#include "wallsample/tracer/memory.h"

/* What tells one code object from another, as captured. */
struct python_code_id {
	uint64_t address;
	uint64_t filename, name, qualified_name, line_table; /* pointers; 0: absent */
	uint32_t first_line;
};

/* Picks the members out of the first layout->code_size bytes of the object; `size` is how many
 * bytes there are. False: too few. */
bool python_code_identify(const struct python_layout *layout, uint64_t address, const void *bytes,
			  size_t size, struct python_code_id *id);

struct python_codes; /* all that were met, and their names */

/* `layout` and `memory` are borrowed. */
struct python_codes *python_codes_create(const struct python_layout *layout,
					 const struct memory *memory);
void python_codes_free(struct python_codes *codes);

struct python_code {
	const char *function; /* qualified name where there is one: "C.method", "f.<locals>.g" */
	const char *file;     /* valid UTF-8 (surrogates escaped), as the interpreter has it */
	uint32_t first_line;
};

/*
 * The code object: read from memory when it is met for the first time, and then checked to be still
 * the same one: `memory` must not answer that from a copy that it keeps. NULL: it has gone,
 * or is none. What is returned is valid until python_codes_free.
 */
const struct python_code *python_codes_find(struct python_codes *codes,
					    const struct python_code_id *id);

/*
 * The line of an instruction: `instruction` is what the frame has at frame_instruction, as an
 * address or (before 3.11) an index, converted by version; `bytecode_index` is for
 * frame_bytecode_index, else 0. 0: code without a line. Answers are kept.
 */
uint32_t python_codes_line(struct python_codes *codes, const struct python_code_id *id,
			   uint64_t instruction, uint32_t bytecode_index);

/* --- line tables, for tests: ------------------------------------------------------------- */
/*
 * All take the bytes of the table and the offset in bytes of the instruction in the bytecode; 0:
 * no line. Tables are hostile: they end, and so do loops.
 */
uint32_t python_line_lnotab(const uint8_t *table, size_t size, uint32_t first_line,
			    uint32_t offset);    /* up to 3.9 */
uint32_t python_line_ranges(const uint8_t *table, size_t size, uint32_t first_line,
			    uint32_t offset);    /* 3.10 */
uint32_t python_line_locations(const uint8_t *table, size_t size, uint32_t first_line,
			       uint32_t offset); /* 3.11 and later */

#endif
