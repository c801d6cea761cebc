/* SPDX-License-Identifier: MIT */
/*
 * progress_place.c - finds variables and functions of a target by name.
 */
#include "causal/progress_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/symbol/symbol_lookup.h"

/* Largest number of symbols of one name that are kept. More are not needed: two already make the
 * name ambiguous. */
#define FOUND_MOST 16
/* Largest number of symbols that an error message lists. */
#define LISTED_MOST 4
/* The inlined copies of a function are counted up to this number; messages then say "or more". */
#define INLINED_MOST 1000

/* --- images ------------------------------------------------------------------------ */

/* True when the module is the program itself. In process->exe the kernel appends " (deleted)" to
 * the path of a deleted file. */
static bool
is_program(const struct module *module, const struct process *process)
{
	const size_t length = strlen(module->path);
	const char *exe = process->exe;

	return length > 0 && strncmp(exe, module->path, length) == 0 &&
	       (exe[length] == '\0' || strcmp(exe + length, " (deleted)") == 0);
}

static bool
has_image(const struct progress_images *images, const struct mapping *mapping)
{
	for (size_t i = 0; i < images->count; i++)
		if (images->image[i].module->id == mapping->module &&
		    images->image[i].bias == mapping->bias)
			return true;
	return false;
}

static void
add_images(struct progress_images *images, const struct maps *maps, bool own)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct module *module = modules_at(maps_modules(maps), mapping->module);

		if (mapping->image == NULL || module->kind != MODULE_FILE ||
		    is_program(module, maps_process(maps)) != own || has_image(images, mapping))
			continue;
		images->image = xgrow(images->image, &images->capacity, images->count + 1,
				      sizeof(*images->image));
		images->image[images->count++] = (struct progress_image){ module, mapping->bias,
									  own };
	}
}

void
progress_images_init(struct progress_images *images, const struct maps *maps,
		     struct symbols *symbols)
{
	*images = (struct progress_images){ .symbols = symbols };
	add_images(images, maps, true);
	add_images(images, maps, false);
}

void
progress_images_release(struct progress_images *images)
{
	free(images->image);
}

/* True when the name of the module is `name`, or begins with `name` and then "." or "-": "libssl"
 * matches libssl.so.3. */
static bool
module_has_name(const struct module *module, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(module->name, name, length) == 0 &&
	       (module->name[length] == '\0' || module->name[length] == '.' ||
		module->name[length] == '-');
}

/* --- symbols by name ---------------------------------------------------------------- */

struct found {
	const struct progress_image *image;
	struct symbol_named named;
};

struct finder {
	const struct progress_images *images;
	const struct progress_source *source;
	const char *module; /* source->module if it is the name of a module; else NULL */
	const char *file;   /* source->module if it is the name of a source file; else NULL */
	struct found found[FOUND_MOST];
	size_t count;
	bool thread_local; /* a thread-local variable has the name */
	bool other;        /* a symbol of another kind has the name */
};

static void
search_image(struct finder *finder, const struct progress_image *image)
{
	const enum symbol_named_kind wanted = finder->source->kind == PROGRESS_FUNC ?
						      SYMBOL_NAMED_CODE :
						      SYMBOL_NAMED_DATA;
	struct symbol_named named[FOUND_MOST];
	size_t count = symbol_lookup(finder->images->symbols, image->module, finder->source->name,
				     finder->file, named, ARRAY_SIZE(named));

	for (size_t i = 0; i < count; i++) {
		if (named[i].kind == wanted) {
			if (finder->count < FOUND_MOST)
				finder->found[finder->count++] = (struct found){ image, named[i] };
		} else if (named[i].kind == SYMBOL_NAMED_THREAD_LOCAL) {
			finder->thread_local = true;
		} else {
			finder->other = true;
		}
	}
}

/* True when the user's spec names this image, or no image. */
static bool
is_searched(const struct finder *finder, const struct progress_image *image)
{
	return finder->module == NULL || module_has_name(image->module, finder->module);
}

/* Decides whether source->module names a module or, if no module has that name, a source file. */
static void
choose_module(struct finder *finder)
{
	const char *name = finder->source->module;

	if (name == NULL)
		return;
	for (size_t i = 0; i < finder->images->count; i++) {
		if (module_has_name(finder->images->image[i].module, name)) {
			finder->module = name;
			return;
		}
	}
	finder->file = name;
}

