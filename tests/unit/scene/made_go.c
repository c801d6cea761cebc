/* SPDX-License-Identifier: MIT */
/* made_go.c - makes programs with a table of Go's functions; see the header. */
#include "made_go.h"

#include <elf.h>
#include <string.h>

#include "wallsample/base/base.h"

#define TABLE_ADDRESS UINT64_C(0x402000)
#define DATA_ADDRESS UINT64_C(0x404000)
#define MODULE 0x100 /* offset of moduledata in the data */
#define DYNAMIC 0x300
#define RELOCATIONS 0x400
#define ELFMAG_BYTES { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }
#define NOTE 0x200 /* offset of the note in the file */

struct maker {
	const struct made_go *made;
	uint8_t *file;
	size_t at;     /* offset in the table of the next byte to write */
	size_t values; /* offset in the table of the packed values */
	size_t relocations;
};

static void
put(struct maker *maker, const void *bytes, size_t size)
{
	memcpy(maker->file + MADE_GO_TABLE + maker->at, bytes, size);
	maker->at += size;
}

static void
put_word(struct maker *maker, uint32_t word)
{
	put(maker, &word, sizeof(word));
}

static uint32_t
put_text(struct maker *maker, size_t part, const char *text)
{
	const size_t at = maker->at - part;

	put(maker, text, strlen(text) + 1);
	return (uint32_t)at;
}

/* --- values that change with the address ---------------------------------------------------- */

struct value {
	int value;
	unsigned until; /* the value is valid up to this distance from the start of the function */
};

/* Writes a packed number of at most two bytes. */
static void
put_number(struct maker *maker, unsigned number)
{
	uint8_t byte[2] = { (uint8_t)number, (uint8_t)(number >> 7) };

	if (number >= 0x80)
		byte[0] |= 0x80;
	put(maker, byte, number >= 0x80 ? 2 : 1);
}

/* Writes packed values; `value` ends with an element whose `until` is 0. Returns their offset from
 * maker->values. */
static uint32_t
put_values(struct maker *maker, const struct value *value)
{
	const size_t at = maker->at - maker->values;
	int last = -1;
	unsigned from = 0;

	for (; value->until != 0; value++) {
		const int change = value->value - last;

		put_number(maker, change < 0 ? 2 * (unsigned)-change - 1 : 2 * (unsigned)change);
		put_number(maker, value->until - from);
		last = value->value;
		from = value->until;
	}
	put_number(maker, 0);
	return (uint32_t)at;
}

/* --- the table -------------------------------------------------------------------------- */

struct function {
	uint32_t entry, name, stack, file, line, inlined, start_line;
	uint8_t flags;
};

static void
put_function(struct maker *maker, const struct function *function)
{
	const bool has_inlined = function->inlined != 0;
	const uint8_t end[4] = { 0, function->flags, 0, has_inlined ? 4 : 0 };

	put_word(maker, function->entry);
	put_word(maker, function->name);
	put_word(maker, 0);
	put_word(maker, 0);
	put_word(maker, function->stack);
	put_word(maker, function->file);
	put_word(maker, function->line);
	put_word(maker, has_inlined ? 3 : 0);
	put_word(maker, 0);
	if (!maker->made->old)
		put_word(maker, function->start_line);
	put(maker, end, sizeof(end));
	if (!has_inlined)
		return;
	put_word(maker, 0);
	put_word(maker, 0);
	put_word(maker, function->inlined);
	for (int i = 0; i < 3; i++)
		put_word(maker, UINT32_MAX);
	put_word(maker, 8); /* offset of the data on inlined calls, behind 8 bytes of other data */
}

static void
put_inlined(struct maker *maker, uint32_t name, uint32_t parent, uint32_t start_line)
{
	put_word(maker, 0);
	if (maker->made->old) {
		put_word(maker, 0);
		put_word(maker, 0);
	}
	put_word(maker, name);
	put_word(maker, parent);
	if (!maker->made->old)
		put_word(maker, start_line);
}

static const struct value depths[] = { { 0, 4 }, { 24, 80 }, { 0, 96 }, { 0, 0 } };
static const struct value no_depth[] = { { 0, 32 }, { 0, 0 } };
static const struct value files[] = { { 0, 16 }, { 1, 48 }, { 0, 96 }, { 0, 0 } };
static const struct value lines[] = { { 10, 16 }, { 20, 32 }, { 30, 48 }, { 11, 96 }, { 0, 0 } };
static const struct value inlined[] = { { -1, 16 }, { 0, 32 }, { 1, 48 }, { -1, 96 }, { 0, 0 } };

struct parts {
	uint64_t names, units, files, values, functions, funcdata;
};

