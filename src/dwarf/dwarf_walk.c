/* SPDX-License-Identifier: MIT */
/*
 * dwarf_walk.c - goes from entry to entry of a unit by its abbreviations, which describe the
 * attributes of entries.
 *
 * Each abbreviation is converted once to a shape: the list of steps that skip the attributes of an
 * entry. Adjacent attributes of fixed size are one step.
 */
#include "wallsample/dwarf/dwarf_entries.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/dwarf_unit_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"

/* Largest numbers of abbreviations of a unit and of attributes of an abbreviation; only damaged
 * files have more. The walk ends at an entry whose abbreviation was not converted. */
#define SHAPES_MAX 100000
#define ATTRIBUTES_MAX 256

enum step_kind {
	STEP_FIXED,      /* `size` bytes */
	STEP_ULEB,       /* bytes up to and including the first below 0x80 */
	STEP_STRING,     /* bytes up to and including a zero */
	STEP_BLOCK,      /* a length of `size` bytes, then as many bytes as the length says */
	STEP_EXPRESSION, /* a length in ULEB128, then as many bytes as the length says */
	STEP_INDIRECT,   /* a ULEB128 number, which is the form of the bytes that follow */
};

struct step {
	uint32_t kind, size;
};

struct shape {
	uint32_t code;         /* code of the abbreviation */
	uint32_t first, steps; /* index of the first step in walk->steps, and number of steps */
	bool children;
	bool wanted; /* a subprogram or inlined subroutine with addresses */
	bool inlined;
};

/* Values of `size` in forms[] that stand for sizes that depend on the unit. form_step() replaces
 * them by the sizes in walk->unit_size[]. */
enum { OF_ADDRESS = 100, OF_OFFSET, OF_REFERENCE, OF_NOTHING, OF_END };

struct dwarf_walk {
	Dwarf_Die top;
	const unsigned char *at, *end;          /* the bytes of entries that are still to be read */
	uint8_t unit_size[OF_END - OF_ADDRESS]; /* sizes in bytes; the index is OF_… - OF_ADDRESS */
	struct shape *shapes;                   /* ascending by code */
	size_t shape_count, shape_capacity;
	struct step *steps;
	size_t step_count, step_capacity;
	uint32_t depth; /* depth of the next entry */
	/* Least depth of all entries since the one that dwarf_walk_next returned last. */
	uint32_t least;
	bool started;
};

/* --- sizes of attributes by their forms: DWARF 5, 7.5.6 -------------------------------------- */

#define FORM(kind, n)                                                                              \
	{                                                                                          \
		STEP_##kind, n                                                                     \
	}

static const struct step forms[] = {
	[DW_FORM_addr] = FORM(FIXED, OF_ADDRESS),
	[DW_FORM_block2] = FORM(BLOCK, 2),
	[DW_FORM_block4] = FORM(BLOCK, 4),
	[DW_FORM_data2] = FORM(FIXED, 2),
	[DW_FORM_data4] = FORM(FIXED, 4),
	[DW_FORM_data8] = FORM(FIXED, 8),
	[DW_FORM_string] = FORM(STRING, 1),
	[DW_FORM_block] = FORM(EXPRESSION, 1),
	[DW_FORM_block1] = FORM(BLOCK, 1),
	[DW_FORM_data1] = FORM(FIXED, 1),
	[DW_FORM_flag] = FORM(FIXED, 1),
	[DW_FORM_sdata] = FORM(ULEB, 1),
	[DW_FORM_strp] = FORM(FIXED, OF_OFFSET),
	[DW_FORM_udata] = FORM(ULEB, 1),
	[DW_FORM_ref_addr] = FORM(FIXED, OF_REFERENCE),
	[DW_FORM_ref1] = FORM(FIXED, 1),
	[DW_FORM_ref2] = FORM(FIXED, 2),
	[DW_FORM_ref4] = FORM(FIXED, 4),
	[DW_FORM_ref8] = FORM(FIXED, 8),
	[DW_FORM_ref_udata] = FORM(ULEB, 1),
	[DW_FORM_indirect] = FORM(INDIRECT, 1),
	[DW_FORM_sec_offset] = FORM(FIXED, OF_OFFSET),
	[DW_FORM_exprloc] = FORM(EXPRESSION, 1),
	[DW_FORM_flag_present] = FORM(FIXED, OF_NOTHING),
	[DW_FORM_strx] = FORM(ULEB, 1),
	[DW_FORM_addrx] = FORM(ULEB, 1),
	[DW_FORM_ref_sup4] = FORM(FIXED, 4),
	[DW_FORM_strp_sup] = FORM(FIXED, OF_OFFSET),
	[DW_FORM_data16] = FORM(FIXED, 16),
	[DW_FORM_line_strp] = FORM(FIXED, OF_OFFSET),
	[DW_FORM_ref_sig8] = FORM(FIXED, 8),
	[DW_FORM_implicit_const] = FORM(FIXED, OF_NOTHING),
	[DW_FORM_loclistx] = FORM(ULEB, 1),
	[DW_FORM_rnglistx] = FORM(ULEB, 1),
	[DW_FORM_ref_sup8] = FORM(FIXED, 8),
	[DW_FORM_strx1] = FORM(FIXED, 1),
	[DW_FORM_strx2] = FORM(FIXED, 2),
	[DW_FORM_strx3] = FORM(FIXED, 3),
	[DW_FORM_strx4] = FORM(FIXED, 4),
	[DW_FORM_addrx1] = FORM(FIXED, 1),
	[DW_FORM_addrx2] = FORM(FIXED, 2),
	[DW_FORM_addrx3] = FORM(FIXED, 3),
	[DW_FORM_addrx4] = FORM(FIXED, 4),
};

