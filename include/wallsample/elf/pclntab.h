/* SPDX-License-Identifier: MIT */
/*
 * pclntab.h - the function table of Go programs (.gopclntab): names, lines, inlined functions, and
 * the depth of the stack at each instruction.
 *
 * Go's runtime needs the table, so stripped programs have it too. Each call reads only the parts of
 * the file that it needs. All addresses are those of the image. Supports Go 1.18 and later.
 *
 * Addresses in the table are relative to the start of Go's code, which may follow C code. The table
 * has the address of this start only up to Go 1.25; the runtime's description of the module (struct
 * moduledata) always has it. The description is found by its pointers into the table; in
 * position-independent programs the relocations have the values of these pointers.
 */
#ifndef WALLSAMPLE_ELF_PCLNTAB_H
#define WALLSAMPLE_ELF_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/image.h"

struct pclntab;

/* Opens the table of an image, which is borrowed until pclntab_free(). NULL: the image has no
 * usable table. Takes 1 ms for a table of 10 MiB in the page cache. */
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
	uint32_t name;       /* argument of pclntab_name */
	uint32_t start_line; /* line of "func" or TEXT; 0 when not known (before Go 1.20) */
	uint8_t id;      /* FuncID, whose numbers differ in each release; 0: an ordinary function */
	uint8_t flags;   /* PCLNTAB_FLAG_… */
	uint32_t record; /* private */
};

/* Finds the function that contains the address; false when the address is not in Go code. Takes 0.2
 * us. */
bool pclntab_find(const struct pclntab *table, uint64_t vaddr, struct pclntab_function *function);

/*
 * Stores the distance from the stack pointer to the end of the function's frame before the
 * instruction at `vaddr` is executed, 0 to 2^30 bytes. On x86-64 the return address is there.
 * False when the distance is not known.
 */
bool pclntab_stack_depth(const struct pclntab *table, const struct pclntab_function *function,
			 uint64_t vaddr, uint32_t *depth);

/* A function, with a file and a line in it. */
#define PCLNTAB_FILE_NONE UINT32_MAX
struct pclntab_place {
	uint32_t name; /* argument of pclntab_name */
	uint32_t file; /* argument of pclntab_file, or PCLNTAB_FILE_NONE */
	/* In the innermost function, the line of the instruction; in others, of the inlined call; 0
	 * when not known. */
	uint32_t line;
	uint32_t start_line; /* as in struct pclntab_function */
};

/*
 * Fills `place` with at most `most` (1 or more) functions, innermost first: those inlined at the
 * address, and last the function that contains the address, even when inlined functions have to be
 * omitted. Returns the number of places; 0 when no function of Go contains the address.
 */
size_t pclntab_places(const struct pclntab *table, uint64_t vaddr, struct pclntab_place *place,
		      size_t most);

/*
 * Adds a text to `to`: "main.(*T).Method", "main.F[go.shape.int]", "/src/main.go". False, with
 * nothing added, when the text is not in the table or is longer than any real name. The text is
 * foreign.
 */
bool pclntab_name(const struct pclntab *table, uint32_t name, struct strbuf *to);
bool pclntab_file(const struct pclntab *table, uint32_t file, struct strbuf *to);

#endif
