/* SPDX-License-Identifier: MIT */
/*
 * dwarf_unit.c - finds the functions, inlined functions and lines of an address in one unit.
 */
#include "dwarf/dwarf_unit_internal.h"

#include <dwarf.h>
#include <stdlib.h>

#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/base/base.h"

/* Largest number of address ranges of a unit; only damaged files have more. */
#define SPANS_MAX ((size_t)4 << 20)
/* Largest number of functions that contain one address; compilers nest some ten inlined
 * functions. */
#define NESTING_MAX 256
#define NO_SCOPE UINT32_MAX

/* A function, or a function inlined into another. */
struct scope {
	const char *name; /* valid if `named`; NULL when the function has no name */
	uint32_t offset;  /* bytes from the unit's top entry to the entry of the scope */
	uint32_t parent;  /* number of the scope that encloses this one, or NO_SCOPE */
	uint32_t depth;   /* number of entries that enclose this one */
	bool inlined;
	bool named; /* `name` has been looked up */
};

struct dwarf_unit {
	Dwarf_Die top; /* top entry of the unit, to which the lines belong */
	/* Top entry to which the functions belong: `top`, or that of the split unit. */
	Dwarf_Die tree;
	/* In the order of the file: a scope comes before the scopes that it encloses. */
	struct scope *scopes;
	size_t scope_count, scope_capacity;
	/* Addresses of all scopes; `what` is the index of the scope. */
	struct dwarf_spans spans;
	Dwarf_Lines *lines; /* ascending by address */
	size_t line_count;
	/* Source files, to which the file numbers in `tree` refer; NULL when there are none. */
	Dwarf_Files *files;
	struct dwarf_paths *paths;
	bool lines_read; /* `lines`, `files` and `paths` are valid */
	size_t cost;     /* estimate of the bytes of memory that the unit takes */
};

/* --- reading ------------------------------------------------------------------------- */

/*
 * Returns whether code can be at the address. When a linker drops a function, the debug information
 * of the function remains, with an address of 0, 1 or all ones; a range that begins there could
 * contain real code.
 */
static bool
is_code(const struct dwarf_spans *code, uint64_t low)
{
	const struct dwarf_span *one;

	if (code->count == 0)
		return low != 0;
	return dwarf_spans_holding(code, low, &one, 1) > 0;
}

bool
dwarf_unit_add_ranges(Dwarf_Die *die, const struct dwarf_spans *code, struct dwarf_spans *spans,
		      uint32_t what, size_t limit, struct dwarf_time *time)
{
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;
	bool added = false;

	while (spans->tried < limit && !dwarf_time_is_over(time)) {
		at = dwarf_ranges(die, at, &base, &low, &high);
		if (at <= 0)
			break;
		spans->tried++;
		if (low < high && is_code(code, low))
			added |= dwarf_spans_add(spans, low, high, what, limit);
	}
	return added;
}

static void
read_scopes(struct dwarf_unit *unit, const struct dwarf_spans *code, struct dwarf_time *time)
{
	struct dwarf_walk *walk = dwarf_walk_create(&unit->tree);
	struct dwarf_entry entry;
	uint32_t current = NO_SCOPE; /* the innermost scope that encloses the current entry */

	if (walk == NULL)
		return;
	while (unit->spans.tried < SPANS_MAX && !dwarf_time_is_over(time) &&
	       dwarf_walk_next(walk, &entry)) {
		uint32_t number = (uint32_t)unit->scope_count;

		while (current != NO_SCOPE && unit->scopes[current].depth >= entry.left)
			current = unit->scopes[current].parent;
		if (!dwarf_unit_add_ranges(&entry.die, code, &unit->spans, number, SPANS_MAX, time))
			continue;
		unit->scopes = xgrow(unit->scopes, &unit->scope_capacity, unit->scope_count + 1,
				     sizeof(*unit->scopes));
		unit->scopes[unit->scope_count++] = (struct scope){
			.offset = entry.offset,
			.parent = current,
			.depth = entry.depth,
			.inlined = entry.inlined,
		};
		current = number;
	}
	dwarf_spans_order(&unit->spans);
	unit->cost += dwarf_walk_cost(walk) + unit->scope_count * sizeof(*unit->scopes) +
		      unit->spans.count * sizeof(*unit->spans.all);
	dwarf_walk_free(walk);
}

struct dwarf_unit *
dwarf_unit_read(Dwarf_Die *top, const struct dwarf_spans *code, struct dwarf_time *time)
{
	struct dwarf_unit *unit = xcalloc(1, sizeof(*unit));

	unit->cost = sizeof(*unit);
	unit->top = *top;
	if (!dwarf_split_find(top, &unit->tree))
		unit->tree = *top;
	read_scopes(unit, code, time);
	return unit;
}

static void
read_lines(struct dwarf_unit *unit)
{
	size_t files;

	unit->lines_read = true;
	if (dwarf_getsrclines(&unit->top, &unit->lines, &unit->line_count) != 0)
		unit->line_count = 0;
	if (dwarf_getsrcfiles(&unit->tree, &unit->files, &files) != 0) {
		unit->files = NULL;
		files = 0;
	}
	unit->paths = dwarf_paths_create(&unit->top);
	/* In libdw 0.188 a line takes 56 bytes, and a file with its path 160 bytes, with the memory
	 * that libdw allocates in advance. */
	unit->cost += unit->line_count * 56 + files * 160;
}

