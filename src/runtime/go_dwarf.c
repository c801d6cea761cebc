/* SPDX-License-Identifier: MIT */
/* go_dwarf.c - the layout of Go's structures from the debug information of a program. */
#include <dwarf.h>
#include <string.h>

#include "go_layout.h"
#include "wallsample/base.h"

/* A program of 100 MiB has some 300,000 entries outermost in their units; damage makes rings. */
#define ENTRIES_MOST (UINT64_C(4) << 20)
#define MEMBERS_MOST 1024
#define TIME_MOST_NS (200 * NS_PER_MS)
#define TYPES_MOST 16

enum structure { G, M, STRUCTURES };

static const char *const names[STRUCTURES] = { [G] = "runtime.g", [M] = "runtime.m" };

struct search {
	Dwarf_Die die[STRUCTURES];
	bool found[STRUCTURES];
	uint64_t entries, until_ns;
};

struct member {
	size_t to;
	enum structure structure;
	const char *path;
};

static const struct member members[] = {
#define X(name, structure, path) { offsetof(struct go_layout, name), structure, path },
	GO_OFFSETS(X)
#undef X
};

static bool
may_go_on(struct search *search)
{
	search->entries++;
	return search->entries < ENTRIES_MOST && !(search->found[G] && search->found[M]) &&
	       (search->entries % 1024 != 0 || clock_now_ns() < search->until_ns);
}

static void
keep(struct search *search, Dwarf_Die *die)
{
	const char *name;

	if (dwarf_tag(die) != DW_TAG_structure_type || (name = dwarf_diename(die)) == NULL)
		return;
	for (size_t i = 0; i < STRUCTURES; i++) {
		if (search->found[i] || strcmp(name, names[i]) != 0)
			continue;
		search->die[i] = *die;
		search->found[i] = true;
	}
}

/* Units are packages; the linker puts types into any. */
static void
search_units(struct search *search, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die top, below, die, next;
	Dwarf_Half version;
	uint8_t type;

	while (may_go_on(search) &&
	       dwarf_get_units(dwarf, unit, &unit, &version, &type, &top, &below) == 0) {
		if (dwarf_child(&top, &die) != 0)
			continue;
		for (keep(search, &die); may_go_on(search) && dwarf_siblingof(&die, &next) == 0;
		     die = next)
			keep(search, &next);
	}
}

/* --- members ------------------------------ */

/* From a typedef to what it is a name of. */
static bool
peel(Dwarf_Die *die)
{
	for (int i = 0; i < TYPES_MOST; i++) {
		Dwarf_Attribute type;
		Dwarf_Die next;

		if (dwarf_tag(die) != DW_TAG_typedef)
			return true;
		if (dwarf_attr(die, DW_AT_type, &type) == NULL ||
		    dwarf_formref_die(&type, &next) == NULL)
			return false;
		*die = next;
	}
	return false;
}

static bool
find_member(Dwarf_Die *structure, const char *name, size_t length, Dwarf_Die *member)
{
	Dwarf_Die next;

	if (dwarf_child(structure, member) != 0)
		return false;
	for (int i = 0; i < MEMBERS_MOST; i++) {
		const char *own = dwarf_diename(member);

		if (dwarf_tag(member) == DW_TAG_member && own != NULL && strlen(own) == length &&
		    memcmp(own, name, length) == 0)
			return true;
		if (dwarf_siblingof(member, &next) != 0)
			return false;
		*member = next;
	}
	return false;
}

/* Its place among the others; then it is what the member is made of. */
static bool
step_into(Dwarf_Die *die, const char *name, size_t length, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Die member;
	Dwarf_Word value;

	if (!find_member(die, name, length, &member) ||
	    dwarf_attr(&member, DW_AT_data_member_location, &attribute) == NULL ||
	    dwarf_formudata(&attribute, &value) != 0 || value > GO_M_MOST)
		return false;
	*offset += value;
	return dwarf_attr(&member, DW_AT_type, &attribute) != NULL &&
	       dwarf_formref_die(&attribute, die) != NULL && peel(die);
}

static uint32_t
read_member(Dwarf_Die die, const char *path)
{
	uint64_t offset = 0;

	for (;;) {
		const size_t length = strcspn(path, ".");

		if (!step_into(&die, path, length, &offset))
			return GO_ABSENT;
		if (path[length] == '\0')
			return (uint32_t)offset;
		path += length + 1;
	}
}

bool
go_layout_read(Dwarf *dwarf, uint32_t minor, struct go_layout *layout)
{
	struct search search = { .until_ns = clock_now_ns() + TIME_MOST_NS };

	search_units(&search, dwarf);
	if (!search.found[G] || !search.found[M])
		return false;
	layout->minor = minor;
	layout->patch = 0;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const uint32_t offset = read_member(search.die[members[i].structure],
						    members[i].path);

		memcpy((char *)layout + members[i].to, &offset, sizeof(offset));
	}
	return go_layout_finish(layout);
}
