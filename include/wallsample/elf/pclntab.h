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

struct go_table;

/* NULL: the image has none that can be used. The image is borrowed. Takes 1 ms for a table of
 * 10 MiB, the file being in the page cache. */
struct go_table *go_table_open(const struct image *image);
void go_table_free(struct go_table *table);

/* Is the image of a program that Go's linker made, by what is quick to see? It may still have no
 * table that can be used. */
bool go_table_is_likely(const struct image *image);

/* runtime/symtab.go, internal/abi/symtab.go: FuncFlag. */
#define GO_FLAG_TOP 1      /* the first function of a stack: no caller */
#define GO_FLAG_SP_WRITE 2 /* sets the stack pointer in ways that the table cannot tell */
#define GO_FLAG_ASM 4      /* written in assembler */

struct go_function {
	uint64_t entry, end;   /* [entry, end): with what fills the space up to the next */
	uint32_t name;         /* for go_table_name */
	uint32_t start_line;   /* of "func", or of TEXT; 0: not known (before Go 1.20) */
	uint8_t id;            /* FuncID: other numbers in each release; 0: nothing special */
	uint8_t flags;         /* GO_FLAG_… */
	uint32_t record;       /* the table's own */
};

/* The function that holds the address; false when none of Go's does. 0.2 us. */
bool go_table_find(const struct go_table *table, uint64_t vaddr, struct go_function *function);

/*
 * How far above the stack pointer the function's frame ends before the instruction at `vaddr`
 * is run: on x86-64 there lies the return address. 0 to 2^30 bytes. False when it is not known.
 */
bool go_table_stack_depth(const struct go_table *table, const struct go_function *function,
			  uint64_t vaddr, uint32_t *depth);

/* A function at a line. */
#define GO_FILE_NONE UINT32_MAX
struct go_place {
	uint32_t name;       /* for go_table_name */
	uint32_t file;       /* for go_table_file, or GO_FILE_NONE */
	uint32_t line;       /* of the instruction, or the call of what is inlined; 0: not known */
	uint32_t start_line; /* as in struct go_function */
};

/*
 * Fills `place` with at most `most` (1 or more) functions, innermost first: those inlined at the
 * address, and last the one whose code it is, which is told even when there are more.
 * Returns how many; 0: no function of Go's.
 */
size_t go_table_places(const struct go_table *table, uint64_t vaddr, struct go_place *place,
		       size_t most);

/*
 * Adds the text: "main.(*T).Method", "main.F[go.shape.int]", "/src/main.go". False, and nothing
 * added, when it is not in the table, or longer than any real one. It is foreign.
 */
bool go_table_name(const struct go_table *table, uint32_t name, struct strbuf *to);
bool go_table_file(const struct go_table *table, uint32_t file, struct strbuf *to);

#endif
