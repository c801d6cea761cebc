/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.c - finds by an index the unit that contains an address, and limits the memory of the
 * units that were read.
 *
 * libdw keeps in memory all that it has read until its handle is closed. So the handle is closed
 * and opened again when this memory exceeds the limit; only the index of units is kept.
 *
 * The index is made from the top entries of units. .debug_aranges is not used: clang does not write
 * it, and old linkers damaged it.
 */
#include "wallsample/dwarf/dwarf_lines.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

#include "dwarf/dwarf_unit_internal.h"
#include "wallsample/base/base.h"

#define LIMIT_BYTES ((size_t)200 << 20)
/* Limits of CPU time. The largest units of real programs take one second; all names of the largest
 * files take ten. */
#define UNIT_NS (10 * NS_PER_SEC)
#define FILE_NS (60 * NS_PER_SEC)
/* Largest number of units that are read to find one address. */
#define TRIES_MAX 16
/* Limits for damaged files: numbers of units, of sections of code, and of address ranges of all
 * units together. */
#define UNITS_MAX ((size_t)4 << 20)
#define SECTIONS_MAX ((size_t)1 << 20)
#define SPANS_MAX ((size_t)16 << 20)
/* Largest number of address ranges of units that are considered for one address. Ranges overlap
 * when a linker has folded identical code. */
#define SHARING_MAX 64

struct index {
	Dwarf_Off *tops; /* for each unit, the offset of its top entry in .debug_info */
	size_t count, capacity;
	/*
	 * Numbers of the silent units: units whose top entry has no addresses. Instead, the
	 * addresses of their functions are read, as soon as an address is searched that no unit in
	 * the index contains.
	 */
	uint32_t *silent;
	size_t silent_count, silent_capacity;
	size_t silent_read;       /* number of silent units that were read */
	struct dwarf_spans spans; /* address ranges; `what` is the number of the unit */
	struct dwarf_spans code;  /* address ranges of sections with code */
};

struct dwarf_lines {
	struct dwarf_opener opener;
	Dwarf *dwarf;              /* NULL when the handle is closed */
	bool dead;                 /* the module has no DWARF: the handle is not opened again */
	bool indexed;              /* `index` is valid */
	struct index index;        /* kept while the handle is closed */
	struct dwarf_unit **units; /* by number of the unit; NULL when the unit is not in memory */
	/* Bytes of memory that the units that were read take, and the limit of these bytes. */
	size_t spent, limit;
	/* Limit of CPU time for a unit; CPU time that is left for the file. */
	uint64_t unit_ns, left_ns;
	struct dwarf_time time; /* limit for the current reading */
	bool slow;              /* opener.slow has been called */
};

/* --- the index ------------------------------------------------------------------------- */

/* Finds the address ranges of the code sections. Works for a separate debug file, too: it has the
 * headers of these sections, though not their bytes. */
static void
find_code(struct index *index, Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) != NULL && (header.sh_flags & SHF_ALLOC) != 0 &&
		    (header.sh_flags & SHF_EXECINSTR) != 0)
			dwarf_spans_add(&index->code, header.sh_addr,
					header.sh_addr + header.sh_size, 0, SECTIONS_MAX);
	}
	dwarf_spans_order(&index->code);
}

static void
add_unit(struct index *index, Dwarf_Die *top, Dwarf_Off offset, struct dwarf_time *time)
{
	uint32_t number = (uint32_t)index->count;

	index->tops = xgrow(index->tops, &index->capacity, index->count + 1, sizeof(*index->tops));
	index->tops[index->count++] = offset;
	if (dwarf_unit_add_ranges(top, &index->code, &index->spans, number, SPANS_MAX, time))
		return;
	/* The top entry has addresses, but none is of code: the linker has dropped the unit's code,
	 * and the unit is not silent. */
	if (dwarf_hasattr(top, DW_AT_ranges) || dwarf_hasattr(top, DW_AT_high_pc))
		return;
	index->silent = xgrow(index->silent, &index->silent_capacity, index->silent_count + 1,
			      sizeof(*index->silent));
	index->silent[index->silent_count++] = number;
}

/* Adds all units to the index by their top entries; stops when the time is over. */
static void
index_read(struct index *index, Dwarf *dwarf, struct dwarf_time *time)
{
	Dwarf_Off at = 0, next;
	size_t header;
	Dwarf_Die top;

	find_code(index, dwarf);
	while (index->count < UNITS_MAX && !dwarf_time_is_over(time) &&
	       dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		if (dwarf_offdie(dwarf, at + header, &top) != NULL) {
			int tag = dwarf_tag(&top);

			if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
				add_unit(index, &top, at + header, time);
		}
		if (next <= at)
			break;
		at = next;
	}
	dwarf_spans_order(&index->spans);
}

static int
compare_sizes(const void *left, const void *right)
{
	const struct dwarf_span *const *a = left, *const *b = right;
	uint64_t size_a = (*a)->high - (*a)->low, size_b = (*b)->high - (*b)->low;

	if (size_a != size_b)
		return size_a < size_b ? -1 : 1;
	return (*a)->what < (*b)->what ? -1 : (*a)->what > (*b)->what;
}

/* Stores the numbers of at most TRIES_MAX units that may contain the address, and returns how many.
 * The unit with the smallest range around the address comes first. */
