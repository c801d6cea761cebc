/* SPDX-License-Identifier: MIT */
/*
 * pclntab.h - the function table of Go programs (.gopclntab): names, lines, inlined functions, and
 * the depth of the stack at each instruction.
 *
 * Go's runtime needs the table, so stripped programs have it too. Each call reads only the parts of
 * the file that it needs. All addresses are addresses in the image, before relocation. Supports Go
 * 1.18 and later.
 *
 * Addresses in the table are relative to the start of Go's code, which may follow C code. The table
 * itself has the address of this start only up to Go 1.25; the runtime's description of the module
 * (struct moduledata) always has it. pclntab_open() finds the description by its pointers to parts
 * of the table; in position-independent programs these pointers may be only in the relocations.
 */
#ifndef WALLSAMPLE_ELF_PCLNTAB_H
#define WALLSAMPLE_ELF_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/image.h"

struct pclntab;

/* Opens the table of an image, which is borrowed until pclntab_free(). Returns NULL when the image
 * has no usable table. Takes 1 ms for a table of 10 MiB in the page cache. */
struct pclntab *pclntab_open(const struct image *image);
void pclntab_free(struct pclntab *table);

/* Returns whether Go's linker made the image. This is a quick check: the image may still have no
 * usable table. */
bool pclntab_is_likely(const struct image *image);

/* Bits of pclntab_function.flags (runtime/symtab.go, internal/abi/symtab.go: FuncFlag). */
#define PCLNTAB_FLAG_TOP 1      /* the first function of a stack: no caller */
#define PCLNTAB_FLAG_SP_WRITE 2 /* sets the stack pointer in ways that the table does not cover */
#define PCLNTAB_FLAG_ASM 4      /* written in assembler */

struct pclntab_function {
	uint64_t entry, end; /* [entry, end), padding up to the next function included */
	uint32_t name;       /* argument for pclntab_name */
	/* Line at which the source code of the function begins; 0 when not known (before Go
	 * 1.20). */
	uint32_t start_line;
	/* The runtime's FuncID, which marks special functions by numbers that differ between
	 * releases; 0: an ordinary function. */
	uint8_t id;
	uint8_t flags; /* PCLNTAB_FLAG_… */
	/* Offset of the function's record; used only by src/elf/pclntab*.c. */
	uint32_t record;
};

/* Finds the function that contains the address; false when the address is not in Go code. Takes 0.2
 * us. */
bool pclntab_find(const struct pclntab *table, uint64_t vaddr, struct pclntab_function *function);

/*
 * Stores in *depth the distance in bytes, 0 to 2^30, from the stack pointer to the end of the
 * function's frame, as it is just before the instruction at `vaddr` is executed. On x86-64 the
 * return address is at the end of the frame. Returns false when the distance is not known.
 */
bool pclntab_stack_depth(const struct pclntab *table, const struct pclntab_function *function,
			 uint64_t vaddr, uint32_t *depth);

/* A place in the source code: a function, a file, and a line in the file. The file is
 * PCLNTAB_FILE_NONE when it is not known. */
#define PCLNTAB_FILE_NONE UINT32_MAX
struct pclntab_place {
	uint32_t name; /* argument for pclntab_name */
	uint32_t file; /* argument for pclntab_file, or PCLNTAB_FILE_NONE */
	/* In the innermost function, the line of the instruction; in the other functions, the line
	 * of the inlined call. 0 when not known. */
	uint32_t line;
	uint32_t start_line; /* as in struct pclntab_function */
};

/*
 * Fills `place` with at most `most` (1 or more) functions, the innermost first: the functions
 * inlined at the address, and last the function that contains the address. If they are too many,
 * inlined functions are omitted, never the last one. Returns the number of places; 0 when no
 * function of Go contains the address.
 */
size_t pclntab_places(const struct pclntab *table, uint64_t vaddr, struct pclntab_place *place,
		      size_t most);

/*
 * Adds the name of a function ("main.(*T).Method", "main.F[go.shape.int]") or the path of a file
 * ("/src/main.go") to `to`. Returns false, and adds nothing, when the table has no such text, or
 * the text is empty or has more than 64 KiB. The text may contain control characters and bytes that
 * are not UTF-8.
 */
bool pclntab_name(const struct pclntab *table, uint32_t name, struct strbuf *to);
bool pclntab_file(const struct pclntab *table, uint32_t file, struct strbuf *to);

#endif
