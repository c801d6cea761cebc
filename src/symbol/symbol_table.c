/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.c - reads ELF symbol tables and finds the symbol that gives an address its name.
 */
#include "symbol/symbol_internal.h"

#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/plt_internal.h"
#include "wallsample/elf/code_bytes.h"
#include "wallsample/elf/code_ranges.h"
#include "wallsample/elf/symbol_names.h"
#include "wallsample/base/base.h"
#include "wallsample/base/search.h"
#include "wallsample/elf/elf_open.h"

/*
 * Largest sizes in bytes of a symbol table and of its names that are read; larger ones are in
 * damaged or sparse files. The largest browsers have 60 MB of symbols and 300 MB of names.
 * MAX_NAME_BYTES is also the limit of the sum of the lengths of all names, because names are
 * compared when they are sorted, and names of a hostile table may overlap: each byte can belong to
 * 65,536 names.
 */
#define MAX_SYMBOL_BYTES (UINT64_C(256) << 20)
#define MAX_NAME_BYTES (UINT64_C(1) << 30)

struct candidate {
	uint64_t value, size;
	const char *name;
	uint32_t name_length; /* length of the name without its symbol version */
	uint32_t underscores; /* number of underscores at the beginning of the name */
	uint64_t section_end;
	enum symbol_source source;
	uint8_t binding; /* 0 local, 1 weak, 2 global */
	bool label;      /* the symbol has the type STT_NOTYPE */
};

struct reader {
	struct candidate *candidate;
	size_t candidate_count, candidate_capacity;
	uint64_t names_left; /* bytes of names that may still be read */
	bool data;           /* true: reads variables; false: reads functions */
};

/* --- reading --------------------------------------------------------------------------- */

/* Finds the symbol table of this type in a file, and calls `each` for each symbol that is defined
 * in a section. Returns false when `each` has returned false. */
static bool
walk_table(Elf *elf, uint32_t type, enum symbol_source source,
	   bool (*each)(void *context, const struct symbol_entry *entry), void *context)
{
	struct symbol_entry entry = { .source = source };
	GElf_Shdr header = { .sh_type = SHT_NULL };
	/* Index of the section whose header is in entry.section. */
	size_t section = SHN_UNDEF, count;
	Elf_Data *symbols;
	Elf_Scn *scn = NULL;

	/* The first table is used: the ABI allows only one of each type. */
	while (elf != NULL && header.sh_type != type && (scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &header) == NULL)
			header.sh_type = SHT_NULL;
	if (scn == NULL)
		return true;
	symbols = elf_section_data(scn, MAX_SYMBOL_BYTES);
	entry.names = elf_section_data(elf_getscn(elf, header.sh_link), MAX_NAME_BYTES);
	if (symbols == NULL || entry.names == NULL || symbols->d_type != ELF_T_SYM)
		return true;
	count = symbols->d_size / sizeof(Elf64_Sym);
	for (size_t i = 0; i < count && i < INT_MAX; i++) {
		if (gelf_getsym(symbols, (int)i, &entry.sym) == NULL)
			return true;
		if (GELF_ST_TYPE(entry.sym.st_info) == STT_FILE)
			entry.file = elf_text_at(entry.names, entry.sym.st_name, SYMBOL_NAME_MAX);
		if (GELF_ST_TYPE(entry.sym.st_info) == STT_FILE || entry.sym.st_shndx == SHN_UNDEF)
			continue;
		/* SHN_ABS, SHN_COMMON and SHN_XINDEX are no numbers of sections: symbols with them
		 * are skipped here. */
		if (entry.sym.st_shndx != section &&
		    gelf_getshdr(elf_getscn(elf, entry.sym.st_shndx), &entry.section) == NULL)
			continue;
		section = entry.sym.st_shndx;
		if (!each(context, &entry))
			return false;
	}
	return true;
}

/* .dynsym is read in addition to .symtab: some distributions remove from .symtab all symbols but
 * those that debuggers need, and then .dynsym has more. */
void
symbol_files_walk(const struct debug_file *files,
		  bool (*each)(void *context, const struct symbol_entry *entry), void *context)
{
	(void)(walk_table(files->elf, SHT_SYMTAB, SYMBOL_SYMTAB, each, context) &&
	       walk_table(files->own, SHT_SYMTAB, SYMBOL_SYMTAB, each, context) &&
	       walk_table(files->mini, SHT_SYMTAB, SYMBOL_MINIDEBUG, each, context) &&
	       walk_table(files->own, SHT_DYNSYM, SYMBOL_DYNSYM, each, context));
}

/*
 * Returns whether the name is that of an assembler's local label (".L12"), or a mapping symbol such
 * as "$x" or "$d.12", which marks the beginning of code or data (ELF for the Arm 64-bit
 * architecture, "Mapping symbols").
 */
static bool
is_mark(const char *name)
{
	if (name[0] == '$')
		return name[1] != '\0' && strchr("adtx", name[1]) != NULL &&
		       (name[2] == '\0' || name[2] == '.');
	return strncmp(name, ".L", 2) == 0;
}

/* Returns whether the symbol is a variable with a known size, if the reader wants variables, or a
 * function, if it wants functions. */
