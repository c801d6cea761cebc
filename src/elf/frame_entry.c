/* SPDX-License-Identifier: MIT */
/* frame_entry.c - reads entries of unwind tables, and searches the table of .eh_frame_hdr. */
#include "wallsample/elf/frame_entry.h"

#include <dwarf.h>
#include <string.h>

/* The encoding of the entries of .eh_frame_hdr's table: signed 32 bits, relative to .eh_frame_hdr.
 * No linker writes another encoding. */
#define TABLE_ENCODING (DW_EH_PE_datarel | DW_EH_PE_sdata4)

/* An encoding (DW_EH_PE_…) is a byte. Its low four bits are the format of a number; the next three
 * say to which base the number is relative. */
#define FORMAT_MASK 0x0f
#define BASE_MASK 0x70

/* Largest length of an augmentation string, such as "zPLRSB", with its terminating zero. */
#define AUGMENTATION_MOST 16

/* --- fields ----------------------------------------------------------------------------- */

struct frame_cursor
frame_cursor_at(const struct frame_section *section, uint64_t at, uint64_t end)
{
	return (struct frame_cursor){ .section = section, .at = at, .end = end };
}

/* Copies `size` bytes of the section from `at` on. */
static bool
read_section(const struct frame_section *section, uint64_t at, uint8_t *to, size_t size)
{
	if (section->bytes == NULL)
		return image_read_vaddr(section->image, at, to, size);
	if (at < section->low || at > section->high || size > section->high - at)
		return false;
	memcpy(to, section->bytes + (at - section->low), size);
	return true;
}

/* Moves the piece to the cursor; returns false when the next `size` bytes cannot be read. Only
 * these bytes are copied where the section may end after them. */
static bool
move_piece(struct frame_cursor *cursor, size_t size)
{
	const uint64_t rest = cursor->end - cursor->at;
	const size_t want = rest < FRAME_PIECE ? (size_t)rest : FRAME_PIECE;

	cursor->piece_at = cursor->at;
	cursor->piece_size = want;
	if (read_section(cursor->section, cursor->at, cursor->piece, want))
		return true;
	cursor->piece_size = size;
	if (read_section(cursor->section, cursor->at, cursor->piece, size))
		return true;
	cursor->piece_size = 0;
	return false;
}

uint64_t
frame_take(struct frame_cursor *cursor, size_t size)
{
	uint64_t within = cursor->at - cursor->piece_at;
	uint64_t value = 0;

	if (cursor->bad || cursor->at > cursor->end || size > cursor->end - cursor->at) {
		cursor->bad = true;
		return 0;
	}
	if (within >= cursor->piece_size || size > cursor->piece_size - within) {
		if (!move_piece(cursor, size)) {
			cursor->bad = true;
			return 0;
		}
		within = 0;
	}
	memcpy(&value, cursor->piece + within, size);
	cursor->at += size;
	return value; /* no conversion: files and this machine are little-endian */
}

/* Reads the bits of a LEB128 number, and stores in *shift their number. */
static uint64_t
take_leb128(struct frame_cursor *cursor, unsigned *shift)
{
	uint64_t value = 0, byte;

	*shift = 0;
	do {
		byte = frame_take_byte(cursor);
		if (*shift >= 64) {
			cursor->bad = true;
			return 0;
		}
		value |= (byte & 0x7f) << *shift;
		*shift += 7;
	} while ((byte & 0x80) != 0 && !cursor->bad);
	return value;
}

uint64_t
frame_take_unsigned(struct frame_cursor *cursor)
{
	unsigned shift;

	return take_leb128(cursor, &shift);
}

