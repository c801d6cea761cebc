/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.c - reads ELF symbol tables and resolves which symbol names an address.
 */
#include "symbol/symbol_internal.h"

#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/plt_internal.h"
#include "wallsample/elf/symbol_names.h"
#include "wallsample/base/base.h"
#include "wallsample/elf/elf_open.h"

/*
 * Larger tables are damage, or a sparse file made to eat our memory. The largest
 * browsers have 60 MB of symbols and 300 MB of names.
 */
#define MAX_SYMBOL_BYTES (UINT64_C(256) << 20)
#define MAX_NAME_BYTES (UINT64_C(1) << 30)
/*
 * The names one by one are no more than that either, though in a table that was made for it
 * each byte is part of 65,536 names: they are compared when they are put in order.
 */

struct section {
	uint64_t start, end; /* vaddr */
	bool executable;
};

struct candidate {
	uint64_t value, size;
	const char *name;
	uint32_t name_length; /* without the version */
	uint32_t underscores; /* in front */
	uint64_t section_end;
	enum symbol_source source;
	uint8_t binding; /* 0 local, 1 weak, 2 global */
	bool label;      /* STT_NOTYPE */
};

struct reader {
	Elf *elf; /* the one that is being read, and its sections */
	enum symbol_source source;
	struct section *section;
	size_t section_count;
	struct candidate *candidate;
	size_t candidate_count, candidate_capacity;
	uint64_t names_left; /* bytes of names that are still taken */
	bool data;           /* variables are wanted, not functions */
};

static void
read_sections(struct reader *reader)
{
	Elf_Scn *scn = NULL;
	size_t count;

	reader->section_count = 0;
	if (elf_getshdrnum(reader->elf, &count) != 0)
		return;
	free(reader->section);
	reader->section = xcalloc(count + 1, sizeof(*reader->section));
	reader->section_count = count;
	while ((scn = elf_nextscn(reader->elf, scn)) != NULL) {
		const size_t index = elf_ndxscn(scn);
		GElf_Shdr header;

		if (index >= count || gelf_getshdr(scn, &header) == NULL)
			continue;
		reader->section[index] = (struct section){
			.start = header.sh_addr,
			.end = header.sh_addr + header.sh_size,
			.executable = (header.sh_flags & SHF_EXECINSTR) != 0,
		};
	}
}

/*
 * Labels for the assembler's own use, and the marks "$x", "$d.12" that say where
 * code and data begin (ELF for the Arm 64-bit architecture, "Mapping symbols").
 */
static bool
is_mark(const char *name)
{
	if (name[0] == '$')
		return name[1] != '\0' && strchr("adtx", name[1]) != NULL &&
		       (name[2] == '\0' || name[2] == '.');
	return strncmp(name, ".L", 2) == 0;
}

