/* SPDX-License-Identifier: MIT */
/*
 * view.c - names the frames of a profile, once each, and merges and selects samples.
 */
#include "wallsample/view.h"

#include <fnmatch.h>
#include <stdlib.h>

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
	int64_t total_ns, total_samples, unfiltered_ns;
};

/* --- functions ------------------------------------------------------------------- */

static struct view_function
name_frame(const struct profile *profile, struct symbols *symbols,
	   const struct profile_frame *frame)
{
	struct symbol symbol;

	if (frame->module == MODULE_NONE)
		return (struct view_function){
			.name = profile_text(profile, (uint32_t)frame->address),
			.module = "",
			.known = true,
		};
	symbols_find(symbols, frame->module, frame->address, &symbol);
	return (struct view_function){
		.name = symbol.function,
		.module = symbol.module,
		.known = symbol.known,
	};
}

/*
 * Fills of_frame with the function of each frame. Names are interned, so that
 * the same function is known by its pointers.
 */
static void
name_frames(struct view *view, struct symbols *symbols, uint32_t *of_frame)
{
	const size_t count = profile_frame_count(view->profile);
	struct table by_name;

	table_init(&by_name);
	for (uint32_t i = 0; i < count; i++) {
		const struct view_function function =
			name_frame(view->profile, symbols, profile_frame(view->profile, i));
		bool added;

		of_frame[i] = *table_place(&by_name, (uintptr_t)function.name,
					   (uintptr_t)function.module,
					   (uint32_t)view->function_count, &added);
		if (!added)
			continue;
		view->function = xgrow(view->function, &view->function_capacity,
				       view->function_count + 1, sizeof(*view->function));
		view->function[view->function_count++] = function;
	}
	table_release(&by_name);
}

/* --- paths: stacks whose addresses differ but whose functions do not are one ------- */

static bool
matches(const regex_t *regex, const char *name)
{
	return regex != NULL && regexec(regex, name, 0, NULL, 0) == 0;
}

static uint32_t
add_path(struct view *view, struct table *paths, const struct path *fresh)
{
	bool added;
	const uint32_t id = *table_place(paths, fresh->function, fresh->caller,
					 (uint32_t)view->path_count, &added);

	if (!added)
		return id;
	view->path = xgrow(view->path, &view->path_capacity, view->path_count + 1,
			   sizeof(*view->path));
	view->path[view->path_count++] = *fresh;
	return id;
}

/* Fills of_stack with the path of each stack; callers come before who they call. */
static void
make_paths(struct view *view, const struct filter *filter, const uint32_t *of_frame,
	   uint32_t *of_stack)
{
	const size_t count = profile_stack_count(view->profile);
	struct path *leaf = xcalloc(view->function_count + 1, sizeof(*leaf));
	struct table paths;

	for (uint32_t i = 0; i < view->function_count; i++)
		leaf[i] = (struct path){
			.function = i,
			.caller = STACK_NONE,
			.depth = 1,
			.included = matches(filter->include, view->function[i].name),
			.excluded = matches(filter->exclude, view->function[i].name),
		};
	table_init(&paths);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_stack *stack = profile_stack(view->profile, i);
		struct path path = leaf[of_frame[stack->frame]];

		if (stack->caller != STACK_NONE) {
			const struct path *caller;

			path.caller = of_stack[stack->caller];
			caller = &view->path[path.caller];
			path.depth = caller->depth + 1;
			path.included |= caller->included;
			path.excluded |= caller->excluded;
		}
		of_stack[i] = add_path(view, &paths, &path);
	}
	table_release(&paths);
	free(leaf);
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

bool
filter_thread(const struct filter *filter, pid_t tid, const char *name)
{
	bool listed = filter->tids == NULL;

	for (size_t i = 0; !listed && i < filter->tid_count; i++)
		listed = filter->tids[i] == tid;
	return listed && (filter->thread_name == NULL ||
			  fnmatch(filter->thread_name, name, 0) == 0);
}

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
			merged[at].weight_ns += entry.weight_ns;
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
		.weight_ns = entry->weight_ns,
	};
	if (entry->stack != STACK_NONE) {
		row->function = path_functions(view, entry->stack);
		row->depth = view->path[entry->stack].depth;
	}
	view->total_ns += entry->weight_ns;
	view->total_samples += entry->samples;
}

static void
make_rows(struct view *view, const struct filter *filter, const uint32_t *of_stack)
{
	size_t count;
	struct profile_entry *merged = merge_entries(view, of_stack, &count);

	for (size_t i = 0; i < count; i++) {
		/* A correction can outweigh what was credited: see sampler.h. */
		if (merged[i].weight_ns <= 0)
			continue;
		view->unfiltered_ns += merged[i].weight_ns;
		if (is_wanted(view, filter, &merged[i]))
			add_row(view, &merged[i]);
	}
	free(merged);
}

struct view *
view_create(const struct profile *profile, struct symbols *symbols, const struct filter *filter)
{
	struct view *view = xcalloc(1, sizeof(*view));
	uint32_t *of_frame = xcalloc(profile_frame_count(profile) + 1, sizeof(*of_frame));
	uint32_t *of_stack = xcalloc(profile_stack_count(profile) + 1, sizeof(*of_stack));

	view->profile = profile;
	name_frames(view, symbols, of_frame);
	make_paths(view, filter, of_frame, of_stack);
	make_rows(view, filter, of_stack);
	free(of_frame);
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
	free(view);
}

const struct profile *
view_profile(const struct view *view)
{
	return view->profile;
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
view_total_ns(const struct view *view)
{
	return view->total_ns;
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
