/* SPDX-License-Identifier: MIT */
/*
 * pclntab_values.c - reads what the function table stores for each instruction: depth of the stack,
 * file, line, inlined functions.
 */
#include <string.h>

#include "elf/pclntab_internal.h"

/* Largest number of pairs that are read from a packed table; only damaged tables have more. */
#define STEPS_MOST (1U << 20)

/* Largest number of bytes of a packed number that is accepted. Five bytes hold 32 bits; the bits of
 * further bytes are ignored. */
#define VARINT_MOST 10

/* Largest depth of a stack in bytes: the limit of Go's runtime, 10^9 (runtime/stack.go,
 * maxstacksize), rounded up. */
#define DEPTH_MOST (1 << 30)

/* Indices of the offsets behind a record (internal/abi/symtab.go), and the offset that stands for
 * missing data. */
#define PCDATA_INLINED 2
#define FUNCDATA_INLINED 3
#define FUNCDATA_NONE UINT32_MAX

/* Reads the bytes of a packed table one by one; the file is read in pieces. */
struct reader {
	const struct pclntab *table;
	/* Position in the table of the first byte behind the current piece. */
	uint64_t at;
	uint8_t piece[64];
	size_t used, size;
};

static bool
next_byte(struct reader *reader, uint8_t *byte)
{
	if (reader->used == reader->size) {
		const uint64_t end = reader->table->functions;
		size_t size = sizeof(reader->piece);

		if (reader->at >= end)
			return false;
		if (size > end - reader->at)
			size = (size_t)(end - reader->at);
		if (!pclntab_read(reader->table, reader->at, reader->piece, size))
			return false;
		reader->at += size;
		reader->size = size;
		reader->used = 0;
	}
	*byte = reader->piece[reader->used++];
	return true;
}

static bool
next_number(struct reader *reader, uint32_t *number)
{
	uint8_t byte = 0x80;

	*number = 0;
	for (unsigned i = 0; i < VARINT_MOST && byte >= 0x80; i++) {
		if (!next_byte(reader, &byte))
			return false;
		if (i < 5)
			*number |= (uint32_t)(byte & 0x7f) << (7 * i);
	}
	return byte < 0x80;
}

/*
 * Looks up the address `vaddr`, which is in `function`, in the packed table at the position
 * `values` + `at`. A packed table gives each range of the function's code a value; it is a sequence
 * of pairs of numbers: the change of the value (n / 2 if n is even, else -(n + 1) / 2), and the
 * number of units of `quantum` bytes of code for which the new value holds. The numbers have 7 bits
 * in each byte, the lowest first; the last byte is below 0x80. Stores the value; a negative one
 * stands for "none" or "not known". Returns false when the table has no value for the address.
 */
static bool
pclntab_value(const struct pclntab *table, uint32_t at, const struct pclntab_function *function,
	      uint64_t vaddr, int32_t *value)
{
	struct reader reader = { .table = table, .at = table->values + at };
	uint64_t address = function->entry;
	uint32_t current = UINT32_MAX; /* -1, the value before the first pair */

	/* The offset 0 means that the function has no such table. */
	for (unsigned i = 0; at != 0 && i < STEPS_MOST && address < function->end; i++) {
		uint32_t change, length;

		if (!next_number(&reader, &change) || (change == 0 && i > 0) ||
		    !next_number(&reader, &length))
			return false;
		current += change % 2 != 0 ? ~(change >> 1) : change >> 1;
		address += (uint64_t)length * table->quantum;
		if (vaddr < address) {
			*value = (int32_t)current;
			return true;
		}
	}
	return false;
}

bool
pclntab_stack_depth(const struct pclntab *table, const struct pclntab_function *function,
		    uint64_t vaddr, uint32_t *depth)
{
	struct pclntab_record record;
	int32_t value;

	if (!pclntab_record(table, function->record, &record) ||
	    !pclntab_value(table, record.stack, function, vaddr, &value) || value < 0 ||
	    value > DEPTH_MOST)
		return false;
	*depth = (uint32_t)value;
	return true;
}

/* --- files, lines and inlined functions ------------------------------------------------ */

