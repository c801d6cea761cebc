/* SPDX-License-Identifier: MIT */
/* view_wait.c - what a wait is called. */
#include "view_parts.h"

/* The function that waits is one of the innermost. */
#define NAMES_MOST 8

enum wait_kind
view_wait_kind(const struct view *view, uint32_t wait, const uint32_t *function, size_t depth)
{
	const enum wait_kind kind = profile_wait(view->profile, wait)->kind;
	const char *name[NAMES_MOST];
	size_t count = 0;

	for (; count < depth && count < NAMES_MOST; count++)
		name[count] = view->function[function[count]].name;
	return wait_kind_by_name(kind, name, count);
}

const char *
view_wait_object(const struct view *view, uint32_t wait)
{
	const uint32_t frame = profile_wait(view->profile, wait)->object;

	return frame != FRAME_NONE ? view->function[view->of_frame[frame]].name : "";
}

void
view_add_wait(const struct view *view, uint32_t wait, const uint32_t *function, size_t depth,
	      struct strbuf *out)
{
	const enum wait_kind kind = view_wait_kind(view, wait, function, depth);

	wait_kind_add(kind, wait_kind_text(kind), view_wait_object(view, wait), out);
}
