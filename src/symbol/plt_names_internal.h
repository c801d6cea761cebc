/* SPDX-License-Identifier: MIT */
/*
 * plt_names_internal.h - names of the stubs through which a module calls others: "puts@plt".
 *
 * The relocations of .rela.plt (and of .rela.dyn for .plt.got) say which slot of the GOT is
 * whose; a stub is matched by the slot that its jump reads, decoded by the file of the
 * architecture, so that .plt, .plt.sec (IBT), .plt.got and lazy or immediate binding all work.
 */
#ifndef WALLSAMPLE_SYMBOL_PLT_NAMES_INTERNAL_H
#define WALLSAMPLE_SYMBOL_PLT_NAMES_INTERNAL_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct plt_stub {
	uint64_t start, end; /* [start, end), vaddr */
	char *name;          /* "puts@plt"; owned by the list */
};

struct plt_stubs {
	struct plt_stub *stub; /* ascending */
	size_t count;
};

/* Damage and absence give an empty list. */
void plt_stubs_read(struct plt_stubs *stubs, Elf *elf);
void plt_stubs_release(struct plt_stubs *stubs);

#endif
