/* SPDX-License-Identifier: MIT */
/*
 * pclntab.h - what Go's linker tells of the functions of a program, in every program: names,
 * lines, inlined functions, and how deep the stack is at each instruction.
 *
 * Go's runtime cannot do without the table (.gopclntab), so that it is there in stripped
 * programs, too. It is read from the file, piece by piece as it is asked for; all
 * addresses are those of the image. Go 1.18 and later.
 *
 * What lies in it counts from where Go's code begins, which may be behind C code, and which
 * the table itself only tells up to Go 1.25. The runtime's own description of the module
 * (struct moduledata) always does. It is found by its pointers into the table, which
 * in position-independent programs are in the relocations.
 */
#ifndef WALLSAMPLE_ELF_PCLNTAB_H
#define WALLSAMPLE_ELF_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/image.h"

struct pclntab;

/* NULL: the image has none that can be used. The image is borrowed. Takes 1 ms for a table of
 * 10 MiB, the file being in the page cache. */
struct pclntab *pclntab_open(const struct image *image);
void pclntab_free(struct pclntab *table);

/* Is the image of a program that Go's linker made, by what is quick to see? It may still have no
 * table that can be used. */
bool pclntab_is_likely(const struct image *image);

/* runtime/symtab.go, internal/abi/symtab.go: FuncFlag. */
#define PCLNTAB_FLAG_TOP 1      /* the first function of a stack: no caller */
#define PCLNTAB_FLAG_SP_WRITE 2 /* sets the stack pointer in ways that the table cannot tell */
#define PCLNTAB_FLAG_ASM 4      /* written in assembler */

struct pclntab_function {
	uint64_t entry, end;   /* [entry, end): with what fills the space up to the next */
	uint32_t name;         /* for pclntab_name */
	uint32_t start_line;   /* of "func", or of TEXT; 0: not known (before Go 1.20) */
	uint8_t id;            /* FuncID: other numbers in each release; 0: nothing special */
	uint8_t flags;         /* PCLNTAB_FLAG_… */
	uint32_t record;       /* the table's own */
};

/* The function that holds the address; false when none of Go's does. 0.2 us. */
bool pclntab_find(const struct pclntab *table, uint64_t vaddr, struct pclntab_function *function);

/*
 * How far above the stack pointer the function's frame ends before the instruction at `vaddr`
 * is run: on x86-64 there lies the return address. 0 to 2^30 bytes. False when it is not known.
 */
bool pclntab_stack_depth(const struct pclntab *table, const struct pclntab_function *function,
			 uint64_t vaddr, uint32_t *depth);

/* A function at a line. */
#define PCLNTAB_FILE_NONE UINT32_MAX
struct pclntab_place {
	uint32_t name;       /* for pclntab_name */
	uint32_t file;       /* for pclntab_file, or PCLNTAB_FILE_NONE */
	uint32_t line;       /* of the instruction, or the call of what is inlined; 0: not known */
	uint32_t start_line; /* as in struct pclntab_function */
};

/*
 * Fills `place` with at most `most` (1 or more) functions, innermost first: those inlined at the
 * address, and last the one whose code it is, which is told even when there are more.
 * Returns how many; 0: no function of Go's.
 */
size_t pclntab_places(const struct pclntab *table, uint64_t vaddr, struct pclntab_place *place,
		      size_t most);

/*
 * Adds the text: "main.(*T).Method", "main.F[go.shape.int]", "/src/main.go". False, and nothing
 * added, when it is not in the table, or longer than any real one. It is foreign.
 */
bool pclntab_name(const struct pclntab *table, uint32_t name, struct strbuf *to);
bool pclntab_file(const struct pclntab *table, uint32_t file, struct strbuf *to);

#endif
