/* SPDX-License-Identifier: MIT */
/*
 * pclntab_names_internal.h - from an address to function, file, line and what was inlined there,
 * by Go's own table (pclntab.h).
 *
 * It comes before DWARF, which says the same where it is there, so that stripped and other
 * programs have the same names; and DWARF need not be read.
 */
#ifndef WALLSAMPLE_SYMBOL_PCLNTAB_NAMES_INTERNAL_H
#define WALLSAMPLE_SYMBOL_PCLNTAB_NAMES_INTERNAL_H

#include "wallsample/dwarf/dwarf_lines.h"
#include "wallsample/elf/image.h"

struct pclntab_names;

/* NULL: the image has no such table. The image is borrowed. */
struct pclntab_names *pclntab_names_create(const struct image *image);
void pclntab_names_free(struct pclntab_names *names);

/*
 * As dwarf_lines_find. 0 also for code that the table knows nothing of but its name: that is C
 * or assembler of others, which Go's linker took in. `names` may be NULL.
 */
size_t pclntab_names_find(struct pclntab_names *names, uint64_t vaddr, struct dwarf_place *out,
			  size_t most);

/* The function's name, valid until the next call; NULL: not known. `names` may be NULL. */
const char *pclntab_names_function(struct pclntab_names *names, uint64_t vaddr);

#endif
