/* SPDX-License-Identifier: MIT */
/* python_code.c - reads names and lines of the code objects that were captured. */
#include "runtime/python/python_layout_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Most characters of a function's name and of a path. Longer ones are truncated: CPython does not
 * bound the length of qualified names. Most bytes of a line table; larger tables are not read. */
#define NAME_MOST 1024
#define FILE_MOST 4096
#define LINE_TABLE_MOST (UINT64_C(1) << 20)
/* Most bytes of all cached line tables together. When a new table would exceed this bound, all
 * others are removed. */
#define LINE_TABLES_KEPT (UINT64_C(32) << 20)

/* A cached code object. */
struct record {
	struct python_code_id id;
	struct python_code code;
	uint8_t *line_table; /* NULL: not in the cache */
	size_t line_table_size;
};

struct python_codes {
	const struct python_layout *layout;
	const struct memory *memory;
	struct strings *texts;
	struct record **record; /* allocated one by one: callers hold pointers to &record->code */
	size_t count, capacity;
	struct table
		/* (address, 0) -> index of the record of the latest code object at the address */
		by_address;
	struct table lines;  /* (index of a record, byte offset) -> line */
	struct table copies; /* (index of a record, bytecode_index) -> index in copy[] */
	uint64_t *copy;      /* addresses of copies of bytecode (find_bytecode); 0: not known */
	size_t copy_count, copy_capacity;
	struct strbuf text; /* buffer for read_text() */
	uint64_t code_type; /* address of the type "code"; 0: not known yet */
	uint64_t kept;      /* bytes of all cached line tables */
};

struct python_code_id
python_code_identify(const struct python_layout *layout, uint64_t address, const uint8_t *bytes)
{
	return (struct python_code_id){
		.address = address,
		.filename = member_u64(bytes, layout->code_filename),
		.name = member_u64(bytes, layout->code_name),
		.qualified_name = member_u64(bytes, layout->code_qualified_name),
		.line_table = member_u64(bytes, layout->code_line_table),
		.first_line = member_u32(bytes, layout->code_first_line),
	};
}

static bool
is_same_code(const struct python_code_id *a, const struct python_code_id *b)
{
	return a->address == b->address && a->filename == b->filename && a->name == b->name &&
	       a->qualified_name == b->qualified_name && a->line_table == b->line_table &&
	       a->first_line == b->first_line;
}

struct python_codes *
python_codes_create(const struct python_layout *layout, const struct memory *memory)
{
	struct python_codes *codes = xcalloc(1, sizeof(*codes));

	codes->layout = layout;
	codes->memory = memory;
	codes->texts = strings_create();
	table_init(&codes->by_address);
	table_init(&codes->lines);
	table_init(&codes->copies);
	strbuf_init(&codes->text);
	return codes;
}

static void
drop_line_tables(struct python_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++) {
		free(codes->record[i]->line_table);
		codes->record[i]->line_table = NULL;
	}
	codes->kept = 0;
}

void
python_codes_free(struct python_codes *codes)
{
	if (codes == NULL)
		return;
	drop_line_tables(codes);
	for (size_t i = 0; i < codes->count; i++)
		free(codes->record[i]);
	free(codes->record);
	strings_free(codes->texts);
	table_release(&codes->by_address);
	table_release(&codes->lines);
	table_release(&codes->copies);
	free(codes->copy);
	strbuf_release(&codes->text);
	free(codes);
}

/* Returns true when the object at the address has the type "code". */
static bool
is_code_object(struct python_codes *codes, uint64_t address)
{
	const uint64_t type = python_pointer(codes->memory, address, codes->layout->object_type);
	uint64_t name;
	char word[sizeof("code")];

	if (type == 0)
		return false;
	if (type == codes->code_type)
		return true;
	name = python_pointer(codes->memory, type, codes->layout->type_name);
	if (!memory_read(codes->memory, name, word, sizeof(word)) ||
	    memcmp(word, "code", sizeof(word)) != 0)
		return false;
	codes->code_type = type;
	return true;
}

/* Returns true when the memory at id->address still has this identity. The caller has read an
 * object that the code object refers to: if the result is true, that object was valid when it was
 * read, because it lives as long as the code object. */
