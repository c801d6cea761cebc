/* SPDX-License-Identifier: MIT */
/* pclntab_internal.h - the layout of Go's function table, shared by the files of its reader. */
#ifndef WALLSAMPLE_ELF_PCLNTAB_INTERNAL_H
#define WALLSAMPLE_ELF_PCLNTAB_INTERNAL_H

#include "wallsample/elf/pclntab.h"

/*
 * The parts of the table have this order (cmd/link/internal/ld/pcln.go). Their positions are
 * offsets from the beginning of the table.
 */
struct pclntab {
	const struct image *image;
	uint64_t offset; /* file offset of the table */
	uint64_t vaddr, size;
	bool is_old;        /* the table is of Go 1.18 or 1.19 */
	uint8_t quantum;    /* unit of addresses: bytes of the smallest instruction */
	uint32_t count;     /* number of functions */
	uint64_t names;     /* position of the names of functions */
	uint64_t units;     /* position of the offsets of file names, by compilation unit */
	uint64_t files;     /* position of the file names */
	uint64_t values;    /* position of the packed values by address */
	uint64_t functions; /* position of the sorted addresses of functions, and their records */
	/* Vaddr of the start of Go's code, from moduledata or the header: addresses of functions
	 * are relative to it. */
	uint64_t text;
	/* Vaddr, from moduledata, to which offsets of tables of inlined functions are relative; 0:
	 * not known. */
	uint64_t funcdata;
};

/* Copies `size` bytes at the offset `at` of the table; false when one of them lies outside of the
 * table. */
bool pclntab_read(const struct pclntab *table, uint64_t at, void *to, size_t size);

/* Copies bytes at an address as they are in the file, also from writable segments (which
 * image_read_vaddr refuses). False when no segment contains all of them. */
bool pclntab_image_read(const struct image *image, uint64_t vaddr, void *to, size_t size);

/*
 * Reads the bytes [offset, offset + size) of the file in pieces that the image does not cache, and
 * calls `visit` with each piece until `visit` returns false. Each piece begins at a multiple of 24
 * bytes from `offset`, so that no word or relocation is split.
 */
struct pclntab_scan {
	bool (*visit)(void *context, uint64_t offset, const uint8_t *bytes, size_t size);
	void *context;
};
void pclntab_image_scan(const struct image *image, uint64_t offset, uint64_t size,
			const struct pclntab_scan *scan);

/* Sets `text` and `funcdata` (pclntab_module.c); false when `text` is not known. */
bool pclntab_find_text(struct pclntab *table);

/*
 * Stores the value of the packed table at `values` + `at` for the address; false when the packed
 * table has no value for it. By convention -1 means that the value is not known (pclntab_values.c).
 */
bool pclntab_value(const struct pclntab *table, uint32_t at,
		   const struct pclntab_function *function, uint64_t vaddr, int32_t *value);

/*
 * The record of a function: struct _func (runtime/runtime2.go), 44 bytes (40 in old tables, without
 * start_line). Behind the record are `pcdata_count` words for tables by address, then
 * `funcdata_count` words for other data.
 */
struct pclntab_record {
	uint32_t entry, name, arguments, deferreturn;
	uint32_t stack, file, line; /* offsets of packed tables, for pclntab_value */
	uint32_t pcdata_count;
	uint32_t unit; /* index in `units` of the first file of the function's compilation unit */
	uint32_t start_line;
	uint8_t id, flags, unused, funcdata_count;
};
bool pclntab_record(const struct pclntab *table, uint32_t at, struct pclntab_record *record);

#endif
