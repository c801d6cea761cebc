/* SPDX-License-Identifier: MIT */
/*
 * perf_data_places.c - the addresses in a perf.data file, and the records that describe them.
 *
 * Addresses are made up. A module is mapped at the same addresses in all processes. Its code has
 * the address of the ELF file plus a base; readers convert it to an offset in the file, as for any
 * mapping, and read names, inlined functions and lines from the file. What no file explains has
 * an address of its own for each name. With PERF_DATA_NAMES_SYMBOLS the address is of the kernel,
 * where PERF_RECORD_KSYMBOL names it: the kernel announces code of BPF programs by that record, so
 * that perf needs no file for it.
 */
#include "format/perf_data_internal.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/table.h"
#include "wallsample/process/module.h"

#define PAGE UINT64_C(4096)

/* Largest length of a path: PATH_MAX, 4096, of perf, with its zero. */
#define PATH_MOST 4095
/* Size of the largest build-id in a record. */
#define BUILD_ID_MOST 20

/* Where modules are mapped: from BASE_LEAST on, except programs that are linked to fixed addresses.
 * A module whose addresses go beyond MODULE_MOST is not mapped. */
#define BASE_LEAST (UINT64_C(1) << 40)
#define BASE_MOST (UINT64_C(1) << 46)
#define MODULE_MOST BASE_LEAST
#define BASE_UNKNOWN 1
/*
 * Addresses of names. SYMBOL_BASE is below the lowest symbol of x86-64 in /proc/kallsyms, 4096:
 * Hotspot searches there, and finds no symbol for the first 3,840 names.
 */
#define SYMBOL_BASE 256
#define NAMED_MODULE_BASE (UINT64_C(3) << 45)
#define NAMED_MODULE_STEP PAGE
/* Where the code of the kernel would be, of which there are no samples. */
#define KERNEL_TEXT UINT64_C(0xffffffffff000000)
/* What Hotspot shows for all names of PERF_DATA_NAMES_SYMBOLS. */
#define NO_FILE "frames without an ELF file"

/* What a function of the view is in a call chain. */
struct place {
	enum { PLACE_UNKNOWN, PLACE_CODE, PLACE_NAME } kind;
	uint32_t name;    /* PLACE_NAME: id in places->texts */
	uint32_t module;  /* PLACE_CODE: id of its module */
	uint64_t address; /* PLACE_CODE: address in the file */
};

struct perf_data_places {
	const struct export_input *input;
	enum perf_data_names names;
	struct strings *texts; /* names of frames */
	struct place *place;   /* by function of the view */
	uint64_t *base;        /* by module: added to its addresses, or BASE_UNKNOWN */
	uint64_t next_base;    /* of the next module */
	struct table mapped;   /* (process id, module) that was written */
	struct table named;    /* (process id or 0, text) that was written */
	struct strbuf scratch; /* text */
};

/* --- names ------------------------------------------------------------------------------------ */

/*
 * Prepares a name that readers take for the name of a file. Hotspot does not show a name in
 * brackets, and of other names it shows only what follows the last slash.
 */
static void
disguise(struct strbuf *text, const char *name)
{
	const size_t length = strlen(name);
	const bool bracketed = name[0] == '[' && name[length - 1] == ']';

	for (size_t i = bracketed; i < length - bracketed; i++) {
		if (name[i] == '/')
			strbuf_add_text(text, "\xe2\x88\x95"); /* DIVISION SLASH */
		else
			strbuf_add(text, name + i, 1);
	}
}

static uint32_t
intern_name(struct perf_data_places *places, const struct view_function *function)
{
	struct strbuf *text = &places->scratch;

	strbuf_clear(text);
	strbuf_add_ordered_line(text, function->label[0] != '\0' ? function->label : "[unknown]");
	if (function->needs_module && function->place[0] != '\0') {
		strbuf_add_text(text, " (");
		strbuf_add_ordered_line(text, function->place);
		strbuf_add_text(text, ")");
	}
	perf_data_cut_name(text);
	return strings_intern(places->texts, text->data);
}

