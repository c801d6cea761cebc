/* SPDX-License-Identifier: MIT */
/* frame_table.c - sorts the entries of unwind tables that have no search table. */
#include "wallsample/elf/frame_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"
#include "wallsample/base/search.h"
#include "wallsample/elf/pclntab.h"

/* Largest size of a section in bytes; a larger section is not read. The largest .debug_frame and
 * the largest .eh_frame without a search table of Debian's programs have some megabytes. */
#define SECTION_MOST (UINT64_C(64) << 20)

const struct frame_budget frame_budget_of_run = { .bytes = 2 * SECTION_MOST,
						  .entries = UINT64_C(1) << 20 };

/* Number of bytes at the beginning of a section ".zdebug_…": "ZLIB" and its unpacked size,
 * big-endian. */
#define OLD_HEADER_BYTES 12

struct listed {
	uint64_t start;    /* first address of the code */
	uint32_t distance; /* of the entry from the beginning of its section */
};

/* A section whose entries are sorted when it is searched for the first time. */
struct sorted_section {
	bool tried; /* the entries were read, or the section could not be read */
	struct frame_section section;
	uint8_t *bytes; /* the section, unpacked; NULL: not read */
	struct listed *listed;
	size_t count, capacity;
};

struct frame_table {
	const struct image *image;
	struct frame_budget *budget;
	struct frame_section whole; /* of the entries that .eh_frame_hdr leads to */
	bool searchable;            /* .eh_frame_hdr has a table */
	struct sorted_section eh_frame, debug_frame;
};

struct frame_table *
frame_table_open(const struct image *image, struct frame_budget *budget)
{
	struct frame_table *table = xcalloc(1, sizeof(*table));

	table->image = image;
	table->budget = budget;
	table->whole = frame_section_of_image(image);
	table->searchable = frame_entry_has_table(image);
	return table;
}

void
frame_table_free(struct frame_table *table)
{
	if (table == NULL)
		return;
	free(table->eh_frame.listed);
	free(table->eh_frame.bytes);
	free(table->debug_frame.listed);
	free(table->debug_frame.bytes);
	free(table);
}

/* --- sorted lists ------------------------------------------------------------------------- */

static int
by_start(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->distance > y->distance) - (x->distance < y->distance);
}

/* Reads and sorts the entries of the section, up to the budget. Skips entries whose start or size
 * is 0: linkers leave them for functions that they removed. */
static void
sort_entries(struct sorted_section *sorted, struct frame_budget *budget)
{
	const struct frame_section *section = &sorted->section;
	uint64_t place = section->low, next;

	for (; place < section->high && budget->entries > 0; place = next) {
		struct frame_entry entry;

		budget->entries--;
		if (!frame_entry_read(section, place, &entry, &next) || entry.start == 0 ||
		    entry.size == 0)
			continue;
		sorted->listed = xgrow(sorted->listed, &sorted->capacity, sorted->count + 1,
				       sizeof(*sorted->listed));
		sorted->listed[sorted->count].start = entry.start;
		sorted->listed[sorted->count].distance = (uint32_t)(place - section->low);
		sorted->count++;
	}
	if (sorted->count > 1)
		qsort(sorted->listed, sorted->count, sizeof(*sorted->listed), by_start);
}

static bool
search_sorted(const struct sorted_section *sorted, uint64_t vaddr, struct frame_entry *entry)
{
	const struct frame_section *section = &sorted->section;
	size_t behind; /* the first entry whose code starts behind the address */

	SEARCH_FIRST_NOT(behind, sorted->count, sorted->listed[behind].start <= vaddr);
	return behind > 0 &&
	       frame_entry_read(section, section->low + sorted->listed[behind - 1].distance, entry,
				NULL) &&
	       frame_entry_contains(entry, vaddr);
}

/* --- sections ----------------------------------------------------------------------------- */

/* Takes `size` bytes from the budget; false when they are too many, or none. */
static bool
spend(struct frame_table *table, uint64_t size)
{
	if (size == 0 || size > SECTION_MOST || size > table->budget->bytes)
		return false;
	table->budget->bytes -= size;
	return true;
}

/* Reads `size` bytes of the file; NULL when they cannot be read, or are too many. The caller frees
 * the bytes. */
static uint8_t *
read_bytes(struct frame_table *table, uint64_t offset, uint64_t size)
{
	const struct image *image = table->image;
	uint8_t *bytes;

	if (offset > image->size || size > image->size - offset || !spend(table, size))
		return NULL;
	bytes = xmalloc(size);
	if (image_read_offset(image, offset, bytes, size))
		return bytes;
	free(bytes);
	return NULL;
}

