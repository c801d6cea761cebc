/* SPDX-License-Identifier: MIT */
/* pclntab_internal.h - the layout of Go's function table, shared by the files of its reader. */
#ifndef WALLSAMPLE_ELF_PCLNTAB_INTERNAL_H
#define WALLSAMPLE_ELF_PCLNTAB_INTERNAL_H

#include "wallsample/elf/pclntab.h"

/*
 * An open function table. Its parts begin at the positions `names` to `functions`, which are
 * offsets in bytes from the beginning of the table, in ascending order
 * (cmd/link/internal/ld/pcln.go).
 */
struct pclntab {
	const struct image *image;
	uint64_t offset; /* file offset of the table */
	/* Address and size in bytes of the table. */
	uint64_t vaddr, size;
	bool is_old; /* the table is of Go 1.18 or 1.19 */
	/* Size in bytes of the smallest instruction (1 or 4), the unit of code lengths. */
	uint8_t quantum;
	uint32_t count; /* number of functions */
	uint64_t names; /* position of the names of functions */
	/* Position of the array of offsets of file names, which is divided by compilation unit. */
	uint64_t units;
	uint64_t files;  /* position of the file names */
	uint64_t values; /* position of the packed tables, which pclntab_values.c reads */
	/* Position of the addresses of functions, ascending, and of the records behind them. */
	uint64_t functions;
	/* Address in the image of the start of Go's code, from struct moduledata of Go's runtime or
	 * from the table's header. The addresses of functions are relative to it. */
	uint64_t text;
	/* Address in the image, from moduledata, to which the offsets of the arrays of inlined
	 * calls are relative; 0 when not known. */
	uint64_t funcdata;
};

/* Copies `size` bytes at the offset `at` of the table; false when one of them lies outside of the
 * table. */
bool pclntab_read(const struct pclntab *table, uint64_t at, void *to, size_t size);

/* Copies `size` bytes at the address `vaddr` as they are in the file. Unlike image_read_vaddr(),
 * also reads writable segments. Returns false unless one segment has all of the bytes. */
bool pclntab_image_read(const struct image *image, uint64_t vaddr, void *to, size_t size);

/*
 * Reads the bytes [offset, offset + size) of the file in pieces of 96 KiB, and calls `visit` with
 * the file offset, the bytes and the size of each piece. The image does not keep pieces of this
 * size. Stops when `visit` returns false or a piece cannot be read. Each piece begins at a
 * multiple of 24 bytes from `offset`, so no relocation (24 bytes) and no aligned word is split
 * between two pieces.
 */
struct pclntab_scan {
	bool (*visit)(void *context, uint64_t offset, const uint8_t *bytes, size_t size);
	void *context;
};
void pclntab_image_scan(const struct image *image, uint64_t offset, uint64_t size,
			const struct pclntab_scan *scan);

/* Finds the start of Go's code, and sets `text` and, if it is known, `funcdata`; the header of the
 * table must have been read (pclntab_module.c). Returns false when the start is not known. */
bool pclntab_find_text(struct pclntab *table);

/*
 * The record of a function: struct _func (runtime/runtime2.go), 44 bytes (40 in old tables, without
 * start_line). It is followed by `pcdata_count` offsets of packed tables, then by `funcdata_count`
 * offsets of other data; each offset has 4 bytes.
 */
struct pclntab_record {
	uint32_t entry, name, arguments, deferreturn;
	/* Offsets, from the position `values`, of the packed tables of stack depths, files and
	 * lines. */
	uint32_t stack, file, line;
	uint32_t pcdata_count;
	/* Index, in the array at `units`, of the first file of the function's compilation unit. */
	uint32_t unit;
	uint32_t start_line;
	uint8_t id, flags, unused, funcdata_count;
};
/* Reads the record at the position `functions` + `at`. Returns false when it is outside of the
 * table. */
bool pclntab_record(const struct pclntab *table, uint32_t at, struct pclntab_record *record);

#endif