/* --- places ----------------------------------------------------------------------------------- */

/* Returns true if the file has code at this address. */
static bool
has_code(const struct image *image, uint64_t address)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		if (segment->executable && address >= segment->vaddr &&
		    address - segment->vaddr < segment->mem_size)
			return true;
	}
	return false;
}

static bool
is_printable(const char *path)
{
	for (; *path != '\0'; path++)
		if ((unsigned char)*path < ' ' || *path == '\x7f')
			return false;
	return true;
}

/* True for a module whose file readers can open, as far as can be known here. */
static bool
has_file(const struct module *module)
{
	return module->kind == MODULE_FILE && module->image != NULL && !module->deleted &&
	       module->path[0] == '/' && strlen(module->path) <= PATH_MOST &&
	       is_printable(module->path) && module->image->low < module->image->high &&
	       module->image->high <= MODULE_MOST;
}

/* Chooses where the module is mapped. Returns false if no address is left for it. */
static bool
place_module(struct perf_data_places *places, const struct module *module)
{
	const uint64_t size = (module->image->high + PAGE) / PAGE * PAGE;

	if (places->base[module->id] != BASE_UNKNOWN)
		return true;
	/* Hotspot finds the code of a program that is linked to fixed addresses only at those
	 * addresses. The addresses of two such programs may overlap. This matters only in a process
	 * that has executed both: there one of them may hide the other. */
	if (module->image->fixed_address) {
		places->base[module->id] = 0;
		return true;
	}
	if (places->next_base + size > BASE_MOST)
		return false;
	places->base[module->id] = places->next_base;
	places->next_base += size;
	return true;
}

/* Returns true and stores the place if the function is code that readers find in a file. */
static bool
find_code(struct perf_data_places *places, const struct view_function *function,
	  struct place *place)
{
	const struct modules *modules = places->input->modules;
	const struct module *module;

	if (modules == NULL || function->module_id >= modules_count(modules) ||
	    function->frame == FRAME_NONE)
		return false;
	module = modules_at(modules, function->module_id);
	*place = (struct place){
		.kind = PLACE_CODE,
		.module = module->id,
		.address = profile_frame(view_profile(places->input->view), function->frame)
				   ->address,
	};
	return has_file(module) && has_code(module->image, place->address) &&
	       place_module(places, module);
}

static const struct place *
place_of(struct perf_data_places *places, uint32_t id)
{
	const struct view_function *function = view_function(places->input->view, id);
	struct place *place = &places->place[id];

	if (place->kind == PLACE_UNKNOWN && !find_code(places, function, place))
		*place = (struct place){ .kind = PLACE_NAME,
					 .name = intern_name(places, function) };
	return place;
}

/* --- records ---------------------------------------------------------------------------------- */

/* A mapping of a process, or of the kernel with the process id -1 as in a perf.data of perf. */
struct map {
	uint32_t pid;
	uint16_t misc; /* PERF_RECORD_MISC_USER or PERF_RECORD_MISC_KERNEL */
	uint64_t start, size, offset;
	const char *path;
};

/* Writes PERF_RECORD_MMAP. */
static void
write_map(struct perf_data_stream *stream, const struct perf_data_origin *origin,
	  const struct map *map)
{
	struct strbuf *record = perf_data_begin(stream, PERF_RECORD_MMAP, map->misc);

	perf_data_put(record, map->pid, 4);
	perf_data_put(record, map->pid, 4);
	perf_data_put(record, map->start, 8);
	perf_data_put(record, map->size, 8);
	perf_data_put(record, map->offset, 8);
	strbuf_add_text(record, map->path);
	perf_data_end_text(stream, origin);
}

