/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.c - finds the symbol that gives an address its name.
 */
#include "symbol/symbol_internal.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/plt_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/search.h"
#include "wallsample/elf/code_bytes.h"
#include "wallsample/elf/code_ranges.h"
#include "wallsample/elf/symbol_names.h"

/* Sizes of the parts of a table, as binary logarithms of bytes of addresses: the largest, the
 * smallest, and the difference of two that are tried. */
#define PART_LARGEST 24
#define PART_SMALLEST 6
#define PART_STEP 6

/* Names, in pieces of memory that do not move. */
struct symbol_texts {
	struct symbol_texts *next;
	size_t used;
	char text[2 * SYMBOL_NAME_MAX];
};

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
	struct symbol_texts *texts;
	size_t text_bytes;
	bool data;          /* true: reads variables; false: reads functions */
	bool full;          /* the table needs more than `most` bytes */
	size_t most;        /* limit of the table's memory in bytes */
	uint64_t low, high; /* reads what gives a name to addresses in [low, high) */
	/* The last symbol below `low` without a size; its name is NULL when there is none. */
	struct candidate before;
	struct strbuf before_name;
	/* Of the symbols below `low` with a size: the last start, and the last end. */
	uint64_t sized_start, sized_end;
};

/* --- reading --------------------------------------------------------------------------- */

static const char *
keep_text(struct reader *reader, const char *text)
{
	const size_t size = strlen(text) + 1; /* at most SYMBOL_NAME_MAX */
	struct symbol_texts *texts = reader->texts;

	if (texts == NULL || size > sizeof(texts->text) - texts->used) {
		texts = xmalloc(sizeof(*texts));
		texts->next = reader->texts;
		texts->used = 0;
		reader->texts = texts;
	}
	texts->used += size;
	reader->text_bytes += size;
	return memcpy(texts->text + texts->used - size, text, size);
}

