/* SPDX-License-Identifier: MIT */
/* green_table.c - sums up the time of green tasks, and of the threads that run tasks, by
 * activity. */
#include "wallsample/analysis/green_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"

const struct green_doing_info green_doings[GREEN_DOING_COUNT] = {
#define X(name, text, word) { text, word },
	GREEN_DOINGS(X)
#undef X
};

static enum green_doing
doing_of(const struct profile_entry *entry, bool is_green)
{
	switch (entry->state) {
	case RUN_RUNNING:
		return GREEN_DOES_RUNNING;
	case RUN_QUEUED:
		return GREEN_DOES_QUEUED;
	case RUN_READY:
		return GREEN_DOES_READY;
	case RUN_SLEEPING:
	case RUN_UNINTERRUPTIBLE:
		if (!is_green)
			return GREEN_DOES_IDLE;
		return entry->carrier != 0 ? GREEN_DOES_CALLING : GREEN_DOES_PARKED;
	default:
		return GREEN_DOES_OTHER;
	}
}

/*
 * Returns the kind of the innermost frame: NAMED_NONE if it is no named frame or the stack is
 * STACK_NONE. If unwinding failed, the stack is a named frame with the reason.
 */
static enum named_frame
leaf_kind(const struct profile *profile, uint32_t stack)
{
	if (stack == STACK_NONE)
		return NAMED_NONE;
	return profile_frame(profile, profile_stack(profile, stack)->frame)->named;
}

struct adding {
	const struct view *view;
	struct green_table *out;
	size_t capacity;
	struct table known; /* (doing; address of the reason's text) -> row of `out` */
	/* indexed by thread of the profile: true if it is a green task that was counted already */
	bool *seen;
};

static void
add_green(struct adding *adding, const struct profile_entry *entry)
{
	const struct profile *profile = view_profile(adding->view);
	const enum named_frame leaf = leaf_kind(profile, entry->stack);
	struct green_table *out = adding->out;
	const int64_t ns = entry->ns[WEIGHT_WALL];

	out->green_ns += ns;
	if (leaf == NAMED_FAILED || leaf == NAMED_TASK_FINISHED)
		out->failed_ns += ns;
	if (leaf == NAMED_TASK_FINISHED)
		out->finished_ns += ns;
	if (adding->seen[entry->thread])
		return;
	adding->seen[entry->thread] = true;
	out->one = entry->thread;
	out->green_count++;
	out->system += profile_thread(profile, entry->thread)->system;
}

/* Returns why a parked task waits: what its runtime says, or for a descriptor the kind of the wait:
 * each connection would have a row of its own. */
static const char *
reason_of(const struct view *view, const struct profile_entry *entry)
{
	const enum wait_kind kind = profile_wait(view_profile(view), entry->wait)->kind;
	const uint32_t *function;
	size_t depth;

	if (entry->wait == 0 || kind == WAIT_GREEN)
		return view_wait_object(view, entry->wait);
	view_stack(view, entry->stack, &function, &depth);
	return wait_kind_text(view_wait_kind(view, entry->wait, function, depth));
}

static void
add_entry(struct adding *adding, const struct profile_entry *entry)
{
	const struct profile *profile = view_profile(adding->view);
	const bool is_green = profile_thread(profile, entry->thread)->is_green;
	const enum green_doing doing = doing_of(entry, is_green);
	const char *reason = doing == GREEN_DOES_PARKED ? reason_of(adding->view, entry) : "";
	struct green_table *out = adding->out;
	struct green_table_row *row;
	uint32_t at;

	out->row = table_row(&adding->known, (uint64_t[]){ doing, (uintptr_t)reason }, out->row,
			     &adding->capacity, sizeof(*out->row), &at);
	row = &out->row[at];
	row->doing = doing;
	row->reason = reason;
	if (is_green) {
		row->green_ns += entry->ns[WEIGHT_WALL];
		add_green(adding, entry);
	}
	if (!is_green || entry->carrier != 0) {
		row->threads_ns += entry->ns[WEIGHT_WALL];
		out->threads_ns += entry->ns[WEIGHT_WALL];
	}
}

static int
green_compare_rows(const void *left, const void *right)
{
	const struct green_table_row *a = left, *b = right;

	if (a->doing != b->doing)
		return a->doing < b->doing ? -1 : 1;
	if (a->green_ns != b->green_ns)
		return a->green_ns > b->green_ns ? -1 : 1;
	return strcmp(a->reason, b->reason);
}

static bool
has_green(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile_thread_count(profile); i++)
		if (profile_thread(profile, i)->is_green)
			return true;
	return false;
}

void
green_table_make(const struct view *view, struct green_table *out)
{
	const struct profile *profile = view_profile(view);
	struct adding adding = { .view = view, .out = out };

	*out = (struct green_table){ .row = NULL };
	if (!has_green(profile))
		return;
	adding.seen = xcalloc(profile_thread_count(profile) + 1, sizeof(*adding.seen));
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const uint32_t *function;
		size_t depth;

		if (entry->ns[WEIGHT_WALL] != 0 && view_sample(view, entry, &function, &depth))
			add_entry(&adding, entry);
	}
	out->count = adding.known.count;
	if (out->count > 1)
		qsort(out->row, out->count, sizeof(*out->row), green_compare_rows);
	table_release(&adding.known);
	free(adding.seen);
	if (out->green_count == 0) {
		free(out->row);
		*out = (struct green_table){ .row = NULL };
	}
}