/* Stores the step that skips an attribute of this form. Returns false when the form is not
 * known. */
static bool
form_step(const struct dwarf_walk *walk, unsigned int form, struct step *step)
{
	*step = (struct step){ 0 };
	if (form < ARRAY_SIZE(forms))
		*step = forms[form];
	else if (form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index)
		*step = (struct step)FORM(ULEB, 1);
	else if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		*step = (struct step)FORM(FIXED, OF_OFFSET);
	if (step->size == 0)
		return false;
	if (step->size >= OF_ADDRESS)
		step->size = walk->unit_size[step->size - OF_ADDRESS];
	return true;
}

bool
dwarf_read_uleb(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
	unsigned int shift = 0;

	*value = 0;
	while (*at < end) {
		unsigned char byte = *(*at)++;

		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool
skip_bytes(struct dwarf_walk *walk, uint64_t count)
{
	if (count > (uint64_t)(walk->end - walk->at))
		return false;
	walk->at += count;
	return true;
}

/* Moves walk->at behind one attribute. Returns false when the attribute does not end in the
 * unit. */
static bool
skip_attribute(struct dwarf_walk *walk, const struct step *step)
{
	const unsigned char *from = walk->at;
	struct step inner;
	uint64_t number;

	switch (step->kind) {
	case STEP_FIXED:
		return skip_bytes(walk, step->size);
	case STEP_ULEB:
		return dwarf_read_uleb(&walk->at, walk->end, &number);
	case STEP_STRING:
		from = memchr(from, 0, (size_t)(walk->end - from));
		if (from != NULL)
			walk->at = from + 1;
		return from != NULL;
	case STEP_BLOCK:
		return skip_bytes(walk, step->size) &&
		       skip_bytes(walk, bytes_little(from, step->size));
	case STEP_EXPRESSION:
		return dwarf_read_uleb(&walk->at, walk->end, &number) && skip_bytes(walk, number);
	default:
		/* STEP_INDIRECT: the form precedes the value. A form that is again indirect is
		 * refused: in a damaged unit each byte could add a level of recursion. */
		return dwarf_read_uleb(&walk->at, walk->end, &number) && number <= UINT16_MAX &&
		       number != DW_FORM_implicit_const &&
		       form_step(walk, (unsigned int)number, &inner) &&
		       inner.kind != STEP_INDIRECT && skip_attribute(walk, &inner);
	}
}

/* --- the shapes ------------------------------------------------------------------- */

static void
add_step(struct dwarf_walk *walk, struct shape *shape, struct step step)
{
	struct step *last = shape->steps > 0 ? &walk->steps[walk->step_count - 1] : NULL;

	if (step.kind == STEP_FIXED && step.size == 0)
		return;
	if (last != NULL && step.kind == STEP_FIXED && last->kind == STEP_FIXED) {
		last->size += step.size;
		return;
	}
	walk->steps = xgrow(walk->steps, &walk->step_capacity, walk->step_count + 1,
			    sizeof(*walk->steps));
	walk->steps[walk->step_count++] = step;
	shape->steps++;
}

/*
 * Converts one abbreviation to a shape. Returns false when it has an unknown form or more than
 * ATTRIBUTES_MAX attributes. (dwarf_getattrcnt of libdw is not used: it miscounts the attributes
 * after an implicit_const.)
 */
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
		struct step step;

		if (++count > ATTRIBUTES_MAX || !form_step(walk, form, &step))
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

/* Converts the abbreviations of the unit up to the first that cannot be converted, at most
 * SHAPES_MAX. */
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
		walk->shapes = xgrow(walk->shapes, &walk->shape_capacity, walk->shape_count + 1,
				     sizeof(*walk->shapes));
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

	/* Compilers number abbreviations 1, 2, 3, …: the index is then code - 1. */
	if (code - 1 < walk->shape_count && walk->shapes[code - 1].code == code)
		return &walk->shapes[code - 1];
	if (code > UINT32_MAX || walk->shape_count == 0)
		return NULL;
	return bsearch(&key, walk->shapes, walk->shape_count, sizeof(key), compare_shapes);
}

/* --- the entries ------------------------------------------------------------------- */

/* Sets walk->at and walk->end by the header of the unit. Returns false when the unit does not end
 * in the section, or is larger than 4 GiB. */
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

static bool
read_sizes(struct dwarf_walk *walk)
{
	uint8_t address, offset;
	Dwarf_Half version;

	if (dwarf_cu_info(walk->top.cu, &version, NULL, NULL, NULL, NULL, &address, &offset) != 0)
		return false;
	walk->unit_size[OF_ADDRESS - OF_ADDRESS] = address;
	walk->unit_size[OF_OFFSET - OF_ADDRESS] = offset;
	walk->unit_size[OF_REFERENCE - OF_ADDRESS] = version <= 2 ? address : offset;
	return true;
}

struct dwarf_walk *
dwarf_walk_create(const Dwarf_Die *top)
{
	struct dwarf_walk *walk = xcalloc(1, sizeof(*walk));

	walk->top = *top;
	if (!read_sizes(walk) || !find_end(walk)) {
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
	/* Estimated as 96 bytes for each abbreviation, which libdw keeps in a hash table that is at
	 * most half full. */
	return walk->shape_count * 96;
}

/*
 * Moves walk->at behind one entry and returns the shape of the entry. Returns NULL at the mark that
 * ends a list of children; returns NULL and sets *more to false at the end of the unit or where the
 * unit is damaged.
 */
static const struct shape *
step_over(struct dwarf_walk *walk, bool *more)
{
	const struct shape *shape;
	uint64_t code;

	*more = dwarf_read_uleb(&walk->at, walk->end, &code);
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
		*more = skip_attribute(walk, &walk->steps[shape->first + i]);
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
