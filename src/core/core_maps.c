/* SPDX-License-Identifier: MIT */
/*
 * core_maps.c - the modules and the mappings of code of a process, from its core file.
 *
 * A core that the kernel has written has a segment for each mapping, executable or not. A core that
 * gdb has written has segments only for mappings whose memory is in the core, and gdb leaves out
 * the code of mapped files. Whether a mapping without a segment is executable then follows from the
 * ELF headers of the mapped file, which are in the core or in the file itself.
 */
#include <stdlib.h>
#include <string.h>

#include "core/core_internal.h"

/*
 * Most bytes that are read from the beginning of a mapped file, for its headers and its build-id.
 * They are usually in the first 8 KiB; a bound of 64 KiB also finds them further back.
 */
#define HEAD_SIZE ((size_t)64 << 10)

/* Bound on the size of the vdso, which has two to four pages. */
#define VDSO_MAX_SIZE ((size_t)1 << 20)

/* Address of the legacy vsyscall page of x86-64. */
#define VSYSCALL UINT64_C(0xffffffffff600000)

/*
 * Most mappings of code that are used; further ones are left out. The bound limits the time of
 * libdw, which searches its list of modules linearly. Linux allows 65530 mappings by default.
 */
#define MAPPINGS_MAX ((size_t)32 << 10)

/* Largest number of files that a line of the log names; further files are only counted. */
#define NAMED_MOST 4

#define RANGE_NONE UINT32_MAX

/* A file that the core names. */
struct file {
	/* index in core.ranges of the range that maps the first bytes of the file, or RANGE_NONE */
	uint32_t head;
	bool head_read; /* `image` is valid */
	/* Image made of the first bytes; NULL when the core lacks them or they are no ELF file. */
	struct image *image;
	uint32_t module; /* id of the file's module; MODULE_NONE until the module is added */
};

struct builder {
	const struct core *core;
	struct modules *modules;
	const struct core_files *files;
	struct file *file; /* indexed by the index of the file's path in core->paths */
	uint32_t exe; /* index of the executable's path in core->paths; UINT32_MAX: not known */
	/* Id of the module for memory without a file; MODULE_NONE until the module is added. */
	uint32_t anonymous;
	uint8_t *head; /* a buffer of HEAD_SIZE bytes */
	struct mapping *mapping;
	size_t count, capacity;
	/* true: mappings were left out, because there were too many mappings or modules */
	bool too_many;
};

/* --- files ------------------------------------------------------------------------- */

/* Reads the first bytes of the file, up to HEAD_SIZE, from the core's memory into builder->head.
 * Returns their number; 0 when the core does not have them. */
static size_t
read_head(struct builder *builder, const struct file *file)
{
	const struct core_span *range;
	size_t size = HEAD_SIZE;

	if (file->head == RANGE_NONE)
		return 0;
	range = &builder->core->ranges.span[file->head];
	if (size > range->end - range->start)
		size = (size_t)(range->end - range->start);
	return core_read_piece(builder->core, range->start, builder->head, size);
}

static const struct image *
head_image(struct builder *builder, struct file *file)
{
	size_t size;

	if (!file->head_read) {
		file->head_read = true;
		size = read_head(builder, file);
		if (size > 0)
			file->image = image_open_memory(builder->head, size);
	}
	return file->image;
}

static uint32_t
module_of(struct builder *builder, uint32_t path)
{
	struct file *file = &builder->file[path];
	const struct dumped_module dumped = {
		.path = strings_text(builder->core->paths, path),
		.file = path == builder->exe ? builder->files->exe : NULL,
		.symfs = builder->files->symfs,
		.kind = MODULE_FILE,
		.head = builder->head,
		.head_size = file->module == MODULE_NONE ? read_head(builder, file) : 0,
	};

	if (file->module == MODULE_NONE)
		file->module = modules_add_dumped(builder->modules, &dumped);
	return file->module;
}

static void
list_files(struct builder *builder)
{
	const struct core *core = builder->core;
	const size_t count = strings_count(core->paths);

	builder->file = xcalloc(count + 1, sizeof(*builder->file));
	for (size_t i = 0; i < count; i++)
		builder->file[i] = (struct file){ .head = RANGE_NONE, .module = MODULE_NONE };
	builder->exe = core->ranges.count > 0 ? core->ranges.span[0].path : UINT32_MAX;
	for (size_t i = 0; i < core->ranges.count; i++) {
		const struct core_span *range = &core->ranges.span[i];

		if (range->offset == 0 && builder->file[range->path].head == RANGE_NONE)
			builder->file[range->path].head = (uint32_t)i;
		if (core->entry >= range->start && core->entry < range->end)
			builder->exe = range->path;
	}
}

/* --- mappings ---------------------------------------------------------------------- */

static void
add_mapping(struct builder *builder, struct mapping mapping)
{
	const struct module *module = modules_get(builder->modules, mapping.module);

	builder->too_many |= module == NULL || builder->count == MAPPINGS_MAX;
	if (module == NULL || builder->count == MAPPINGS_MAX)
		return;
	mapping_place(&mapping, module, builder->core->page_size);
	builder->mapping = xgrow(builder->mapping, &builder->capacity, builder->count + 1,
				 sizeof(mapping));
	builder->mapping[builder->count++] = mapping;
}

