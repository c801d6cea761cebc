/* SPDX-License-Identifier: MIT */
/*
 * view_create.c - creates a view: names the frames of a profile, then merges and selects samples.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"

/*
 * True if the filter selects the entry by its state, GIL state and functions. `at` is the path of
 * the functions, or STACK_NONE. The thread is not tested here, but by view_wants_thread.
 */
static bool
view_wants_entry(const struct view *view, const struct profile_entry *entry, uint32_t at)
{
	const struct filter *filter = &view->filter;
	const struct path *path = at != STACK_NONE ? &view->path[at] : NULL;

	/* filter->exclude needs no test: if it is NULL, no path is excluded. */
	return (filter->states == 0 || (filter->states & 1u << entry->state) != 0) &&
	       (filter->gils == 0 || (filter->gils & 1u << entry->gil) != 0) &&
	       (filter->include == NULL || (path != NULL && path->included)) &&
	       (path == NULL || !path->excluded);
}

static size_t
entry_count(const struct naming *naming)
{
	const struct profile *profile = naming->view->profile;

	return naming->filter->blame ? profile_blame_count(profile) : profile_entry_count(profile);
}

/*
 * Returns an entry of the profile, or, with filter.blame, a lock holder of the profile as an entry.
 * In the result `stack` is a path, and `carrier` is 1 if the filter selects the thread, else 0.
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
			/*
			 * The thread is the holder of the awaited object: if the object is a GIL,
			 * the thread has the GIL.
			 */
			.gil = profile_wait(view->profile, blame->wait)->kind == WAIT_GIL ?
				       GIL_HAS :
				       GIL_UNKNOWN,
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
 * Sums up the entries that entry_at() returns: those with equal thread, path, state, system call,
 * GIL state and selection (`carrier`) form one sum. Returns an array of *count sums, ordered by the
 * index of the first entry in each sum; the caller frees the array.
 */
static struct profile_entry *
merge_entries(struct naming *naming, size_t *count)
{
	const size_t all = entry_count(naming);
	struct profile_entry *merged = xcalloc(all + 1, sizeof(*merged));
	struct table known = { 0 };

	*count = 0;
	for (size_t i = 0; i < all; i++) {
		struct profile_entry entry = entry_at(naming, i);
		uint32_t at;
		bool added;

		at = *table_insert(&known, (uint64_t)entry.thread << 32 | entry.stack,
				   (uint64_t)entry.carrier << 48 | (uint64_t)entry.gil << 40 |
					   (uint64_t)entry.state << 32 | (uint32_t)entry.syscall,
				   (uint32_t)*count, &added);
		if (added) {
			merged[(*count)++] = entry;
		} else {
			merged[at].samples += entry.samples;
			weights_add(merged[at].ns, entry.ns);
		}
	}
	table_release(&known);
	return merged;
}

static void
view_add_row(struct view *view, const struct profile_entry *entry)
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
	memcpy(row->ns, entry->ns, sizeof(row->ns));
	weights_add(view->total_ns, row->ns);
	view->total_samples += entry->samples;
}

/*
 * Sets negative weights of the entry to 0: a correction by the sampler can exceed the time that was
 * credited before (sampler.h). Returns false if no weight is above 0.
 */
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
		if (merged[i].carrier != 0 && view_wants_entry(view, &merged[i], merged[i].stack))
			view_add_row(view, &merged[i]);
	}
	free(merged);
}

/* True if the filter selects exactly one of the two runnable states, running and queued. */
static bool
states_split_runnable(unsigned states)
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
	view->filter = *filter;
	view->splits_runnable = key == VIEW_BY_STATE || key == VIEW_BY_LOCK ||
				states_split_runnable(filter->states);
	view->texts = strings_create();
	view->of_stack = xcalloc(profile_stack_count(profile) + 1, sizeof(*view->of_stack));
	view_choose_threads(view);
	naming_make(&naming);
	view_mark_program(view);
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

bool
view_sample(const struct view *view, const struct profile_entry *sample, const uint32_t **function,
	    size_t *depth)
{
	const uint32_t stack = sample->stack;

	if (!view_wants_thread(view, sample) ||
	    !view_wants_entry(view, sample,
			      stack != STACK_NONE ? view->of_stack[stack] : STACK_NONE))
		return false;
	view_stack(view, stack, function, depth);
	return true;
}
