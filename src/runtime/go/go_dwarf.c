/* SPDX-License-Identifier: MIT */
/* go_dwarf.c - reads the layout of Go's structures from a program's debug information. */
#include <string.h>

#include "wallsample/dwarf/dwarf_structures.h"
#include "runtime/go/go_find_internal.h"
#include "wallsample/base/base.h"

#define TIME_MOST_NS (200 * NS_PER_MS)

enum structure { G, M };

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
		uint32_t offset = GO_ABSENT;
		uint64_t value;

		if (dwarf_structures_member(&structures, members[i].structure, members[i].path,
					    &value) &&
		    value <= GO_M_MOST)
			offset = (uint32_t)value;
		memcpy((char *)layout + members[i].to, &offset, sizeof(offset));
	}
	return go_layout_finish(layout);
}
