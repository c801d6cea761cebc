/* SPDX-License-Identifier: MIT */
/*
 * pclntab.c - opens the function table of Go programs, and finds functions, names and paths in it.
 */
#include "elf/pclntab_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Largest size in bytes of a name or path that is read; only damaged files have longer ones. */
#define TEXT_MOST ((size_t)64 << 10)

/* Largest size of a table in bytes: its offsets have 32 bits. */
#define TABLE_MOST (UINT64_C(4) << 30)

/* Largest number of bytes of the file that are searched for the table when no section locates
 * it. */
#define SEARCH_MOST (UINT64_C(256) << 20)
/* Largest number of valid headers that are tried in this search. For each of them, all data and
 * relocations may have to be searched for the start of the code. */
#define HEADERS_MOST 16

/* Type of the note that has Go's build ID: cmd/link/internal/ld/elf.go. */
#define NOTE_GO 4

/* First word of the table, by versions of Go: internal/abi/symtab.go. */
#define MAGIC_OLD 0xfffffff0 /* Go 1.18, 1.19 */
#define MAGIC 0xfffffff1

/* Header of the table: runtime/symtab.go, pcHeader. */
struct header {
	uint32_t magic;
	uint8_t pad[2];
	uint8_t quantum, pointer_size;
	uint64_t functions, files;
	/* Address of the start of Go's code, up to Go 1.25. In position-independent programs it may
	 * be 0 in the file, because a relocation sets it. */
	uint64_t text;
	uint64_t name_part, unit_part, file_part, value_part, function_part;
};

/* --- opening ----------------------------------------------------------------------- */

static bool
use_header(struct pclntab *table, const struct header *header)
{
	const uint64_t most = table->size;

	if ((header->magic != MAGIC && header->magic != MAGIC_OLD) || header->pad[0] != 0 ||
	    header->pad[1] != 0 || header->pointer_size != 8 ||
	    (header->quantum != 1 && header->quantum != 4))
		return false;
	if (header->name_part < sizeof(*header) || header->unit_part < header->name_part ||
	    header->file_part < header->unit_part || header->value_part < header->file_part ||
	    header->function_part < header->value_part || header->function_part > most)
		return false;
	if (header->functions == 0 || header->functions > UINT32_MAX / 8 ||
	    header->functions * 8 + 4 > most - header->function_part)
		return false;
	table->is_old = header->magic == MAGIC_OLD;
	table->quantum = header->quantum;
	table->count = (uint32_t)header->functions;
	table->names = header->name_part;
	table->units = header->unit_part;
	table->files = header->file_part;
	table->values = header->value_part;
	table->functions = header->function_part;
	table->text = header->text;
	return true;
}

/* Reads the header of the table that is assumed at the file offset `offset`, with at most `size`
 * bytes, and sets *table by it. Returns false when there is no valid header. */
static bool
try_table(struct pclntab *table, uint64_t offset, uint64_t size)
{
	struct header header;

	table->offset = offset;
	table->size = size < TABLE_MOST ? size : TABLE_MOST;
	table->funcdata = 0;
	return pclntab_read(table, 0, &header, sizeof(header)) && use_header(table, &header) &&
	       image_offset_to_vaddr(table->image, offset, &table->vaddr);
}

/* --- the table by sections ------------------------------------------------------------- */

/*
 * Sections of Go programs (cmd/link/internal/ld/data.go). The first TABLE_SECTIONS of them contain
 * the table; search_table() finds a table that the linker has merged into another section. The
 * others show that Go's linker made the program.
 */
#define TABLE_SECTIONS 2
static const char *const sections[] = {
	".gopclntab",
	".data.rel.ro.gopclntab",
	".go.buildinfo",
	".note.go.buildid",
};

/* Stores the header of a section that the image has: the first that exists of the first `count`
 * sections of sections[]. Returns false when it has none of them. */
static bool
find_section(const struct image *image, size_t count, Elf64_Shdr *found)
{
	for (size_t i = 0; i < count; i++)
		if (image_find_section(image, sections[i], found))
			return true;
	return false;
}

bool
pclntab_is_likely(const struct image *image)
{
	uint64_t at, size;
	Elf64_Shdr section;

	/* A program without section headers still has the note with Go's build ID, by which Go's
	 * tools recognise it (cmd/link/internal/ld/elf.go). */
	return find_section(image, ARRAY_SIZE(sections), &section) ||
	       image_find_note(image, "Go\0", NOTE_GO, &at, &size);
}

/* --- the table by its first bytes ------------------------------------------------------- */

struct search {
	struct pclntab *table;
	uint64_t end;     /* file offset of the end of the segment */
	unsigned headers; /* number of headers tried */
	bool found;
};

