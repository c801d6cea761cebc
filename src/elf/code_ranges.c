/* SPDX-License-Identifier: MIT */
/*
 * code_ranges.c - searches the table of .eh_frame_hdr, and reads the address range of the function
 * from the entry of .eh_frame (FDE) that the table leads to.
 *
 * The formats are those of the Linux Standard Base 5.0, Core, chapter 10.6.
 */
#include "wallsample/elf/code_ranges.h"

#include <dwarf.h>

/* The encoding of the entries of .eh_frame_hdr's table: signed 32 bits, relative to .eh_frame_hdr.
 * No linker writes another encoding. */
#define TABLE_ENCODING (DW_EH_PE_datarel | DW_EH_PE_sdata4)

/* An encoding (DW_EH_PE_…) is a byte. Its low four bits are the format of a number; the next three
 * say to which base the number is relative. */
#define FORMAT_MASK 0x0f
#define BASE_MASK 0x70

/* Largest length of an augmentation string, such as "zPLRSB", with its terminating zero. */
#define AUGMENTATION_MOST 16

/* A position in the image, from which fields are read one after the other. `bad` is set when a
 * field cannot be read or has an unknown form; all further reads then give 0. */
struct cursor {
	const struct image *image;
	uint64_t at;
	bool bad;
};

static uint64_t
take(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;

	if (cursor->bad || !image_read_vaddr(cursor->image, cursor->at, &value, size)) {
		cursor->bad = true;
		return 0;
	}
	cursor->at += size;
	return value; /* no conversion: files and this machine are little-endian */
}

