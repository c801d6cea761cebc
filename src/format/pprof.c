/* SPDX-License-Identifier: MIT */
/*
 * pprof.c - writes gzipped protocol buffers in the format of `go tool pprof`.
 *
 * The profile is packed in pieces, each a message with some of its fields (see format_internal.h).
 * So the memory holds tables of texts, functions and locations, but no second copy of the samples.
 *
 * Addresses are those in the files, not those at which the target mapped the files: a mapping
 * starts at the address that the ELF file gives for its code.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pprof.pb-c.h"
#include "format/format_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/module.h"
#include "wallsample/base/table.h"

#define PAGE UINT64_C(4096)

/* Short names for the types that protoc-c generates. */
typedef Wallsample__Pprof__Profile pb_profile;
typedef Wallsample__Pprof__ValueType pb_value_type;
typedef Wallsample__Pprof__Sample pb_sample;
typedef Wallsample__Pprof__Label pb_label;
typedef Wallsample__Pprof__Mapping pb_mapping;
typedef Wallsample__Pprof__Location pb_location;
typedef Wallsample__Pprof__Line pb_line;
typedef Wallsample__Pprof__Function pb_function;

struct packing {
	const struct export_input *input;
	const struct view *view;
	struct pprof_stream *stream;
	struct parallelism_split *split;
	struct strings *texts;
	/* (index of the name in `texts`, index of the file in `texts`) -> id of the function */
	struct table functions;
	/* True for each location already written. Indices: frames of the profile; then functions
	 * of the view, for functions without a frame; then one for samples without a stack; then
	 * processes of the profile, and one for PROCESS_NONE. */
	bool *used;
	size_t frame_count, function_count, process_count;
	/* By id of the module, with what its locations have. memory_limit is 0 if there is none,
	 * else above the highest address of a location. */
	pb_mapping *mapping;
	size_t mapping_count;
};

/* --- texts --------------------------------------------------------------------------- */

static int64_t
text(struct packing *packing, const char *plain)
{
	return strings_intern(packing->texts, plain);
}

/* Escapes a text from outside the program, and returns its index in the string table. */
static int64_t
foreign_text(struct packing *packing, const char *foreign)
{
	return pprof_foreign_text(packing->texts, foreign);
}

/* Writes the string table. No text may be added to packing->texts after this call. */
static void
pack_texts(struct packing *packing)
{
	for (uint32_t i = 0; i < strings_count(packing->texts); i++) {
		char *entry = (char *)(uintptr_t)strings_text(packing->texts, i);
		pb_profile piece = WALLSAMPLE__PPROF__PROFILE__INIT;

		piece.n_string_table = 1;
		piece.string_table = &entry;
		pprof_stream_add(packing->stream, &piece.base);
	}
}

/* --- functions and locations ----------------------------------------------------------- */

/*
 * True for a mangled name, as with --no-demangle. Only such a name is also written as system_name:
 * pprof then demangles it. If any other name equals its system_name, pprof removes the text in its
 * brackets, which would merge functions.
 */
static bool
is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/*
 * Returns the id of a function, and writes the function at its first use. `linked`: the function
 * has a linker symbol, whose name may be mangled.
 */
static uint64_t
function_id(struct packing *packing, const char *name, const char *file, bool linked)
{
	const int64_t name_text = foreign_text(packing, name);
	const int64_t file_text = foreign_text(packing, file != NULL ? file : "");
	bool added;
	const uint32_t id = *table_insert(&packing->functions, (uint64_t)name_text,
					  (uint64_t)file_text,
					  (uint32_t)packing->functions.count + 1, &added);
	pb_function function = WALLSAMPLE__PPROF__FUNCTION__INIT;
	pb_function *one = &function;
	pb_profile piece = WALLSAMPLE__PPROF__PROFILE__INIT;

	if (!added)
		return id;
	function.id = id;
	function.name = name_text;
	if (linked && is_mangled(name))
		function.system_name = name_text;
	function.filename = file_text;
	piece.n_function = 1;
	piece.function = &one;
	pprof_stream_add(packing->stream, &piece.base);
	return id;
}

/* As function_id(). Code of a file without a symbol gets no name, and its text, such as
 * "libz.so.1.2.13+0x3320", in place of the source file: viewers shorten names at each '.', but not
 * the names of files, and take code without a name for code whose symbols are missing. */
