/* SPDX-License-Identifier: MIT */
/*
 * dwarf_walk.c - from entry to entry by the shapes that the abbreviations give.
 *
 * Each abbreviation is turned once into the steps that lead over its attributes, with those
 * of fixed size together in one step.
 */
#include "wallsample/dwarf/dwarf_entries.h"

#include <dwarf.h>
#include <stdlib.h>

#include "dwarf/dwarf_unit_internal.h"
#include "wallsample/base/base.h"

/* More than any compiler writes; what follows them is not read. */
#define SHAPES_MAX 100000
#define ATTRIBUTES_MAX 256

struct shape {
	uint32_t code;
	uint32_t first, steps; /* in walk->steps */
	bool children;
	bool wanted; /* a subprogram or inlined subroutine with addresses */
	bool inlined;
};

struct dwarf_walk {
	Dwarf_Die top;
	const unsigned char *at, *end; /* of the unit's entries */
	struct dwarf_form_sizes sizes;
	struct shape *shapes; /* by code */
	size_t shape_count, shape_capacity;
	struct dwarf_step *steps;
	size_t step_count, step_capacity;
	uint32_t depth;
	uint32_t least; /* least depth of an entry since the last that was returned */
	bool started;
};

/* --- the shapes ------------------------------------------------------------------- */

static void
add_step(struct dwarf_walk *walk, struct shape *shape, struct dwarf_step step)
{
	struct dwarf_step *last = shape->steps > 0 ? &walk->steps[walk->step_count - 1] : NULL;

	if (step.kind == DWARF_STEP_FIXED && step.size == 0)
		return;
	if (last != NULL && step.kind == DWARF_STEP_FIXED && last->kind == DWARF_STEP_FIXED) {
		last->size += step.size;
		return;
	}
	if (walk->step_count == walk->step_capacity)
		walk->steps = xgrow(walk->steps, &walk->step_capacity, walk->step_count + 1,
				    sizeof(*walk->steps));
	walk->steps[walk->step_count++] = step;
	shape->steps++;
}

/* libdw's own count of the attributes, dwarf_getattrcnt, is wrong behind an implicit_const. */
static bool
make_shape(struct dwarf_walk *walk, Dwarf_Abbrev *abbrev, struct shape *shape)
{
	unsigned int tag = dwarf_getabbrevtag(abbrev);
	bool addresses = false;
	unsigned int name, form;
	size_t count = 0;

	*shape = (struct shape){
		.code = dwarf_getabbrevcode(abbrev),
		.first = (uint32_t)walk->step_count,
		.children = dwarf_abbrevhaschildren(abbrev) != 0,
		.inlined = tag == DW_TAG_inlined_subroutine,
	};
	while (dwarf_getabbrevattr(abbrev, count, &name, &form, NULL) == 0) {
		struct dwarf_step step;

		if (++count > ATTRIBUTES_MAX || !dwarf_form_step(&walk->sizes, form, &step))
			return false;
		addresses |= name == DW_AT_low_pc || name == DW_AT_ranges;
		add_step(walk, shape, step);
	}
	shape->wanted = addresses && (shape->inlined || tag == DW_TAG_subprogram);
	return true;
}

static int
compare_shapes(const void *left, const void *right)
{
	const struct shape *a = left, *b = right;

	return a->code < b->code ? -1 : a->code > b->code;
}

/* An unknown form ends the reading: an entry that needs what is missing ends the walk. */
static void
make_shapes(struct dwarf_walk *walk)
{
	Dwarf_Off offset = 0;
	Dwarf_Abbrev *abbrev;
	struct shape shape;
	size_t length;

	while (walk->shape_count < SHAPES_MAX) {
		abbrev = dwarf_getabbrev(&walk->top, offset, &length);
		if (abbrev == NULL || abbrev == DWARF_END_ABBREV ||
		    !make_shape(walk, abbrev, &shape))
			break;
		if (walk->shape_count == walk->shape_capacity)
			walk->shapes = xgrow(walk->shapes, &walk->shape_capacity,
					     walk->shape_count + 1, sizeof(*walk->shapes));
		walk->shapes[walk->shape_count++] = shape;
		offset += length;
	}
	if (walk->shape_count > 0)
		qsort(walk->shapes, walk->shape_count, sizeof(*walk->shapes), compare_shapes);
}

