/* SPDX-License-Identifier: MIT */
/*
 * view.c - merges and selects the samples of a profile whose frames have names.
 */
#include "wallsample/analysis/view.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"

bool
view_is_named(const struct view_function *function)
{
	return function->module_id == MODULE_NONE && !function->script;
}

bool
view_is_gap(const struct view_function *outermost)
{
	return view_is_named(outermost) && strcmp(outermost->name, PROFILE_GAP) == 0;
}

/* --- rows --------------------------------------------------------------------------- */

static void
make_filter(struct view *view, const struct filter *filter)
{
	view->states = filter->states;
	view->gils = filter->gils;
	view->include = filter->include != NULL;
	view_choose_threads(view, filter);
}

/* But for its thread; `at` is the path of its functions, or STACK_NONE. */
static bool
is_wanted(const struct view *view, const struct profile_entry *entry, uint32_t at)
{
	const struct path *path = at != STACK_NONE ? &view->path[at] : NULL;

	if (view->states != 0 && (view->states & 1u << entry->state) == 0)
		return false;
	if (view->gils != 0 && (view->gils & 1u << entry->gil) == 0)
		return false;
	if (view->include && (path == NULL || !path->included))
		return false;
	/* without an expression nothing matches it */
	if (path != NULL && path->excluded)
		return false;
	return true;
}

static size_t
entry_count(const struct naming *naming)
{
	const struct profile *profile = naming->view->profile;

	return naming->filter->blame ? profile_blame_count(profile) : profile_entry_count(profile);
}

/*
 * One of the profile's, or whom it blames, its stack replaced by the path; and its carrier, which
 * rows do not tell apart, by whether its thread is wanted.
 */
static struct profile_entry
entry_at(struct naming *naming, size_t index)
{
	const struct view *view = naming->view;
	const bool by_code = !view_key_is_of_sample(naming->key);
	struct profile_entry entry;

	if (naming->filter->blame) {
		const struct profile_blame *blame = profile_blame(view->profile, index);

		entry = (struct profile_entry){
			.thread = blame->thread,
			.stack = blame->stack,
			.state = blame->state,
			.syscall = SYSCALL_NONE,
			.wait = blame->wait,
			/* Who is to blame for a wait for the lock had it. */
			.gil = profile_wait(view->profile, blame->wait)->kind == WAIT_GIL ?
				       GIL_HAS : GIL_UNKNOWN,
			.samples = blame->samples,
			.ns[WEIGHT_WALL] = blame->ns,
		};
	} else {
		entry = *profile_entry(view->profile, index);
	}
	entry.syscall = view_syscall(view, &entry);
	entry.carrier = view_wants_thread(view, &entry);
	if (entry.stack != STACK_NONE)
		entry.stack = view->of_stack[entry.stack];
	if (by_code && naming->created != NULL && !naming->filter->blame)
		entry.stack = view_created_path(naming, entry.thread, entry.stack);
	if (!by_code)
		entry.stack = view_entry_path(naming, &entry, entry.stack);
	else if (naming->filter->blame)
		entry.stack = view_blame_path(naming, entry.wait, entry.stack);
	return entry;
}

/*
 * Sums of the profile's entries that have become the same, their stacks replaced by paths (of
 * functions, or of what else they are told apart by).
 * Returns an array of *count entries in the order of arrival; the caller frees it.
 */
static struct profile_entry *
merge_entries(struct naming *naming, size_t *count)
{
	const size_t all = entry_count(naming);
	struct profile_entry *merged = xcalloc(all + 1, sizeof(*merged));
	struct table known;

	*count = 0;
	table_init(&known);
	for (size_t i = 0; i < all; i++) {
		struct profile_entry entry = entry_at(naming, i);
		uint32_t at;
		bool added;

		at = *table_place(&known, (uint64_t)entry.thread << 32 | entry.stack,
				  (uint64_t)entry.carrier << 48 | (uint64_t)entry.gil << 40 |
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
		.gil = entry->gil,
		.samples = entry->samples,
	};
	if (entry->stack != STACK_NONE) {
		row->function = view_path_functions(view, entry->stack);
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
make_rows(struct naming *naming)
{
	struct view *view = naming->view;
	size_t count;
	struct profile_entry *merged = merge_entries(naming, &count);

	for (size_t i = 0; i < count; i++) {
		if (!clip_weights(&merged[i]))
			continue;
		view->unfiltered_ns += merged[i].ns[WEIGHT_WALL];
		if (merged[i].carrier != 0 && is_wanted(view, &merged[i], merged[i].stack))
			add_row(view, &merged[i]);
	}
	free(merged);
}

/* One of the states in which a thread can run, and not the other. */
static bool
is_halved(unsigned states)
{
	return ((states & 1u << RUN_RUNNING) != 0) != ((states & 1u << RUN_QUEUED) != 0);
}

struct view *
view_create(const struct profile *profile, struct symbols *symbols, const struct filter *filter,
	    enum view_key key)
{
	struct view *view = xcalloc(1, sizeof(*view));
	struct naming naming = {
		.view = view,
		.symbols = symbols,
		.filter = filter,
		.key = key,
	};

	view->profile = profile;
	view->key = key;
	view->blame = filter->blame;
	view->halved = key == VIEW_BY_STATE || key == VIEW_BY_LOCK || is_halved(filter->states);
	view->texts = strings_create();
	view->of_stack = xcalloc(profile_stack_count(profile) + 1, sizeof(*view->of_stack));
	make_filter(view, filter);
	naming_make(&naming);
	view_name_threads(&naming);
	view_name_waits(&naming);
	view_make_paths(&naming);
	if (!filter->interpreter_frames)
		view_cut_parking(&naming);
	if (filter->created_by)
		view_begin_created(&naming);
	make_rows(&naming);
	naming_release(&naming);
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
	free(view->of_frame);
	free(view->of_stack);
	free(view->wait_kind);
	free(view->thread_wanted);
	free(view->entry);
	free(view->created);
	free(view->unit);
	free(view->unit_tasks);
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

const char *
view_key_word(enum view_key key)
{
	static const char *const words[] = {
#define X(name, text) [VIEW_BY_##name] = text,
		VIEW_KEYS(X)
#undef X
	};

	return words[key];
}

bool
view_key_is_of_sample(enum view_key key)
{
	return key == VIEW_BY_THREAD || key == VIEW_BY_STATE || key == VIEW_BY_LOCK ||
	       key == VIEW_BY_GIL;
}

enum view_key
view_key(const struct view *view)
{
	return view->key;
}

bool
view_is_halved(const struct view *view)
{
	return view->halved;
}

bool
view_is_blame(const struct view *view)
{
	return view->blame;
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

bool
view_sample(const struct view *view, const struct profile_entry *sample,
	    const uint32_t **function, size_t *depth)
{
	const uint32_t stack = sample->stack;

	if (!view_wants_thread(view, sample) ||
	    !is_wanted(view, sample, stack != STACK_NONE ? view->of_stack[stack] : STACK_NONE))
		return false;
	view_stack(view, stack, function, depth);
	return true;
}

void
view_stack(const struct view *view, uint32_t stack, const uint32_t **function, size_t *depth)
{
	const uint32_t path = stack != STACK_NONE ? view->of_stack[stack] : STACK_NONE;

	*function = path != STACK_NONE ? view_path_functions(view, path) : NULL;
	*depth = path != STACK_NONE ? view->path[path].depth : 0;
}
