/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lookup.c - finds by DWARF the code of a source line, and the copies of a function that were
 * inlined into other functions.
 */
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/elf/symbol_names.h"
#include "wallsample/symbol/symbol_lookup.h"

/*
 * Limits of CPU time in ns for one module. The search for inlined copies gets less time: its result
 * is only a remark in a message, for which a program of hundreds of megabytes need not be read to
 * its end.
 */
#define LINE_TIME_NS (10 * NS_PER_SEC)
#define INLINED_TIME_NS (3 * NS_PER_SEC)

/* Adds an address to an ascending array of at most `most` different addresses, and returns the new
 * number of addresses. A full array keeps the lowest addresses. */
static size_t
add_address(uint64_t *list, size_t count, size_t most, uint64_t vaddr)
{
	size_t at = count;

	while (at > 0 && list[at - 1] >= vaddr)
		at--;
	if ((at < count && list[at] == vaddr) || at == most)
		return count;
	if (count == most)
		count--;
	memmove(&list[at + 1], &list[at], (count - at) * sizeof(list[0]));
	list[at] = vaddr;
	return count + 1;
}

/* --- inlined copies ---------------------------------------------------------------------- */

struct inlined_search {
	const struct image *image;
	const char *name;
	uint64_t *vaddr;
	size_t count, most;
	struct strbuf readable;
};

static bool
inlined_is_wanted(struct inlined_search *search, const Dwarf_Die *die)
{
	const char *raw = dwarf_name_function(die);

	if (raw == NULL)
		return false;
	if (strcmp(raw, search->name) == 0 || !symbol_name_is_mangled(raw))
		return strcmp(raw, search->name) == 0;
	strbuf_clear(&search->readable);
	symbol_name_add_readable(&search->readable, raw, true);
	return search->readable.data != NULL && strcmp(search->readable.data, search->name) == 0;
}

static void
inlined_keep(struct inlined_search *search, Dwarf_Die *die)
{
	Dwarf_Addr vaddr, base, end;

	/* The address of an inlined copy that consists of several pieces of code is that of its
	 * first piece. */
	if ((dwarf_entrypc(die, &vaddr) == 0 || dwarf_ranges(die, 0, &base, &vaddr, &end) > 0) &&
	    dwarf_each_is_code(search->image, vaddr))
		search->count = add_address(search->vaddr, search->count, search->most, vaddr);
}

static size_t
inlined_visit_unit(void *context, Dwarf_Die *top, struct dwarf_time *time)
{
	struct inlined_search *search = context;
	struct dwarf_walk *walk;
	struct dwarf_entry entry;
	Dwarf_Die tree;
	size_t cost;

	if (!dwarf_split_find(top, &tree))
		tree = *top;
	walk = dwarf_walk_create(&tree);
	if (walk == NULL)
		return 0;
	while (!dwarf_time_is_over(time) && dwarf_walk_next(walk, &entry))
		if (entry.inlined && inlined_is_wanted(search, &entry.die))
			inlined_keep(search, &entry.die);
	cost = dwarf_walk_cost(walk);
	dwarf_walk_free(walk);
	return cost;
}

size_t
symbol_lookup_inlined(struct symbols *symbols, const struct module *module, const char *name,
		      uint64_t *vaddr, size_t most)
{
	struct inlined_search search = {
		.image = module->image, .name = name, .vaddr = vaddr, .most = most
	};

	dwarf_each_unit(&symbols_settings(symbols)->files, module, INLINED_TIME_NS,
			inlined_visit_unit, &search);
	strbuf_release(&search.readable);
	return search.count;
}

/* --- lines ------------------------------------------------------------------------------- */

/* One row of a line table. */
struct row {
	Dwarf_Addr address;
	int line;
	bool statement, end;
	/* Name that libdw has for the file; all rows of a file in one unit have the same
	 * pointer. */
	const char *file;
};

struct line_search {
	const struct image *image;
	const char *file;
	uint32_t line;
	struct symbol_line *out;
	bool any_lines; /* at least one unit has a line table */
	bool any_code;  /* the addresses in out->vaddr are of statements that have code */
	struct dwarf_paths *paths; /* paths of the source files of the current unit */
	/* File of the row that was examined last in the current unit. */
	const char *last;
	bool last_wanted; /* `last` is the wanted file */
};