static void
free_texts(struct symbol_texts **texts)
{
	while (*texts != NULL) {
		struct symbol_texts *next = (*texts)->next;

		free(*texts);
		*texts = next;
	}
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

/* --- candidates --------------------------------------------------------------------------- */

/* Bytes of memory for each candidate: itself, its place in sweep.open, and at most two ranges. */
#define CANDIDATE_COST (sizeof(struct candidate) + sizeof(void *) + 2 * sizeof(struct symbol_range))

static void
add_candidate(struct reader *reader, const struct candidate *candidate)
{
	reader->candidate = xgrow(reader->candidate, &reader->candidate_capacity,
				  reader->candidate_count + 1, sizeof(*reader->candidate));
	reader->candidate[reader->candidate_count] = *candidate;
	reader->candidate[reader->candidate_count++].name = keep_text(reader, candidate->name);
	reader->full = reader->text_bytes + reader->candidate_count * CANDIDATE_COST > reader->most;
}

static uint64_t
end_of(const struct candidate *c)
{
	return c->size > UINT64_MAX - c->value ? UINT64_MAX : c->value + c->size;
}

static void
set_name(struct candidate *c, const char *name)
{
	c->name = name;
	c->name_length = (uint32_t)symbol_name_length(name);
	c->underscores = (uint32_t)strspn(name, "_");
}

/* Returns whether the symbol may give a name to an address in [low, high). Of the symbols below
 * `low` without a size, only the last one does. */
static bool
is_in_part(struct reader *reader, const struct candidate *c)
{
	if (c->value >= reader->low || c->value >= reader->high)
		return c->value < reader->high;
	if (c->size == 0)
		return reader->before.name == NULL || c->value >= reader->before.value;
	if (c->value > reader->sized_start)
		reader->sized_start = c->value;
	if (end_of(c) > reader->sized_end)
		reader->sized_end = end_of(c);
	return end_of(c) > reader->low;
}

static void
keep_before(struct reader *reader, const struct candidate *c)
{
	if (reader->before.name != NULL && compare_candidates(&reader->before, c) >= 0)
		return;
	strbuf_clear(&reader->before_name);
	strbuf_add_text(&reader->before_name, c->name);
	reader->before = *c;
	reader->before.name = reader->before_name.data;
}

static bool
add_symbol(void *context, const struct symbol_entry *entry)
{
	struct reader *reader = context;
	const unsigned binding = GELF_ST_BIND(entry->sym.st_info);
	struct candidate c = {
		.value = entry->sym.st_value,
		.size = entry->sym.st_size,
		.section_end = entry->section.sh_addr + entry->section.sh_size,
		.source = entry->source,
		.binding = binding == STB_LOCAL ? 0 :
			   binding == STB_WEAK  ? 1 :
						  2,
		.label = GELF_ST_TYPE(entry->sym.st_info) == STT_NOTYPE,
	};
	const char *name;

	if (!symbol_is_wanted(reader, entry) || !is_in_part(reader, &c))
		return true;
	name = symbol_entry_name(entry, SYMBOL_NAME_MAX);
	if (name == NULL || is_mark(name))
		return true;
	set_name(&c, name);
	if (c.size == 0 && c.value < reader->low)
		keep_before(reader, &c);
	else
		add_candidate(reader, &c);
	return !reader->full;
}

static void
add_stubs(struct reader *reader, const struct plt_stubs *stubs)
{
	for (size_t i = 0; stubs != NULL && i < stubs->count && !reader->full; i++) {
		const struct plt_stub *stub = &stubs->stub[i];
		struct candidate c = { .value = stub->start,
				       .size = stub->end - stub->start,
				       .source = SYMBOL_PLT };

		if (stub->end <= stub->start || !is_in_part(reader, &c))
			continue;
		set_name(&c, stub->name);
		add_candidate(reader, &c);
	}
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

/* Reads the ranges of [table->low, table->high). Returns false, and the table has no ranges, when
 * they need too much memory. */
static bool
read_part(struct symbol_table *table, const struct symbol_table_source *source)
{
	struct reader reader = { .data = source->data,
				 .most = source->most,
				 .low = table->low,
				 .high = table->high,
				 .before_name = STRBUF_INIT };

	symbol_files_walk(&source->files, add_symbol, &reader);
	add_stubs(&reader, source->stubs);
	/* The range of a symbol without a size ends where one with a size begins, and is empty in
	 * one with a size. */
	if (!reader.full && reader.before.name != NULL &&
	    reader.before.value > reader.sized_start && reader.before.value >= reader.sized_end)
		add_candidate(&reader, &reader.before);
	table->texts = reader.texts;
	if (reader.full) {
		free_texts(&table->texts);
	} else {
		if (reader.candidate_count > 0)
			qsort(reader.candidate, reader.candidate_count, sizeof(*reader.candidate),
			      compare_candidates);
		make_ranges(table, &reader);
		table->bytes = table->count * sizeof(*table->range) + reader.text_bytes;
	}
	free(reader.candidate);
	strbuf_release(&reader.before_name);
	return !reader.full;
}

/* Reads the part of 2^shift bytes around `vaddr`. */
static void
read_around(struct symbol_table *table, const struct symbol_table_source *source, uint64_t vaddr,
	    unsigned shift)
{
	const uint64_t size = UINT64_C(1) << shift;
	const uint64_t low = vaddr & ~(size - 1);

	*table = (struct symbol_table){
		.low = low,
		.high = low > UINT64_MAX - size ? UINT64_MAX : low + size,
		.part_shift = shift,
	};
	table->too_large = !read_part(table, source);
}

void
symbol_table_init(struct symbol_table *table, const struct symbol_table_source *source,
		  uint64_t vaddr)
{
	*table = (struct symbol_table){ .high = UINT64_MAX };
	if (read_part(table, source))
		return;
	*table = (struct symbol_table){ .part_shift = PART_LARGEST };
	symbol_table_move(table, source, vaddr);
}

void
symbol_table_move(struct symbol_table *table, const struct symbol_table_source *source,
		  uint64_t vaddr)
{
	/* The part before may have been a dense one. */
	unsigned shift = table->part_shift + PART_STEP < PART_LARGEST ?
				 table->part_shift + PART_STEP :
				 PART_LARGEST;

	if (table->part_shift == 0 || (table->low <= vaddr && vaddr < table->high))
		return;
	do {
		symbol_table_release(table);
		read_around(table, source, vaddr, shift);
		shift -= PART_STEP;
	} while (table->too_large && shift >= PART_SMALLEST);
}

void
symbol_table_release(struct symbol_table *table)
{
	free(table->range);
	free_texts(&table->texts);
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
