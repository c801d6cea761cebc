/* SPDX-License-Identifier: MIT */
/*
 * python_lines.c - converts an offset in CPython's bytecode to a line. There are three formats of
 * line tables.
 *
 * The result is the line that f_lineno of the frame returns, which may differ from what the module
 * dis shows. The formats are documented in CPython's source: Objects/lnotab_notes.txt (up to 3.10)
 * and Objects/locations.md (3.11 and later).
 */
#include "runtime/python/python_layout_internal.h"

/* Returns `line`, or 0 if it is not in [1, INT32_MAX], which can occur in a damaged table. */
static uint32_t
bounded_line(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Converts co_firstlineno to a signed number: it may be negative in code that a program
 * constructs. */
static int64_t
bounded_first_line(uint32_t first_line)
{
	return (int32_t)first_line;
}

/* Reads the table of versions up to 3.9. Each entry is a pair of bytes, its distances from the
 * previous entry: the first in bytes of bytecode, unsigned, the second in lines, signed. A distance
 * that does not fit into a byte takes several entries. */
uint32_t
python_line_lnotab(const uint8_t *table, size_t size, uint32_t first_line, uint32_t offset)
{
	int64_t line = bounded_first_line(first_line);
	uint64_t start = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		start += table[i];
		if (start > offset)
			break;
		line += (int8_t)table[i + 1];
	}
	return bounded_line(line);
}

/* Reads the table of 3.10. Each entry is a pair of bytes for a range of bytecode: the length of the
 * range in bytes, and its distance in lines, signed, from the previous range that has a line; -128:
 * the range has no line. */
uint32_t
python_line_ranges(const uint8_t *table, size_t size, uint32_t first_line, uint32_t offset)
{
	int64_t line = bounded_first_line(first_line);
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t step = (int8_t)table[i + 1];

		end += table[i];
		if (step != INT8_MIN)
			line += step;
		if (end > offset)
			return step != INT8_MIN ? bounded_line(line) : 0;
	}
	return 0;
}

/* Reads a number of up to six bytes. Each byte has six bits of it, the lowest first; bit 6 is set
 * if another byte follows. Bit 0 of the number is its sign. */
static int64_t
read_signed_varint(const uint8_t *table, size_t size)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (size_t i = 0; i < size && shift < 36; i++, shift += 6) {
		value |= (uint64_t)(table[i] & 0x3f) << shift;
		if ((table[i] & 0x40) == 0)
			break;
	}
	return (value & 1) != 0 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Codes of the entries in the table of 3.11 and later (Objects/locations.md). Codes 0 to 9 stand
 * for the line of the previous entry. */
enum location {
	LOCATION_ONE_LINE = 10, /* values 10, 11 and 12: the distance in lines plus 10 */
	LOCATION_NO_COLUMN = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* Returns the distance in lines from the previous entry; 0 for codes without one. The table ends
 * `size` bytes after `entry`. */
static int64_t
location_step(unsigned code, const uint8_t *entry, size_t size)
{
	if (code == LOCATION_NO_COLUMN || code == LOCATION_LONG)
		return read_signed_varint(entry + 1, size - 1);
	if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMN)
		return (int64_t)code - LOCATION_ONE_LINE;
	return 0;
}

/*
 * Reads the table of 3.11 and later. Each entry describes a range of bytecode, and begins with a
 * byte with bit 7 set: its code (enum location) in bits 3 to 6, and in bits 0 to 2 the number of
 * code units (of two bytes) in the range minus one. The other bytes of an entry have bit 7 clear.
 */
uint32_t
python_line_locations(const uint8_t *table, size_t size, uint32_t first_line, uint32_t offset)
{
	int64_t line = bounded_first_line(first_line);
	uint64_t end = 0;

	for (size_t i = 0; i < size;) {
		unsigned code = table[i] >> 3 & 15;

		line += location_step(code, table + i, size - i);
		end += ((table[i] & 7U) + 1) * 2;
		if (end > offset)
			return code != LOCATION_NONE ? bounded_line(line) : 0;
		do
			i++;
		while (i < size && (table[i] & 0x80) == 0);
	}
	return 0;
}
