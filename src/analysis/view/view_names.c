/* SPDX-License-Identifier: MIT */
/*
 * view_names.c - resolves each frame of a profile to symbols, and makes the list of functions of
 * the view from the symbols.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"
#include "wallsample/process/module.h"

static struct symbol
script_symbol(struct naming *naming, const struct profile_frame *frame)
{
	struct strings *texts = naming->view->texts;
	const char *file = profile_text(naming->view->profile, frame->file);
	const bool known = file[0] != '\0';

	return (struct symbol){
		.function = profile_text(naming->view->profile, (uint32_t)frame->address),
		/* See name_script_modules(). Not the "" of a named frame, which has another
		 * pointer. */
		.module = strings_text(texts, strings_intern(texts, "")),
		.file = known ? file : NULL,
		.line = known ? frame->line : 0,
		.known = true,
	};
}

static struct symbol_place
place_of(const struct profile_frame *frame)
{
	return (struct symbol_place){
		.module = frame->module,
		.epoch = frame->epoch,
		.data = frame->origin == FRAME_DATA,
		.vaddr = frame->address,
		.bytecode = { frame->bytecode, frame->bytecode_size },
	};
}

static void
name_frame(struct naming *naming, uint32_t id)
{
	const struct profile *profile = naming->view->profile;
	const struct profile_frame *frame = profile_frame(profile, id);
	const struct symbol_place place = place_of(frame);
	struct symbol *to;

	naming->symbol = xgrow(naming->symbol, &naming->symbol_capacity,
			       naming->symbol_count + SYMBOL_CHAIN_MAX, sizeof(*naming->symbol));
	to = naming->symbol + naming->symbol_count;
	naming->of_frame[id] = (struct names){ .first = naming->symbol_count, .count = 1 };
	if (frame_is_script(frame))
		*to = script_symbol(naming, frame);
	else if (frame->module == MODULE_NONE)
		*to = (struct symbol){
			.function = profile_text(profile, (uint32_t)frame->address),
			.module = "",
			.known = true,
		};
	else
		naming->of_frame[id].count = symbols_find(naming->symbols, &place, to,
							  SYMBOL_CHAIN_MAX);
	naming->symbol_count += naming->of_frame[id].count;
}

/* Resolves frames in address order, so that files are read sequentially. */
static void
name_frames(struct naming *naming)
{
	const struct profile *profile = naming->view->profile;
	const size_t count = profile_frame_count(profile);
	uint32_t *order = profile_frames_by_address(profile);
	struct symbol_place *place = xcalloc(count + 1, sizeof(*place));
	size_t places = 0;

	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frame = profile_frame(profile, order[i]);

		if (!frame_is_script(frame) && frame->module != MODULE_NONE)
			place[places++] = place_of(frame);
	}
	symbols_prepare(naming->symbols, place, places);
	free(place);
	for (size_t i = 0; i < count; i++)
		name_frame(naming, order[i]);
	free(order);
}

/* Sets the modules of script functions: the short names of their files. */
static void
name_script_modules(struct naming *naming)
{
	const struct profile *profile = naming->view->profile;

	for (uint32_t i = 0; i < profile_frame_count(profile); i++) {
		struct symbol *symbol = &naming->symbol[naming->of_frame[i].first];

		if (frame_is_script(profile_frame(profile, i)) && symbol->file != NULL)
			symbol->module = view_file(naming, symbol->file)->name;
	}
}

static const char *
text_with_line(struct naming *naming, const struct symbol *symbol)
{
	strbuf_clear(&naming->scratch);
	strbuf_add_format(&naming->scratch, "%s (%s:%u)", symbol->function,
			  view_file(naming, symbol->file)->name, symbol->line);
	return strings_text(naming->view->texts,
			    strings_intern(naming->view->texts, naming->scratch.data));
}

