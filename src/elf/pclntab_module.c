/* SPDX-License-Identifier: MIT */
/*
 * pclntab_module.c - finds the start of Go's code in the runtime's description of the module
 * (struct moduledata).
 *
 * The description has pointers to parts of the function table. A program at a fixed address has
 * them in the file. In a position-independent program the file may have zeros in their place, and
 * the relocations have the values.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/pclntab_internal.h"

/* Indices of words in struct moduledata: runtime/symtab.go. */
#define WORD_HEADER 0 /* address of the header of the table */
/* The slice of names: the first of several slices, each of three words (address, length,
 * capacity). */
#define WORD_NAMES 1
#define WORD_FUNCTIONS 16    /* the slice of functions */
#define WORD_LOW 20          /* start of the first function */
#define WORD_HIGH 21         /* end of the last function */
#define WORD_TEXT 22         /* start of the code */
#define WORD_FUNCDATA 40     /* from Go 1.20 on: base of the offsets of inlined calls */
#define WORD_FUNCDATA_OLD 38 /* the same before Go 1.20 */
#define WORDS 41             /* number of words that are read */

/* Largest numbers of bytes of data and of relocations that are searched, and of candidates that are
 * tried. A candidate is a place with a pointer to the table, where a description may begin. */
#define DATA_MOST (UINT64_C(256) << 20)
#define RELOCATIONS_MOST (UINT64_C(512) << 20)
#define CANDIDATES_MOST 16

/* Size of a piece: a multiple of the sizes of words and of relocations, and too large to be cached
 * by the image. */
#define PIECE ((size_t)24 << 12)

/* True when a relocation of this type stores an address of the image, which is the addend plus the
 * load address (psABIs of x86-64 and AArch64). */
#define IS_RELATIVE(image, type)                                                                   \
	((type) == ((image)->machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE))

bool
pclntab_image_read(const struct image *image, uint64_t vaddr, void *to, size_t size)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];
		const uint64_t within = vaddr - segment->vaddr;

		if (vaddr >= segment->vaddr && within <= segment->file_size &&
		    size <= segment->file_size - within)
			return image_read_offset(image, segment->offset + within, to, size);
	}
	return false;
}

void
pclntab_image_scan(const struct image *image, uint64_t offset, uint64_t size,
		   const struct pclntab_scan *scan)
{
	uint8_t *piece = xmalloc(PIECE);

	for (uint64_t done = 0; done < size; done += PIECE) {
		const size_t part = size - done < PIECE ? (size_t)(size - done) : PIECE;

		if (!image_read_offset(image, offset + done, piece, part) ||
		    !scan->visit(scan->context, offset + done, piece, part))
			break;
	}
	free(piece);
}

bool
pclntab_read(const struct pclntab *table, uint64_t at, void *to, size_t size)
{
	return at <= table->size && size <= table->size - at &&
	       image_read_offset(table->image, table->offset + at, to, size);
}

/* --- checks of a description ------------------------------------------------------------ */

/* Reads the start of the first function and the end of the last one, relative to the start of Go's
 * code. Returns false when they are outside of the table. */
static bool
read_bounds(const struct pclntab *table, uint32_t *low, uint32_t *high)
{
	return pclntab_read(table, table->functions, low, sizeof(*low)) &&
	       pclntab_read(table, table->functions + (uint64_t)table->count * 8, high,
			    sizeof(*high));
}

/*
 * Compares the words of a candidate with the function table: the addresses of its header, names and
 * functions, the number of functions, and the bounds of the code. If all of them agree, stores the
 * start of the code and the base of inlined functions in *table and returns true. No other data
 * agrees in all of these words.
 */
static bool
use_words(struct pclntab *table, const uint64_t word[WORDS])
{
	const uint64_t text = word[WORD_TEXT];
	uint32_t low, high;

	if (word[WORD_HEADER] != table->vaddr || word[WORD_NAMES] != table->vaddr + table->names ||
	    word[WORD_FUNCTIONS] != table->vaddr + table->functions ||
	    word[WORD_FUNCTIONS + 1] != (uint64_t)table->count + 1 ||
	    !read_bounds(table, &low, &high) || low >= high || word[WORD_LOW] != text + low ||
	    word[WORD_HIGH] != text + high)
		return false;
	table->text = text;
	table->funcdata = word[table->is_old ? WORD_FUNCDATA_OLD : WORD_FUNCDATA];
	return true;
}

/* --- words in the file ------------------------------------------------------------------ */

struct search {
	struct pclntab *table;
	const struct image_segment *segment;
	unsigned candidates;
	bool found;
};

static bool
visit_data(void *context, uint64_t offset, const uint8_t *bytes, size_t size)
{
	struct search *search = context;
	const uint64_t vaddr = search->segment->vaddr + (offset - search->segment->offset);

	for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
		uint64_t word[WORDS];

		memcpy(word, bytes + i, sizeof(word[0]));
		if (word[0] != search->table->vaddr)
			continue;
		search->found = pclntab_image_read(search->table->image, vaddr + i, word,
						   sizeof(word)) &&
				use_words(search->table, word);
		if (search->found || ++search->candidates == CANDIDATES_MOST)
			return false;
	}
	return true;
}

