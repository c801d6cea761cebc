/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.c - the tables that all threads share in a file for the Firefox Profiler: stacks,
 * frames, functions, resources (the origins of functions), source files, libraries and texts. They
 * are in memory until all threads are written: memory grows with the number of different stacks.
 */
#include "format/firefox_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/process/module.h"

/* The viewer stores addresses and nesting depths in arrays of these types. */
#define ADDRESS_MOST INT32_MAX
#define INLINE_DEPTH_MOST UINT8_MAX
/* Types of resources: enum ResourceType of the viewer. */
#define RESOURCE_UNKNOWN 0
#define RESOURCE_LIBRARY 1
/* A breakpad id has the first 16 bytes of the build-id, in hexadecimal digits. */
#define BREAKPAD_DIGITS 32

/* --- grids -------------------------------------------------------------------------------- */

static void
grid_init(struct firefox_grid *grid, const char *const *column)
{
	*grid = (struct firefox_grid){ .column = column };
	while (column[grid->width] != NULL)
		grid->width++;
}

static void
grid_add(struct firefox_grid *grid, const int64_t *row)
{
	grid->cell = xgrow(grid->cell, &grid->capacity, (grid->rows + 1) * grid->width,
			   sizeof(*grid->cell));
	memcpy(grid->cell + grid->rows++ * grid->width, row, grid->width * sizeof(*row));
}

static json_t *
cell_value(int64_t cell)
{
	if (cell == FIREFOX_NULL)
		return json_null();
	return cell == FIREFOX_FALSE ? json_false() : json_integer(cell);
}

static void
grid_put(const struct firefox_grid *grid, struct json_stream *json, const char *name)
{
	json_stream_begin_object(json, name);
	json_stream_put(json, "length", json_stream_number(grid->rows));
	for (size_t i = 0; i < grid->width; i++) {
		json_stream_begin_list(json, grid->column[i]);
		for (size_t row = 0; row < grid->rows; row++)
			json_stream_put(json, NULL, cell_value(grid->cell[row * grid->width + i]));
		json_stream_end(json);
	}
	json_stream_end(json);
}

/* --- life --------------------------------------------------------------------------------- */

void
firefox_tables_init(struct firefox_tables *tables, const struct export_input *input)
{
	static const char *const stacks[] = { "prefix", "frame", NULL };
	static const char *const frames[] = { "func",        "category",     "subcategory",
					      "address",     "line",         "column",
					      "inlineDepth", "nativeSymbol", "innerWindowID",
					      NULL };
	static const char *const functions[] = { "name",          "resource",
						 "source",        "lineNumber",
						 "columnNumber",  "isJS",
						 "relevantForJS", NULL };
	static const char *const resources[] = { "type", "name", "lib", "host", NULL };
	static const char *const sources[] = { "filename", "uuid", NULL };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize",
					       NULL };

	*tables = (struct firefox_tables){ .input = input, .texts = strings_create() };
	grid_init(&tables->stacks, stacks);
	grid_init(&tables->frames, frames);
	grid_init(&tables->functions, functions);
	grid_init(&tables->resources, resources);
	grid_init(&tables->sources, sources);
	grid_init(&tables->symbols, symbols);
}

void
firefox_tables_release(struct firefox_tables *tables)
{
	free(tables->stacks.cell);
	free(tables->frames.cell);
	free(tables->functions.cell);
	free(tables->resources.cell);
	free(tables->sources.cell);
	free(tables->symbols.cell);
	table_release(&tables->stack_rows);
	table_release(&tables->frame_rows);
	table_release(&tables->function_rows);
	table_release(&tables->resource_rows);
	table_release(&tables->source_rows);
	free(tables->libs);
	strings_free(tables->texts);
	strbuf_release(&tables->scratch);
}

/* --- texts, files, libraries -------------------------------------------------------------- */

uint32_t
firefox_text(struct firefox_tables *tables, const char *text)
{
	strbuf_clear(&tables->scratch);
	strbuf_add_one_line(&tables->scratch, text);
	return strings_intern(tables->texts, tables->scratch.data);
}

static int64_t
source_row(struct firefox_tables *tables, const char *file)
{
	const uint32_t name = firefox_text(tables, file);
	bool added;
	const uint32_t row = *table_insert(&tables->source_rows, name, 0,
					   (uint32_t)tables->sources.rows, &added);

	if (added)
		grid_add(&tables->sources, (const int64_t[]){ name, FIREFOX_NULL });
	return row;
}

