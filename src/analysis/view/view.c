/* SPDX-License-Identifier: MIT */
/* view.c - functions that return the contents of a view. */
#include "wallsample/analysis/view.h"

#include <stdlib.h>

#include "analysis/view/view_internal.h"

bool
view_is_named(const struct view_function *function)
{
	return function->named != NAMED_NONE;
}

bool
view_is_gap(const struct view_function *outermost)
{
	return outermost->named == NAMED_GAP;
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
	free(view->thread_excluded);
	free(view->process_excluded);
	free(view->entry);
	free(view->created);
	free(view->unit);
	free(view->unit_green);
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
view_key_is_of_function(enum view_key key)
{
	return key == VIEW_BY_FUNCTION || key == VIEW_BY_LINE;
}

bool
view_key_is_of_sample(enum view_key key)
{
	return key == VIEW_BY_THREAD || key == VIEW_BY_PROCESS || key == VIEW_BY_STATE ||
	       key == VIEW_BY_LOCK || key == VIEW_BY_GIL;
}

enum view_key
view_key(const struct view *view)
{
	return view->key;
}

bool
view_splits_runnable(const struct view *view)
{
	return view->splits_runnable;
}

bool
view_is_blame(const struct view *view)
{
	return view->filter.blame;
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