/* Searches the program for the name, and its libraries only when the program does not have it. */
static void
find_all(struct finder *finder)
{
	choose_module(finder);
	for (size_t i = 0; i < finder->images->count; i++) {
		const struct progress_image *image = &finder->images->image[i];

		if (!image->own && finder->count > 0 && finder->found[0].image->own)
			return;
		if (is_searched(finder, image))
			search_image(finder, image);
	}
}

/* --- refusals ----------------------------------------------------------------------- */

static void
add_similar(struct strbuf *out, const struct finder *finder)
{
	struct symbol_similar similar = { .count = 0 };
	const bool code = finder->source->kind == PROGRESS_FUNC;

	for (size_t i = 0; i < finder->images->count; i++) {
		const struct progress_image *image = &finder->images->image[i];

		/* Libraries have too many names: they are searched only if the spec names a
		 * module. */
		if ((image->own || finder->module != NULL) && is_searched(finder, image))
			symbol_lookup_similar(finder->images->symbols, image->module,
					      finder->source->name, code, &similar);
	}
	for (size_t i = 0; i < similar.count; i++) {
		strbuf_add_text(out, i == 0 ? "; similar: " : ", ");
		strbuf_add_escaped(out, similar.best[i].name);
	}
	symbol_similar_release(&similar);
}

static bool
any_symbols(const struct finder *finder)
{
	for (size_t i = 0; i < finder->images->count; i++)
		if (is_searched(finder, &finder->images->image[i]) &&
		    !symbols_module_is_bare(finder->images->symbols,
					    finder->images->image[i].module->id))
			return true;
	return false;
}

static void
explain_missing(struct strbuf *out, const struct finder *finder)
{
	const char *what = finder->source->kind == PROGRESS_FUNC ? "function" : "variable";

	strbuf_add_format(out, "no %s of this name in ", what);
	if (finder->module != NULL)
		strbuf_add_escaped(out, finder->module);
	else if (finder->images->count > 0)
		strbuf_add_escaped(out, finder->images->image[0].module->name);
	if (finder->module == NULL)
		strbuf_add_text(out, " and its libraries");
	if (finder->file != NULL)
		strbuf_add_format(out,
				  ", among those local to a source file (or of a module) "
				  "called %s",
				  finder->file);
	add_similar(out, finder);
	if (!any_symbols(finder))
		strbuf_add_text(out, ". It has no symbols at all: debug files (--debug-dir, "
				     "--debuginfod) may have them");
}

/* Returns the number of places at which the function was inlined, up to INLINED_MOST: those in the
 * image `only` or, if `only` is NULL, those in the first image that is_searched() accepts and that
 * has such places. */
static size_t
count_inlined(const struct finder *finder, const struct progress_image *only)
{
	uint64_t vaddr[INLINED_MOST];
	size_t count = 0;

	for (size_t i = 0; i < finder->images->count && count == 0; i++) {
		const struct progress_image *image = &finder->images->image[i];

		if (only == NULL ? is_searched(finder, image) : image->module == only->module)
			count = symbol_lookup_inlined(finder->images->symbols, image->module,
						      finder->source->name, vaddr,
						      ARRAY_SIZE(vaddr));
	}
	return count;
}

static void
add_count(struct strbuf *out, size_t count)
{
	if (count == 1)
		strbuf_add_text(out, "one place");
	else
		strbuf_add_format(out, "%zu%s places", count,
				  count == INLINED_MOST ? " or more" : "");
}

/* Explains that the function has only inlined copies; false: it has no inlined copies. */
static bool
explain_inlined(struct strbuf *out, const struct finder *finder)
{
	const size_t inlined = finder->source->kind == PROGRESS_FUNC && finder->file == NULL ?
				       count_inlined(finder, NULL) :
				       0;

	if (inlined == 0)
		return false;
	strbuf_add_text(out, "it has no code of its own, it was inlined in ");
	add_count(out, inlined);
	strbuf_add_text(out, ", and each of them would need a breakpoint; a line of its caller "
			     "(line:FILE:N) may do");
	return true;
}