/* Returns the module of a function; NULL for a function that is not in a file or the vdso. */
static const struct module *
library_of(const struct firefox_tables *tables, const struct view_function *function)
{
	const struct modules *modules = tables->input->modules;
	const struct module *module;

	if (modules == NULL || function->module_id >= modules_count(modules))
		return NULL;
	module = modules_at(modules, function->module_id);
	return module->kind == MODULE_ANONYMOUS || module->kind == MODULE_JIT ? NULL : module;
}

static int64_t
resource_row(struct firefox_tables *tables, const struct view_function *function)
{
	const struct module *library = library_of(tables, function);
	int64_t lib = FIREFOX_NULL;
	uint32_t name, row;
	bool added;

	if (function->script || function->module_id == MODULE_NONE)
		return -1;
	name = firefox_text(tables, function->module);
	row = *table_insert(&tables->resource_rows, name,
			    library != NULL ? (uint64_t)library->id + 1 : 0,
			    (uint32_t)tables->resources.rows, &added);
	if (!added)
		return row;
	if (library != NULL) {
		tables->libs = xgrow(tables->libs, &tables->lib_capacity, tables->lib_count + 1,
				     sizeof(*tables->libs));
		tables->libs[tables->lib_count] = library->id;
		lib = (int64_t)tables->lib_count++;
	}
	grid_add(&tables->resources,
		 (const int64_t[]){ library != NULL ? RESOURCE_LIBRARY : RESOURCE_UNKNOWN, name,
				    lib, FIREFOX_NULL });
	return row;
}

/*
 * Returns the breakpad id of a build-id: its first 16 bytes as a UUID, of which the first three
 * fields are little-endian, and the digit 0. "" if the build-id is not known.
 */
static const char *
breakpad_id(struct firefox_tables *tables, const char *build_id)
{
	static const unsigned char byte[] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
	};
	const size_t length = strlen(build_id);

	strbuf_clear(&tables->scratch);
	if (length == 0)
		return "";
	for (size_t i = 0; i < BREAKPAD_DIGITS; i++) {
		const size_t at = 2 * (size_t)byte[i / 2] + i % 2;
		const char digit = at < length ? build_id[at] : '0';

		strbuf_add_format(&tables->scratch, "%c", toupper((unsigned char)digit));
	}
	strbuf_add_text(&tables->scratch, "0");
	return tables->scratch.data;
}

static void
put_lib(struct firefox_tables *tables, struct json_stream *json, uint32_t id)
{
	const struct module *module = modules_at(tables->input->modules, id);
	const char *machine = tables->input->recording_count > 0 ?
				      recording_info(tables->input->recordings[0])->machine :
				      "";
	json_t *lib = json_pack("{s:o, s:o, s:o}", "arch", json_stream_text(json, machine), "name",
				json_stream_text(json, module->name), "path",
				json_stream_text(json, module->path));

	json_object_set_new(lib, "debugName", json_stream_text(json, module->name));
	json_object_set_new(lib, "debugPath", json_stream_text(json, module->path));
	json_object_set_new(lib, "breakpadId", json_string(breakpad_id(tables, module->build_id)));
	json_object_set_new(lib, "codeId",
			    module->build_id[0] != '\0' ? json_string(module->build_id) :
							  json_null());
	json_stream_put(json, NULL, lib);
}

/* --- functions, frames, stacks ------------------------------------------------------------ */

static int64_t
function_row(struct firefox_tables *tables, const char *name, int64_t resource, int64_t source)
{
	const uint32_t text = firefox_text(tables, name);
	const uint64_t place = (uint64_t)(resource + 1) << 32 | (uint32_t)(source + 1);
	bool added;
	const uint32_t row = *table_insert(&tables->function_rows, text, place,
					   (uint32_t)tables->functions.rows, &added);

	if (added)
		grid_add(&tables->functions,
			 (const int64_t[]){ text, resource, source < 0 ? FIREFOX_NULL : source,
					    FIREFOX_NULL, FIREFOX_NULL, FIREFOX_FALSE,
					    FIREFOX_FALSE });
	return row;
}

/* Returns the address of a frame in its library; -1 if the frame has none, or one that the viewer
 * cannot store. */
static int64_t
address_of(const struct firefox_tables *tables, const struct view_function *function)
{
	uint64_t address;

	if (function->frame == FRAME_NONE || library_of(tables, function) == NULL)
		return -1;
	address = profile_frame(view_profile(tables->input->view), function->frame)->address;
	return address <= ADDRESS_MOST ? (int64_t)address : -1;
}

/* Returns the key of a frame's category and subcategory. */
static uint64_t
doing_key(struct firefox_doing doing)
{
	return (uint64_t)doing.category << 32 | doing.subcategory;
}