static bool
symbol_is_wanted(const struct reader *reader, const struct symbol_entry *entry)
{
	const GElf_Sym *sym = &entry->sym;
	const GElf_Shdr *section = &entry->section;
	const unsigned type = GELF_ST_TYPE(sym->st_info);
	const bool inside = sym->st_value >= section->sh_addr &&
			    sym->st_value < section->sh_addr + section->sh_size;

	if (reader->data)
		return type == STT_OBJECT && sym->st_size > 0;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return sym->st_size > 0 || inside;
	return type == STT_NOTYPE && (section->sh_flags & SHF_EXECINSTR) != 0 && inside;
}

static void
add_candidate(struct reader *reader, struct candidate candidate)
{
	candidate.name_length = (uint32_t)symbol_name_length(candidate.name);
	candidate.underscores = (uint32_t)strspn(candidate.name, "_");
	reader->candidate = xgrow(reader->candidate, &reader->candidate_capacity,
				  reader->candidate_count + 1, sizeof(*reader->candidate));
	reader->candidate[reader->candidate_count++] = candidate;
}

static bool
add_symbol(void *context, const struct symbol_entry *entry)
{
	struct reader *reader = context;
	const unsigned binding = GELF_ST_BIND(entry->sym.st_info);
	const uint8_t rank = binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2;
	const char *name;
	size_t length;

	if (!symbol_is_wanted(reader, entry))
		return true;
	name = elf_text_at(entry->names, entry->sym.st_name, SYMBOL_NAME_MAX);
	if (name == NULL || is_mark(name))
		return true;
	length = strlen(name);
	if (length > reader->names_left)
		return false;
	reader->names_left -= length;
	add_candidate(reader,
		      (struct candidate){
			      .value = entry->sym.st_value,
			      .size = entry->sym.st_size,
			      .name = name,
			      .section_end = entry->section.sh_addr + entry->section.sh_size,
			      .source = entry->source,
			      .binding = rank,
			      .label = GELF_ST_TYPE(entry->sym.st_info) == STT_NOTYPE,
		      });
	return true;
}

/* --- the order of symbols ---------------------------------------------------------------- */

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

/* Orders symbols by address. Of symbols at one address, the symbol whose name the address gets
 * comes last (symbol_internal.h). */
static int
compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = compare_numbers(a->value, b->value);

	if (order == 0)
		order = compare_numbers(a->size > 0, b->size > 0);
	if (order == 0)
		order = compare_numbers(b->label, a->label);
	/* Prefers read to __read, although in the C library __read is global and read is weak. */
	if (order == 0)
		order = compare_numbers(b->underscores, a->underscores);
	if (order == 0)
		order = compare_numbers(a->binding, b->binding);
	if (order == 0)
		order = compare_names(b, a);
	/* If a name is in two tables, the symbol of the table that SYMBOL_SOURCES lists first comes
	 * last. */
	if (order == 0)
		order = compare_numbers(b->source, a->source);
	/* Sizes are compared only to make the order complete: it must not depend on qsort(). */
	if (order == 0)
		order = compare_numbers(a->size, b->size);
	return order;
}

/* --- from overlapping symbols to ranges ------------------------------------------ */

struct sweep {
	struct symbol_table *table;
	size_t capacity;
	/* Stack of symbols with a size that start at or before `at`; the symbol that started last
	 * is on top. A symbol that has ended is removed when it comes to the top. */
	const struct candidate **open;
	size_t open_count;
	/* The symbol without a size that contains `at`; NULL when there is none. */
	const struct candidate *label;
	uint64_t label_end; /* end of the section of `label` */
	/* The ranges of all addresses below this one have been made. */
	uint64_t at;
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
		.label = c->size == 0,
	};
	sweep->at = end;
}

/* Makes the ranges of all addresses below `to`. */
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

void
symbol_table_init(struct symbol_table *table, const struct debug_file *files,
		  const struct plt_stubs *stubs, bool data)
{
	struct reader reader = { .names_left = MAX_NAME_BYTES, .data = data };

	*table = (struct symbol_table){ .range = NULL };
	symbol_files_walk(files, add_symbol, &reader);
	for (size_t i = 0; stubs != NULL && i < stubs->count; i++) {
		const struct plt_stub *stub = &stubs->stub[i];

		if (stub->end > stub->start)
			add_candidate(&reader, (struct candidate){ .value = stub->start,
								   .size = stub->end - stub->start,
								   .name = stub->name,
								   .source = SYMBOL_PLT });
	}
	if (reader.candidate_count > 0)
		qsort(reader.candidate, reader.candidate_count, sizeof(*reader.candidate),
		      compare_candidates);
	make_ranges(table, &reader);
	free(reader.candidate);
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
	const struct symbol_range *range = table->range;
	size_t index;

	SEARCH_FIRST_NOT(index, table->count, range[index].end <= vaddr);
	return index < table->count && range[index].start <= vaddr ? &range[index] : NULL;
}

const struct symbol_range *
symbol_table_find_code(struct symbol_table *table, const struct image *image, uint64_t vaddr)
{
	const struct symbol_range *found = symbol_table_find(table, vaddr);
	struct symbol_range *range;
	uint64_t start, size;

	if (found == NULL || !found->label || image == NULL)
		return found;
	range = &table->range[found - table->range];
	if (!range->cut) {
		range->cut = true;
		range->end = code_first_called(image, range->start, range->end);
	}
	if (vaddr >= range->end ||
	    (code_range(image, vaddr, &start, &size) && start > range->start) ||
	    (code_range(image, range->start, &start, &size) && vaddr >= start + size))
		return NULL;
	return range;
}