static uint8_t
binding_rank(unsigned binding)
{
	switch (binding) {
	case STB_LOCAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

/* Can this symbol name what is looked for? */
static bool
symbol_is_wanted(const struct reader *reader, const GElf_Sym *sym)
{
	const unsigned type = GELF_ST_TYPE(sym->st_info);
	const struct section *section;

	/* This also leaves out SHN_ABS, SHN_COMMON and SHN_XINDEX. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= reader->section_count)
		return false;
	section = &reader->section[sym->st_shndx];
	if (reader->data)
		return type == STT_OBJECT && sym->st_size > 0;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return sym->st_size > 0 ||
		       (sym->st_value >= section->start && sym->st_value < section->end);
	return type == STT_NOTYPE && section->executable && sym->st_value >= section->start &&
	       sym->st_value < section->end;
}

static void
add_symbols(struct reader *reader, Elf_Data *symbols, const Elf_Data *names)
{
	const size_t count = symbols->d_size / sizeof(Elf64_Sym);

	for (size_t i = 0; i < count && i < INT_MAX; i++) {
		GElf_Sym sym;
		const char *name;
		size_t length;

		if (gelf_getsym(symbols, (int)i, &sym) == NULL)
			return;
		if (!symbol_is_wanted(reader, &sym))
			continue;
		name = elf_text_at(names, sym.st_name, SYMBOL_NAME_MAX);
		if (name == NULL || is_mark(name))
			continue;
		length = strlen(name);
		if (length > reader->names_left)
			return;
		reader->names_left -= length;
		reader->candidate = xgrow(reader->candidate, &reader->candidate_capacity,
					  reader->candidate_count + 1, sizeof(*reader->candidate));
		reader->candidate[reader->candidate_count++] = (struct candidate){
			.value = sym.st_value,
			.size = sym.st_size,
			.name = name,
			.name_length = (uint32_t)symbol_name_length(name),
			.underscores = (uint32_t)strspn(name, "_"),
			.section_end = reader->section[sym.st_shndx].end,
			.source = reader->source,
			.binding = binding_rank(GELF_ST_BIND(sym.st_info)),
			.label = GELF_ST_TYPE(sym.st_info) == STT_NOTYPE,
		};
	}
}

/*
 * All tables of the kind. Both kinds are read, not .dynsym as a substitute: some
 * distributions strip .symtab down to what debuggers need, which is less than .dynsym.
 */
static void
read_symbols(struct reader *reader, uint32_t section_type)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(reader->elf, scn)) != NULL) {
		GElf_Shdr header;
		Elf_Data *symbols, *names;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type != section_type)
			continue;
		symbols = elf_section_data(scn, MAX_SYMBOL_BYTES);
		names = elf_section_data(elf_getscn(reader->elf, header.sh_link), MAX_NAME_BYTES);
		if (symbols != NULL && names != NULL && symbols->d_type == ELF_T_SYM)
			add_symbols(reader, symbols, names);
		return; /* the ABI allows one table of each kind */
	}
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
compare_names(const struct candidate *a, const struct candidate *b)
{
	const size_t common = a->name_length < b->name_length ? a->name_length : b->name_length;
	const int order = memcmp(a->name, b->name, common);

	return order != 0 ? order : compare_numbers(a->name_length, b->name_length);
}

/* By address; at the same address the better name comes last. */
static int
compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = compare_numbers(a->value, b->value);

	if (order == 0)
		order = compare_numbers(a->size > 0, b->size > 0);
	if (order == 0)
		order = compare_numbers(b->label, a->label);
	/* read rather than __read, though the C library makes the latter the stronger. */
	if (order == 0)
		order = compare_numbers(b->underscores, a->underscores);
	if (order == 0)
		order = compare_numbers(a->binding, b->binding);
	if (order == 0)
		order = compare_names(b, a);
	/* The same in two tables: the better table. */
	if (order == 0)
		order = compare_numbers(b->source, a->source);
	/* Of the same name the longer one: from here on only for a fixed order. */
	if (order == 0)
		order = compare_numbers(a->size, b->size);
	return order;
}

/* --- from overlapping symbols to ranges ------------------------------------------ */

struct sweep {
	struct symbol_table *table;
	size_t capacity;
	const struct candidate **open; /* sized symbols that hold `at`, the last started on top,
					* and below it some that have ended */
	size_t open_count;
	const struct candidate *label; /* the symbol without a size that holds `at`, or NULL */
	uint64_t label_end;            /* of its section */
	uint64_t at;                   /* everything below is settled */
};

static uint64_t
end_of(const struct candidate *c)
{
	return c->size > UINT64_MAX - c->value ? UINT64_MAX : c->value + c->size;
}

static void
emit(struct sweep *sweep, uint64_t end, const struct candidate *c)
{
	struct symbol_table *table = sweep->table;

	if (end <= sweep->at)
		return;
	table->range = xgrow(table->range, &sweep->capacity, table->count + 1,
			     sizeof(*table->range));
	table->range[table->count++] = (struct symbol_range){
		.start = sweep->at,
		.end = end,
		.raw = c->name,
		.source = c->source,
	};
	sweep->at = end;
}