static uint64_t
code_function_id(struct packing *packing, const struct view_function *function)
{
	const uint32_t module = function->module_id;
	const bool in_file = module < packing->mapping_count &&
			     modules_at(packing->input->modules, module)->path[0] == '/';

	if (!function->known && in_file)
		return function_id(packing, "", function->name, false);
	return function_id(packing, function->label, function->file, !function->script);
}

static void
note_mapping(struct packing *packing, const struct view_function *function, uint64_t address)
{
	pb_mapping *mapping = &packing->mapping[function->module_id];

	mapping->has_functions |= function->known;
	mapping->has_filenames |= function->file != NULL;
	mapping->has_line_numbers |= function->line > 0;
	mapping->has_inline_frames |= function->inlined;
	if (mapping->memory_limit <= address)
		mapping->memory_limit = address + 1;
}

static void
pack_location(struct packing *packing, pb_location *location)
{
	pb_profile piece = WALLSAMPLE__PPROF__PROFILE__INIT;

	piece.n_location = 1;
	piece.location = &location;
	pprof_stream_add(packing->stream, &piece.base);
}

/* Returns the id of the location of the frame `id`; writes the location at the frame's first use.
 * `functions`: those of the frame, innermost first. */
static uint64_t
frame_location_id(struct packing *packing, uint32_t id, const uint32_t *functions, size_t count)
{
	const struct profile_frame *frame = profile_frame(view_profile(packing->view), id);
	pb_location location = WALLSAMPLE__PPROF__LOCATION__INIT;
	pb_line line[SYMBOL_CHAIN_MAX], *lines[SYMBOL_CHAIN_MAX];

	if (packing->used[id])
		return (uint64_t)id + 1;
	packing->used[id] = true;
	for (size_t i = 0; i < count; i++) {
		const struct view_function *function = view_function(packing->view, functions[i]);

		line[i] = (pb_line)WALLSAMPLE__PPROF__LINE__INIT;
		line[i].function_id = code_function_id(packing, function);
		line[i].line = function->line;
		lines[i] = &line[i];
		if (frame->module < packing->mapping_count)
			note_mapping(packing, function, frame->address);
	}
	location.id = (uint64_t)id + 1;
	if (frame->module < packing->mapping_count)
		location.mapping_id = (uint64_t)frame->module + 1;
	if (frame->module != MODULE_NONE)
		location.address = frame->address;
	location.n_line = count;
	location.line = lines;
	pack_location(packing, &location);
	return location.id;
}

/* As frame_location_id(), for a function without a frame; `at`: its index in packing->used. */
static uint64_t
plain_location_id(struct packing *packing, size_t at, const char *name)
{
	pb_location location = WALLSAMPLE__PPROF__LOCATION__INIT;
	pb_line line = WALLSAMPLE__PPROF__LINE__INIT, *one = &line;

	location.id = at + 1;
	if (packing->used[at])
		return location.id;
	packing->used[at] = true;
	line.function_id = function_id(packing, name, NULL, false);
	location.n_line = 1;
	location.line = &one;
	pack_location(packing, &location);
	return location.id;
}

/* Returns the id of the location of the functions of a frame, or of a function without a frame. */
static uint64_t
location_id(struct packing *packing, const uint32_t *functions, size_t count)
{
	const uint32_t id = view_function(packing->view, functions[0])->frame;

	if (id == FRAME_NONE)
		return plain_location_id(packing, packing->frame_count + functions[0],
					 view_function(packing->view, functions[0])->name);
	return frame_location_id(packing, id, functions, count);
}

/* Returns the id of the location of the process of a thread, the outermost frame. */
static uint64_t
process_location_id(struct packing *packing, uint32_t thread)
{
	const struct profile *profile = view_profile(packing->view);
	const uint32_t process = process_of_record(profile, thread);
	const size_t at = process < packing->process_count ? process : packing->process_count;
	struct strbuf name = STRBUF_INIT;
	uint64_t id;

	strbuf_add_text(&name, "");
	process_add_label(profile, process, &name);
	id = plain_location_id(packing, packing->frame_count + packing->function_count + 1 + at,
			       name.data);
	strbuf_release(&name);
	return id;
}

/* Returns how many functions at the start of the array belong to the same frame. */
static size_t
frame_length(const struct view *view, const uint32_t *functions, size_t count)
{
	size_t length = 1;

	while (length < count && length < SYMBOL_CHAIN_MAX &&
	       view_function(view, functions[length - 1])->inlined)
		length++;
	return length;
}

/* --- samples ------------------------------------------------------------------------------ */