/* Skips a signed or unsigned LEB128 number. */
static void
skip_leb128(struct cursor *cursor)
{
	size_t most = 10;

	while ((take(cursor, 1) & 0x80) != 0 && !cursor->bad)
		if (--most == 0)
			cursor->bad = true;
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

/* Reads an address with this encoding, or if `is_length` a length, to which no base is added. Sets
 * `bad` when the encoding is not supported. */
static uint64_t
take_encoded(struct cursor *cursor, unsigned encoding, bool is_length)
{
	const uint64_t place = cursor->at;
	const size_t size = format_size(encoding);
	uint64_t value;

	if (size == 0 || (encoding & DW_EH_PE_indirect) != 0 ||
	    ((encoding & BASE_MASK) != DW_EH_PE_pcrel && (encoding & BASE_MASK) != 0)) {
		cursor->bad = true;
		return 0;
	}
	value = take(cursor, size);
	if (is_length)
		return value;
	if (size == 2 && (encoding & DW_EH_PE_signed) != 0)
		value = (uint64_t)(int64_t)(int16_t)value;
	if (size == 4 && (encoding & DW_EH_PE_signed) != 0)
		value = (uint64_t)(int64_t)(int32_t)value;
	return (encoding & BASE_MASK) == DW_EH_PE_pcrel ? value + place : value;
}

/*
 * Reads the length field of a CIE or FDE and stores the address of the end of the entry. Returns
 * false for the length 0, which ends the section, and for the long form (0xffffffff and 64 bits),
 * which only sections of more than 4 GiB need.
 */
static bool
take_length(struct cursor *cursor, uint64_t *end)
{
	const uint64_t length = take(cursor, 4);

	if (cursor->bad || length == 0 || length >= 0xfffffff0u)
		return false;
	*end = cursor->at + length;
	return true;
}

/*
 * Reads the augmentation data up to the encoding of addresses in FDEs, which it returns. `letter`
 * is the augmentation string without its 'z': each letter describes one part of the data. Without a
 * letter 'R', addresses have the encoding DW_EH_PE_absptr.
 */
static unsigned
take_augmentation(struct cursor *cursor, const char *letter)
{
	for (; *letter != '\0' && !cursor->bad; letter++) {
		switch (*letter) {
		case 'R':
			return (unsigned)take(cursor, 1);
		case 'L':
			take(cursor, 1);
			break;
		case 'P':
			/* Skips the personality routine's address by the size of its encoding. */
			cursor->at += format_size((unsigned)take(cursor, 1) & FORMAT_MASK);
			break;
		case 'S':
		case 'B': /* aarch64: return addresses are signed with key B; no data */
		case 'G':
			break;
		default:
			cursor->bad = true;
		}
	}
	return DW_EH_PE_absptr;
}

/* Reads from a CIE the encoding of addresses in its FDEs. Returns false when the CIE is not valid
 * or has an unknown form. */
static bool
cie_encoding(const struct image *image, uint64_t cie, unsigned *encoding)
{
	struct cursor cursor = { .image = image, .at = cie };
	char letter[AUGMENTATION_MOST] = "";
	size_t count = 0;
	unsigned version;
	uint64_t end;

	if (!take_length(&cursor, &end) || take(&cursor, 4) != 0)
		return false;
	version = (unsigned)take(&cursor, 1);
	if (version != 1 && version != 3)
		return false;
	do {
		if (count == AUGMENTATION_MOST)
			return false;
		letter[count] = (char)take(&cursor, 1);
	} while (!cursor.bad && letter[count++] != '\0');
	skip_leb128(&cursor); /* code alignment */
	skip_leb128(&cursor); /* data alignment */
	if (version == 1)
		take(&cursor, 1); /* register of the return address */
	else
		skip_leb128(&cursor);
	*encoding = DW_EH_PE_absptr;
	if (letter[0] == 'z') {
		skip_leb128(&cursor); /* length of the augmentation data */
		*encoding = take_augmentation(&cursor, letter + 1);
	} else if (letter[0] != '\0') {
		return false;
	}
	return !cursor.bad && cursor.at <= end;
}

/* Reads the first address and the length of an FDE. Returns false when the FDE or its CIE is not
 * valid. */
static bool
fde_range(const struct image *image, uint64_t fde, uint64_t *start, uint64_t *length)
{
	struct cursor cursor = { .image = image, .at = fde };
	uint64_t end, place, distance;
	unsigned encoding;

	if (!take_length(&cursor, &end))
		return false;
	place = cursor.at;
	distance = take(&cursor, 4);
	if (cursor.bad || distance == 0 || distance > place ||
	    !cie_encoding(image, place - distance, &encoding))
		return false;
	*start = take_encoded(&cursor, encoding, false);
	*length = take_encoded(&cursor, encoding, true);
	return !cursor.bad && cursor.at <= end;
}

/* --- the table ------------------------------------------------------------------------- */

struct table_entry {
	int32_t start, fde; /* distances of the function and of the FDE from .eh_frame_hdr */
};

/* Stores the address of the table of .eh_frame_hdr and the number of its entries. Returns false
 * when there is no table, or it is empty or has another encoding than TABLE_ENCODING. */
static bool
find_table(const struct image *image, uint64_t *table, uint64_t *count)
{
	struct cursor cursor = { .image = image, .at = image->eh_frame_hdr };
	unsigned frame_encoding, count_encoding;
	uint64_t room;

	if (image->eh_frame_hdr == 0 || take(&cursor, 1) != 1)
		return false;
	frame_encoding = (unsigned)take(&cursor, 1);
	count_encoding = (unsigned)take(&cursor, 1);
	if (take(&cursor, 1) != TABLE_ENCODING || format_size(frame_encoding) == 0 ||
	    format_size(count_encoding) == 0 || (count_encoding & BASE_MASK) != 0)
		return false;
	cursor.at += format_size(
		frame_encoding); /* the address of .eh_frame, which is not needed */
	*count = take_encoded(&cursor, count_encoding, true);
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

	if (!find_table(image, &table, &high))
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
code_range(const struct image *image, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
	struct table_entry entry;

	return find_entry(image, vaddr, &entry) &&
	       fde_range(image, from_header(image, entry.fde), start, size) && vaddr >= *start &&
	       vaddr - *start < *size;
}