static bool
find_in_data(struct pclntab *table)
{
	const struct image *image = table->image;
	uint64_t left = DATA_MOST;

	for (size_t i = 0; i < image->segment_count; i++) {
		struct search search = { .table = table, .segment = &image->segment[i] };
		const struct pclntab_scan scan = { visit_data, &search };
		const uint64_t size = search.segment->file_size;

		if (!search.segment->writable || search.segment->vaddr % 8 != 0)
			continue;
		pclntab_image_scan(image, search.segment->offset, size < left ? size : left, &scan);
		if (search.found)
			return true;
		left -= size < left ? size : left;
	}
	return false;
}

/* --- words in the relocations -------------------------------------------------------------- */

struct relocations {
	struct pclntab *table;
	uint64_t offset, size; /* file offset and size of the relocations */
	/* Addresses of pointers to the table. A description may begin at each of them. */
	uint64_t candidate[CANDIDATES_MOST];
	size_t count; /* number of candidates */
	/* False while candidates are collected, true while the words of one candidate are read. */
	bool complete;
	uint64_t vaddr, word[WORDS]; /* address and words of this candidate */
};

/* Finds the relocations by the PT_DYNAMIC segment, as the loader does, because the file may have no
 * section headers. Returns false when there are none. */
static bool
find_relocations(struct relocations *relocations)
{
	const struct image *image = relocations->table->image;
	uint64_t vaddr = 0, index = 0, dynamic_size;
	Elf64_Phdr ph;
	Elf64_Dyn entry;

	if (!image_next_header(image, PT_DYNAMIC, &index, &ph))
		return false;
	dynamic_size = ph.p_filesz < 65536 ? ph.p_filesz : 65536;
	for (uint64_t at = 0; at + sizeof(entry) <= dynamic_size; at += sizeof(entry)) {
		if (!image_read_offset(image, ph.p_offset + at, &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_RELA)
			vaddr = entry.d_un.d_ptr;
		if (entry.d_tag == DT_RELASZ)
			relocations->size = entry.d_un.d_val;
	}
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->file_size)
			continue;
		relocations->offset = segment->offset + (vaddr - segment->vaddr);
		if (relocations->size > segment->file_size - (vaddr - segment->vaddr))
			relocations->size = segment->file_size - (vaddr - segment->vaddr);
		return vaddr != 0;
	}
	return false;
}

/* Visits a piece of the relocations for pclntab_image_scan(): collects candidates, or when
 * `complete` is set, the words of the candidate at `vaddr`. */
static bool
visit_relocations(void *context, uint64_t offset, const uint8_t *bytes, size_t size)
{
	struct relocations *relocations = context;
	const struct pclntab *table = relocations->table;
	Elf64_Rela rela;

	(void)offset;
	for (size_t i = 0; i + sizeof(rela) <= size; i += sizeof(rela)) {
		memcpy(&rela, bytes + i, sizeof(rela));
		if (!IS_RELATIVE(table->image, ELF64_R_TYPE(rela.r_info)))
			continue;
		if (relocations->complete) {
			rela.r_offset -= relocations->vaddr;
			if (rela.r_offset < sizeof(relocations->word) && rela.r_offset % 8 == 0)
				relocations->word[rela.r_offset / 8] = (uint64_t)rela.r_addend;
		} else if ((uint64_t)rela.r_addend == table->vaddr) {
			relocations->candidate[relocations->count++] = rela.r_offset;
			if (relocations->count == CANDIDATES_MOST)
				return false;
		}
	}
	return true;
}

static bool
find_in_relocations(struct pclntab *table)
{
	struct relocations relocations = { .table = table };
	const struct pclntab_scan scan = { visit_relocations, &relocations };

	if (!find_relocations(&relocations))
		return false;
	if (relocations.size > RELOCATIONS_MOST)
		relocations.size = RELOCATIONS_MOST;
	pclntab_image_scan(table->image, relocations.offset, relocations.size, &scan);
	relocations.complete = true;
	for (size_t i = 0; i < relocations.count; i++) {
		relocations.vaddr = relocations.candidate[i];
		if (!pclntab_image_read(table->image, relocations.vaddr, relocations.word,
					sizeof(relocations.word)))
			continue;
		pclntab_image_scan(table->image, relocations.offset, relocations.size, &scan);
		if (use_words(table, relocations.word))
			return true;
	}
	return false;
}

/* --- the start of the code ------------------------------------------------------------- */

/*
 * Returns whether the header of the table has the start of Go's code, and all functions are then in
 * an executable segment. With this address alone (without moduledata) everything but inlined
 * functions can be found.
 */
static bool
text_is_code(const struct pclntab *table)
{
	uint32_t low, high;

	if (table->text == 0 || !read_bounds(table, &low, &high) || low >= high)
		return false;
	for (size_t i = 0; i < table->image->segment_count; i++) {
		const struct image_segment *segment = &table->image->segment[i];
		const uint64_t within = table->text - segment->vaddr;

		if (segment->executable && table->text >= segment->vaddr &&
		    within <= segment->file_size && high <= segment->file_size - within)
			return true;
	}
	return false;
}

bool
pclntab_find_text(struct pclntab *table)
{
	if (!table->image->fixed_address && find_in_relocations(table))
		return true;
	return find_in_data(table) || text_is_code(table);
}