/* Returns whether the path ends in `end`, and `end` begins where a name of a directory or file in
 * the path begins: "src/a.c" ends in "a.c", but "src/ba.c" does not. */
static bool
is_end_of_path(const char *path, const char *end)
{
	const size_t length = strlen(path), wanted = strlen(end);

	return length >= wanted && strcmp(path + length - wanted, end) == 0 &&
	       (length == wanted || path[length - wanted - 1] == '/' || end[0] == '/');
}

static bool
is_wanted_file(struct line_search *search, const char *file)
{
	if (file != search->last) {
		const char *path = dwarf_paths_join(search->paths, file);

		search->last = file;
		search->last_wanted = path != NULL && is_end_of_path(path, search->file);
	}
	return search->last_wanted;
}

static bool
read_row(Dwarf_Lines *lines, size_t index, struct row *row)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, index);

	return line != NULL && dwarf_lineaddr(line, &row->address) == 0 &&
	       dwarf_lineno(line, &row->line) == 0 &&
	       dwarf_linebeginstatement(line, &row->statement) == 0 &&
	       dwarf_lineendsequence(line, &row->end) == 0 &&
	       (row->file = dwarf_linesrc(line, NULL, NULL)) != NULL;
}

static void
note_near(struct symbol_line *out, uint32_t wanted, uint32_t line)
{
	if (line < wanted && line > out->before)
		out->before = line;
	if (line > wanted && (out->after == 0 || line < out->after))
		out->after = line;
}

/*
 * Returns whether code of the wanted line begins at the row's address. If several rows have this
 * address, only the last one has code: the code of the other rows was moved into code of other
 * lines.
 */
static bool
has_code(const struct line_search *search, Dwarf_Lines *lines, size_t count, size_t index)
{
	struct row row, next;

	if (!read_row(lines, index, &row))
		return false;
	while (++index < count && read_row(lines, index, &next) && next.address == row.address &&
	       !next.end)
		row = next;
	return (uint32_t)row.line == search->line;
}

/* Adds the address of a statement of the wanted line. Addresses of statements without code are kept
 * only until the first statement with code is found. */
static void
line_keep(struct line_search *search, Dwarf_Lines *lines, size_t count, size_t index,
	  uint64_t vaddr)
{
	const bool code = has_code(search, lines, count, index);

	if (search->any_code && !code)
		return;
	if (code && !search->any_code)
		search->out->count = 0;
	search->any_code |= code;
	search->out->count = add_address(search->out->vaddr, search->out->count, SYMBOL_LINE_MOST,
					 vaddr);
}

static void
line_visit_rows(struct line_search *search, Dwarf_Lines *lines, size_t count,
		struct dwarf_time *time)
{
	for (size_t i = 0; i < count && !dwarf_time_is_over(time); i++) {
		struct row row;

		if (!read_row(lines, i, &row) || row.end || row.line <= 0 ||
		    !is_wanted_file(search, row.file) ||
		    !dwarf_each_is_code(search->image, row.address))
			continue;
		search->out->file_known = true;
		note_near(search->out, search->line, (uint32_t)row.line);
		if ((uint32_t)row.line == search->line && row.statement)
			line_keep(search, lines, count, i, row.address);
	}
}

static size_t
line_visit_unit(void *context, Dwarf_Die *top, struct dwarf_time *time)
{
	struct line_search *search = context;
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(top, &lines, &count) != 0)
		return 0;
	search->any_lines = true;
	search->paths = dwarf_paths_create(top);
	search->last = NULL;
	search->last_wanted = false;
	line_visit_rows(search, lines, count, time);
	dwarf_paths_free(search->paths);
	return count * 56; /* bytes that libdw keeps for a row, see dwarf_unit.c */
}

void
symbol_lookup_line(struct symbols *symbols, const struct module *module, const char *file,
		   uint32_t line, struct symbol_line *out)
{
	struct line_search search = {
		.image = module->image, .file = file, .line = line, .out = out
	};

	if (strncmp(file, "./", 2) == 0)
		search.file += 2;
	dwarf_each_unit(&symbols_settings(symbols)->files, module, LINE_TIME_NS, line_visit_unit,
			&search);
	out->lines_known |= search.any_lines;
}
