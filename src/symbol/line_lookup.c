/* SPDX-License-Identifier: MIT */
/*
 * line_lookup.c - from a source line to the code of its statements, by DWARF's line tables.
 */
#include <stdlib.h>
#include <string.h>

#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/base/base.h"
#include "wallsample/symbol/symbol_lookup.h"

#define TIME_NS (10 * NS_PER_SEC)

/* One row of a line table. */
struct row {
	Dwarf_Addr address;
	int line;
	bool statement, end;
	const char *file; /* as libdw has it: the same pointer for the same file */
};

struct line_search {
	const struct image *image;
	const char *file;
	uint32_t line;
	struct symbol_line *out;
	bool any_lines, any_code;
	/* Of the unit that is being read. */
	struct dwarf_paths *paths;
	const char *last; /* file of the last row, and whether it is the wanted one */
	bool last_wanted;
};

/* Is it the end of the path, whole folders of it? */
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

static void
add_address(struct symbol_line *out, uint64_t vaddr)
{
	size_t at = out->count;

	while (at > 0 && out->vaddr[at - 1] >= vaddr)
		at--;
	if ((at < out->count && out->vaddr[at] == vaddr) || at == SYMBOL_LINE_MOST)
		return;
	if (out->count == SYMBOL_LINE_MOST)
		out->count--;
	memmove(&out->vaddr[at + 1], &out->vaddr[at], (out->count - at) * sizeof(out->vaddr[0]));
	out->vaddr[at] = vaddr;
	out->count++;
}

/*
 * Of several rows at one address the last one has the code. Lines whose code was mixed into that of
 * others have none.
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

/* The beginning of a statement of the line. What has no code will do when nothing has. */
static void
look_at_statement(struct line_search *search, Dwarf_Lines *lines, size_t count, size_t index,
		  uint64_t vaddr)
{
	const bool code = has_code(search, lines, count, index);

	if (search->any_code && !code)
		return;
	if (code && !search->any_code)
		search->out->count = 0;
	search->any_code |= code;
	add_address(search->out, vaddr);
}

static void
look_at_rows(struct line_search *search, Dwarf_Lines *lines, size_t count, struct dwarf_time *time)
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
			look_at_statement(search, lines, count, i, row.address);
	}
}

static size_t
look_at_unit(void *context, Dwarf_Die *top, struct dwarf_time *time)
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
	look_at_rows(search, lines, count, time);
	dwarf_paths_free(search->paths);
	return count * 56; /* see dwarf_unit.c */
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
	dwarf_each_unit(&symbols_settings(symbols)->files, module, TIME_NS, look_at_unit, &search);
	out->lines_known |= search.any_lines;
}