/* Writes the contents of the table that follow its header. */
static void
put_table(struct maker *maker, struct parts *parts)
{
	struct function function[3] = { { .start_line = 3 },
					{ .entry = 64, .start_line = 9 },
					{ .entry = 160, .flags = 1 | 4 } };
	uint32_t inner, innermost, file[2];
	size_t list;

	parts->names = maker->at;
	function[0].name = put_text(maker, parts->names, "main.main");
	function[1].name = put_text(maker, parts->names, "main.f");
	inner = put_text(maker, parts->names, "main.inner");
	innermost = put_text(maker, parts->names, "main.innermost");
	function[2].name = put_text(maker, parts->names, "runtime.goexit");
	maker->at = (maker->at + 7) & ~(size_t)7;
	parts->units = maker->at;
	maker->at += sizeof(file);
	parts->files = maker->at;
	file[0] = put_text(maker, parts->files, "/src/main.go");
	file[1] = put_text(maker, parts->files, "/src/inner.go");
	memcpy(maker->file + MADE_GO_TABLE + parts->units, file, sizeof(file));
	maker->at = (maker->at + 7) & ~(size_t)7;
	parts->values = maker->values = maker->at++;
	function[0].stack = function[1].stack = put_values(maker, depths);
	function[2].stack = put_values(maker, no_depth);
	function[0].file = function[1].file = put_values(maker, files);
	function[0].line = function[1].line = put_values(maker, lines);
	function[1].inlined = put_values(maker, inlined);
	maker->at = (maker->at + 7) & ~(size_t)7;
	parts->functions = list = maker->at;
	maker->at += 3 * 8 + 4;
	for (size_t i = 0; i < 3; i++) {
		const uint32_t entry[2] = { function[i].entry, (uint32_t)(maker->at - list) };

		memcpy(maker->file + MADE_GO_TABLE + list + i * 8, entry, sizeof(entry));
		put_function(maker, &function[i]);
	}
	maker->file[MADE_GO_TABLE + list + 24] = (uint8_t)(MADE_GO_END - MADE_GO_TEXT);
	parts->funcdata = maker->at;
	maker->at += 8;
	put_inlined(maker, inner, 8, 18);
	put_inlined(maker, innermost, 24, 28);
}

static void
put_header(struct maker *maker, const struct parts *parts)
{
	const uint32_t magic = maker->made->old ? 0xfffffff0 : 0xfffffff1;
	const uint8_t sizes[4] = { 0, 0, 1, 8 };
	const uint64_t word[] = { 3, 2, maker->made->no_module ? MADE_GO_TEXT : 0,
				  parts->names, parts->units, parts->files, parts->values,
				  parts->functions };

	maker->at = 0;
	put_word(maker, magic);
	put(maker, sizes, sizeof(sizes));
	put(maker, word, sizeof(word));
}

/* --- the rest of the program ----------------------------------------------------------------- */

static void
put_module(struct maker *maker, size_t index, uint64_t value, bool pointer)
{
	const uint64_t at = MODULE + index * 8;
	Elf64_Rela rela = { .r_offset = DATA_ADDRESS + at,
			    .r_info = R_X86_64_RELATIVE,
			    .r_addend = (Elf64_Sxword)value };

	if (!pointer || !maker->made->relocated) {
		memcpy(maker->file + MADE_GO_DATA + at, &value, sizeof(value));
		return;
	}
	memcpy(maker->file + MADE_GO_DATA + RELOCATIONS + maker->relocations, &rela, sizeof(rela));
	maker->relocations += sizeof(rela);
}

static void
put_data(struct maker *maker, const struct parts *parts)
{
	const size_t funcdata = maker->made->old ? 38 : 40;

	put_module(maker, 0, TABLE_ADDRESS, true);
	put_module(maker, 1, TABLE_ADDRESS + parts->names, true);
	put_module(maker, 16, TABLE_ADDRESS + parts->functions, true);
	put_module(maker, 17, 4, false);
	put_module(maker, 20, MADE_GO_TEXT, true);
	put_module(maker, 21, MADE_GO_END, true);
	put_module(maker, 22, MADE_GO_TEXT, true);
	put_module(maker, funcdata, TABLE_ADDRESS + parts->funcdata, true);
	if (maker->made->relocated) {
		const Elf64_Dyn dynamic[] = {
			{ DT_RELA, { DATA_ADDRESS + RELOCATIONS } },
			{ DT_RELASZ, { maker->relocations } },
			{ DT_NULL, { 0 } },
		};

		memcpy(maker->file + MADE_GO_DATA + DYNAMIC, dynamic, sizeof(dynamic));
	}
}

static Elf64_Phdr
segment(uint32_t flags, uint64_t offset, uint64_t vaddr)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = flags, .p_offset = offset,
			     .p_vaddr = vaddr, .p_filesz = 0x1000, .p_memsz = 0x1000 };
}

uint8_t *
made_go_file(const struct made_go *made)
{
	struct maker maker = { .made = made, .file = xcalloc(1, MADE_GO_SIZE), .at = 72 };
	struct parts parts;
	Elf64_Ehdr header = { .e_ident = ELFMAG_BYTES,
			      .e_type = made->relocated ? ET_DYN : ET_EXEC,
			      .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header), .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 5 };
	const Elf64_Phdr ph[] = {
		segment(PF_R | PF_X, 0x1000, MADE_GO_LOW),
		segment(made->relocated ? PF_R | PF_W : PF_R, MADE_GO_TABLE, TABLE_ADDRESS),
		segment(PF_R | PF_W, MADE_GO_DATA, DATA_ADDRESS),
		{ .p_type = PT_NOTE, .p_offset = NOTE, .p_filesz = 20 },
		{ .p_type = made->relocated ? PT_DYNAMIC : PT_NULL,
		  .p_offset = MADE_GO_DATA + DYNAMIC, .p_vaddr = DATA_ADDRESS + DYNAMIC,
		  .p_filesz = 48 },
	};
	static const char note[] = "\4\0\0\0\4\0\0\0\4\0\0\0Go\0\0made";

	memcpy(maker.file, &header, sizeof(header));
	memcpy(maker.file + sizeof(header), ph, sizeof(ph));
	memcpy(maker.file + NOTE, note, sizeof(note));
	put_table(&maker, &parts);
	put_header(&maker, &parts);
	if (!made->no_module)
		put_data(&maker, &parts);
	return maker.file;
}
