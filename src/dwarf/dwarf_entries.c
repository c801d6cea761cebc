/* SPDX-License-Identifier: MIT */
/*
 * dwarf_entries.c - limits CPU time, visits all units of a module, and finds names and paths of
 * entries.
 */
#include "wallsample/dwarf/dwarf_entries.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/elf/symbol_names.h"

/* --- CPU time -------------------------------------------------------------------------- */

#define STEPS 256
#define PAUSE_NS (10 * NS_PER_MS)

void
dwarf_time_start(struct dwarf_time *time, uint64_t most_ns)
{
	const uint64_t now = clock_own_cpu_ns();

	*time = (struct dwarf_time){
		.began_ns = now,
		.end_ns = now + most_ns,
		.ask_ns = clock_now_ns() + PAUSE_NS,
		.over = most_ns == 0,
	};
}

bool
dwarf_time_is_over(struct dwarf_time *time)
{
	uint64_t now;

	if (time->over)
		return true;
	now = clock_now_ns();
	if (++time->count < STEPS && now < time->ask_ns)
		return false;
	time->count = 0;
	time->ask_ns = now + PAUSE_NS;
	time->over = clock_own_cpu_ns() >= time->end_ns;
	return time->over;
}

uint64_t
dwarf_time_used_ns(const struct dwarf_time *time)
{
	return clock_own_cpu_ns() - time->began_ns;
}

/* --- units ----------------------------------------------------------------------------- */

/* libdw keeps in memory all that it has read until its handle is closed. When it keeps more than
 * this number of bytes, dwarf_each_unit() closes the handle and opens another one. */
#define KEPT_BYTES ((size_t)200 << 20)

static bool
is_compilation(Dwarf_Die *top)
{
	const int tag = dwarf_tag(top);

	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit;
}

bool
dwarf_each_unit(const struct debug_files_config *config, const struct module *module,
		uint64_t most_ns,
		size_t (*each)(void *context, Dwarf_Die *top, struct dwarf_time *time),
		void *context)
{
	struct debug_files *files;
	struct debug_file file;
	struct dwarf_time time;
	Dwarf_Off at = 0, next;
	size_t header, kept = 0;
	Dwarf *dwarf;
	Dwarf_Die top;
	bool any;

	if (module->image == NULL || !image_is_unchanged(module->image))
		return false;
	dwarf_time_start(&time, most_ns);
	files = debug_files_create(config);
	debug_file_open(files, module, &file);
	dwarf = debug_file_dwarf(files, &file);
	any = dwarf != NULL;
	while (dwarf != NULL && !dwarf_time_is_over(&time) &&
	       dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		if (dwarf_offdie(dwarf, at + header, &top) != NULL && is_compilation(&top)) {
			kept += debug_file_split(files, &file, top.cu);
			kept += each(context, &top, &time);
		}
		if (next <= at)
			break;
		at = next;
		if (kept <= KEPT_BYTES)
			continue;
		kept = 0;
		debug_file_dwarf_end(files, &file, dwarf);
		dwarf = debug_file_dwarf(files, &file);
	}
	if (dwarf != NULL)
		debug_file_dwarf_end(files, &file, dwarf);
	debug_file_close(&file);
	debug_files_free(files);
	return any;
}

bool
dwarf_each_is_code(const struct image *image, uint64_t vaddr)
{
	/* Functions that the linker has dropped have the address 0 or 1, at which images have
	 * headers, not code. */
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (segment->executable && vaddr > image->low + 1 && vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->file_size)
			return true;
	}
	return false;
}

bool
dwarf_split_find(const Dwarf_Die *top, Dwarf_Die *split)
{
	uint8_t type;

	memset(split, 0, sizeof(*split));
	return dwarf_cu_info(top->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
	       type == DW_UT_skeleton &&
	       dwarf_cu_info(top->cu, NULL, NULL, NULL, split, NULL, NULL, NULL) == 0 &&
	       split->addr != NULL;
}

/* --- names ----------------------------------------------------------------------------- */

/* Largest number of references that are followed: a concrete function refers to its abstract
 * function, which refers to its declaration. References of damaged entries can be circular. */
#define REFERENCES_MAX 16

static const char *
name_attribute(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	const char *text = dwarf_formstring(dwarf_attr(die, attribute, &found));

	return text != NULL && text[0] != '\0' ? text : NULL;
}

const char *
dwarf_name_function(const Dwarf_Die *die)
{
	const char *name = NULL, *linkage;
	Dwarf_Die at = *die, to;
	Dwarf_Attribute reference;

	for (int i = 0; i < REFERENCES_MAX; i++) {
		linkage = name_attribute(&at, DW_AT_linkage_name);
		if (linkage == NULL)
			linkage = name_attribute(&at, DW_AT_MIPS_linkage_name);
		/* In C the linkage name may be the assembler's name of an alias, such as __GI_lfind
		 * for lfind: only mangled linkage names are used. */
		if (linkage != NULL && symbol_name_is_mangled(linkage))
			return linkage;
		if (name == NULL)
			name = name_attribute(&at, DW_AT_name);
		if (dwarf_attr(&at, DW_AT_abstract_origin, &reference) == NULL &&
		    dwarf_attr(&at, DW_AT_specification, &reference) == NULL)
			break;
		if (dwarf_formref_die(&reference, &to) == NULL)
			break;
		at = to;
	}
	return name;
}

/* --- paths ----------------------------------------------------------------------------- */

struct dwarf_paths {
	/* Directory of the compilation; NULL when the unit does not name it. */
	const char *directory;
	struct strings *joined; /* all paths that were joined */
	struct table numbers;   /* address of libdw's name -> number of the path in `joined` */
};

struct dwarf_paths *
dwarf_paths_create(Dwarf_Die *top)
{
	struct dwarf_paths *paths = xcalloc(1, sizeof(*paths));
	Dwarf_Attribute directory;

	table_init(&paths->numbers);
	paths->joined = strings_create();
	paths->directory = dwarf_formstring(dwarf_attr(top, DW_AT_comp_dir, &directory));
	return paths;
}

void
dwarf_paths_free(struct dwarf_paths *paths)
{
	if (paths == NULL)
		return;
	strings_free(paths->joined);
	table_release(&paths->numbers);
	free(paths);
}

const char *
dwarf_paths_join(struct dwarf_paths *paths, const char *name)
{
	struct strbuf path;
	uint32_t *number;
	bool added;

	/* "???" is libdw's name of a missing file. */
	if (name == NULL || strcmp(name, "???") == 0)
		return NULL;
	if (name[0] == '/' || paths->directory == NULL)
		return name;
	number = table_insert(&paths->numbers, (uintptr_t)name, 0, 0, &added);
	if (added) {
		strbuf_init(&path);
		strbuf_add_format(&path, "%s/%s", paths->directory, name);
		*number = strings_intern(paths->joined, path.data);
		strbuf_release(&path);
	}
	return strings_text(paths->joined, *number);
}