static bool
is_unchanged(struct python_codes *codes, const struct python_code_id *id)
{
	uint8_t bytes[PYTHON_CODE_BYTES];
	struct python_code_id now;

	if (!memory_read(codes->memory, id->address, bytes, codes->layout->code_size))
		return false;
	now = python_code_identify(codes->layout, id->address, bytes);
	return is_same_code(&now, id);
}

static const char *
read_text(struct python_codes *codes, uint64_t address, size_t most)
{
	strbuf_clear(&codes->text);
	if (!python_text_read(codes->layout, codes->memory, address, most, &codes->text))
		return NULL;
	return strings_text(codes->texts, strings_intern(codes->texts, codes->text.data));
}

/* Returns the record of the code object, which is added if it is new, and stores its index in
 * *number. NULL: the object is not readable, is no code object, or has changed. */
static struct record *
find_record(struct python_codes *codes, const struct python_code_id *id, uint32_t *number)
{
	const char *function, *file;
	struct record *record;

	if (table_find(&codes->by_address, id->address, 0, number) &&
	    is_same_code(&codes->record[*number]->id, id))
		return codes->record[*number];
	if (codes->count >= UINT32_MAX || !is_code_object(codes, id->address))
		return NULL;
	function = read_text(codes, id->qualified_name != 0 ? id->qualified_name : id->name,
			     NAME_MOST);
	file = function != NULL ? read_text(codes, id->filename, FILE_MOST) : NULL;
	if (file == NULL || !is_unchanged(codes, id))
		return NULL;
	record = xcalloc(1, sizeof(*record));
	record->id = *id;
	record->code = (struct python_code){ function, file, id->first_line };
	codes->record = xgrow(codes->record, &codes->capacity, codes->count + 1,
			      sizeof(codes->record[0]));
	*number = (uint32_t)codes->count++;
	codes->record[*number] = record;
	*table_insert(&codes->by_address, id->address, 0, 0, NULL) = *number;
	return record;
}

const struct python_code *
python_codes_find(struct python_codes *codes, const struct python_code_id *id)
{
	uint32_t number;
	struct record *record = find_record(codes, id, &number);

	return record != NULL ? &record->code : NULL;
}

static bool
read_line_table(struct python_codes *codes, struct record *record)
{
	uint8_t *bytes;
	size_t size;

	if (record->line_table != NULL)
		return true;
	bytes = python_bytes_read(codes->layout, codes->memory, record->id.line_table,
				  LINE_TABLE_MOST, &size);
	if (bytes == NULL)
		return false;
	if (!is_unchanged(codes, &record->id)) {
		free(bytes);
		return false;
	}
	if (codes->kept + size > LINE_TABLES_KEPT)
		drop_line_tables(codes);
	record->line_table = bytes;
	record->line_table_size = size;
	codes->kept += size;
	return true;
}

/* Returns the address of copy number `index` of the bytecode of the code object at `address`; 0:
 * there is no such copy, or it is not known. code_bytecodes points to an array of addresses, whose
 * first word is its length. */
static uint64_t
read_copy(const struct python_codes *codes, uint64_t address, uint32_t index)
{
	const uint64_t copies = python_pointer(codes->memory, address,
					       codes->layout->code_bytecodes);

	if (copies == 0 || index >= python_pointer(codes->memory, copies, 0))
		return 0;
	return python_pointer(codes->memory, copies + 8 + (uint64_t)index * 8, 0);
}

/*
 * Returns the address of the bytecode that a frame executes; 0: not known. `number`: index of the
 * record of its code object; `index`: its bytecode_index. In free-threaded 3.14 threads execute
 * copies of the bytecode; copy 0 is in the code object itself. Addresses of other copies are
 * cached.
 */