/* A function, its record, and where the data of its inlined calls is. */
struct body {
	const struct pclntab *table;
	struct pclntab_function function;
	struct pclntab_record record;
	/* Offset of the packed table that gives the index of the inlined call; 0: none. */
	uint32_t inlined_at;
	uint64_t inlined; /* vaddr of the array of inlined calls; 0 when not known */
};

/* Returns element `index` of the array of 32-bit offsets that follows the function's record; 0 when
 * it cannot be read. */
static uint32_t
word_behind(const struct body *body, uint64_t index)
{
	const uint64_t size = body->table->is_old ? 40 : 44;
	uint32_t word;

	if (!pclntab_read(body->table,
			  body->table->functions + body->function.record + size + index * 4, &word,
			  sizeof(word)))
		return 0;
	return word;
}

static bool
open_body(struct body *body, const struct pclntab *table, uint64_t vaddr)
{
	uint32_t data = FUNCDATA_NONE;

	*body = (struct body){ .table = table };
	if (!pclntab_find(table, vaddr, &body->function) ||
	    !pclntab_record(table, body->function.record, &body->record))
		return false;
	if (body->record.pcdata_count > PCDATA_INLINED)
		body->inlined_at = word_behind(body, PCDATA_INLINED);
	if (body->record.funcdata_count > FUNCDATA_INLINED)
		data = word_behind(body, (uint64_t)body->record.pcdata_count + FUNCDATA_INLINED);
	if (table->funcdata != 0 && data != FUNCDATA_NONE)
		body->inlined = table->funcdata + data;
	return true;
}

/*
 * Reads the element `index` of the array of inlined calls (runtime/symtabinl.go, struct
 * inlinedCall; up to Go 1.19 it also has file and line) and sets name and start_line of *place.
 * Stores in *parent the distance from the function's entry to an instruction that has the file and
 * the line of the call. Returns false when there is no such element.
 */
static bool
read_inlined(const struct body *body, int32_t index, struct pclntab_place *place, uint32_t *parent)
{
	const size_t size = body->table->is_old ? 20 : 16;
	uint32_t word[5];

	if (body->inlined == 0 || index < 0 ||
	    !pclntab_image_read(body->table->image, body->inlined + (uint64_t)index * size, word,
				size))
		return false;
	place->name = word[body->table->is_old ? 3 : 1];
	place->start_line = body->table->is_old ? 0 : word[3];
	*parent = word[body->table->is_old ? 4 : 2];
	return true;
}

static void
find_line(const struct body *body, uint64_t vaddr, struct pclntab_place *place)
{
	const struct pclntab *table = body->table;
	int32_t file, line;
	uint64_t at;

	place->file = PCLNTAB_FILE_NONE;
	place->line = 0;
	if (pclntab_value(table, body->record.line, &body->function, vaddr, &line) && line > 0)
		place->line = (uint32_t)line;
	if (!pclntab_value(table, body->record.file, &body->function, vaddr, &file) || file < 0)
		return;
	at = table->units + ((uint64_t)body->record.unit + (uint32_t)file) * 4;
	if (at < table->files)
		pclntab_read(table, at, &place->file, sizeof(place->file));
}

size_t
pclntab_places(const struct pclntab *table, uint64_t vaddr, struct pclntab_place *place,
	       size_t most)
{
	struct body body;
	size_t count = 0;
	bool more = true;

	if (!open_body(&body, table, vaddr))
		return 0;
	while (more) {
		struct pclntab_place inner = { .name = body.function.name,
					       .start_line = body.function.start_line };
		uint32_t parent;
		int32_t index;

		find_line(&body, vaddr, &inner);
		more = pclntab_value(table, body.inlined_at, &body.function, vaddr, &index) &&
		       read_inlined(&body, index, &inner, &parent);
		if (more)
			vaddr = body.function.entry + parent;
		/* The last element is kept for the outermost function. This also ends the loop when
		 * calls of a damaged table form a ring. */
		if (more && count + 1 == most)
			break;
		place[count++] = inner;
	}
	if (more) {
		place[count] = (struct pclntab_place){ .name = body.function.name,
						       .start_line = body.function.start_line };
		find_line(&body, vaddr, &place[count++]);
	}
	return count;
}