/* Writes PERF_RECORD_MMAP2 for a segment of a module. */
static void
write_segment(struct perf_data_places *places, struct perf_data_stream *stream,
	      const struct perf_data_origin *origin, const struct module *module,
	      const struct image_segment *segment)
{
	const struct image *image = module->image;
	const size_t id_size = image->build_id_size <= BUILD_ID_MOST ? image->build_id_size : 0;
	const uint64_t lead = segment->vaddr % PAGE;
	struct strbuf *record = perf_data_begin(stream, PERF_RECORD_MMAP2,
						PERF_RECORD_MISC_USER |
							(id_size > 0 ?
								 PERF_RECORD_MISC_MMAP_BUILD_ID :
								 0));

	perf_data_put(record, origin->pid, 4);
	perf_data_put(record, origin->pid, 4);
	perf_data_put(record, places->base[module->id] + segment->vaddr - lead, 8);
	perf_data_put(record, (lead + segment->mem_size + PAGE - 1) / PAGE * PAGE, 8);
	perf_data_put(record, segment->offset > lead ? segment->offset - lead : 0, 8);
	/* With a build-id: its size, 3 reserved bytes, 20 bytes; else a device and an inode that
	 * are not known. */
	perf_data_put(record, id_size, 4);
	strbuf_add(record, (const char *)image->build_id, id_size);
	for (size_t i = id_size; i < BUILD_ID_MOST; i++)
		strbuf_add(record, "", 1);
	perf_data_put(record, 1 | 4, 4); /* PROT_READ | PROT_EXEC of asm-generic/mman-common.h */
	perf_data_put(record, 2, 4);     /* MAP_PRIVATE of linux/mman.h */
	strbuf_add_text(record, module->path);
	perf_data_end_text(stream, origin);
}

static void
map_module(struct perf_data_places *places, struct perf_data_stream *stream,
	   const struct perf_data_origin *origin, uint32_t id)
{
	const struct module *module = modules_at(places->input->modules, id);
	bool added;

	table_insert(&places->mapped, origin->pid, id, 0, &added);
	for (size_t i = 0; added && i < module->image->segment_count; i++)
		if (module->image->segment[i].executable && module->image->segment[i].mem_size > 0)
			write_segment(places, stream, origin, module, &module->image->segment[i]);
}

/* Writes PERF_RECORD_KSYMBOL. */
static void
write_symbol(struct perf_data_stream *stream, const struct perf_data_origin *origin,
	     uint64_t address, const char *name)
{
	struct strbuf *record = perf_data_begin(stream, PERF_RECORD_KSYMBOL,
						PERF_RECORD_MISC_KERNEL);

	perf_data_put(record, address, 8);
	perf_data_put(record, 1, 4); /* size */
	perf_data_put(record, PERF_RECORD_KSYMBOL_TYPE_UNKNOWN, 2);
	perf_data_put(record, 0, 2); /* flags: the symbol is added */
	strbuf_add_text(record, name);
	perf_data_end_text(stream, origin);
}

/* Returns the address of a name, and writes a record for it unless the stream has one. */
static uint64_t
map_name(struct perf_data_places *places, struct perf_data_stream *stream,
	 const struct perf_data_origin *origin, uint32_t text)
{
	const bool symbols = places->names == PERF_DATA_NAMES_SYMBOLS;
	const uint64_t address = symbols ? SYMBOL_BASE + (uint64_t)text :
					   NAMED_MODULE_BASE + text * NAMED_MODULE_STEP;
	const char *name = strings_text(places->texts, text);
	bool added;

	table_insert(&places->named, symbols ? 0 : origin->pid, text, 0, &added);
	if (!added)
		return address;
	if (symbols) {
		write_symbol(stream, origin, address, name);
		return address;
	}
	strbuf_clear(&places->scratch);
	disguise(&places->scratch, name);
	write_map(stream, origin,
		  &(struct map){ .pid = origin->pid,
				 .misc = PERF_RECORD_MISC_USER,
				 .start = address,
				 .size = NAMED_MODULE_STEP,
				 .path = places->scratch.data });
	return address;
}

