/* SPDX-License-Identifier: MIT */
/*
 * view.c - names the frames of a profile, once each, and merges and selects samples.
 */
#include "wallsample/view.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base.h"
#include "wallsample/module.h"
#include "wallsample/table.h"

/* A stack of functions, made of its innermost one and the caller's stack. */
struct path {
	uint32_t function;
	uint32_t caller; /* index of a path, or STACK_NONE; always below its own */
	uint32_t depth;
	bool included, excluded; /* a function of it matches -I, -X */
	uint32_t *functions; /* innermost first; NULL until a row needs it */
};

struct view {
	const struct profile *profile;
	struct view_function *function;
	size_t function_count, function_capacity;
	struct path *path;
	size_t path_count, path_capacity;
	struct view_row *row;
	size_t row_count, row_capacity;
	int64_t total_ns[WEIGHT_COUNT], total_samples, unfiltered_ns;
	struct strings *texts; /* of lines */
	enum view_key key;
};

/* --- functions ------------------------------------------------------------------- */

/* What a frame stands for: symbol[first] is the innermost of `count`. */
struct names {
	size_t first, count;
};

struct naming {
	struct view *view;
	struct symbols *symbols;
	const struct filter *filter;
	enum view_key key;
	struct symbol *symbol;   /* of all frames, in the order of their addresses */
	size_t symbol_count, symbol_capacity;
	struct names *of_frame;  /* by frame: its symbols */
	uint32_t *function;      /* by symbol, as are */
	bool *included, *excluded; /* whether -I and -X match */
	struct strbuf scratch;
};

static struct symbol_place
place_of(const struct profile_frame *frame)
{
	return (struct symbol_place){ .module = frame->module, .epoch = frame->epoch,
				      .vaddr = frame->address,
				      .bytecode = { frame->bytecode, frame->bytecode_size } };
}

static int
compare_frames(const void *left, const void *right, void *profile)
{
	const struct symbol_place a = place_of(profile_frame(profile, *(const uint32_t *)left));
	const struct symbol_place b = place_of(profile_frame(profile, *(const uint32_t *)right));

	return symbol_place_compare(&a, &b);
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
	if (frame->module == MODULE_NONE)
		*to = (struct symbol){
			.function = profile_text(profile, (uint32_t)frame->address),
			.module = "",
			.known = true,
		};
	else
		naming->of_frame[id].count =
			symbols_find(naming->symbols, &place, to, SYMBOL_CHAIN_MAX);
	naming->symbol_count += naming->of_frame[id].count;
}

/* In the order of addresses: files are read from front to back. */
static void
name_frames(struct naming *naming)
{
	const size_t count = profile_frame_count(naming->view->profile);
	uint32_t *order = xcalloc(count + 1, sizeof(*order));

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_frames,
			(void *)(uintptr_t)naming->view->profile);
	for (size_t i = 0; i < count; i++)
		name_frame(naming, order[i]);
	free(order);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static const char *
text_with_line(struct naming *naming, const struct symbol *symbol)
{
	strbuf_clear(&naming->scratch);
	strbuf_add_format(&naming->scratch, "%s (%s:%u)", symbol->function,
			  base_name(symbol->file), symbol->line);
	return strings_text(naming->view->texts,
			    strings_intern(naming->view->texts, naming->scratch.data));
}

static struct view_function
function_of(struct naming *naming, const struct symbol *symbol, uint32_t module_id)
{
	struct view_function function = {
		.name = symbol->function,
		.module = symbol->module,
		.known = symbol->known,
		.needs_module = symbol->known && symbol->module[0] != '\0',
		.module_id = module_id,
	};

	if (module_id == MODULE_NONE)
		return function;
	if (naming->key == VIEW_BY_LINE && symbol->file != NULL && symbol->line > 0) {
		function.name = text_with_line(naming, symbol);
		function.needs_module = false;
	} else if (naming->key == VIEW_BY_MODULE) {
		function.name = symbol->module;
		function.needs_module = false;
	} else if (naming->key == VIEW_BY_SOURCE) {
		function.name = symbol->file != NULL ? symbol->file : "[no source]";
		function.needs_module = symbol->file == NULL;
	}
	return function;
}

/*
 * The number of each symbol's function, in the order of the frames, so that it does not depend
 * on addresses. Texts are interned: the same one is known by its pointer.
 */