static bool
search_piece(void *context, uint64_t offset, const uint8_t *bytes, size_t size)
{
	static const uint32_t magics[] = { MAGIC, MAGIC_OLD };
	struct search *search = context;

	for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
		uint32_t word;

		memcpy(&word, bytes + i, sizeof(word));
		if (word != magics[0] && word != magics[1])
			continue;
		if (!try_table(search->table, offset + i, search->end - offset - i))
			continue;
		search->found = pclntab_find_text(search->table);
		if (search->found || ++search->headers == HEADERS_MOST)
			return false;
	}
	return true;
}

static bool
search_table(struct pclntab *table)
{
	const struct image *image = table->image;
	struct search search = { .table = table };
	const struct pclntab_scan scan = { search_piece, &search };
	uint64_t left = SEARCH_MOST;

	for (size_t i = 0; i < image->segment_count && search.headers < HEADERS_MOST; i++) {
		const struct image_segment *segment = &image->segment[i];
		const uint64_t size = segment->file_size < left ? segment->file_size : left;

		search.end = segment->offset + segment->file_size;
		pclntab_image_scan(image, segment->offset, size, &scan);
		if (search.found)
			return true;
		left -= size;
	}
	return false;
}

struct pclntab *
pclntab_open(const struct image *image)
{
	struct pclntab *table;
	Elf64_Shdr section;

	if (!pclntab_is_likely(image))
		return NULL;
	table = xcalloc(1, sizeof(*table));
	table->image = image;
	if (find_section(image, TABLE_SECTIONS, &section) &&
	    try_table(table, section.sh_offset, section.sh_size) && pclntab_find_text(table))
		return table;
	if (search_table(table))
		return table;
	free(table);
	return NULL;
}

void
pclntab_free(struct pclntab *table)
{
	free(table);
}

/* --- functions ---------------------------------------------------------------------------- */

/* Finds the function that contains `address`. Stores the offset of its record in *at and the
 * address of the next function in *end. Addresses are relative to the start of Go's code. Returns
 * false when there is no such function. */
static bool
find_entry(const struct pclntab *table, uint32_t address, uint32_t *at, uint32_t *end)
{
	uint32_t low = 0, high = table->count;
	/* In this order: the address of a function, the offset of its record, the address of the
	 * next function. */
	uint32_t entry[3];

	/* Invariant in a sorted table: function `low` begins at or before the address, function
	 * `high` after it. In a damaged table the loop ends, too. */
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (!pclntab_read(table, table->functions + (uint64_t)middle * 8, entry, 4))
			return false;
		if (entry[0] <= address)
			low = middle;
		else
			high = middle;
	}
	if (!pclntab_read(table, table->functions + (uint64_t)low * 8, entry, sizeof(entry)) ||
	    address < entry[0] || address >= entry[2])
		return false;
	*at = entry[1];
	*end = entry[2];
	return true;
}

bool
pclntab_record(const struct pclntab *table, uint32_t at, struct pclntab_record *record)
{
	const size_t before_line = offsetof(struct pclntab_record, start_line);

	if (!table->is_old)
		return pclntab_read(table, table->functions + at, record, sizeof(*record));
	record->start_line = 0;
	return pclntab_read(table, table->functions + at, record, before_line) &&
	       pclntab_read(table, table->functions + at + before_line, &record->id, 4);
}

bool
pclntab_find(const struct pclntab *table, uint64_t vaddr, struct pclntab_function *function)
{
	struct pclntab_record record;
	uint32_t at, end;

	if (vaddr < table->text || vaddr - table->text > UINT32_MAX ||
	    !find_entry(table, (uint32_t)(vaddr - table->text), &at, &end) ||
	    !pclntab_record(table, at, &record) || record.entry > vaddr - table->text)
		return false;
	*function = (struct pclntab_function){
		.entry = table->text + record.entry,
		.end = table->text + end,
		.name = record.name,
		.start_line = record.start_line,
		.id = record.id,
		.flags = record.flags,
		.record = at,
	};
	return true;
}

/* --- texts -------------------------------------------------------------------------------- */

/* Adds to `to` the text at the position `from` + `at` of the table. Returns false, with nothing
 * added, when the text is empty, has more than TEXT_MOST bytes, or does not end before `end`. */
static bool
add_text(const struct pclntab *table, uint64_t from, uint64_t end, uint32_t at, struct strbuf *to)
{
	const size_t before = to->length;

	for (from += at; from < end && to->length - before < TEXT_MOST;) {
		char piece[128];
		size_t size = sizeof(piece), length;

		if (size > end - from)
			size = (size_t)(end - from);
		if (!pclntab_read(table, from, piece, size))
			break;
		length = strnlen(piece, size);
		strbuf_add(to, piece, length);
		if (length < size && to->length > before)
			return true;
		if (length < size)
			return false;
		from += size;
	}
	if (to->data != NULL) {
		to->length = before;
		to->data[before] = '\0';
	}
	return false;
}

bool
pclntab_name(const struct pclntab *table, uint32_t name, struct strbuf *to)
{
	return add_text(table, table->names, table->units, name, to);
}

bool
pclntab_file(const struct pclntab *table, uint32_t file, struct strbuf *to)
{
	return add_text(table, table->files, table->values, file, to);
}