static void
explain_none(struct strbuf *out, const struct finder *finder)
{
	const struct progress_source *source = finder->source;

	if (finder->thread_local)
		strbuf_add_text(out,
				"it is thread-local: each thread has its own, and none of "
				"them is a count of the program's; a global counter is needed");
	else if (finder->other && source->kind == PROGRESS_VAR)
		strbuf_add_format(out,
				  "it is a function, not a variable; with --intrusive, func:%s "
				  "counts how often it is called",
				  source->name);
	else if (finder->other)
		strbuf_add_format(out,
				  "it is no function that can be counted, but a variable or a "
				  "choice between functions that is made when the program starts; "
				  "var:%s reads a variable",
				  source->name);
	else if (!explain_inlined(out, finder))
		explain_missing(out, finder);
}

static void
explain_several(struct strbuf *out, const struct finder *finder)
{
	const struct progress_source *source = finder->source;
	const char *word = source->kind == PROGRESS_FUNC ? "func" : "var";

	strbuf_add_text(out, "there are several: ");
	for (size_t i = 0; i < finder->count && i < LISTED_MOST; i++) {
		const struct found *found = &finder->found[i];

		strbuf_add_format(out, "%s0x%" PRIx64 " in ", i > 0 ? ", " : "",
				  found->named.vaddr + found->image->bias);
		strbuf_add_escaped(out, found->image->module->name);
		if (found->named.file[0] != '\0') {
			strbuf_add_text(out, ", of ");
			strbuf_add_escaped(out, found->named.file);
		}
	}
	strbuf_add_format(out, "%s. Say which, as %s:MODULE:%s or %s:SOURCE.c:%s%s",
			  finder->count > LISTED_MOST ? ", …" : "", word, source->name, word,
			  source->name, source->kind == PROGRESS_VAR ? ", or by its address" : "");
}

/* Sets the error that explains why no symbol was found, or more than one. */
static int
place_refuse(const struct finder *finder, struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int status;

	if (finder->count == 0)
		explain_none(&text, finder);
	else
		explain_several(&text, finder);
	status = error_set(err, ERROR_USAGE, "--progress %s: %s", finder->source->text, text.data);
	strbuf_release(&text);
	return status;
}

/* --- the place that was found ---------------------------------------------------------- */

static bool
is_counter_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int
place_variable(const struct finder *finder, struct progress_place *out, struct error *err)
{
	const struct progress_source *source = finder->source;
	const uint64_t whole = finder->found[0].named.size, offset = source->number;

	if (source->size != 0)
		out->size = source->size;
	else if (offset == 0 && is_counter_size(whole))
		out->size = (unsigned)whole;
	else
		out->size = 8;
	if (whole != 0 && (offset > whole || out->size > whole - offset))
		return error_set(err, ERROR_USAGE,
				 "--progress %s: %u bytes at +%" PRIu64 " are not in it, it has "
				 "%" PRIu64 "; for example var:%s+0/%d",
				 source->text, out->size, offset, whole, source->name,
				 whole >= 8 ? 8 :
				 whole >= 4 ? 4 :
					      1);
	out->address += offset;
	return 0;
}

/* Adds a note that executions of inlined copies of the function are not counted. */
static void
note_inlined(const struct finder *finder, struct progress_place *out)
{
	const size_t inlined = count_inlined(finder, finder->found[0].image);
	struct strbuf note = STRBUF_INIT;

	if (inlined == 0)
		return;
	strbuf_add_text(&note, "it was also inlined in ");
	add_count(&note, inlined);
	strbuf_add_text(&note, ", where it is not counted");
	out->note = note.data;
}

static int
find_symbol(struct finder *finder, struct progress_place *out, struct error *err)
{
	const struct found *found = &finder->found[0];

	find_all(finder);
	if (finder->count != 1)
		return place_refuse(finder, err);
	*out = (struct progress_place){
		.address = found->named.vaddr + found->image->bias,
		.module = found->image->module->name,
	};
	if (finder->source->kind == PROGRESS_VAR)
		return place_variable(finder, out, err);
	note_inlined(finder, out);
	return 0;
}

int
progress_place_find(const struct progress_images *images, const struct progress_source *source,
		    struct progress_place *out, struct error *err)
{
	struct finder finder = { .images = images, .source = source };

	*out = (struct progress_place){ .module = "" };
	if (source->kind == PROGRESS_LINE)
		return progress_line_find(images, source, out, err);
	if (source->name != NULL)
		return find_symbol(&finder, out, err);
	out->address = source->number;
	out->size = source->size != 0 ? source->size : 8;
	return 0;
}