/*
 * Writes two mappings. The first one, of the kernel, is for perf: without it perf takes the symbols
 * of the running kernel, or, if it may not read them, one symbol for all addresses. The second one,
 * in user space, gives Hotspot a name for the addresses of all names.
 */
static void
write_kernel(struct perf_data_stream *stream)
{
	const struct perf_data_origin origin = { UINT32_MAX, 0, 0 };

	write_map(stream, &origin,
		  &(struct map){ .pid = UINT32_MAX,
				 .misc = PERF_RECORD_MISC_KERNEL,
				 .start = KERNEL_TEXT,
				 .size = PAGE,
				 .path = "[kernel.kallsyms]_text" });
	write_map(stream, &origin,
		  &(struct map){ .pid = UINT32_MAX,
				 .misc = PERF_RECORD_MISC_USER,
				 .start = SYMBOL_BASE,
				 .size = UINT32_MAX,
				 .path = NO_FILE });
}

/* --- the interface ---------------------------------------------------------------------------- */

struct perf_data_places *
perf_data_places_create(const struct export_input *input, enum perf_data_names names)
{
	const size_t modules = input->modules != NULL ? modules_count(input->modules) : 0;
	struct perf_data_places *places = xcalloc(1, sizeof(*places));

	places->input = input;
	places->names = names;
	places->texts = strings_create();
	places->place = xcalloc(view_function_count(input->view) + 1, sizeof(*places->place));
	places->base = xcalloc(modules + 1, sizeof(*places->base));
	for (size_t i = 0; i < modules; i++)
		places->base[i] = BASE_UNKNOWN;
	places->next_base = BASE_LEAST;
	return places;
}

void
perf_data_places_free(struct perf_data_places *places)
{
	table_release(&places->mapped);
	table_release(&places->named);
	strbuf_release(&places->scratch);
	strings_free(places->texts);
	free(places->place);
	free(places->base);
	free(places);
}

void
perf_data_places_restart(struct perf_data_places *places, struct perf_data_stream *stream)
{
	table_clear(&places->mapped);
	table_clear(&places->named);
	if (places->names == PERF_DATA_NAMES_SYMBOLS)
		write_kernel(stream);
}

bool
perf_data_shares_address(struct perf_data_places *places, const struct timeline_slice *slice,
			 size_t at)
{
	const struct view *view = places->input->view;
	const struct view_function *function = view_function(view, slice->function[at]);

	return function->inlined && at + 1 < slice->depth &&
	       view_function(view, slice->function[at + 1])->frame == function->frame &&
	       place_of(places, slice->function[at])->kind == PLACE_CODE;
}

static struct perf_data_address
address_of_name(struct perf_data_places *places, struct perf_data_stream *stream,
		const struct perf_data_origin *origin, uint32_t text)
{
	return (struct perf_data_address){
		.context = places->names == PERF_DATA_NAMES_SYMBOLS ? PERF_CONTEXT_KERNEL :
								      PERF_CONTEXT_USER,
		.address = map_name(places, stream, origin, text),
	};
}

struct perf_data_address
perf_data_address_of(struct perf_data_places *places, struct perf_data_stream *stream,
		     const struct perf_data_origin *origin, uint32_t function)
{
	const struct place *place = place_of(places, function);

	if (place->kind == PLACE_NAME)
		return address_of_name(places, stream, origin, place->name);
	map_module(places, stream, origin, place->module);
	return (struct perf_data_address){
		.context = PERF_CONTEXT_USER,
		.address = places->base[place->module] + place->address,
	};
}

struct perf_data_address
perf_data_address_of_text(struct perf_data_places *places, struct perf_data_stream *stream,
			  const struct perf_data_origin *origin, const char *text)
{
	return address_of_name(places, stream, origin, strings_intern(places->texts, text));
}