static void
number_functions(struct naming *naming)
{
	struct view *view = naming->view;
	const size_t count = profile_frame_count(view->profile);
	struct table known;

	table_init(&known);
	naming->function = xcalloc(naming->symbol_count + 1, sizeof(*naming->function));
	for (uint32_t i = 0; i < count; i++) {
		const struct names names = naming->of_frame[i];
		const uint32_t module = profile_frame(view->profile, i)->module;

		for (size_t at = names.first; at < names.first + names.count; at++) {
			const struct view_function function =
				function_of(naming, &naming->symbol[at], module);
			bool added;

			naming->function[at] = *table_place(&known, (uintptr_t)function.name,
							    (uintptr_t)function.module,
							    (uint32_t)view->function_count, &added);
			if (!added) {
				view->function[naming->function[at]].known &= function.known;
				continue;
			}
			view->function = xgrow(view->function, &view->function_capacity,
					       view->function_count + 1, sizeof(*view->function));
			view->function[view->function_count++] = function;
		}
	}
	table_release(&known);
}

static bool
matches(const regex_t *regex, const char *name)
{
	return regex != NULL && regexec(regex, name, 0, NULL, 0) == 0;
}

/* The expressions are for names of functions, with whatever they are shown. */
static void
match_symbols(struct naming *naming)
{
	naming->included = xcalloc(naming->symbol_count + 1, sizeof(*naming->included));
	naming->excluded = xcalloc(naming->symbol_count + 1, sizeof(*naming->excluded));
	for (size_t i = 0; i < naming->symbol_count; i++) {
		const char *name = naming->symbol[i].function;

		naming->included[i] = matches(naming->filter->include, name);
		naming->excluded[i] = matches(naming->filter->exclude, name);
	}
}

/* --- paths: stacks whose addresses differ but whose functions do not are one ------- */

static uint32_t
add_path(struct view *view, struct table *paths, const struct path *fresh)
{
	bool added;
	/* The same functions may be matched or not: their names may be more than is shown. */
	const uint32_t id = *table_place(paths, fresh->function,
					 (uint64_t)fresh->caller << 2 |
						 (uint64_t)fresh->included << 1 | fresh->excluded,
					 (uint32_t)view->path_count, &added);

	if (!added)
		return id;
	view->path = xgrow(view->path, &view->path_capacity, view->path_count + 1,
			   sizeof(*view->path));
	view->path[view->path_count++] = *fresh;
	return id;
}

/* The path `caller` with one symbol more. */
static uint32_t
extend_path(struct naming *naming, struct table *paths, uint32_t caller, size_t symbol)
{
	struct path path = {
		.function = naming->function[symbol],
		.caller = caller,
		.depth = 1,
		.included = naming->included[symbol],
		.excluded = naming->excluded[symbol],
	};

	if (caller != STACK_NONE) {
		const struct path *outer = &naming->view->path[caller];

		path.included |= outer->included;
		path.excluded |= outer->excluded;
		path.depth = outer->depth + 1;
		if ((naming->key == VIEW_BY_MODULE || naming->key == VIEW_BY_SOURCE) &&
		    outer->function == path.function) {
			path.caller = outer->caller;
			path.depth = outer->depth;
		}
	}
	return add_path(naming->view, paths, &path);
}

/* Fills of_stack with the path of each stack; callers come before who they call. */
static void
make_paths(struct naming *naming, uint32_t *of_stack)
{
	const struct profile *profile = naming->view->profile;
	const size_t count = profile_stack_count(profile);
	struct table paths;

	table_init(&paths);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_stack *stack = profile_stack(profile, i);
		const struct names names = naming->of_frame[stack->frame];
		uint32_t path = stack->caller != STACK_NONE ? of_stack[stack->caller] : STACK_NONE;

		for (size_t at = names.first + names.count; at-- > names.first;)
			path = extend_path(naming, &paths, path, at);
		of_stack[i] = path;
	}
	table_release(&paths);
}

static const uint32_t *
path_functions(struct view *view, uint32_t id)
{
	struct path *path = &view->path[id];
	uint32_t *to;

	if (path->functions != NULL)
		return path->functions;
	to = path->functions = xmalloc(path->depth * sizeof(*path->functions));
	for (uint32_t at = id; at != STACK_NONE; at = view->path[at].caller)
		*to++ = view->path[at].function;
	return path->functions;
}

/* --- rows --------------------------------------------------------------------------- */

static bool
is_wanted(const struct view *view, const struct filter *filter, const struct profile_entry *entry)
{
	const struct profile_thread *thread = profile_thread(view->profile, entry->thread);
	const struct path *path = entry->stack != STACK_NONE ? &view->path[entry->stack] : NULL;

	if (filter->states != 0 && (filter->states & 1u << entry->state) == 0)
		return false;
	if (filter->include != NULL && (path == NULL || !path->included))
		return false;
	if (filter->exclude != NULL && path != NULL && path->excluded)
		return false;
	return filter_thread(filter, thread->tid, profile_text(view->profile, thread->name));
}

/*
 * Sums of the profile's entries that have become the same, their stacks replaced by paths.
 * Returns an array of *count entries in the order of arrival; the caller frees it.
 */
