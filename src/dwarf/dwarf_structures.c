/* SPDX-License-Identifier: MIT */
/* dwarf_structures.c - finds structures and the offsets of their members in DWARF. */
#include "wallsample/dwarf/dwarf_structures.h"

#include <dwarf.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Largest number of entries that are read: in damaged files entries may refer to each other in
 * rings. Large libraries have some 600,000 outermost entries. */
#define ENTRIES_MOST (UINT64_C(8) << 20)
/* Largest length of a chain of typedefs and qualifiers, and largest nesting of unnamed
 * structures. */
#define TYPES_MOST 16
#define DEPTH_MOST 4

static bool
search_continues(struct dwarf_structures *structures)
{
	structures->entries++;
	return structures->entries < ENTRIES_MOST &&
	       (structures->entries % 1024 != 0 || clock_now_ns() < structures->until_ns);
}

/* Replaces *die by its type without typedefs and qualifiers. Returns false when this type is not
 * known. */
static bool
peel(Dwarf_Die *die)
{
	for (int i = 0; i < TYPES_MOST; i++) {
		const int tag = dwarf_tag(die);
		Dwarf_Attribute type;
		Dwarf_Die next;

		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_atomic_type)
			return true;
		if (dwarf_attr(die, DW_AT_type, &type) == NULL ||
		    dwarf_formref_die(&type, &next) == NULL)
			return false;
		*die = next;
	}
	return false;
}

/* --- structures -------------------------------------------------------------------------- */

/* Returns whether the entry defines a structure or union completely, with a size; stores the size
 * in bytes. */
static bool
is_complete(Dwarf_Die *die, uint64_t *size)
{
	const int tag = dwarf_tag(die);
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if ((tag != DW_TAG_structure_type && tag != DW_TAG_union_type) ||
	    dwarf_hasattr(die, DW_AT_declaration) ||
	    dwarf_attr(die, DW_AT_byte_size, &attribute) == NULL ||
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*size = value;
	return true;
}

/* Stores the structure or union that the entry `die` defines, for each wanted structure with this
 * name (`is_typedef`: the name of its typedef) that has not been found. */
static void
structures_keep(struct dwarf_structures *structures, Dwarf_Die *die, const char *name,
		bool is_typedef)
{
	for (size_t i = 0; i < DWARF_STRUCTURES_MOST; i++) {
		const struct dwarf_structure *wanted = &structures->wanted[i];
		const char *as = is_typedef ? wanted->type : wanted->tag;
		Dwarf_Die peeled = *die;

		if (structures->found[i] || wanted->tag == NULL || as == NULL ||
		    strcmp(name, as) != 0 || !peel(&peeled) ||
		    !is_complete(&peeled, &structures->size[i]))
			continue;
		structures->found[i] = true;
		structures->die[i] = peeled;
	}
}

static bool
has_all(const struct dwarf_structures *structures)
{
	for (size_t i = 0; i < DWARF_STRUCTURES_MOST; i++)
		if (structures->wanted[i].tag != NULL && !structures->found[i])
			return false;
	return true;
}

static void
search_unit(struct dwarf_structures *structures, Dwarf_Die *unit)
{
	Dwarf_Die die, next;

	if (dwarf_child(unit, &die) != 0)
		return;
	while (search_continues(structures)) {
		const int tag = dwarf_tag(&die);
		const char *name = NULL;

		if (tag == DW_TAG_structure_type || tag == DW_TAG_typedef)
			name = dwarf_diename(&die);
		if (name != NULL)
			structures_keep(structures, &die, name, tag == DW_TAG_typedef);
		if (dwarf_siblingof(&die, &next) != 0)
			return;
		die = next;
	}
}

void
dwarf_structures_find(struct dwarf_structures *structures, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die top, below;
	Dwarf_Half version;
	uint8_t type;

	if (structures->until_ns == 0)
		structures->until_ns = clock_now_ns() + structures->time_ns;
	while (!has_all(structures) && search_continues(structures) &&
	       dwarf_get_units(dwarf, unit, &unit, &version, &type, &top, &below) == 0)
		search_unit(structures, &top);
}

/* --- members ----------------------------------------------------------------------------- */

/* A member that was found. */
struct member {
	Dwarf_Die type; /* valid if `has_type` */
	bool has_type;
	uint64_t offset; /* bytes from the start of the structure that was searched */
};

/*
 * Stores the offset in bytes of a member in its structure: 0 for a member of a union; for a
 * bit-field the offset of the byte in which it begins. Returns false when the offset is not a
 * number.
 */
static bool
member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute) != NULL) {
		if (dwarf_formudata(&attribute, &value) != 0)
			return false;
		value /= 8;
	} else if (dwarf_attr(member, DW_AT_data_member_location, &attribute) != NULL &&
		   dwarf_formudata(&attribute, &value) != 0) {
		return false;
	}
	*offset = value;
	return true;
}

static bool
member_type(Dwarf_Die *member, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(member, DW_AT_type, &attribute) != NULL &&
	       dwarf_formref_die(&attribute, type) != NULL && peel(type);
}

static bool find_member(struct dwarf_structures *structures, Dwarf_Die *in, const char *name,
			size_t length, int depth, struct member *out);

/*
 * Searches a member with the name: `member` itself, or, if it is an unnamed structure, a member of
 * this structure (at most `depth` levels down). Stores the member in *out. Returns false when
 * neither has the name.
 */
static bool
is_member(struct dwarf_structures *structures, Dwarf_Die *member, const char *name, size_t length,
	  int depth, struct member *out)
{
	Dwarf_Die type;
	const char *own;
	uint64_t offset;

	if (dwarf_tag(member) != DW_TAG_member || !member_offset(member, &offset))
		return false;
	own = dwarf_diename(member);
	if (own != NULL) {
		*out = (struct member){ .offset = offset };
		out->has_type = member_type(member, &out->type);
		return strlen(own) == length && memcmp(own, name, length) == 0;
	}
	if (depth == 0 || !member_type(member, &type) ||
	    !find_member(structures, &type, name, length, depth - 1, out))
		return false;
	out->offset += offset;
	return true;
}

static bool
find_member(struct dwarf_structures *structures, Dwarf_Die *in, const char *name, size_t length,
	    int depth, struct member *out)
{
	Dwarf_Die member, next;

	if (dwarf_child(in, &member) != 0)
		return false;
	while (search_continues(structures)) {
		if (is_member(structures, &member, name, length, depth, out))
			return true;
		if (dwarf_siblingof(&member, &next) != 0)
			return false;
		member = next;
	}
	return false;
}

bool
dwarf_structures_member(struct dwarf_structures *structures, size_t structure, const char *path,
			uint64_t *offset)
{
	Dwarf_Die in = structures->die[structure];

	*offset = 0;
	while (structures->found[structure]) {
		const size_t length = strcspn(path, ".");
		struct member member;

		if (!find_member(structures, &in, path, length, DEPTH_MOST, &member))
			return false;
		*offset += member.offset;
		if (path[length] == '\0')
			return true;
		if (!member.has_type)
			return false;
		in = member.type;
		path += length + 1;
	}
	return false;
}
