/* SPDX-License-Identifier: MIT */
/*
 * progress_line.c - finds the address in a target's code that represents a source line.
 *
 * The compiler may generate several pieces of code for a line: the beginning and the end of a loop,
 * or copies in functions that another function was inlined into. In one function (or one inlined
 * copy) the first piece represents the line. A line with code in several functions or copies is
 * refused, because each of them has only a part of the line's executions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/symbol/symbol_lookup.h"

/* Largest number of functions or inlined copies with code of the line that an error message
 * lists. */
#define COPIES_LISTED 4

struct line_finder {
	struct symbols *symbols;
	const struct progress_source *source;
	const struct progress_image *image; /* the image that has the line; NULL: no image has it */
	struct symbol_line line;
	/* For each function or inlined copy with code of the line: the first address of this code,
	 * and a description of the function (owned). */
	uint64_t copy[SYMBOL_LINE_MOST];
	char *where[SYMBOL_LINE_MOST];
	size_t copies;
};

/* Describes the function that contains the code, and the functions inlined there with the lines of
 * their calls: "looping:37 > copied". */
static char *
describe(struct line_finder *finder, uint64_t vaddr)
{
	struct symbol_place place = { .module = finder->image->module->id, .vaddr = vaddr };
	struct symbol chain[SYMBOL_CHAIN_MAX];
	size_t count = symbols_find(finder->symbols, &place, chain, SYMBOL_CHAIN_MAX);
	struct strbuf text = STRBUF_INIT;

	while (count-- > 0) {
		strbuf_add_escaped(&text, chain[count].function);
		if (count > 0)
			strbuf_add_format(&text, ":%" PRIu32 " > ", chain[count].line);
	}
	return text.data;
}

/* Compares two results of describe(). True when `inner` is the same function as `outer`, or inlined
 * into it. */
static bool
is_within(const char *inner, const char *outer)
{
	const size_t length = strlen(outer);

	return strncmp(inner, outer, length) == 0 &&
	       (inner[length] == '\0' || inner[length] == ':');
}

/*
 * Adds a piece of the line's code, unless it is in the same function or inlined copy as a piece
 * added before. If a piece begins with code of a function that was inlined into the line,
 * describe() names that function, too: then the piece belongs to the function around the inlined
 * code.
 */
static void
add_copy(struct line_finder *finder, uint64_t vaddr)
{
	char *where = describe(finder, vaddr);

	for (size_t i = 0; i < finder->copies; i++) {
		char **known = &finder->where[i];

		if (is_within(where, *known)) {
			free(where);
			return;
		}
		if (is_within(*known, where)) {
			free(*known);
			*known = where;
			return;
		}
	}
	finder->copy[finder->copies] = vaddr;
	finder->where[finder->copies++] = where;
}

static int
line_refuse_missing(const struct line_finder *finder, struct error *err)
{
	const struct progress_source *source = finder->source;
	const struct symbol_line *line = &finder->line;
	char near[64];

	if (!line->lines_known)
		return error_set(err, ERROR_USAGE,
				 "--progress %s: nothing is known of the lines of the program's "
				 "code: it has to be compiled with -g, or its debug files be there "
				 "(--debug-dir, --debuginfod)",
				 source->text);
	if (!line->file_known)
		return error_set(err, ERROR_USAGE,
				 "--progress %s: no code of a file %s is known; a file is named by "
				 "the end of its path: server.c or net/server.c",
				 source->text, source->name);
	if (line->before != 0 && line->after != 0)
		snprintf(near, sizeof(near), "lines %" PRIu32 " and %" PRIu32 " have", line->before,
			 line->after);
	else
		snprintf(near, sizeof(near), "line %" PRIu32 " has",
			 line->before != 0 ? line->before : line->after);
	return error_set(err, ERROR_USAGE,
			 "--progress %s: there is no code of its own in this line; %s",
			 source->text, near);
}

static int
refuse_copies(const struct line_finder *finder, struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int status;

	for (size_t i = 0; i < finder->copies && i < COPIES_LISTED; i++)
		strbuf_add_format(&text, "%s0x%" PRIx64 " in %s", i > 0 ? "; " : "",
				  finder->copy[i] + finder->image->bias, finder->where[i]);
	if (finder->copies > COPIES_LISTED)
		strbuf_add_text(&text, "; …");
	status = error_set(err, ERROR_USAGE,
			   "--progress %s: the compiler has made %zu copies of it, of which only "
			   "one could be counted: %s. A line of the caller may do, or a function "
			   "that is not inlined (func:)",
			   finder->source->text, finder->copies, text.data);
	strbuf_release(&text);
	return status;
}

static int
place_line(struct line_finder *finder, struct progress_place *out, struct error *err)
{
	struct strbuf note = STRBUF_INIT;

	if (finder->image == NULL)
		return line_refuse_missing(finder, err);
	for (size_t i = 0; i < finder->line.count; i++)
		add_copy(finder, finder->line.vaddr[i]);
	if (finder->copies > 1)
		return refuse_copies(finder, err);
	if (finder->line.count > 1)
		strbuf_add_format(&note, "the first of %zu pieces of this line's code, ",
				  finder->line.count);
	strbuf_add_format(&note, "in %s", finder->where[0]);
	*out = (struct progress_place){
		.address = finder->copy[0] + finder->image->bias,
		.module = finder->image->module->name,
		.note = note.data,
	};
	return 0;
}

int
progress_line_find(const struct progress_images *images, const struct progress_source *source,
		   struct progress_place *out, struct error *err)
{
	struct line_finder finder = { .symbols = images->symbols, .source = source };
	int status;

	/* The program itself is the first image. */
	for (size_t i = 0; i < images->count && finder.image == NULL; i++) {
		symbol_lookup_line(images->symbols, images->image[i].module, source->name,
				   (uint32_t)source->number, &finder.line);
		if (finder.line.count > 0)
			finder.image = &images->image[i];
	}
	status = place_line(&finder, out, err);
	for (size_t i = 0; i < finder.copies; i++)
		free(finder.where[i]);
	return status;
}
