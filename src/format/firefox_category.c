/* SPDX-License-Identifier: MIT */
/*
 * firefox_category.c - the categories of samples in the Firefox Profiler. The subcategories of a
 * blocked thread are the kinds of waits (wait_kind.h).
 */
#include "format/firefox_internal.h"

#include "wallsample/analysis/finding.h"

/* Returns the category of a thread that sleeps and waits in this way. */
static enum firefox_category
category_of_kind(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_GIL:
		return FIREFOX_GIL;
	case WAIT_BARRIER:
	case WAIT_ONCE:
		return FIREFOX_LOCK;
	case WAIT_FILE:
	case WAIT_PIPE_READ:
	case WAIT_PIPE_WRITE:
	case WAIT_SOCKET_READ:
	case WAIT_SOCKET_WRITE:
	case WAIT_CONNECT:
	case WAIT_DEVICE:
	case WAIT_DESCRIPTOR:
	case WAIT_CHILD:
	case WAIT_VFORK:
	case WAIT_FAULT:
		return FIREFOX_PEER;
	default:
		return wait_kind_is_lock(kind) ? FIREFOX_LOCK : FIREFOX_IDLE;
	}
}

/* Returns the category of a sleeping thread. If the wait itself does not show a lock, a function of
 * the stack that takes a lock does. */
static enum firefox_category
category_of_sleep(const struct view *view, const struct timeline_slice *slice, enum wait_kind kind)
{
	const enum firefox_category category = category_of_kind(kind);

	if (category != FIREFOX_IDLE)
		return category;
	if ((kind == WAIT_NONE || kind == WAIT_FUTEX) &&
	    finding_is_in_lock(view, slice->function, slice->depth))
		return FIREFOX_LOCK;
	if (slice->state == RUN_UNINTERRUPTIBLE ||
	    finding_waits_for_file(slice->state, slice->syscall))
		return FIREFOX_PEER;
	return FIREFOX_IDLE;
}

static enum firefox_category
category_of(const struct view *view, const struct timeline_slice *slice, enum wait_kind kind)
{
	if (slice->gil == GIL_HANDOVER && slice->state == RUN_QUEUED)
		return FIREFOX_GIL;
	if (slice->gil == GIL_WAIT && !run_state_runnable(slice->state))
		return FIREFOX_GIL;
	switch (slice->state) {
	case RUN_RUNNING:
		return FIREFOX_RUNNING;
	case RUN_QUEUED:
	case RUN_READY:
		return FIREFOX_QUEUED;
	case RUN_STOPPED:
		return FIREFOX_STOPPED;
	case RUN_SLEEPING:
	case RUN_UNINTERRUPTIBLE:
		return category_of_sleep(view, slice, kind);
	default:
		return FIREFOX_OTHER;
	}
}

/* True if the kind is a subcategory: only those of blocked threads have any. */
static bool
is_subcategory(enum firefox_category category, enum wait_kind kind)
{
	return kind != WAIT_NONE && kind != WAIT_GIL && kind != WAIT_STOPPED &&
	       category_of_kind(kind) == category;
}

struct firefox_doing
firefox_doing_of(const struct view *view, const struct timeline_slice *slice)
{
	const enum wait_kind kind = view_wait_kind(view, slice->wait, slice->function,
						   slice->depth);
	struct firefox_doing doing = { .category = category_of(view, slice, kind) };

	if (!is_subcategory(doing.category, kind))
		return doing;
	for (int other = 0; other <= (int)kind; other++)
		doing.subcategory += is_subcategory(doing.category, (enum wait_kind)other);
	return doing;
}

const char *
firefox_category_text(enum firefox_category category)
{
	static const char *const texts[] = {
#define X(name, text, colour) [FIREFOX_##name] = (text),
		FIREFOX_CATEGORIES(X)
#undef X
	};

	return texts[category];
}

/* The name of the first subcategory is fixed by the format. */
static json_t *
subcategories(enum firefox_category category)
{
	json_t *list = json_pack("[s]", "Other");

	for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
		if (is_subcategory(category, (enum wait_kind)kind))
			json_array_append_new(list,
					      json_string(wait_kind_text((enum wait_kind)kind)));
	return list;
}

void
firefox_put_categories(struct json_stream *json)
{
	static const char *const colours[] = {
#define X(name, text, colour) [FIREFOX_##name] = (colour),
		FIREFOX_CATEGORIES(X)
#undef X
	};

	json_stream_begin_list(json, "categories");
	for (int i = 0; i < FIREFOX_CATEGORY_COUNT; i++)
		json_stream_put(json, NULL,
				json_pack("{s:s, s:s, s:o}", "name",
					  firefox_category_text((enum firefox_category)i), "color",
					  colours[i], "subcategories",
					  subcategories((enum firefox_category)i)));
	json_stream_end(json);
}
