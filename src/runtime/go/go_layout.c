/* SPDX-License-Identifier: MIT */
/* go_layout.c - layouts of Go's structures: a table by version, and from debug information. */
#include "runtime/go/go_find_internal.h"

#include <string.h>

#include "wallsample/dwarf/dwarf_structures.h"

/* Most time that the search for structures in DWARF may take. */
#define TIME_MOST_NS (200 * NS_PER_MS)
#define NONE MEMBER_ABSENT

enum structure { G, M };

static const struct {
	const char *name;
	size_t to; /* offset of the member in struct go_layout */
	enum structure structure;
	const char *path; /* the member's name in debug information */
} members[] = {
#define X(name, structure, path) { #name, offsetof(struct go_layout, name), structure, path },
	GO_OFFSETS(X)
#undef X
};

/*
 * Rows printed by tools/go-layout. A version has several rows where patch releases have moved
 * members of runtime.m. The row of 1.20 is that of 1.19: programs made by 1.20.7 and 1.20.10
 * have the same offsets in their memory and in the code of their nanotime1. The lines of a row:
 * minor, patch, g_size, m_size; the members of g, then those of m, in the order of GO_OFFSETS.
 */
/* clang-format off */
static const struct go_layout table[] = {
	{ 19, 0, 320, 816,
	  0, 8, 48, 56, 64, 104, 112, 120, NONE, 144, 152, 168, 176, 189, NONE, 296, 312,
	  0, 72, 192, 336, 800, 808 },
	{ 20, 0, 320, 816,
	  0, 8, 48, 56, 64, 104, 112, 120, NONE, 144, 152, 168, 176, 189, NONE, 296, 312,
	  0, 72, 192, 336, 800, 808 },
	{ 21, 0, 304, 824,
	  0, 8, 48, 56, 64, 104, 112, 120, NONE, 144, 152, 168, 176, 188, 272, 280, 296,
	  0, 72, 192, 336, 808, 816 },
	{ 22, 0, 304, 1136,
	  0, 8, 48, 56, 64, 104, 112, 120, NONE, 144, 152, 168, 176, 191, 272, 280, 296,
	  0, 72, 192, 328, 1120, 1128 },
	{ 23, 0, 312, 872,
	  0, 8, 48, 56, 64, 104, 112, 120, 128, 152, 160, 176, 184, 199, 280, 288, 304,
	  0, 72, 192, 328, 856, 864 },
	{ 23, 12, 312, 896,
	  0, 8, 48, 56, 64, 104, 112, 120, 128, 152, 160, 176, 184, 199, 280, 288, 304,
	  0, 72, 192, 352, 880, 888 },
	{ 24, 0, 312, 896,
	  0, 8, 48, 56, 64, 104, 112, 120, 128, 152, 160, 176, 184, 199, 280, 288, 304,
	  0, 72, 192, 328, 880, 888 },
	{ 24, 6, 312, 920,
	  0, 8, 48, 56, 64, 104, 112, 120, 128, 152, 160, 176, 184, 199, 280, 288, 304,
	  0, 72, 192, 352, 904, 912 },
	{ 25, 0, 304, 912,
	  0, 8, 48, 56, 64, 96, 104, 112, 120, 144, 152, 168, 176, 191, 272, 280, 296,
	  0, 64, 184, 344, 896, 904 },
	{ 26, 0, 312, 912,
	  0, 8, 48, 56, 64, 96, 104, 112, 120, 144, 152, 168, 176, 191, 280, 288, 304,
	  0, 64, 184, 352, 896, 904 },
	{ 27, 0, 312, 912,
	  0, 8, 48, 56, 64, 96, 104, 112, 120, 144, 152, 168, 176, 191, 280, 288, 304,
	  0, 64, 184, 352, 896, 904 },
};
/* clang-format on */

const struct go_layout *
go_layout_of(uint32_t minor, uint32_t patch)
{
	const struct go_layout *row = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].minor == minor && table[i].patch <= patch)
			row = &table[i];
	return row;
}

const char *
go_layout_member(const struct go_layout *layout, size_t index, uint32_t *value)
{
	if (index >= ARRAY_SIZE(members))
		return NULL;
	memcpy(value, (const char *)layout + members[index].to, sizeof(*value));
	return members[index].name;
}

/* Returns true for members that do not exist in all supported versions. */
static bool
may_be_absent(const char *name)
{
	return strcmp(name, "g_call_fp") == 0 || strcmp(name, "g_creator") == 0 ||
	       strcmp(name, "g_runs") == 0;
}

bool
go_layout_finish(struct go_layout *layout)
{
	const char *name;
	uint32_t value;

	layout->g_size = layout->m_size = 0;
	for (size_t i = 0; (name = go_layout_member(layout, i, &value)) != NULL; i++) {
		uint32_t *size = members[i].structure == G ? &layout->g_size : &layout->m_size;

		if (value == MEMBER_ABSENT && may_be_absent(name))
			continue;
		if (value > GO_M_MOST)
			return false;
		if (value + sizeof(uint64_t) > *size)
			*size = value + (uint32_t)sizeof(uint64_t);
	}
	return layout->g_size <= GO_G_MOST && layout->m_size <= GO_M_MOST;
}

bool
go_layout_read(Dwarf *dwarf, uint32_t minor, struct go_layout *layout)
{
	struct dwarf_structures structures = {
		.wanted = { [G] = { "runtime.g", NULL }, [M] = { "runtime.m", NULL } },
		.time_ns = TIME_MOST_NS,
	};

	dwarf_structures_find(&structures, dwarf);
	if (!structures.found[G] || !structures.found[M])
		return false;
	layout->minor = minor;
	layout->patch = 0;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		uint32_t offset = MEMBER_ABSENT;
		uint64_t value;

		if (dwarf_structures_member(&structures, members[i].structure, members[i].path,
					    &value) &&
		    value <= GO_M_MOST)
			offset = (uint32_t)value;
		memcpy((char *)layout + members[i].to, &offset, sizeof(offset));
	}
	return go_layout_finish(layout);
}
