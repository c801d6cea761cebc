/* SPDX-License-Identifier: MIT */
/*
 * frame_table.h - finds the entry for an address in the unwind tables of an image.
 *
 * .eh_frame comes first. It is searched with the table of .eh_frame_hdr; if a file has none, as
 * some static programs, the first search reads all entries and sorts them. If .eh_frame has no
 * entry for an address, .debug_frame is searched in the same way, except in programs that have a
 * function table (pclntab.h), which is more precise where code switches stacks.
 *
 * Sections without a search table count against a budget that several tables share. A section that
 * exceeds the rest of the byte budget is not read, and entries beyond the entry budget are ignored:
 * their code counts as code without unwind tables. A .debug_frame may be compressed with zlib.
 */
#ifndef WALLSAMPLE_ELF_FRAME_TABLE_H
#define WALLSAMPLE_ELF_FRAME_TABLE_H

#include "wallsample/elf/frame_entry.h"

struct frame_table;

/* What may be read of sections without a search table, in all. */
struct frame_budget {
	uint64_t bytes;   /* of sections; a compressed one costs its packed and its unpacked size */
	uint64_t entries; /* damaged entries included */
};

/* The budget of a run: 128 MiB and 2^20 entries, which are read in less than a second. */
extern const struct frame_budget frame_budget_of_run;

/* Creates the frame table of the image. The image and the budget are borrowed. Only the header and
 * the first entry of the search table are read; sections without one are read at the first search.
 * The result must be freed with frame_table_free(), which accepts NULL. */
struct frame_table *frame_table_open(const struct image *image, struct frame_budget *budget);
void frame_table_free(struct frame_table *table);

/* Finds the entry whose range contains `vaddr`. Sets *section to the section of the entry, borrowed
 * from the table. Returns false when there is none. */
bool frame_table_find(struct frame_table *table, uint64_t vaddr, struct frame_entry *entry,
		      const struct frame_section **section);

#endif