static size_t
index_find(const struct index *index, uint64_t vaddr, uint32_t *out)
{
	const struct dwarf_span *holding[SHARING_MAX];
	size_t count = dwarf_spans_holding(&index->spans, vaddr, holding, SHARING_MAX);

	if (count > 1)
		qsort(holding, count, sizeof(*holding), compare_sizes);
	if (count > TRIES_MAX)
		count = TRIES_MAX;
	for (size_t i = 0; i < count; i++)
		out[i] = holding[i]->what;
	return count;
}

/* --- reading --------------------------------------------------------------------------- */

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

/* Frees all units and closes the handle, into whose memory they point. */
static void
close_units(struct dwarf_lines *lines)
{
	for (size_t i = 0; i < lines->index.count; i++) {
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
	close_units(lines);
	dwarf_spans_release(&lines->index.spans);
	dwarf_spans_release(&lines->index.code);
	free(lines->index.tops);
	free(lines->index.silent);
	free(lines->units);
	free(lines);
}

/* Prepares to read a unit: frees all units when they exceed the limit of memory, and opens the
 * handle if it is closed. False when the handle cannot be opened. */
static bool
open_units(struct dwarf_lines *lines)
{
	if (lines->dead)
		return false;
	if (lines->spent > lines->limit)
		close_units(lines);
	if (lines->dwarf == NULL)
		lines->dwarf = lines->opener.open(lines->opener.context);
	if (lines->dwarf == NULL) {
		/* If the handle could be opened before, the failure may be temporary, such as a
		 * lack of memory or of descriptors. */
		lines->dead = !lines->indexed;
		return false;
	}
	if (!lines->indexed) {
		begin_reading(lines, lines->left_ns);
		index_read(&lines->index, lines->dwarf, &lines->time);
		end_reading(lines);
		lines->indexed = true;
		lines->units = xcalloc(lines->index.count + 1, sizeof(struct dwarf_unit *));
	}
	return true;
}

/* Reads the functions of the unit with this top entry, from its split unit if it has one. */
static struct dwarf_unit *
read_unit(struct dwarf_lines *lines, Dwarf_Die *top)
{
	struct dwarf_unit *unit;

	if (lines->opener.split != NULL)
		lines->spent += lines->opener.split(lines->opener.context, top->cu);
	unit = dwarf_unit_read(top, &lines->index.code, &lines->time);
	lines->spent += dwarf_unit_cost(unit);
	return unit;
}

static struct dwarf_unit *
unit_of(struct dwarf_lines *lines, uint32_t number)
{
	Dwarf_Die top;

	if (lines->dwarf != NULL && lines->units[number] != NULL)
		return lines->units[number];
	if (!open_units(lines) ||
	    dwarf_offdie(lines->dwarf, lines->index.tops[number], &top) == NULL)
		return NULL;
	begin_reading(lines, lines->unit_ns);
	lines->units[number] = read_unit(lines, &top);
	end_reading(lines);
	return lines->units[number];
}

static size_t
find_in_unit(struct dwarf_lines *lines, uint32_t number, uint64_t vaddr, struct dwarf_place *out,
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

/* Adds the address ranges of the functions of the next silent unit to the index. Returns false when
 * no silent unit is left, or the limit of time or of ranges is reached. */
static bool
read_silent(struct dwarf_lines *lines)
{
	struct index *index = &lines->index;
	const struct dwarf_spans *spans;
	struct dwarf_unit *unit;
	uint32_t number;
	Dwarf_Die top;

	if (lines->left_ns == 0 || !open_units(lines) ||
	    index->silent_read == index->silent_count || index->spans.tried >= SPANS_MAX)
		return false;
	number = index->silent[index->silent_read++];
	if (dwarf_offdie(lines->dwarf, index->tops[number], &top) == NULL)
		return true;
	begin_reading(lines, lines->unit_ns);
	unit = read_unit(lines, &top);
	spans = dwarf_unit_spans(unit);
	for (size_t i = 0; i < spans->count; i++)
		dwarf_spans_add(&index->spans, spans->all[i].low, spans->all[i].high, number,
				SPANS_MAX);
	index->spans.tried += spans->tried;
	dwarf_unit_free(unit);
	end_reading(lines);
	return true;
}

/* Does what index_find does. If it finds no unit, reads the silent units, as far as the time
 * permits, and searches again. */
static size_t
find_units(struct dwarf_lines *lines, uint64_t vaddr, uint32_t *out)
{
	size_t count = index_find(&lines->index, vaddr, out);
	bool more = false;

	if (count > 0)
		return count;
	while (read_silent(lines))
		more = true;
	if (!more)
		return 0;
	/* The ranges are also sorted when not all silent units could be read: those that were read
	 * can be found. */
	dwarf_spans_order(&lines->index.spans);
	return index_find(&lines->index, vaddr, out);
}

size_t
dwarf_lines_find(struct dwarf_lines *lines, uint64_t vaddr, struct dwarf_place *out, size_t most)
{
	uint32_t units[TRIES_MAX];
	uint32_t second = 0; /* the first unit with a line but no function at the address */
	bool any = false;
	size_t count;

	if (most == 0 || (!lines->indexed && !open_units(lines)))
		return 0;
	if (lines->left_ns == 0) {
		if (lines->dwarf != NULL)
			close_units(lines);
		return 0;
	}
	count = find_units(lines, vaddr, units);
	for (size_t i = 0; i < count; i++) {
		size_t places = find_in_unit(lines, units[i], vaddr, out, most);

		if (places > 0 && out[places - 1].function != NULL)
			return places;
		if (places > 0 && !any) {
			any = true;
			second = units[i];
		}
	}
	return any ? find_in_unit(lines, second, vaddr, out, most) : 0;
}