/* Unpacks the `packed_size` bytes behind `packed`, which have `size` bytes when unpacked; NULL when
 * this fails. The caller frees the bytes. */
static uint8_t *
unpack(struct frame_table *table, const uint8_t *packed, uint64_t packed_size, uint64_t size)
{
	uint8_t *bytes;
	uLongf unpacked = size;

	if (!spend(table, size))
		return NULL;
	bytes = xmalloc(size);
	if (uncompress(bytes, &unpacked, packed, packed_size) == Z_OK && unpacked == size)
		return bytes;
	free(bytes);
	return NULL;
}

/* Reads a section, and unpacks it when it is compressed: `old` if it is called ".zdebug_…". Stores
 * the number of bytes in *size. Returns NULL when this fails; the caller frees the bytes. */
static uint8_t *
read_section(struct frame_table *table, const Elf64_Shdr *header, bool old, uint64_t *size)
{
	const bool packed = (header->sh_flags & SHF_COMPRESSED) != 0;
	uint8_t *bytes = NULL, *raw;
	Elf64_Chdr head;

	if (header->sh_type == SHT_NOBITS)
		return NULL;
	raw = read_bytes(table, header->sh_offset, header->sh_size);
	*size = header->sh_size;
	if (raw == NULL || (!packed && !old))
		return raw;
	if (old && *size > OLD_HEADER_BYTES && memcmp(raw, "ZLIB", 4) == 0) {
		*size = bytes_big(raw + 4, sizeof(*size));
		bytes = unpack(table, raw + OLD_HEADER_BYTES, header->sh_size - OLD_HEADER_BYTES,
			       *size);
	} else if (packed && *size > sizeof(head)) {
		memcpy(&head, raw, sizeof(head));
		*size = head.ch_size;
		if (head.ch_type == ELFCOMPRESS_ZLIB)
			bytes = unpack(table, raw + sizeof(head), header->sh_size - sizeof(head),
				       *size);
	}
	free(raw);
	return bytes;
}

/* Returns true when the image has a function table. */
static bool
has_pclntab(const struct image *image)
{
	struct pclntab *table = pclntab_open(image);
	const bool found = table != NULL;

	pclntab_free(table);
	return found;
}

/* Reads the section with this header and sorts its entries; `low` is the place of its first
 * byte. */
static void
sort_section(struct frame_table *table, struct sorted_section *sorted, const Elf64_Shdr *header,
	     bool old, uint64_t low)
{
	struct frame_section *section = &sorted->section;
	uint64_t size = 0;

	sorted->bytes = read_section(table, header, old, &size);
	if (sorted->bytes == NULL || low > UINT64_MAX - size)
		return;
	section->image = table->image;
	section->bytes = sorted->bytes;
	section->low = low;
	section->high = low + size;
	sort_entries(sorted, table->budget);
	if (sorted->count > 0)
		return;
	free(sorted->bytes);
	*section = (struct frame_section){ .image = table->image,
					   .debug_frame = section->debug_frame };
	sorted->bytes = NULL;
}

static const struct sorted_section *
eh_frame(struct frame_table *table)
{
	struct sorted_section *sorted = &table->eh_frame;
	Elf64_Shdr header;

	if (sorted->tried)
		return sorted;
	sorted->tried = true;
	if (image_find_section(table->image, ".eh_frame", &header))
		sort_section(table, sorted, &header, false, header.sh_addr);
	return sorted;
}

static const struct sorted_section *
debug_frame(struct frame_table *table)
{
	struct sorted_section *sorted = &table->debug_frame;
	Elf64_Shdr header;
	bool found, old = false;

	if (sorted->tried)
		return sorted;
	sorted->tried = true;
	sorted->section.debug_frame = true;
	found = image_find_section(table->image, ".debug_frame", &header);
	if (!found)
		found = old = image_find_section(table->image, ".zdebug_frame", &header);
	if (found && !has_pclntab(table->image))
		sort_section(table, sorted, &header, old, 0);
	return sorted;
}

bool
frame_table_find(struct frame_table *table, uint64_t vaddr, struct frame_entry *entry,
		 const struct frame_section **section)
{
	const struct sorted_section *sorted;

	*section = &table->whole;
	if (table->searchable && frame_entry_search(table->image, vaddr, entry))
		return true;
	if (!table->searchable) {
		sorted = eh_frame(table);
		*section = &sorted->section;
		if (search_sorted(sorted, vaddr, entry))
			return true;
	}
	sorted = debug_frame(table);
	*section = &sorted->section;
	return search_sorted(sorted, vaddr, entry);
}