void
dwarf_unit_free(struct dwarf_unit *unit)
{
	if (unit == NULL)
		return;
	dwarf_paths_free(unit->paths);
	dwarf_spans_release(&unit->spans);
	free(unit->scopes);
	free(unit);
}

size_t
dwarf_unit_cost(const struct dwarf_unit *unit)
{
	return unit->cost;
}

const struct dwarf_spans *
dwarf_unit_spans(const struct dwarf_unit *unit)
{
	return &unit->spans;
}

/* --- finding ------------------------------------------------------------------------- */

/* Stores file and line of the last row of the line table at or before the address; nothing if that
 * row ends a sequence of rows, because then no row has the address. */
static void
find_line(const struct dwarf_unit *unit, uint64_t vaddr, struct dwarf_place *place)
{
	size_t from = 0, to = unit->line_count;
	Dwarf_Line *line;
	Dwarf_Addr address;
	bool ends;
	int number;

	/* Rows below `from` are at or before the address, rows from `to` on are behind it. */
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		line = dwarf_onesrcline(unit->lines, middle);
		if (line == NULL || dwarf_lineaddr(line, &address) != 0)
			return;
		if (address <= vaddr)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == 0)
		return;
	line = dwarf_onesrcline(unit->lines, from - 1);
	if (line == NULL || dwarf_lineendsequence(line, &ends) != 0 || ends)
		return;
	place->file = dwarf_paths_join(unit->paths, dwarf_linesrc(line, NULL, NULL));
	if (place->file != NULL && dwarf_lineno(line, &number) == 0 && number > 0)
		place->line = (uint32_t)number;
}

static int
compare_scopes(const void *left, const void *right)
{
	const struct dwarf_span *const *a = left, *const *b = right;

	return (*a)->what < (*b)->what ? -1 : (*a)->what > (*b)->what;
}

/*
 * Returns the number of the innermost scope at an address, or NO_SCOPE. Goes from a function to the
 * functions inlined into it, as far as their code contains the address. If two functions that are
 * inlined into the same function contain the address, the first in the file is taken.
 */
static uint32_t
find_scope(const struct dwarf_unit *unit, uint64_t vaddr)
{
	const struct dwarf_span *holding[NESTING_MAX];
	size_t count = dwarf_spans_holding(&unit->spans, vaddr, holding, NESTING_MAX);
	uint32_t at = NO_SCOPE;

	if (count == 0)
		return NO_SCOPE;
	qsort(holding, count, sizeof(*holding), compare_scopes);
	for (size_t i = 0; i < count; i++) {
		const struct scope *scope = &unit->scopes[holding[i]->what];

		/* A function that is not inlined may have a parent: in the source it is nested in
		 * another function, but its code need not be inside the code of that function. */
		if (scope->parent == at || (at == NO_SCOPE && !scope->inlined))
			at = holding[i]->what;
	}
	return at;
}

static Dwarf_Die
die_of(const struct dwarf_unit *unit, const struct scope *scope)
{
	return (Dwarf_Die){ .addr = (char *)unit->tree.addr + scope->offset, .cu = unit->tree.cu };
}

static const char *
scope_name(const struct dwarf_unit *unit, struct scope *scope)
{
	if (!scope->named) {
		Dwarf_Die die = die_of(unit, scope);

		scope->name = dwarf_name_function(&die);
		scope->named = true;
	}
	return scope->name;
}

/* Stores file and line of the call of an inlined function. */
static void
find_call(const struct dwarf_unit *unit, const struct scope *scope, struct dwarf_place *place)
{
	Dwarf_Die die = die_of(unit, scope);
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (unit->files != NULL &&
	    dwarf_formudata(dwarf_attr(&die, DW_AT_call_file, &attribute), &value) == 0)
		place->file = dwarf_paths_join(unit->paths,
					       dwarf_filesrc(unit->files, value, NULL, NULL));
	if (place->file != NULL &&
	    dwarf_formudata(dwarf_attr(&die, DW_AT_call_line, &attribute), &value) == 0 &&
	    value <= INT32_MAX)
		place->line = (uint32_t)value;
}

size_t
dwarf_unit_find(struct dwarf_unit *unit, uint64_t vaddr, struct dwarf_place *out, size_t most)
{
	uint32_t at = find_scope(unit, vaddr);
	const struct scope *inner = NULL;
	size_t count = 0;

	if (!unit->lines_read)
		read_lines(unit);
	if (at == NO_SCOPE) {
		out[0] = (struct dwarf_place){ 0 };
		find_line(unit, vaddr, &out[0]);
		return out[0].file != NULL;
	}
	for (; at != NO_SCOPE; at = inner->parent) {
		struct scope *scope = &unit->scopes[at];
		bool last = !scope->inlined || scope->parent == NO_SCOPE;

		/* With more functions than places, the outermost one gets the last place. */
		if (count < most || last) {
			struct dwarf_place *place = &out[count < most ? count++ : most - 1];

			*place = (struct dwarf_place){ .inlined = !last };
			place->function = scope_name(unit, scope);
			if (inner == NULL)
				find_line(unit, vaddr, place);
			else
				find_call(unit, inner, place);
		}
		inner = scope;
		if (last)
			break;
	}
	return count;
}