/* Makes the labels of a sample as messages. Returns their number. */
static size_t
make_labels(struct packing *packing, const struct view_row *row,
	    const struct parallelism_part *part, pb_label *label)
{
	struct pprof_label made[PPROF_LABELS_MOST];
	const size_t count = pprof_make_labels(packing->texts, packing->view, row, part, made);

	for (size_t i = 0; i < count; i++) {
		label[i] = (pb_label)WALLSAMPLE__PPROF__LABEL__INIT;
		label[i].key = made[i].key;
		label[i].str = made[i].text;
		label[i].num = made[i].number;
		label[i].num_unit = made[i].unit;
	}
	return count;
}

/* Writes a sample: the locations of `sample`; the values of `part`, or of `row` if it is NULL. */
static void
pack_sample(struct packing *packing, const struct view_row *row,
	    const struct parallelism_part *part, pb_sample *sample)
{
	pb_profile piece = WALLSAMPLE__PPROF__PROFILE__INIT;
	pb_label label[PPROF_LABELS_MOST], *labels[PPROF_LABELS_MOST];
	int64_t value[WEIGHT_COUNT];

	memcpy(value, part != NULL ? part->ns : row->ns, sizeof(value));
	sample->n_value = WEIGHT_COUNT;
	sample->value = value;
	sample->n_label = make_labels(packing, row, part, label);
	for (size_t i = 0; i < sample->n_label; i++)
		labels[i] = &label[i];
	sample->label = labels;
	piece.n_sample = 1;
	piece.sample = &sample;
	pprof_stream_add(packing->stream, &piece.base);
}

static void
pack_row(struct packing *packing, const struct view_row *row, uint64_t *locations)
{
	pb_sample sample = WALLSAMPLE__PPROF__SAMPLE__INIT;
	const struct parallelism_part *part;
	size_t length, parts;

	for (size_t at = 0; at < row->depth; at += length) {
		length = frame_length(packing->view, row->function + at, row->depth - at);
		locations[sample.n_location_id++] = location_id(packing, row->function + at,
								length);
	}
	if (row->depth == 0)
		locations[sample.n_location_id++] =
			plain_location_id(packing, packing->frame_count + packing->function_count,
					  "[no stack]");
	if (packing->input->by_process)
		locations[sample.n_location_id++] = process_location_id(packing, row->thread);
	sample.location_id = locations;
	part = parallelism_split_row(packing->split, row, &parts);
	if (parts == 0)
		pack_sample(packing, row, NULL, &sample);
	for (size_t i = 0; i < parts; i++)
		pack_sample(packing, row, &part[i], &sample);
}

static void
pack_rows(struct packing *packing)
{
	size_t deepest = 1;
	uint64_t *locations;

	for (size_t i = 0; i < view_row_count(packing->view); i++)
		if (view_row(packing->view, i)->depth > deepest)
			deepest = view_row(packing->view, i)->depth;
	locations = xcalloc(deepest + 1, sizeof(*locations)); /* the process may be added */
	for (size_t i = 0; i < view_row_count(packing->view); i++)
		pack_row(packing, view_row(packing->view, i), locations);
	free(locations);
}

/* --- mappings ------------------------------------------------------------------------------- */

/* Sets the range of the file's code: from the first to the last executable segment. */
static void
place_code(const struct image *image, pb_mapping *mapping)
{
	bool found = false;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];
		const uint64_t lead = segment->vaddr % PAGE;

		if (!segment->executable)
			continue;
		if (!found) {
			mapping->memory_start = segment->vaddr - lead;
			mapping->file_offset = segment->offset > lead ? segment->offset - lead : 0;
		}
		found = true;
		if (mapping->memory_limit < segment->vaddr + segment->mem_size)
			mapping->memory_limit = segment->vaddr + segment->mem_size;
	}
}

static void
pack_mapping(struct packing *packing, uint32_t id)
{
	const struct module *module = modules_at(packing->input->modules, id);
	pb_mapping *mapping = &packing->mapping[id];
	pb_profile piece = WALLSAMPLE__PPROF__PROFILE__INIT;

	mapping->base.descriptor = &wallsample__pprof__mapping__descriptor;
	mapping->id = (uint64_t)id + 1;
	if (module->image != NULL)
		place_code(module->image, mapping);
	mapping->memory_limit += mapping->memory_limit == 0; /* no location, no image */
	mapping->filename = foreign_text(packing,
					 module->path[0] == '/' ? module->path : module->name);
	mapping->build_id = text(packing, module->build_id);
	piece.n_mapping = 1;
	piece.mapping = &mapping;
	pprof_stream_add(packing->stream, &piece.base);
}