/* Returns the row of a frame with a function of the view; `inlined`: the depth of inlining. */
static uint32_t
frame_row(struct firefox_tables *tables, uint32_t id, struct firefox_doing doing, size_t inlined)
{
	const struct view_function *function = view_function(tables->input->view, id);
	bool added;
	const uint32_t row = *table_insert(&tables->frame_rows, id, doing_key(doing),
					   (uint32_t)tables->frames.rows, &added);
	int64_t source = -1;

	if (!added)
		return row;
	if (function->file != NULL)
		source = source_row(tables, function->file);
	grid_add(&tables->frames,
		 (const int64_t[]){
			 function_row(tables, function->label, resource_row(tables, function),
				      source),
			 doing.category, doing.subcategory, address_of(tables, function),
			 function->line > 0 ? (int64_t)function->line : FIREFOX_NULL, FIREFOX_NULL,
			 inlined < INLINE_DEPTH_MOST ? (int64_t)inlined : INLINE_DEPTH_MOST,
			 FIREFOX_NULL, 0 });
	return row;
}

/* Returns the row of a frame without code, "[no data]". `which` distinguishes its key from those of
 * the functions of the view. */
static uint32_t
plain_frame_row(struct firefox_tables *tables, size_t which, const char *name,
		struct firefox_doing doing)
{
	const size_t id = view_function_count(tables->input->view) + which;
	bool added;
	const uint32_t row = *table_insert(&tables->frame_rows, id, doing_key(doing),
					   (uint32_t)tables->frames.rows, &added);

	if (added)
		grid_add(&tables->frames,
			 (const int64_t[]){ function_row(tables, name, -1, -1), doing.category,
					    doing.subcategory, -1, FIREFOX_NULL, FIREFOX_NULL, 0,
					    FIREFOX_NULL, 0 });
	return row;
}

/* Returns the row of the stack whose innermost frame is `frame`, and whose callers are the stack of
 * row `caller` - 1. `caller` is 0 for the outermost frame. */
static uint32_t
stack_row(struct firefox_tables *tables, uint32_t caller, uint32_t frame)
{
	bool added;
	const uint32_t row = *table_insert(&tables->stack_rows, caller, frame,
					   (uint32_t)tables->stacks.rows, &added);

	if (added)
		grid_add(&tables->stacks,
			 (const int64_t[]){ caller > 0 ? (int64_t)caller - 1 : FIREFOX_NULL,
					    frame });
	return row;
}

uint32_t
firefox_stack(struct firefox_tables *tables, const struct timeline_slice *slice,
	      struct firefox_doing doing)
{
	const struct firefox_doing outer = { .category = doing.category };
	uint32_t caller = 0;
	size_t inlined = 0;

	if (slice->depth == 0)
		return stack_row(tables, 0, plain_frame_row(tables, 0, "[no stack]", doing));
	for (size_t i = slice->depth; i-- > 0;) {
		const uint32_t id = slice->function[i];

		inlined = view_function(tables->input->view, id)->inlined ? inlined + 1 : 0;
		caller = 1 + stack_row(tables, caller,
				       frame_row(tables, id, i == 0 ? doing : outer, inlined));
	}
	return caller - 1;
}

uint32_t
firefox_stack_without_data(struct firefox_tables *tables)
{
	const struct firefox_doing idle = { .category = FIREFOX_IDLE };

	return stack_row(tables, 0, plain_frame_row(tables, 1, "[no data]", idle));
}

/* --- the output --------------------------------------------------------------------------- */

/* The texts are escaped already: they have printable characters only. */
static void
put_texts(const struct firefox_tables *tables, struct json_stream *json)
{
	json_stream_begin_list(json, "stringArray");
	for (uint32_t i = 0; i < strings_count(tables->texts); i++)
		json_stream_put(json, NULL, json_string(strings_text(tables->texts, i)));
	json_stream_end(json);
}

void
firefox_put_tables(struct firefox_tables *tables, struct json_stream *json)
{
	json_stream_begin_list(json, "libs");
	for (size_t i = 0; i < tables->lib_count; i++)
		put_lib(tables, json, tables->libs[i]);
	json_stream_end(json);
	json_stream_begin_object(json, "shared");
	grid_put(&tables->stacks, json, "stackTable");
	grid_put(&tables->frames, json, "frameTable");
	grid_put(&tables->functions, json, "funcTable");
	grid_put(&tables->resources, json, "resourceTable");
	grid_put(&tables->symbols, json, "nativeSymbols");
	grid_put(&tables->sources, json, "sources");
	put_texts(tables, json);
	json_stream_end(json);
}