static struct profile_entry *
merge_entries(const struct view *view, const uint32_t *of_stack, size_t *count)
{
	const size_t all = profile_entry_count(view->profile);
	struct profile_entry *merged = xcalloc(all + 1, sizeof(*merged));
	struct table known;

	*count = 0;
	table_init(&known);
	for (size_t i = 0; i < all; i++) {
		struct profile_entry entry = *profile_entry(view->profile, i);
		uint32_t at;
		bool added;

		if (entry.stack != STACK_NONE)
			entry.stack = of_stack[entry.stack];
		at = *table_place(&known, (uint64_t)entry.thread << 32 | entry.stack,
				  (uint64_t)entry.state << 32 | (uint32_t)entry.syscall,
				  (uint32_t)*count, &added);
		if (added) {
			merged[(*count)++] = entry;
		} else {
			merged[at].samples += entry.samples;
			for (int w = 0; w < WEIGHT_COUNT; w++)
				merged[at].ns[w] += entry.ns[w];
		}
	}
	table_release(&known);
	return merged;
}

static void
add_row(struct view *view, const struct profile_entry *entry)
{
	struct view_row *row;

	view->row = xgrow(view->row, &view->row_capacity, view->row_count + 1, sizeof(*view->row));
	row = &view->row[view->row_count++];
	*row = (struct view_row){
		.thread = entry->thread,
		.state = entry->state,
		.syscall = entry->syscall,
		.samples = entry->samples,
	};
	if (entry->stack != STACK_NONE) {
		row->function = path_functions(view, entry->stack);
		row->depth = view->path[entry->stack].depth;
	}
	for (int w = 0; w < WEIGHT_COUNT; w++)
		view->total_ns[w] += row->ns[w] = entry->ns[w];
	view->total_samples += entry->samples;
}

/* A correction can outweigh what was credited: see sampler.h. False when nothing is left. */
static bool
clip_weights(struct profile_entry *entry)
{
	bool any = false;

	for (int w = 0; w < WEIGHT_COUNT; w++) {
		if (entry->ns[w] < 0)
			entry->ns[w] = 0;
		any |= entry->ns[w] > 0;
	}
	return any;
}

static void
make_rows(struct view *view, const struct filter *filter, const uint32_t *of_stack)
{
	size_t count;
	struct profile_entry *merged = merge_entries(view, of_stack, &count);

	for (size_t i = 0; i < count; i++) {
		if (!clip_weights(&merged[i]))
			continue;
		view->unfiltered_ns += merged[i].ns[WEIGHT_WALL];
		if (is_wanted(view, filter, &merged[i]))
			add_row(view, &merged[i]);
	}
	free(merged);
}

struct view *
view_create(const struct profile *profile, struct symbols *symbols, const struct filter *filter,
	    enum view_key key)
{
	struct view *view = xcalloc(1, sizeof(*view));
	uint32_t *of_stack = xcalloc(profile_stack_count(profile) + 1, sizeof(*of_stack));
	struct naming naming = {
		.view = view,
		.symbols = symbols,
		.filter = filter,
		.key = key,
		.of_frame = xcalloc(profile_frame_count(profile) + 1, sizeof(struct names)),
	};

	view->profile = profile;
	view->key = key;
	view->texts = strings_create();
	strbuf_init(&naming.scratch);
	name_frames(&naming);
	number_functions(&naming);
	match_symbols(&naming);
	make_paths(&naming, of_stack);
	make_rows(view, filter, of_stack);
	strbuf_release(&naming.scratch);
	free(naming.symbol);
	free(naming.of_frame);
	free(naming.function);
	free(naming.included);
	free(naming.excluded);
	free(of_stack);
	return view;
}

void
view_free(struct view *view)
{
	if (view == NULL)
		return;
	for (size_t i = 0; i < view->path_count; i++)
		free(view->path[i].functions);
	free(view->path);
	free(view->function);
	free(view->row);
	strings_free(view->texts);
	free(view);
}

const struct profile *
view_profile(const struct view *view)
{
	return view->profile;
}

enum view_key
view_key(const struct view *view)
{
	return view->key;
}

size_t
view_row_count(const struct view *view)
{
	return view->row_count;
}

const struct view_row *
view_row(const struct view *view, size_t index)
{
	return &view->row[index];
}

size_t
view_function_count(const struct view *view)
{
	return view->function_count;
}

const struct view_function *
view_function(const struct view *view, uint32_t id)
{
	return &view->function[id];
}

int64_t
view_total_ns(const struct view *view, enum weight weight)
{
	return view->total_ns[weight];
}

int64_t
view_total_samples(const struct view *view)
{
	return view->total_samples;
}

int64_t
view_unfiltered_ns(const struct view *view)
{
	return view->unfiltered_ns;
}
