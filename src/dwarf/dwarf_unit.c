/* SPDX-License-Identifier: MIT */
/*
 * dwarf_unit.c - the functions of a unit by address, and the way out of inlined ones.
 */
#include "dwarf/dwarf_unit_internal.h"

#include <dwarf.h>
#include <stdlib.h>

#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/base/base.h"

/* More ranges of addresses than any one unit has. */
#define SPANS_MAX ((size_t)4 << 20)
/* Functions that hold one address: a compiler nests some ten of them. */
#define NESTING_MAX 256
#define NO_SCOPE UINT32_MAX

/* A function, or a function inlined into another. */
struct scope {
	const char *name; /* once asked for; NULL: not known */
	uint32_t offset;  /* of its entry, after the unit's top entry */
	uint32_t parent;  /* the scope it is written in, or NO_SCOPE */
	bool inlined;
	bool named; /* `name` was looked for */
};

struct dwarf_unit {
	Dwarf_Die top;        /* that the lines belong to */
	Dwarf_Die tree;       /* the top entry of what was walked: `top`, or of its split unit */
	struct scope *scopes; /* as they are in the file: what holds others comes before them */
	size_t scope_count, scope_capacity;
	struct dwarf_spans spans; /* of the scopes */
	Dwarf_Lines *lines;       /* by address */
	size_t line_count;
	Dwarf_Files *files; /* that the tree's numbers mean; NULL: there are none */
	struct dwarf_paths *paths;
	bool asked; /* lines and files were read */
	size_t cost;
};

/* --- reading ------------------------------------------------------------------------- */

/*
 * A linker that drops a function leaves its debug information, with an address that is
 * 0, 1 or all ones: those would cover real code at low addresses.
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

/* The scopes that the walk is in, the innermost last. */
struct path {
	struct {
		uint32_t depth, scope;
	} * at;
	size_t count, capacity;
};

static void
leave(struct path *path, uint32_t depth)
{
	while (path->count > 0 && path->at[path->count - 1].depth >= depth)
		path->count--;
}

/* Returns the scope it is in. */
static uint32_t
enter(struct path *path, uint32_t depth, uint32_t scope)
{
	uint32_t parent = path->count > 0 ? path->at[path->count - 1].scope : NO_SCOPE;

	if (path->count == path->capacity)
		path->at = xgrow(path->at, &path->capacity, path->count + 1, sizeof(*path->at));
	path->at[path->count].depth = depth;
	path->at[path->count].scope = scope;
	path->count++;
	return parent;
}

static void
read_scopes(struct dwarf_unit *unit, const struct dwarf_spans *code, struct dwarf_time *time)
{
	struct dwarf_walk *walk = dwarf_walk_create(&unit->tree);
	struct dwarf_entry entry;
	struct path path = { 0 };

	if (walk == NULL)
		return;
	while (unit->spans.tried < SPANS_MAX && !dwarf_time_is_over(time) &&
	       dwarf_walk_next(walk, &entry)) {
		uint32_t number = (uint32_t)unit->scope_count;

		leave(&path, entry.left);
		if (!dwarf_unit_add_ranges(&entry.die, code, &unit->spans, number, SPANS_MAX, time))
			continue;
		if (unit->scope_count == unit->scope_capacity)
			unit->scopes = xgrow(unit->scopes, &unit->scope_capacity,
					     unit->scope_count + 1, sizeof(*unit->scopes));
		unit->scopes[unit->scope_count++] = (struct scope){
			.offset = entry.offset,
			.parent = enter(&path, entry.depth, number),
			.inlined = entry.inlined,
		};
	}
	dwarf_spans_order(&unit->spans);
	unit->cost += dwarf_walk_cost(walk) + unit->scope_count * sizeof(*unit->scopes) +
		      unit->spans.count * sizeof(*unit->spans.all);
	dwarf_walk_free(walk);
	free(path.at);
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

	unit->asked = true;
	if (dwarf_getsrclines(&unit->top, &unit->lines, &unit->line_count) != 0)
		unit->line_count = 0;
	if (dwarf_getsrcfiles(&unit->tree, &unit->files, &files) != 0) {
		unit->files = NULL;
		files = 0;
	}
	unit->paths = dwarf_paths_create(&unit->top);
	/* As libdw 0.188 keeps them, with what it leaves unused; a file's name is its path. */
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

/* --- asking -------------------------------------------------------------------------- */

/* The last line entry at or before the address, unless its sequence ends there. */
static void
find_line(const struct dwarf_unit *unit, uint64_t vaddr, struct dwarf_place *place)
{
	size_t from = 0, to = unit->line_count;
	Dwarf_Line *line;
	Dwarf_Addr address;
	bool ends;
	int number;

	/* Those before `from` are at or before the address, those from `to` on behind it. */
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
 * The innermost scope at an address: from a function into what is inlined there, and so
 * on, at each level the first in the file that holds the address. NO_SCOPE: none.
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

		/* A function in a function has code of its own, usually elsewhere. */
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

/* Where the inlined function was called. */
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

	if (!unit->asked)
		read_lines(unit);
	if (at == NO_SCOPE) {
		out[0] = (struct dwarf_place){ 0 };
		find_line(unit, vaddr, &out[0]);
		return out[0].file != NULL;
	}
	for (; at != NO_SCOPE; at = inner->parent) {
		struct scope *scope = &unit->scopes[at];
		bool last = !scope->inlined || scope->parent == NO_SCOPE;

		/* When there are too many, the outermost takes the last place. */
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