/* Adds a mapped range of a file to the maps, if the range was executable. */
static void
core_add_range(struct builder *builder, const struct core_span *range)
{
	const struct core_span *segment = core_segment_at(builder->core, range->start);
	struct mapping mapping = { .start = range->start,
				   .end = range->end,
				   .offset = range->offset };
	const struct image *image;

	if (segment != NULL && !segment->executable)
		return;
	if (segment == NULL) {
		image = head_image(builder, &builder->file[range->path]);
		if (image == NULL) {
			mapping.module = module_of(builder, range->path);
			if (mapping.module != MODULE_NONE)
				image = modules_at(builder->modules, mapping.module)->image;
		}
		if (image == NULL || !mapping_is_of_code(image, &mapping, builder->core->page_size))
			return;
	}
	mapping.module = module_of(builder, range->path);
	add_mapping(builder, mapping);
}

/* Returns true when a mapped range of a file overlaps the segment. */
static bool
holds_file(const struct core *core, const struct core_span *segment)
{
	const struct core_span *range = core_spans_find(&core->ranges, segment->start);

	return range != NULL && range->start < segment->end;
}

static uint32_t
vdso_module(struct builder *builder, const struct core_span *segment)
{
	const uint64_t size = segment->end - segment->start;
	struct dumped_module vdso = { .path = "[vdso]", .kind = MODULE_VDSO };
	uint32_t module;
	uint8_t *bytes;

	bytes = xmalloc(VDSO_MAX_SIZE);
	vdso.head = bytes;
	vdso.head_size = core_read_piece(builder->core, segment->start, bytes,
					 size < VDSO_MAX_SIZE ? (size_t)size : VDSO_MAX_SIZE);
	module = modules_add_dumped(builder->modules, &vdso);
	free(bytes);
	return module;
}

static uint32_t
anonymous_module(struct builder *builder)
{
	static const struct dumped_module anonymous = { .path = "[anon]",
							.kind = MODULE_ANONYMOUS };

	if (builder->anonymous == MODULE_NONE)
		builder->anonymous = modules_add_dumped(builder->modules, &anonymous);
	return builder->anonymous;
}

/* Adds a segment to the maps, if it was executable and is not of a file. */
static void
add_segment(struct builder *builder, const struct core_span *segment)
{
	static const struct dumped_module vsyscall = { .path = "[vsyscall]", .kind = MODULE_OTHER };
	struct mapping mapping = { .start = segment->start, .end = segment->end };

	if (!segment->executable || holds_file(builder->core, segment))
		return;
	if (segment->start == builder->core->vdso)
		mapping.module = vdso_module(builder, segment);
	else if (segment->start == VSYSCALL)
		mapping.module = modules_add_dumped(builder->modules, &vsyscall);
	else
		mapping.module = anonymous_module(builder);
	add_mapping(builder, mapping);
}

static int
compare_mappings(const void *left, const void *right)
{
	const struct mapping *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* --- files that cannot be used ----------------------------------------------------- */

/*
 * Appends the paths of the modules that are not used for the same reason as module `first`:
 * NAMED_MOST paths, then the number of the other modules. Marks these modules as reported.
 */
static void
add_names(const struct builder *builder, size_t first, bool *reported, struct strbuf *names)
{
	const char *why = modules_at(builder->modules, (uint32_t)first)->why;
	size_t count = 0;

	for (size_t i = first; i < modules_count(builder->modules); i++) {
		const struct module *module = modules_at(builder->modules, (uint32_t)i);

		if (reported[i] || module->why != why)
			continue;
		reported[i] = true;
		if (count++ < NAMED_MOST) {
			strbuf_add_format(names, "%s%s", count > 1 ? ", " : "", module->path);
		}
	}
	if (count > NAMED_MOST)
		strbuf_add_format(names, " and %zu more", count - NAMED_MOST);
}

static void
say_missing(const struct builder *builder, const struct log *log)
{
	const size_t count = modules_count(builder->modules);
	bool *reported = xcalloc(count + 1, sizeof(*reported));
	struct strbuf names = STRBUF_INIT;

	if (builder->too_many)
		log_say(log, LOG_NORMAL,
			"it has more files or mappings of code than are looked at");
	memset(reported, true, count);
	for (size_t i = 0; i < builder->count; i++)
		reported[builder->mapping[i].module] = false;
	for (size_t i = 0; i < count; i++) {
		const struct module *module = modules_at(builder->modules, (uint32_t)i);

		if (module->kind != MODULE_OTHER || module->path[0] == '[')
			reported[i] = true;
	}
	for (size_t i = 0; i < count; i++) {
		if (reported[i])
			continue;
		strbuf_clear(&names);
		add_names(builder, i, reported, &names);
		log_say(log, LOG_NORMAL, "not used: %s: %s", names.data,
			modules_at(builder->modules, (uint32_t)i)->why);
	}
	strbuf_release(&names);
	free(reported);
}

struct maps *
core_maps(const struct core *core, struct modules *modules, const struct core_files *files,
	  const struct log *log)
{
	struct builder builder = {
		.core = core,
		.modules = modules,
		.files = files,
		.anonymous = MODULE_NONE,
		.head = xmalloc(HEAD_SIZE),
	};
	struct maps *maps;

	list_files(&builder);
	for (size_t i = 0; i < core->ranges.count; i++)
		core_add_range(&builder, &core->ranges.span[i]);
	for (size_t i = 0; i < core->segments.count; i++)
		add_segment(&builder, &core->segments.span[i]);
	if (builder.count > 1)
		qsort(builder.mapping, builder.count, sizeof(*builder.mapping), compare_mappings);
	say_missing(&builder, log);
	maps = maps_create_fixed(core->process, modules, builder.mapping, builder.count);
	for (size_t i = 0; i < strings_count(core->paths); i++)
		image_free(builder.file[i].image);
	free(builder.file);
	free(builder.head);
	free(builder.mapping);
	return maps;
}