static const struct shape *
shape_of(const struct dwarf_walk *walk, uint64_t code)
{
	struct shape key = { .code = (uint32_t)code };

	/* Codes are nearly always 1, 2, 3, … */
	if (code - 1 < walk->shape_count && walk->shapes[code - 1].code == code)
		return &walk->shapes[code - 1];
	if (code > UINT32_MAX || walk->shape_count == 0)
		return NULL;
	return bsearch(&key, walk->shapes, walk->shape_count, sizeof(key), compare_shapes);
}

/* --- the entries ------------------------------------------------------------------- */

/* Where the unit ends: libdw's header of it says, and must be in the section. */
static bool
find_end(struct dwarf_walk *walk)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(walk->top.cu);
	Dwarf_Off top = dwarf_dieoffset(&walk->top);
	Dwarf_Off start = top - dwarf_cuoffset(&walk->top);
	Dwarf_Off next;
	Dwarf_Die last;

	if (start > top || dwarf_nextcu(dwarf, start, &next, NULL, NULL, NULL, NULL) != 0)
		return false;
	if (next <= top || next - top > UINT32_MAX)
		return false;
	if (dwarf_offdie(dwarf, next - 1, &last) == NULL || last.cu != walk->top.cu)
		return false;
	walk->at = walk->top.addr;
	walk->end = walk->at + (next - top);
	return true;
}

struct dwarf_walk *
dwarf_walk_create(const Dwarf_Die *top)
{
	struct dwarf_walk *walk = xcalloc(1, sizeof(*walk));

	walk->top = *top;
	if (!dwarf_form_sizes_of(&walk->top, &walk->sizes) || !find_end(walk)) {
		dwarf_walk_free(walk);
		return NULL;
	}
	make_shapes(walk);
	return walk;
}

void
dwarf_walk_free(struct dwarf_walk *walk)
{
	if (walk == NULL)
		return;
	free(walk->shapes);
	free(walk->steps);
	free(walk);
}

size_t
dwarf_walk_cost(const struct dwarf_walk *walk)
{
	/* An abbreviation and its place in a hash table that is at most half full. */
	return walk->shape_count * 96;
}

/* Over one entry; NULL at an end of children, at the unit's end and where it is damaged. */
static const struct shape *
step_over(struct dwarf_walk *walk, bool *more)
{
	const struct shape *shape;
	uint64_t code;

	*more = dwarf_form_uleb(&walk->at, walk->end, &code);
	if (!*more)
		return NULL;
	if (code == 0) {
		*more = walk->depth > 1;
		walk->depth -= walk->depth > 0;
		return NULL;
	}
	shape = shape_of(walk, code);
	*more = shape != NULL;
	for (uint32_t i = 0; *more && i < shape->steps; i++)
		*more = dwarf_form_skip(&walk->sizes, &walk->steps[shape->first + i], &walk->at,
					walk->end);
	return *more ? shape : NULL;
}

bool
dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_entry *entry)
{
	bool more = walk->depth > 0 || !walk->started;

	walk->started = true;
	while (more) {
		const unsigned char *at = walk->at;
		const struct shape *shape = step_over(walk, &more);
		uint32_t depth = walk->depth;

		if (shape == NULL)
			continue;
		if (depth < walk->least)
			walk->least = depth;
		walk->depth += shape->children;
		more = walk->depth > 0;
		if (!shape->wanted)
			continue;
		*entry = (struct dwarf_entry){
			.offset = (uint32_t)(at - (const unsigned char *)walk->top.addr),
			.depth = depth,
			.left = walk->least,
			.inlined = shape->inlined,
			.die = { .addr = (void *)(uintptr_t)at, .cu = walk->top.cu },
		};
		walk->least = UINT32_MAX;
		return true;
	}
	walk->depth = 0;
	return false;
}
