/* SPDX-License-Identifier: MIT */
/* pclntab_internal.h - what the files of the reader of Go's tables share. */
#ifndef WALLSAMPLE_ELF_PCLNTAB_INTERNAL_H
#define WALLSAMPLE_ELF_PCLNTAB_INTERNAL_H

#include "wallsample/elf/pclntab.h"

/*
 * The parts lie in this order (cmd/link/internal/ld/pcln.go), each ending where the next
 * begins; all are counted from the beginning of the table.
 */
struct pclntab {
	const struct image *image;
	uint64_t offset;      /* of the table in the file */
	uint64_t vaddr, size;
	bool is_old;          /* Go 1.18 and 1.19 */
	uint8_t quantum;      /* the smallest instruction's bytes, which addresses are counted in */
	uint32_t count;       /* of functions */
	uint64_t names;       /* texts */
	uint64_t units;       /* for each compilation unit, where the names of its files are */
	uint64_t files;       /* texts */
	uint64_t values;      /* what changes with the address, packed */
	uint64_t functions;   /* sorted by address, then a record each */
	/* By moduledata, or the header: */
	uint64_t text;        /* vaddr that functions count from */
	uint64_t funcdata;    /* vaddr that tables of inlined functions count from; 0: not known */
};

/* Bytes of the table from `at` on; false when they are not all in it. */
bool pclntab_read(const struct pclntab *table, uint64_t at, void *to, size_t size);

/* Bytes at an address, in a segment that may be written to, too, as they are in the file. */
bool pclntab_image_read(const struct image *image, uint64_t vaddr, void *to, size_t size);

/*
 * The file's bytes in [offset, offset + size), in pieces that are not kept; `visit` gets the
 * offset of each and says whether to go on. Each begins a multiple of 24 bytes from `offset`:
 * words and relocations are whole.
 */
struct pclntab_scan {
	bool (*visit)(void *context, uint64_t offset, const uint8_t *bytes, size_t size);
	void *context;
};
void pclntab_image_scan(const struct image *image, uint64_t offset, uint64_t size,
			const struct pclntab_scan *scan);

/* Fills in `text` and `funcdata` (pclntab_module.c); false when text is not known. */
bool pclntab_find_text(struct pclntab *table);

/*
 * What the packed table at `values` + `at` says for the address; false when it says nothing.
 * The first value is by convention -1 where nothing is known (pclntab_values.c).
 */
bool pclntab_value(const struct pclntab *table, uint32_t at,
		   const struct pclntab_function *function, uint64_t vaddr, int32_t *value);

/*
 * struct _func (runtime/runtime2.go), 44 bytes (40 in old tables, without the line); behind it as
 * many words as it says for the tables by address (pcdata), then those for other data.
 */
struct pclntab_record {
	uint32_t entry, name, arguments, deferreturn;
	uint32_t stack, file, line; /* tables by address */
	uint32_t pcdata_count;
	uint32_t unit;              /* index of its first file among `units` */
	uint32_t start_line;
	uint8_t id, flags, unused, funcdata_count;
};
bool pclntab_record(const struct pclntab *table, uint32_t at, struct pclntab_record *record);

#endif