/* Settles all addresses below `to`. */
static void
sweep_advance(struct sweep *sweep, uint64_t to)
{
	while (sweep->open_count > 0) {
		const struct candidate *top = sweep->open[sweep->open_count - 1];
		const uint64_t end = end_of(top);

		emit(sweep, end < to ? end : to, top);
		if (end > to)
			return;
		sweep->open_count--;
	}
	if (sweep->label != NULL)
		emit(sweep, sweep->label_end < to ? sweep->label_end : to, sweep->label);
	if (sweep->at < to)
		sweep->at = to;
}

static void
make_ranges(struct symbol_table *table, const struct reader *reader)
{
	struct sweep sweep = { .table = table };

	sweep.open = xcalloc(reader->candidate_count + 1, sizeof(struct candidate *));
	for (size_t i = 0; i < reader->candidate_count; i++) {
		const struct candidate *c = &reader->candidate[i];

		sweep_advance(&sweep, c->value);
		if (c->size > 0) {
			sweep.open[sweep.open_count++] = c;
			sweep.label = NULL;
		} else if (sweep.open_count == 0) {
			sweep.label = c;
			sweep.label_end = c->section_end;
		}
	}
	sweep_advance(&sweep, UINT64_MAX);
	free(sweep.open);
}

/* One table of one file. */
static void
read_table(struct reader *reader, Elf *elf, uint32_t section_type, enum symbol_source source)
{
	if (elf == NULL)
		return;
	reader->elf = elf;
	reader->source = source;
	read_sections(reader);
	read_symbols(reader, section_type);
}

static void
add_stubs(struct reader *reader, const struct plt_stubs *stubs)
{
	for (size_t i = 0; stubs != NULL && i < stubs->count; i++) {
		const struct plt_stub *stub = &stubs->stub[i];

		if (stub->end <= stub->start)
			continue;
		reader->candidate = xgrow(reader->candidate, &reader->candidate_capacity,
					  reader->candidate_count + 1, sizeof(*reader->candidate));
		reader->candidate[reader->candidate_count++] = (struct candidate){
			.value = stub->start,
			.size = stub->end - stub->start,
			.name = stub->name,
			.name_length = (uint32_t)strlen(stub->name),
			.underscores = (uint32_t)strspn(stub->name, "_"),
			.source = SYMBOL_PLT,
		};
	}
}

static void
read_all(struct symbol_table *table, const struct symbol_files *files,
	 const struct plt_stubs *stubs, bool data)
{
	struct reader reader = { .names_left = MAX_NAME_BYTES, .data = data };

	*table = (struct symbol_table){ .range = NULL };
	read_table(&reader, files->debug, SHT_SYMTAB, SYMBOL_SYMTAB);
	read_table(&reader, files->own, SHT_SYMTAB, SYMBOL_SYMTAB);
	read_table(&reader, files->mini, SHT_SYMTAB, SYMBOL_MINIDEBUG);
	read_table(&reader, files->own, SHT_DYNSYM, SYMBOL_DYNSYM);
	add_stubs(&reader, stubs);
	if (reader.candidate_count > 0)
		qsort(reader.candidate, reader.candidate_count, sizeof(*reader.candidate),
		      compare_candidates);
	make_ranges(table, &reader);
	free(reader.candidate);
	free(reader.section);
}

void
symbol_table_init(struct symbol_table *table, const struct symbol_files *files,
		  const struct plt_stubs *stubs)
{
	read_all(table, files, stubs, false);
}

void
symbol_table_init_data(struct symbol_table *table, const struct symbol_files *files)
{
	read_all(table, files, NULL, true);
}

void
symbol_table_release(struct symbol_table *table)
{
	free(table->range);
	*table = (struct symbol_table){ .range = NULL };
}

const struct symbol_range *
symbol_table_find(const struct symbol_table *table, uint64_t vaddr)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (vaddr < table->range[middle].start)
			high = middle;
		else if (vaddr >= table->range[middle].end)
			low = middle + 1;
		else
			return &table->range[middle];
	}
	return NULL;
}