static struct view_function
function_of(struct naming *naming, const struct symbol *symbol, uint32_t frame)
{
	const struct profile_frame *of = profile_frame(naming->view->profile, frame);
	const bool script = frame_is_script(of);
	struct view_function function = {
		.name = symbol->function,
		.module = symbol->module,
		.place = symbol->module,
		.known = symbol->known,
		.needs_module = symbol->known && symbol->module[0] != '\0',
		.script = script,
		.module_id = of->module,
		.named = of->named,
		.file = symbol->file,
		.line = symbol->line,
		.inlined = symbol->inlined,
		.frame = frame,
	};

	if (view_is_named(&function) || of->origin == FRAME_DATA)
		return function;
	if (naming->key == VIEW_BY_LINE && symbol->file != NULL && symbol->line > 0) {
		function.name = text_with_line(naming, symbol);
		function.needs_module = false;
	} else if (naming->key == VIEW_BY_MODULE && symbol->module[0] != '\0') {
		function.name = symbol->module;
		function.needs_module = false;
	} else if (naming->key == VIEW_BY_SOURCE || naming->key == VIEW_BY_MODULE) {
		function.name = symbol->file != NULL ? symbol->file : "[no source]";
		function.needs_module = symbol->file == NULL && symbol->module[0] != '\0';
	} else if (!script && view_is_homonym(naming, symbol)) {
		function.place = view_file(naming, symbol->file)->name;
	}
	return function;
}

/*
 * Returns the text that distinguishes functions of the same name: for a function of a script, and
 * for one of several functions of a module, the path of the file; else the module.
 */
static const char *
place_of_function(const struct naming *naming, const struct view_function *function)
{
	const bool by_file = function->script || function->place != function->module;

	return by_file && function->file != NULL && naming->key != VIEW_BY_MODULE ?
		       view_file(naming, function->file)->path :
		       function->module;
}

/*
 * Sets the function of each symbol, and adds the functions to view->function in the order of the
 * frames' ids, which does not depend on addresses. Names and places are compared as pointers: they
 * are interned, so that equal texts have equal pointers.
 */
static void
number_functions(struct naming *naming)
{
	struct view *view = naming->view;
	const size_t count = profile_frame_count(view->profile);
	struct table known = { 0 };

	view->of_frame = xcalloc(count + 1, sizeof(*view->of_frame));
	naming->function = xcalloc(naming->symbol_count + 1, sizeof(*naming->function));
	for (uint32_t i = 0; i < count; i++) {
		const struct names names = naming->of_frame[i];

		for (size_t at = names.first; at < names.first + names.count; at++) {
			const struct view_function function = function_of(naming,
									  &naming->symbol[at], i);
			const bool apart = naming->key == VIEW_BY_ADDRESS;
			bool added;

			naming->function[at] =
				*table_insert(&known, apart ? i : (uintptr_t)function.name,
					      apart ? at :
						      (uintptr_t)place_of_function(naming,
										   &function),
					      (uint32_t)view->function_count, &added);
			if (!added) {
				view->function[naming->function[at]].known &= function.known;
				continue;
			}
			view_add_function(view, &function);
		}
		view->of_frame[i] = naming->function[names.first];
	}
	table_release(&known);
}

bool
view_matches(const regex_t *regex, const char *name)
{
	return regex != NULL && regexec(regex, name, 0, NULL, 0) == 0;
}

/*
 * Matches -I and -X with the names of all symbols: always function names, even if the key of the
 * view shows modules, files or others instead.
 */
static void
match_symbols(struct naming *naming)
{
	naming->included = xcalloc(naming->symbol_count + 1, sizeof(*naming->included));
	naming->excluded = xcalloc(naming->symbol_count + 1, sizeof(*naming->excluded));
	for (size_t i = 0; i < naming->symbol_count; i++) {
		const char *name = naming->symbol[i].function;

		naming->included[i] = view_matches(naming->filter->include, name);
		naming->excluded[i] = view_matches(naming->filter->exclude, name);
	}
}

void
naming_make(struct naming *naming)
{
	strbuf_init(&naming->scratch);
	naming->of_frame = xcalloc(profile_frame_count(naming->view->profile) + 1,
				   sizeof(*naming->of_frame));
	name_frames(naming);
	view_find_files(naming);
	name_script_modules(naming);
	number_functions(naming);
	view_make_labels(naming);
	match_symbols(naming);
}

void
naming_release(struct naming *naming)
{
	strbuf_release(&naming->scratch);
	view_release_files(&naming->files);
	table_release(&naming->paths);
	table_release(&naming->own);
	table_release(&naming->by_green_id);
	free(naming->created);
	free(naming->symbol);
	free(naming->of_frame);
	free(naming->function);
	free(naming->included);
	free(naming->excluded);
}
