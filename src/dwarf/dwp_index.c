/* SPDX-License-Identifier: MIT */
/*
 * dwp_index.c - reads the hash table of a package from untrusted bytes.
 */
#include "dwarf/dwp_internal.h"

#include "wallsample/base/bytes.h"

#define HEADER_SIZE 16
/* A kind of section for each column; there are eight, and more would have to be new. */
#define COLUMNS_MAX 16

struct header {
	uint32_t version, columns, units, slots;
};

/* Version 5 has two bytes for it and two that are zero, version 2 has four. */
static struct header
index_read_header(const uint8_t *bytes)
{
	return (struct header){
		.version = bytes_u32(bytes),
		.columns = bytes_u32(bytes + 4),
		.units = bytes_u32(bytes + 8),
		.slots = bytes_u32(bytes + 12),
	};
}

/* Ids, rows of ids, and the tables of offsets (with the names of the columns) and of sizes. */
static uint64_t
size_needed(const struct header *header)
{
	return HEADER_SIZE + (uint64_t)header->slots * 12 +
	       (2 * (uint64_t)header->units + 1) * header->columns * 4;
}

const char *
dwp_index_check(const uint8_t *bytes, size_t size)
{
	struct header header;

	if (size < HEADER_SIZE)
		return "its index is damaged";
	header = index_read_header(bytes);
	if (header.version != 2 && header.version != 5)
		return "its index is of a version that is not known";
	if (header.units == 0)
		return "its index is empty";
	if (header.columns == 0 || header.columns > COLUMNS_MAX || header.slots == 0 ||
	    (header.slots & (header.slots - 1)) != 0 || size_needed(&header) > size)
		return "its index is damaged";
	return NULL;
}

/* What a column of the row is, DWP_PART_COUNT for what is not needed. */
static enum dwp_part
part_of(uint32_t version, uint32_t column)
{
	switch (column) {
	case 1:
		return DWP_INFO;
	case 3:
		return DWP_ABBREV;
	case 4:
		return DWP_LINE;
	case 6:
		return DWP_STR_OFFSETS;
	case 8: /* in version 2: .debug_macro.dwo */
		return version == 5 ? DWP_RNGLISTS : DWP_PART_COUNT;
	default:
		return DWP_PART_COUNT;
	}
}

static bool
read_row(const uint8_t *tables, const struct header *header, uint32_t number, struct dwp_row *row)
{
	const size_t line = (size_t)header->columns * 4;
	const uint8_t *offsets = tables + (size_t)number * line;
	const uint8_t *sizes = offsets + (size_t)header->units * line;

	*row = (struct dwp_row){ 0 };
	for (size_t i = 0; i < line; i += 4) {
		const enum dwp_part part = part_of(header->version, bytes_u32(tables + i));

		if (part != DWP_PART_COUNT)
			row->piece[part] = (struct dwp_piece){
				.offset = bytes_u32(offsets + i),
				.size = bytes_u32(sizes + i),
			};
	}
	return row->piece[DWP_INFO].size > 0 && row->piece[DWP_ABBREV].size > 0;
}

bool
dwp_index_find(const uint8_t *bytes, size_t size, uint64_t id, struct dwp_row *row)
{
	struct header header;
	const uint8_t *ids, *numbers;
	uint32_t slot, step;

	if (dwp_index_check(bytes, size) != NULL)
		return false;
	header = index_read_header(bytes);
	ids = bytes + HEADER_SIZE;
	numbers = ids + (size_t)header.slots * 8;
	slot = (uint32_t)id & (header.slots - 1);
	step = ((uint32_t)(id >> 32) & (header.slots - 1)) | 1;
	/* The step is odd: after as many as there are slots, each was looked at. */
	for (uint32_t i = 0; i < header.slots; i++) {
		const uint32_t number = bytes_u32(numbers + (size_t)slot * 4);

		if (number == 0 || number > header.units)
			return false;
		if (bytes_u64(ids + (size_t)slot * 8) == id)
			return read_row(numbers + (size_t)header.slots * 4, &header, number, row);
		slot = (slot + step) & (header.slots - 1);
	}
	return false;
}