/*
 * Writes the mappings. Readers take the first mapping for the program: they show its name in
 * headings, and compare two profiles only if their first mappings have equal build-ids. The first
 * mapping is therefore that of the first module with a path, even if no sample is in that module.
 */
static void
pack_mappings(struct packing *packing)
{
	uint32_t program = 0;

	while (program < packing->mapping_count &&
	       modules_at(packing->input->modules, program)->path[0] != '/')
		program++;
	if (program < packing->mapping_count)
		pack_mapping(packing, program);
	for (uint32_t i = 0; i < packing->mapping_count; i++)
		if (i != program && packing->mapping[i].memory_limit > 0)
			pack_mapping(packing, i);
}

/* --- the profile --------------------------------------------------------------------- */

static size_t
make_comments(struct packing *packing, int64_t *comment)
{
	struct strbuf sb = STRBUF_INIT;
	size_t count = 0;

	comment[count++] = text(packing, "written by wallsample");
	strbuf_add_format(&sb, "process %jd: ", (intmax_t)packing->input->process->pid);
	strbuf_add_one_line(&sb, packing->input->process->cmdline);
	report_add_others(packing->input, &sb);
	comment[count++] = text(packing, sb.data);
	if (packing->input->filtered)
		comment[count++] = text(packing, "only samples that options selected");
	strbuf_release(&sb);
	return count;
}

static void
pack_head(struct packing *packing)
{
	const struct run_stats *stats = packing->input->stats;
	pb_profile piece = WALLSAMPLE__PPROF__PROFILE__INIT;
	pb_value_type type[WEIGHT_COUNT], *types[WEIGHT_COUNT];
	int64_t comment[3];

	for (int w = 0; w < WEIGHT_COUNT; w++) {
		type[w] = (pb_value_type)WALLSAMPLE__PPROF__VALUE_TYPE__INIT;
		type[w].type = text(packing, weight_word((enum weight)w));
		type[w].unit = text(packing, "nanoseconds");
		types[w] = &type[w];
	}
	piece.n_sample_type = WEIGHT_COUNT;
	piece.sample_type = types;
	piece.default_sample_type = text(packing, weight_word(packing->input->sort));
	piece.period_type = &type[WEIGHT_WALL];
	if (stats->rate_wanted > 0)
		piece.period = (int64_t)((double)NS_PER_SEC / stats->rate_wanted);
	piece.time_nanos = (int64_t)packing->input->began_ns;
	piece.duration_nanos = (int64_t)stats->elapsed_ns;
	piece.n_comment = make_comments(packing, comment);
	piece.comment = comment;
	pprof_stream_add(packing->stream, &piece.base);
}

static void
pack_profile(struct packing *packing)
{
	text(packing, ""); /* the format requires text 0 to be empty */
	pack_head(packing);
	pack_rows(packing);
	pack_mappings(packing);
	pack_texts(packing);
}

static void
pprof_write(const struct export_input *input, FILE *out)
{
	struct packing packing = {
		.input = input,
		.view = input->view,
		.stream = pprof_stream_create(out),
		.split = parallelism_split_create(input),
		.texts = strings_create(),
		.frame_count = profile_frame_count(view_profile(input->view)),
		.function_count = view_function_count(input->view),
		.process_count = profile_process_count(view_profile(input->view)),
		.mapping_count = input->modules != NULL ? modules_count(input->modules) : 0,
	};

	table_init(&packing.functions);
	packing.used = xcalloc(packing.frame_count + packing.function_count +
				       packing.process_count + 2,
			       sizeof(*packing.used));
	packing.mapping = xcalloc(packing.mapping_count + 1, sizeof(*packing.mapping));
	pack_profile(&packing);
	pprof_stream_free(packing.stream);
	parallelism_split_free(packing.split);
	free(packing.used);
	free(packing.mapping);
	table_release(&packing.functions);
	strings_free(packing.texts);
}

const struct exporter exporter_pprof = {
	.name = "pprof",
	.help = "for go tool pprof and other viewers of its files",
	.endings = "pb.gz,pprof",
	.noun = "profile",
	.options = EXPORT_SORT | EXPORT_PROCESSES,
	.binary = true,
	.time = EXPORT_TIME_TOO,
	.by_address = true,
	.write = pprof_write,
};
