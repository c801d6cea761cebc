/* SPDX-License-Identifier: MIT */
/* dwarf_units.c - an index of the units by address, from their top entries where possible. */
#include "dwarf/dwarf_unit_internal.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/base/base.h"

#define UNITS_MAX ((size_t)4 << 20)
#define SECTIONS_MAX ((size_t)1 << 20)
/* Of all units together. */
#define SPANS_MAX ((size_t)16 << 20)
/* Units with the same address: identical code folded into one. More are not looked at. */
#define SHARING_MAX 64

struct dwarf_units {
	Dwarf_Off *tops;
	size_t count, capacity;
	uint32_t *silent; /* units that do not say where their code is */
	size_t silent_count, silent_capacity, silent_read;
	struct dwarf_spans spans; /* of units */
	struct dwarf_spans code;
};

/* In a separate debug file the sections of code have no bytes, but their headers are there. */
static void
find_code(struct dwarf_units *units, Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL)
			continue;
		if ((header.sh_flags & SHF_ALLOC) == 0 || (header.sh_flags & SHF_EXECINSTR) == 0)
			continue;
		dwarf_spans_add(&units->code, header.sh_addr, header.sh_addr + header.sh_size, 0,
				SECTIONS_MAX);
	}
	dwarf_spans_order(&units->code);
}

static void
add_unit(struct dwarf_units *units, Dwarf_Die *top, Dwarf_Off offset, struct dwarf_time *time)
{
	uint32_t number = (uint32_t)units->count;

	if (units->count == units->capacity)
		units->tops = xgrow(units->tops, &units->capacity, units->count + 1,
				    sizeof(*units->tops));
	units->tops[units->count++] = offset;
	if (dwarf_unit_add_ranges(top, &units->code, &units->spans, number, SPANS_MAX, time))
		return;
	/* It names code, but all of it was dropped by the linker. */
	if (dwarf_hasattr(top, DW_AT_ranges) || dwarf_hasattr(top, DW_AT_high_pc))
		return;
	if (units->silent_count == units->silent_capacity)
		units->silent = xgrow(units->silent, &units->silent_capacity,
				      units->silent_count + 1, sizeof(*units->silent));
	units->silent[units->silent_count++] = number;
}

struct dwarf_units *
dwarf_units_create(Dwarf *dwarf, struct dwarf_time *time)
{
	struct dwarf_units *units = xcalloc(1, sizeof(*units));
	Dwarf_Off at = 0, next;
	size_t header;
	Dwarf_Die top;

	find_code(units, dwarf);
	while (units->count < UNITS_MAX && !dwarf_time_is_over(time) &&
	       dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		if (dwarf_offdie(dwarf, at + header, &top) != NULL) {
			int tag = dwarf_tag(&top);

			if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
				add_unit(units, &top, at + header, time);
		}
		if (next <= at)
			break;
		at = next;
	}
	dwarf_spans_order(&units->spans);
	return units;
}

void
dwarf_units_free(struct dwarf_units *units)
{
	if (units == NULL)
		return;
	dwarf_spans_release(&units->spans);
	dwarf_spans_release(&units->code);
	free(units->tops);
	free(units->silent);
	free(units);
}

size_t
dwarf_units_count(const struct dwarf_units *units)
{
	return units->count;
}

Dwarf_Off
dwarf_units_top(const struct dwarf_units *units, uint32_t unit)
{
	return units->tops[unit];
}

const struct dwarf_spans *
dwarf_units_code(const struct dwarf_units *units)
{
	return &units->code;
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

size_t
dwarf_units_holding(const struct dwarf_units *units, uint64_t vaddr, uint32_t *out, size_t most)
{
	const struct dwarf_span *holding[SHARING_MAX];
	size_t count = dwarf_spans_holding(&units->spans, vaddr, holding, SHARING_MAX);

	if (count > 1)
		qsort(holding, count, sizeof(*holding), compare_sizes);
	if (count > most)
		count = most;
	for (size_t i = 0; i < count; i++)
		out[i] = holding[i]->what;
	return count;
}

bool
dwarf_units_read_without_ranges(struct dwarf_units *units, const struct dwarf_opener *opener,
				Dwarf *dwarf, size_t *cost, struct dwarf_time *time)
{
	const struct dwarf_spans *spans;
	struct dwarf_unit *unit;
	uint32_t number;
	Dwarf_Die top;

	if (units->silent_read == units->silent_count || units->spans.tried >= SPANS_MAX)
		return false;
	number = units->silent[units->silent_read++];
	if (dwarf_offdie(dwarf, units->tops[number], &top) != NULL) {
		if (opener->split != NULL)
			*cost += opener->split(opener->context, top.cu);
		unit = dwarf_unit_read(&top, &units->code, time);
		spans = dwarf_unit_spans(unit);
		for (size_t i = 0; i < spans->count; i++)
			dwarf_spans_add(&units->spans, spans->all[i].low, spans->all[i].high,
					number, SPANS_MAX);
		units->spans.tried += spans->tried;
		*cost += dwarf_unit_cost(unit);
		dwarf_unit_free(unit);
	}
	return true;
}

void
dwarf_units_order(struct dwarf_units *units)
{
	dwarf_spans_order(&units->spans);
}
