/* SPDX-License-Identifier: MIT */
/*
 * plt_internal.h - names of the stubs through which a module calls other modules: "puts@plt".
 *
 * The relocations of .rela.plt (and those of .rela.dyn for .plt.got) give the symbol for each slot
 * of the global offset table (GOT). The code of a stub is decoded to find the slot that its jump
 * reads. This works for .plt, .plt.sec (IBT) and .plt.got, with lazy and with immediate binding.
 */
#ifndef WALLSAMPLE_SYMBOL_PLT_INTERNAL_H
#define WALLSAMPLE_SYMBOL_PLT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plt_stub {
	uint64_t start, end; /* [start, end), vaddr */
	char *name;          /* "puts@plt"; owned by the list */
};

struct plt_stubs {
	struct plt_stub *stub; /* in ascending order of addresses */
	size_t count;
};

struct symbol_file;

/* Reads the stubs of a file; the list is empty when file->elf is NULL, damaged or has no stubs. The
 * Elf keeps in memory what is read, at most 80 MiB, until it is closed. */
void plt_stubs_read(struct plt_stubs *stubs, const struct symbol_file *file);
void plt_stubs_release(struct plt_stubs *stubs);

/* --- the code of a stub (plt_arch_ARCH.c) ----------------------------------------------------
 *
 * The decoders of all architectures are always built: a recording can be read on a machine of
 * another architecture.
 */

/* The GOT slot that a stub jumps through, or the number of its relocation in .rela.plt. */
struct plt_jump {
	bool is_index;
	uint64_t value; /* vaddr of the slot; if `is_index`, the number of the relocation */
};

struct plt_arch {
	uint16_t machine;                        /* e_machine */
	uint32_t jump_slot, glob_dat, irelative; /* types of relocation */
	/* A stub may begin at each multiple of this number of bytes in its section. */
	size_t step;
	/* Size of a stub in bytes, used if sh_entsize of the section header is not plausible. */
	size_t size;
	/*
	 * Decodes the stub that begins with `code`, at `vaddr`, from at most `size` bytes; false
	 * when no stub begins there.
	 */
	bool (*decode)(const uint8_t *code, size_t size, uint64_t vaddr, struct plt_jump *jump);
};

extern const struct plt_arch plt_arch_x86_64;
extern const struct plt_arch plt_arch_aarch64;

#endif
