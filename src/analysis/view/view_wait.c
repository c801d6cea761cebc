/* SPDX-License-Identifier: MIT */
/* view_wait.c - finds the kind and the name of a wait. */
#include "analysis/view/view_internal.h"
#include "wallsample/runtime/language.h"

/* Largest number of innermost functions from which the kind of a wait is derived. */
#define NAMES_MOST DATABASE_LOCK_FRAMES

/*
 * Value of view->wait_kind for a wait whose stacks have different kinds. The kind is then
 * determined for each stack.
 */
#define WAIT_MIXED WAIT_KIND_COUNT

/* Refines the kind of a wait by the names of the innermost functions; NULL: no name. A poller of a
 * runtime does not tell which call waits for a socket. */
static enum wait_kind
kind_by_names(enum wait_kind kind, const char *const *name, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (name[i] == NULL)
			continue;
		if (kind == WAIT_SOCKET_READ && language_accepts(name[i]))
			return WAIT_ACCEPT;
		if (kind == WAIT_SOCKET_WRITE && language_connects(name[i]))
			return WAIT_CONNECT;
	}
	return wait_kind_by_name(kind, name, count);
}

/*
 * Returns the kind of a wait that follows from the functions of a stack of the profile, hidden
 * functions included.
 */
static enum wait_kind
kind_in_stack(const struct naming *naming, enum wait_kind kind, uint32_t stack)
{
	const struct profile *profile = naming->view->profile;
	const char *name[NAMES_MOST];
	size_t count = 0;

	for (; stack != STACK_NONE && count < NAMES_MOST;
	     stack = profile_stack(profile, stack)->caller) {
		const struct names names = naming->of_frame[profile_stack(profile, stack)->frame];

		for (size_t at = 0; at < names.count && count < NAMES_MOST; at++)
			name[count++] = naming->symbol[names.first + at].function;
	}
	return kind_by_names(kind, name, count);
}

void
view_name_waits(struct naming *naming)
{
	struct view *view = naming->view;
	const size_t count = profile_wait_count(view->profile);
	bool *seen = xcalloc(count, sizeof(*seen));

	view->wait_kind = xcalloc(count, sizeof(*view->wait_kind));
	for (uint32_t i = 0; i < count; i++)
		view->wait_kind[i] = profile_wait(view->profile, i)->kind;
	for (size_t i = 0; i < profile_entry_count(view->profile); i++) {
		const struct profile_entry *entry = profile_entry(view->profile, i);
		enum wait_kind *of = &view->wait_kind[entry->wait];
		enum wait_kind kind;

		if (entry->wait == 0 || *of == WAIT_MIXED)
			continue;
		kind = kind_in_stack(naming, profile_wait(view->profile, entry->wait)->kind,
				     entry->stack);
		*of = seen[entry->wait] && kind != *of ? WAIT_MIXED : kind;
		seen[entry->wait] = true;
	}
	free(seen);
}

enum wait_kind
view_wait_kind(const struct view *view, uint32_t wait, const uint32_t *function, size_t depth)
{
	const enum wait_kind kind = profile_wait(view->profile, wait)->kind;
	const char *name[NAMES_MOST];
	size_t count = 0;

	if (view->wait_kind[wait] != WAIT_MIXED)
		return view->wait_kind[wait];
	for (; count < depth && count < NAMES_MOST; count++)
		name[count] = view->function[function[count]].name;
	return kind_by_names(kind, name, count);
}

uint32_t
view_wait_frame(const struct view *view, uint32_t wait, enum wait_kind kind)
{
	const struct profile_wait *of = profile_wait(view->profile, wait);

	return kind == WAIT_DATABASE && of->kind != kind ? FRAME_NONE : of->object;
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

	const uint32_t frame = view_wait_frame(view, wait, kind);

	wait_kind_add(kind, wait_kind_text(kind),
		      frame != FRAME_NONE ? view->function[view->of_frame[frame]].name : "", out);
}