static uint64_t
find_bytecode(struct python_codes *codes, uint32_t number, uint32_t index)
{
	const uint64_t address = codes->record[number]->id.address;
	uint32_t *place;
	bool added;

	if (index == 0 || codes->layout->code_bytecodes == MEMBER_ABSENT)
		return address + codes->layout->code_instructions;
	if (codes->copy_count >= UINT32_MAX)
		return read_copy(codes, address, index);
	place = table_insert(&codes->copies, number, index, (uint32_t)codes->copy_count, &added);
	if (added) {
		codes->copy = xgrow(codes->copy, &codes->copy_capacity, codes->copy_count + 1,
				    sizeof(codes->copy[0]));
		codes->copy[codes->copy_count++] = 0;
	}
	if (codes->copy[*place] == 0)
		codes->copy[*place] = read_copy(codes, address, index);
	return codes->copy[*place];
}

/*
 * Removes the address of a copy of the bytecode from the cache. Returns false when it was not
 * cached. Called when an instruction has no line: CPython frees a copy some time after the thread
 * that used it has ended, and may then make a copy with the same index elsewhere. All copies of one
 * code object have the same size, and an allocator does not place them overlapping: an instruction
 * of the new copy is outside of the old one, and has no line there.
 */
static bool
forget_copy(struct python_codes *codes, uint32_t number, uint32_t index)
{
	uint32_t place;

	if (!table_find(&codes->copies, number, index, &place) || codes->copy[place] == 0)
		return false;
	codes->copy[place] = 0;
	return true;
}

/* Stores the offset in bytes, in the bytecode, of the frame's current or latest instruction; -1:
 * the frame has not begun. Returns false when the instruction is outside of this bytecode, or the
 * address of the bytecode is not known. */
static bool
instruction_offset(struct python_codes *codes, uint32_t number, uint64_t instruction,
		   uint32_t bytecode_index, int64_t *offset)
{
	const struct python_layout *layout = codes->layout;
	uint64_t start;

	if (!python_since(layout, 3, 11)) {
		int32_t index = (int32_t)(uint32_t)instruction;

		*offset = index < 0 ? -1 : index;
		/* CPython 3.10 stores a number of instructions of two bytes; earlier versions store
		 * a number of bytes. */
		if (index > 0 && python_since(layout, 3, 10))
			*offset *= 2;
		return true;
	}
	start = find_bytecode(codes, number, bytecode_index);
	if (start == 0)
		return false;
	/* CPython 3.11 and 3.12 store the address of the instruction that was executed last: in a
	 * frame that has not begun, the address two bytes before the code. */
	*offset = instruction + 2 == start ? -1 : (int64_t)(instruction - start);
	return *offset == -1 || (*offset >= 0 && *offset <= INT32_MAX);
}

static uint32_t
decode_line(const struct python_layout *layout, const struct record *record, uint32_t offset)
{
	const uint8_t *table = record->line_table;
	size_t size = record->line_table_size;
	uint32_t first_line = record->id.first_line;

	if (python_since(layout, 3, 11))
		return python_line_locations(table, size, first_line, offset);
	if (python_since(layout, 3, 10))
		return python_line_ranges(table, size, first_line, offset);
	return python_line_lnotab(table, size, first_line, offset);
}

static uint32_t
line_of_record(struct python_codes *codes, uint32_t number, uint64_t instruction,
	       uint32_t bytecode_index)
{
	struct record *record = codes->record[number];
	uint32_t line;
	int64_t offset;

	if (!instruction_offset(codes, number, instruction, bytecode_index, &offset))
		return 0;
	if (offset < 0)
		return record->id.first_line <= INT32_MAX ? record->id.first_line : 0;
	if (table_find(&codes->lines, number, (uint64_t)offset, &line))
		return line;
	if (!read_line_table(codes, record))
		return 0;
	line = decode_line(codes->layout, record, (uint32_t)offset);
	*table_insert(&codes->lines, number, (uint64_t)offset, 0, NULL) = line;
	return line;
}

uint32_t
python_codes_line(struct python_codes *codes, const struct python_code_id *id, uint64_t instruction,
		  uint32_t bytecode_index)
{
	uint32_t number, line;

	if (find_record(codes, id, &number) == NULL)
		return 0;
	line = line_of_record(codes, number, instruction, bytecode_index);
	if (line == 0 && forget_copy(codes, number, bytecode_index))
		line = line_of_record(codes, number, instruction, bytecode_index);
	return line;
}
