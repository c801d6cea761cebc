/* SPDX-License-Identifier: MIT */
/*
 * dwarf_each.c - from unit to unit, giving back what libdw has kept of them.
 */
#include "wallsample/dwarf/dwarf_entries.h"

#include <dwarf.h>

#include "wallsample/dwarf/debug_file.h"

/* libdw keeps what it has read until its handle is closed. */
#define KEPT_BYTES ((size_t)200 << 20)

struct walk {
	struct debug_files *files;
	struct debug_file file;
	Dwarf *dwarf;
	struct dwarf_time time;
	size_t (*each)(void *context, Dwarf_Die *top, struct dwarf_time *time);
	void *context;
};

static size_t
look_at_unit(struct walk *walk, Dwarf_Off offset)
{
	size_t kept;
	Dwarf_Die top;
	int tag;

	if (dwarf_offdie(walk->dwarf, offset, &top) == NULL)
		return 0;
	tag = dwarf_tag(&top);
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return 0;
	kept = debug_file_split(walk->files, &walk->file, top.cu);
	return kept + walk->each(walk->context, &top, &walk->time);
}

static void
walk_units(struct walk *walk)
{
	Dwarf_Off at = 0, next;
	size_t header, kept = 0;

	while (walk->dwarf != NULL && !dwarf_time_is_over(&walk->time) &&
	       dwarf_nextcu(walk->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		kept += look_at_unit(walk, at + header);
		if (next <= at)
			return;
		at = next;
		if (kept <= KEPT_BYTES)
			continue;
		kept = 0;
		debug_file_dwarf_end(walk->files, &walk->file, walk->dwarf);
		walk->dwarf = debug_file_dwarf(walk->files, &walk->file);
	}
}

bool
dwarf_each_unit(const struct debug_files_config *config, const struct module *module,
		uint64_t most_ns,
		size_t (*each)(void *context, Dwarf_Die *top, struct dwarf_time *time),
		void *context)
{
	struct walk walk = { .each = each, .context = context };
	bool any;

	if (module->image == NULL || !image_is_unchanged(module->image))
		return false;
	dwarf_time_start(&walk.time, most_ns);
	walk.files = debug_files_create(config);
	debug_file_open(walk.files, module, &walk.file);
	walk.dwarf = debug_file_dwarf(walk.files, &walk.file);
	any = walk.dwarf != NULL;
	walk_units(&walk);
	if (walk.dwarf != NULL)
		debug_file_dwarf_end(walk.files, &walk.file, walk.dwarf);
	debug_file_close(&walk.file);
	debug_files_free(walk.files);
	return any;
}

bool
dwarf_each_is_code(const struct image *image, uint64_t vaddr)
{
	/* The code that is kept there would be at address 0 or 1: headers are. */
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (segment->executable && vaddr > image->low + 1 && vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->file_size)
			return true;
	}
	return false;
}