int64_t
frame_take_signed(struct frame_cursor *cursor)
{
	unsigned shift;
	uint64_t value = take_leb128(cursor, &shift);

	/* The highest bit that was read is the sign. */
	if (shift < 64 && shift > 0 && (value >> (shift - 1) & 1) != 0)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

/* Returns the size in bytes of a number with this encoding; 0 for unknown formats. */
static size_t
format_size(unsigned encoding)
{
	/* The index is the format: DW_EH_PE_absptr, udata2, udata4 and udata8, or the signed
	 * formats, which have the same low three bits. */
	static const uint8_t size[] = { 8, 0, 2, 4, 8, 0, 0, 0 };

	return size[encoding & FORMAT_MASK & ~(unsigned)DW_EH_PE_signed];
}

/* Reads a number with the format of this encoding, to which no base is added. */
static uint64_t
take_format(struct frame_cursor *cursor, unsigned encoding)
{
	const size_t size = format_size(encoding);
	uint64_t value;

	if (size == 0) {
		cursor->bad = true;
		return 0;
	}
	value = frame_take(cursor, size);
	if (size == 2 && (encoding & DW_EH_PE_signed) != 0)
		value = (uint64_t)(int64_t)(int16_t)value;
	if (size == 4 && (encoding & DW_EH_PE_signed) != 0)
		value = (uint64_t)(int64_t)(int32_t)value;
	return value;
}

uint64_t
frame_take_address(struct frame_cursor *cursor, unsigned encoding)
{
	const uint64_t place = cursor->at;
	const unsigned base = encoding & BASE_MASK;
	uint64_t value;

	if ((encoding & DW_EH_PE_indirect) != 0 ||
	    (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel)) {
		cursor->bad = true;
		return 0;
	}
	value = take_format(cursor, encoding);
	return base == DW_EH_PE_pcrel ? value + place : value;
}

/* --- entries ---------------------------------------------------------------------------- */

/* The head of an entry. */
struct head {
	bool wide;   /* 64-bit DWARF: lengths and identifiers have 8 bytes */
	uint64_t id; /* identifies a CIE, or refers to the CIE of an FDE */
	uint64_t id_place;
};

/*
 * Reads the head of an entry and sets the end of the cursor to the end of the entry. Returns false
 * when the head is damaged or its length is 0, which ends .eh_frame.
 */
static bool
take_head(struct frame_cursor *cursor, struct head *head)
{
	uint64_t length = frame_take(cursor, 4);

	head->wide = length == 0xffffffffu;
	if (head->wide)
		length = frame_take(cursor, 8);
	/* DWARF 5, 7.2.2: the values from 0xfffffff0 on are reserved. */
	if (cursor->bad || length == 0 || (!head->wide && length >= 0xfffffff0u) ||
	    length > cursor->end - cursor->at)
		return false;
	cursor->end = cursor->at + length;
	head->id_place = cursor->at;
	head->id = frame_take(cursor, head->wide && cursor->section->debug_frame ? 8 : 4);
	return !cursor->bad;
}

/* The identifier of a CIE is 0 in .eh_frame, and all ones in .debug_frame. */
static bool
is_common(const struct frame_section *section, const struct head *head)
{
	if (section->debug_frame)
		return head->id == (head->wide ? UINT64_MAX : UINT32_MAX);
	return head->id == 0;
}

/* Returns the place of the CIE to which an FDE refers: by the distance back from the reference in
 * .eh_frame, by the offset in .debug_frame. */
static uint64_t
common_place(const struct frame_section *section, const struct head *head)
{
	return section->debug_frame ? head->id : head->id_place - head->id;
}

/*
 * Reads the augmentation data of a CIE. `letter` is the augmentation string without its 'z': each
 * letter describes one part of the data.
 */
static void
take_augmentation(struct frame_cursor *cursor, const char *letter, struct frame_entry *entry)
{
	for (; *letter != '\0' && !cursor->bad; letter++) {
		switch (*letter) {
		case 'R':
			entry->encoding = frame_take_byte(cursor);
			break;
		case 'L':
			frame_take_byte(cursor);
			break;
		case 'P':
			/* Skips the personality routine's address by the size of its encoding. */
			take_format(cursor, frame_take_byte(cursor));
			break;
		case 'S':
			entry->signal_frame = true;
			break;
		case 'B': /* aarch64: return addresses are signed with key B; no data */
		case 'G': /* aarch64: memory tagging; no data */
			break;
		default:
			cursor->bad = true;
		}
	}
}

/* Reads the zero-terminated augmentation string. */
static void
take_letters(struct frame_cursor *cursor, char letters[AUGMENTATION_MOST])
{
	for (size_t i = 0; i < AUGMENTATION_MOST; i++) {
		letters[i] = (char)frame_take_byte(cursor);
		if (letters[i] == '\0')
			return;
	}
	letters[0] = '\0';
	cursor->bad = true;
}

/* Reads the sizes that a CIE of version 4 has: of addresses, and of segment selectors. */
static void
take_sizes(struct frame_cursor *cursor)
{
	const uint64_t address = frame_take_byte(cursor);
	const uint64_t selector = frame_take_byte(cursor);

	if (address != sizeof(uint64_t) || selector != 0)
		cursor->bad = true;
}

/* Reads the CIE at `place` into *entry. Returns false when it is damaged or has an unknown form. */
static bool
read_common(const struct frame_section *section, uint64_t place, struct frame_entry *entry,
	    bool *has_data)
{
	struct frame_cursor cursor = frame_cursor_at(section, place, section->high);
	char letters[AUGMENTATION_MOST];
	struct head head;
	unsigned version;

	if (place < section->low || !take_head(&cursor, &head) || !is_common(section, &head))
		return false;
	version = frame_take_byte(&cursor);
	if (version != 1 && version != 3 && version != 4)
		return false;
	take_letters(&cursor, letters);
	if (version == 4)
		take_sizes(&cursor);
	entry->code_alignment = frame_take_unsigned(&cursor);
	entry->data_alignment = frame_take_signed(&cursor);
	entry->return_register = version == 1 ? frame_take_byte(&cursor) :
						frame_take_unsigned(&cursor);
	*has_data = letters[0] == 'z';
	if (*has_data) {
		const uint64_t size = frame_take_unsigned(&cursor);
		struct frame_cursor data = cursor;

		if (cursor.bad || size > cursor.end - cursor.at)
			return false;
		data.end = cursor.at += size;
		take_augmentation(&data, letters + 1, entry);
		cursor.bad = data.bad;
	} else if (letters[0] != '\0') {
		return false;
	}
	entry->common = (struct frame_span){ cursor.at, cursor.end };
	return !cursor.bad;
}

bool
frame_entry_read(const struct frame_section *section, uint64_t place, struct frame_entry *entry,
		 uint64_t *next)
{
	struct frame_cursor cursor = frame_cursor_at(section, place, section->high);
	struct head head;
	bool has_data;

	memset(entry, 0, sizeof(*entry));
	if (next != NULL)
		*next = section->high;
	if (place < section->low || !take_head(&cursor, &head))
		return false;
	if (next != NULL)
		*next = cursor.end;
	if (is_common(section, &head) ||
	    !read_common(section, common_place(section, &head), entry, &has_data))
		return false;
	entry->start = frame_take_address(&cursor, entry->encoding);
	entry->size = take_format(&cursor, entry->encoding & ~(unsigned)DW_EH_PE_signed);
	if (has_data) {
		const uint64_t size = frame_take_unsigned(&cursor);

		if (size > cursor.end - cursor.at)
			return false;
		cursor.at += size;
	}
	entry->own = (struct frame_span){ cursor.at, cursor.end };
	return !cursor.bad;
}

bool
frame_entry_contains(const struct frame_entry *entry, uint64_t vaddr)
{
	return vaddr >= entry->start && vaddr - entry->start < entry->size;
}

struct frame_section
frame_section_of_image(const struct image *image)
{
	return (struct frame_section){ .image = image, .low = image->low, .high = image->high };
}

/* --- the table of .eh_frame_hdr ----------------------------------------------------------- */

struct table_entry {
	int32_t start, place; /* distances of the function and of the FDE from .eh_frame_hdr */
};

bool
frame_entry_find_table(const struct image *image, uint64_t *table, uint64_t *count)
{
	const struct frame_section section = frame_section_of_image(image);
	struct frame_cursor cursor = frame_cursor_at(&section, image->eh_frame_hdr, section.high);
	unsigned frame_encoding, count_encoding;
	uint64_t room;

	if (image->eh_frame_hdr == 0 || frame_take_byte(&cursor) != 1)
		return false;
	frame_encoding = frame_take_byte(&cursor);
	count_encoding = frame_take_byte(&cursor);
	if (frame_take_byte(&cursor) != TABLE_ENCODING || (count_encoding & BASE_MASK) != 0)
		return false;
	take_format(&cursor, frame_encoding); /* the address of .eh_frame, which is not needed */
	*count = take_format(&cursor, count_encoding);
	*table = cursor.at;
	if (cursor.bad || *table - image->eh_frame_hdr > image->eh_frame_hdr_size)
		return false;
	room = (image->eh_frame_hdr_size - (*table - image->eh_frame_hdr)) /
	       sizeof(struct table_entry);
	if (*count > room)
		*count = room;
	return *count > 0;
}

static bool
read_entry(const struct image *image, uint64_t table, uint64_t index, struct table_entry *entry)
{
	return image_read_vaddr(image, table + index * sizeof(*entry), entry, sizeof(*entry));
}

static uint64_t
from_header(const struct image *image, int32_t distance)
{
	return image->eh_frame_hdr + (uint64_t)(int64_t)distance;
}

/* Finds the last table entry whose function starts at or before the address; false when there is
 * none. */
static bool
find_entry(const struct image *image, uint64_t vaddr, struct table_entry *found)
{
	uint64_t table, low = 0, high;

	if (!frame_entry_find_table(image, &table, &high))
		return false;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		struct table_entry entry;

		if (!read_entry(image, table, middle, &entry))
			return false;
		if (from_header(image, entry.start) <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && read_entry(image, table, low - 1, found);
}

bool
frame_entry_has_table(const struct image *image)
{
	const struct frame_section section = frame_section_of_image(image);
	struct table_entry first;
	struct frame_entry entry;
	uint64_t table, count;

	/* The table may lead to entries that image_read_vaddr() does not read: linkers put
	 * .eh_frame into a writable segment if one object has a writable .eh_frame. */
	return frame_entry_find_table(image, &table, &count) &&
	       read_entry(image, table, 0, &first) &&
	       frame_entry_read(&section, from_header(image, first.place), &entry, NULL);
}

bool
frame_entry_search(const struct image *image, uint64_t vaddr, struct frame_entry *entry)
{
	const struct frame_section section = frame_section_of_image(image);
	struct table_entry found;

	return find_entry(image, vaddr, &found) &&
	       frame_entry_read(&section, from_header(image, found.place), entry, NULL) &&
	       frame_entry_contains(entry, vaddr);
}
