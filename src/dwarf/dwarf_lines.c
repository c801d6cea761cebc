/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.c - chooses the unit of an address, and frees the memory of units.
 *
 * libdw keeps all it has read until its handle is closed. So the handle is closed and opened
 * again when that memory exceeds the limit; only the index of units is kept.
 */
#include "wallsample/dwarf/dwarf_lines.h"

#include <stdlib.h>

#include "dwarf/dwarf_unit_internal.h"
#include "wallsample/base/base.h"

#define LIMIT_BYTES ((size_t)200 << 20)
/* The largest units of real programs take a second; their files, all of them asked about, ten. */
#define UNIT_NS (10 * NS_PER_SEC)
#define FILE_NS (60 * NS_PER_SEC)
/* Units that are tried for one address. */
#define TRIES_MAX 16

struct dwarf_lines {
	struct dwarf_opener opener;
	Dwarf *dwarf; /* NULL: not open */
	bool dead;    /* there is no DWARF */
	struct dwarf_units *index;
	struct dwarf_unit **units; /* by number; NULL: not read */
	size_t spent, limit;       /* bytes */
	uint64_t unit_ns, left_ns; /* CPU time that a unit, and the file, may take */
	struct dwarf_time time;    /* of what is being read */
	bool slow;                 /* it has been said that it takes too long */
};

struct dwarf_lines *
dwarf_lines_create(const struct dwarf_opener *opener)
{
	struct dwarf_lines *lines = xcalloc(1, sizeof(*lines));

	lines->opener = *opener;
	lines->limit = LIMIT_BYTES;
	lines->unit_ns = UNIT_NS;
	lines->left_ns = FILE_NS;
	return lines;
}

void
dwarf_lines_set_time(struct dwarf_lines *lines, uint64_t unit_ns, uint64_t file_ns)
{
	lines->unit_ns = unit_ns;
	lines->left_ns = file_ns;
}

void
dwarf_lines_set_limit(struct dwarf_lines *lines, size_t bytes)
{
	lines->limit = bytes;
}

static void
begin_reading(struct dwarf_lines *lines, uint64_t most_ns)
{
	dwarf_time_start(&lines->time, most_ns < lines->left_ns ? most_ns : lines->left_ns);
}

static void
end_reading(struct dwarf_lines *lines)
{
	const uint64_t used = dwarf_time_used_ns(&lines->time);

	lines->left_ns -= used < lines->left_ns ? used : lines->left_ns;
	if ((lines->left_ns > 0 && !lines->time.over) || lines->slow)
		return;
	lines->slow = true;
	if (lines->opener.slow != NULL)
		lines->opener.slow(lines->opener.context);
}

/* All units, and the handle that they point into. */
static void
give_back(struct dwarf_lines *lines)
{
	size_t count = lines->index != NULL ? dwarf_units_count(lines->index) : 0;

	for (size_t i = 0; i < count; i++) {
		dwarf_unit_free(lines->units[i]);
		lines->units[i] = NULL;
	}
	if (lines->dwarf != NULL)
		lines->opener.close(lines->opener.context, lines->dwarf);
	lines->dwarf = NULL;
	lines->spent = 0;
}

void
dwarf_lines_free(struct dwarf_lines *lines)
{
	if (lines == NULL)
		return;
	give_back(lines);
	dwarf_units_free(lines->index);
	free(lines->units);
	free(lines);
}

/* Open, with room to read another unit? */
static bool
be_open(struct dwarf_lines *lines)
{
	if (lines->dead)
		return false;
	if (lines->spent > lines->limit)
		give_back(lines);
	if (lines->dwarf == NULL)
		lines->dwarf = lines->opener.open(lines->opener.context);
	if (lines->dwarf == NULL) {
		/* What could be opened once may be so again: there was no memory, or no file. */
		lines->dead = lines->index == NULL;
		return false;
	}
	if (lines->index == NULL) {
		begin_reading(lines, lines->left_ns);
		lines->index = dwarf_units_create(lines->dwarf, &lines->time);
		end_reading(lines);
		lines->units = xcalloc(dwarf_units_count(lines->index) + 1,
				       sizeof(struct dwarf_unit *));
	}
	return true;
}

static struct dwarf_unit *
unit_of(struct dwarf_lines *lines, uint32_t number)
{
	Dwarf_Die top;

	if (lines->dwarf != NULL && lines->units[number] != NULL)
		return lines->units[number];
	if (!be_open(lines) ||
	    dwarf_offdie(lines->dwarf, dwarf_units_top(lines->index, number), &top) == NULL)
		return NULL;
	begin_reading(lines, lines->unit_ns);
	if (lines->opener.split != NULL)
		lines->spent += lines->opener.split(lines->opener.context, top.cu);
	lines->units[number] = dwarf_unit_read(&top, dwarf_units_code(lines->index), &lines->time);
	end_reading(lines);
	lines->spent += dwarf_unit_cost(lines->units[number]);
	return lines->units[number];
}

static size_t
ask(struct dwarf_lines *lines, uint32_t number, uint64_t vaddr, struct dwarf_place *out,
    size_t most)
{
	struct dwarf_unit *unit = unit_of(lines, number);
	size_t before, count;

	if (unit == NULL)
		return 0;
	before = dwarf_unit_cost(unit);
	begin_reading(lines, lines->unit_ns);
	count = dwarf_unit_find(unit, vaddr, out, most);
	end_reading(lines);
	lines->spent += dwarf_unit_cost(unit) - before;
	return count;
}

/* One of the units that do not say where their code is. False: there are no more. */
static bool
read_silent(struct dwarf_lines *lines)
{
	bool more;

	if (lines->left_ns == 0 || !be_open(lines))
		return false;
	begin_reading(lines, lines->unit_ns);
	more = dwarf_units_read_without_ranges(lines->index, &lines->opener, lines->dwarf,
					       &lines->spent, &lines->time);
	end_reading(lines);
	return more;
}

/* The units that hold an address; those that do not say so are read when no other does. */
static size_t
units_holding(struct dwarf_lines *lines, uint64_t vaddr, uint32_t *out)
{
	size_t count = dwarf_units_holding(lines->index, vaddr, out, TRIES_MAX);
	bool more = false;

	if (count > 0)
		return count;
	while (read_silent(lines))
		more = true;
	if (!more)
		return 0;
	/* Also when it ended half-way: what was known is still to be found. */
	dwarf_units_order(lines->index);
	return dwarf_units_holding(lines->index, vaddr, out, TRIES_MAX);
}

size_t
dwarf_lines_find(struct dwarf_lines *lines, uint64_t vaddr, struct dwarf_place *out, size_t most)
{
	uint32_t units[TRIES_MAX];
	uint32_t second = 0; /* knows a line, but no function */
	bool any = false;
	size_t count;

	if (most == 0 || (lines->index == NULL && !be_open(lines)))
		return 0;
	if (lines->left_ns == 0) {
		if (lines->dwarf != NULL)
			give_back(lines);
		return 0;
	}
	count = units_holding(lines, vaddr, units);
	for (size_t i = 0; i < count; i++) {
		size_t places = ask(lines, units[i], vaddr, out, most);

		if (places > 0 && out[places - 1].function != NULL)
			return places;
		if (places > 0 && !any) {
			any = true;
			second = units[i];
		}
	}
	return any ? ask(lines, second, vaddr, out, most) : 0;
}
