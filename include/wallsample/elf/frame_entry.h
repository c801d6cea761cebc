/* SPDX-License-Identifier: MIT */
/*
 * frame_entry.h - reads the entries of unwind tables (.eh_frame, .debug_frame): the range of code
 * that an entry describes, and where its instructions are. cfi.c of unwind interprets these.
 *
 * The formats are those of the Linux Standard Base 5.0, Core, chapter 10.6, and of DWARF 5, section
 * 6.4. The bytes are not trusted: all reads are checked against the bounds of the section and of
 * the entry.
 */
#ifndef WALLSAMPLE_ELF_FRAME_ENTRY_H
#define WALLSAMPLE_ELF_FRAME_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/* The bytes of a section with unwind tables. A place in .eh_frame is a vaddr of the image; a place
 * in .debug_frame is an offset in the section. */
struct frame_section {
	const struct image *image; /* borrowed */
	const uint8_t *bytes;      /* the section, borrowed; NULL: it is read from the image */
	uint64_t low, high;        /* the first place, and the place behind the section */
	bool debug_frame;          /* the section has the format of .debug_frame */
};

/* Bytes that a cursor copies at a time: most entries of .eh_frame are not larger. */
#define FRAME_PIECE 64

/* Reads fields one after the other. `bad` is set when a field is not in [at, end) or has an unknown
 * form; all further reads then give 0. */
struct frame_cursor {
	const struct frame_section *section;
	uint64_t at, end;
	bool bad;
	/* A copy of the section's bytes [piece_at, piece_at + piece_size). */
	uint64_t piece_at;
	size_t piece_size;
	uint8_t piece[FRAME_PIECE];
};

/* Returns a cursor for [at, end). */
struct frame_cursor frame_cursor_at(const struct frame_section *section, uint64_t at, uint64_t end);

/* Reads an unsigned number of `size` bytes, 1 to 8. */
uint64_t frame_take(struct frame_cursor *cursor, size_t size);
/* Read LEB128 numbers. A number of more than 10 bytes sets `bad`; bits above 64 are ignored. */
uint64_t frame_take_unsigned(struct frame_cursor *cursor);
int64_t frame_take_signed(struct frame_cursor *cursor);

static inline unsigned
frame_take_byte(struct frame_cursor *cursor)
{
	const uint64_t within = cursor->at - cursor->piece_at;

	if (cursor->bad || cursor->at >= cursor->end || within >= cursor->piece_size)
		return (unsigned)frame_take(cursor, 1);
	cursor->at++;
	return cursor->piece[within];
}

/* Reads an address with this encoding (DW_EH_PE_…). Sets `bad` when the encoding is not one that
 * linkers use for addresses of code: absolute or relative to its place, not indirect. */
uint64_t frame_take_address(struct frame_cursor *cursor, unsigned encoding);

/* A part of a section. */
struct frame_span {
	uint64_t at, end;
};

/* An entry for a range of code (an FDE), with the values of the common entry (CIE) that it refers
 * to. */
struct frame_entry {
	uint64_t start, size;     /* the code; `start` is a vaddr */
	uint64_t code_alignment;  /* factor of distances in code */
	int64_t data_alignment;   /* factor of offsets on the stack */
	uint64_t return_register; /* DWARF number of the register with the return address */
	unsigned encoding;        /* of addresses in the instructions (DW_EH_PE_…) */
	bool signal_frame;        /* the code is a signal handler's return trampoline */
	struct frame_span common; /* the instructions of the CIE */
	struct frame_span own;    /* the instructions of the FDE */
};

/*
 * Reads the entry at `place`. Returns false when it is not an FDE, or the FDE or its CIE is damaged
 * or has an unknown form. Sets *next, unless it is NULL, to the place of the next entry, also when
 * it returns false; to section->high when there is none.
 */
bool frame_entry_read(const struct frame_section *section, uint64_t place,
		      struct frame_entry *entry, uint64_t *next);

/* True when the range of the entry contains `vaddr`. */
bool frame_entry_contains(const struct frame_entry *entry, uint64_t vaddr);

/* Stores the vaddr of the table of .eh_frame_hdr and the number of its entries. An entry is two
 * signed 32-bit distances from .eh_frame_hdr: of a function, by which the table is sorted, and of
 * its FDE. Returns false when there is no table, or it is empty or has another form. */
bool frame_entry_find_table(const struct image *image, uint64_t *table, uint64_t *count);

/* True when the image has an .eh_frame_hdr with a table that frame_entry_search() can search, and
 * its first entry is valid. */
bool frame_entry_has_table(const struct image *image);

/* Finds, with the table of .eh_frame_hdr, the entry whose range contains `vaddr`; false when there
 * is none. */
bool frame_entry_search(const struct image *image, uint64_t vaddr, struct frame_entry *entry);

/* Returns the section of the entries that frame_entry_search() finds: all vaddrs of the image. */
struct frame_section frame_section_of_image(const struct image *image);

#endif
