/* SPDX-License-Identifier: MIT */
/* waiting.c - sums up waits by the object that threads waited for. */
#include "wallsample/analysis/waiting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"
#include "wallsample/analysis/own_code.h"
#include "wallsample/runtime/language.h"

/* STANDARD_ERRORS: half of the interval of a mean number of waiters, for a probability of 95 %, in
 * standard errors. SHORT_SLEEPS: the share of the mean that may be due to other, shorter sleeps of
 * the same threads, which have too few samples (wallsample-theory(7), "Short sleeps"). */
#define STANDARD_ERRORS 2.0
#define SHORT_SLEEPS 0.15

struct summing {
	const struct view *view;
	struct waiting *out;
	size_t capacity, stack_capacity;
	struct table stacks;  /* (row and holds; address of the functions) -> stack */
	struct table threads; /* set of (row; thread): the thread has been counted for the row */
	struct table objects; /* set of (row; frame of the object) */
	/* set of (stack; thread): the thread has been counted for the stack */
	struct table in_stack;
};

static const char *
text_of_row(enum wait_kind kind)
{
	return kind == WAIT_RWLOCK_READ ? "rwlock" : wait_kind_text(kind);
}

#define NAME_UNKNOWN (UINT32_MAX - 1)

static uint32_t
waiting_name_of(const struct view *view, enum wait_kind kind, uint32_t object)
{
	if (object == FRAME_NONE)
		return UINT32_MAX;
	if (wait_kind_is_socket(kind) &&
	    wait_object_is_bare(view->function[view->of_frame[object]].name))
		return NAME_UNKNOWN;
	return view->of_frame[object];
}

static uint32_t
find_row(struct summing *summing, enum wait_kind kind, uint32_t object)
{
	const struct view *view = summing->view;
	struct waiting *out = summing->out;
	const uint32_t name = waiting_name_of(view, kind, object);
	const struct view_function *named = name < NAME_UNKNOWN ? &view->function[name] : NULL;
	struct waiting_row *row;
	uint32_t at;

	out->row = table_row(&out->rows, (uint64_t[]){ wait_kind_of_row(kind), name }, out->row,
			     &summing->capacity, sizeof(*out->row), &at);
	row = &out->row[at];
	row->kind = wait_kind_of_row(kind);
	row->kind_text = text_of_row(row->kind);
	row->object = named != NULL ? named->name : name == NAME_UNKNOWN ? WAIT_OBJECT_UNKNOWN : "";
	row->module = named != NULL ? named->module : "";
	row->named = name;
	return at;
}

static void
add_stack(struct summing *summing, const struct waiting_stack *stack)
{
	struct waiting *out = summing->out;
	bool added;
	const uint32_t at = *table_insert(&summing->stacks,
					  (uint64_t)stack->row << 1 | stack->holds,
					  (uintptr_t)stack->function, (uint32_t)out->stacks,
					  &added);

	if (added) {
		out->stack = xgrow(out->stack, &summing->stack_capacity, out->stacks + 1,
				   sizeof(*out->stack));
		out->stack[out->stacks++] = *stack;
	} else {
		out->stack[at].ns += stack->ns;
	}
	table_insert(&summing->in_stack, at, stack->thread, 0, &added);
	out->stack[at].threads += added;
}

static void
add_waiter(struct summing *summing, const struct profile_entry *entry)
{
	const struct view *view = summing->view;
	const struct profile_wait *wait = profile_wait(view->profile, entry->wait);
	struct waiting_stack stack = {
		.thread = entry->thread,
		.state = entry->state,
		.stack = entry->stack,
		.ns = entry->ns[WEIGHT_WALL],
	};
	struct waiting_row *row;
	enum wait_kind kind;
	bool added;

	if (!view_sample(view, entry, &stack.function, &stack.depth))
		return;
	kind = view_wait_kind(view, entry->wait, stack.function, stack.depth);
	stack.row = find_row(summing, kind, view_wait_frame(view, entry->wait, kind));
	row = &summing->out->row[stack.row];
	row->ns += entry->ns[WEIGHT_WALL];
	row->samples += entry->samples;
	table_insert(&summing->threads, stack.row, entry->thread, 0, &added);
	row->threads += added;
	table_insert(&summing->objects, stack.row, wait->object, 0, &added);
	row->objects += added;
	if (wait->most > row->most)
		row->most = wait->most;
	add_stack(summing, &stack);
}

static void
add_holder(struct summing *summing, const struct profile_blame *blame)
{
	const struct view *view = summing->view;
	const struct profile_wait *wait = profile_wait(view->profile, blame->wait);
	struct waiting_stack stack = {
		.holds = true,
		.thread = blame->thread,
		.state = blame->state,
		.stack = blame->stack,
		.ns = blame->ns,
	};

	/* A holder counts only if a selected thread waited for the object that the holder held. */
	if (!table_find(&summing->out->rows, wait_kind_of_row(wait->kind),
			waiting_name_of(view, wait->kind, wait->object), &stack.row))
		return;
	view_stack(view, blame->stack, &stack.function, &stack.depth);
	add_stack(summing, &stack);
}

static int
waiting_compare_rows(const void *left, const void *right)
{
	const struct waiting_row *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->object, b->object);
}

static int
compare_stacks(const void *left, const void *right)
{
	const struct waiting_stack *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->holds != b->holds)
		return a->holds ? 1 : -1;
	return (a->ns < b->ns) - (a->ns > b->ns);
}

/*
 * Orders the stacks by row, waiters before holders, then by descending time. Sets `waiter` and
 * `holder` of each row to the row's stacks.
 */
static void
share_stacks(struct waiting *out)
{
	if (out->stacks > 1)
		qsort(out->stack, out->stacks, sizeof(*out->stack), compare_stacks);
	for (size_t i = 0; i < out->stacks; i++) {
		const struct waiting_stack *stack = &out->stack[i];
		struct waiting_row *row = &out->row[stack->row];

		if (stack->holds && row->holders++ == 0)
			row->holder = stack;
		else if (!stack->holds && row->waiters++ == 0)
			row->waiter = stack;
	}
}

/* Orders the rows by descending time, and updates the table of their indices. */
static void
sort_rows(struct waiting *out)
{
	if (out->count > 1)
		qsort(out->row, out->count, sizeof(*out->row), waiting_compare_rows);
	table_clear(&out->rows);
	for (uint32_t i = 0; i < out->count; i++)
		table_insert(&out->rows, out->row[i].kind, out->row[i].named, i, NULL);
}

/*
 * Sets row->most to the mean number of waiters, rounded up, if the mean is above row->most by more
 * than its error. This is so where the sampler has not counted the waiters at one moment: in rows
 * of several recordings, and where waits end sooner than they can be counted.
 */
static void
raise_to_mean(struct waiting_row *row, double span_ns)
{
	const double mean = (double)row->ns / span_ns;
	const double samples = row->samples > 1 ? (double)row->samples : 1;
	const double least = mean * (1 - SHORT_SLEEPS - STANDARD_ERRORS / sqrt(samples));

	if (least > row->most)
		row->most = ceil(mean) < row->threads ? (uint32_t)ceil(mean) : row->threads;
}

void
waiting_make(const struct view *view, struct waiting *out)
{
	struct summing summing = { .view = view, .out = out };
	const struct profile *profile = view_profile(view);

	*out = (struct waiting){ .count = 0 };
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		/* An entry of a gap (real time without a runnable thread) has no wall time. */
		if (entry->wait != 0 && entry->ns[WEIGHT_WALL] > 0)
			add_waiter(&summing, entry);
	}
	for (size_t i = 0; i < profile_blame_count(profile); i++)
		if (profile_blame(profile, i)->ns > 0)
			add_holder(&summing, profile_blame(profile, i));
	out->count = out->rows.count;
	for (size_t i = 0; i < out->count && profile_wall_ns(profile) > 0; i++)
		raise_to_mean(&out->row[i], (double)profile_wall_ns(profile));
	share_stacks(out);
	sort_rows(out);
	table_release(&summing.stacks);
	table_release(&summing.threads);
	table_release(&summing.objects);
	table_release(&summing.in_stack);
}

void
waiting_release(struct waiting *waiting)
{
	free(waiting->row);
	free(waiting->stack);
	table_release(&waiting->rows);
	*waiting = (struct waiting){ .count = 0 };
}

size_t
waiting_find(const struct waiting *waiting, const struct view *view, uint32_t wait,
	     const uint32_t *function, size_t depth)
{
	const enum wait_kind kind = view_wait_kind(view, wait, function, depth);
	const uint32_t name = waiting_name_of(view, kind, view_wait_frame(view, wait, kind));
	uint32_t row;

	return table_find(&waiting->rows, wait_kind_of_row(kind), name, &row) ? row :
										waiting->count;
}

void
waiting_add_through(const struct view *view, const struct waiting_stack *stack, struct strbuf *out)
{
	const size_t prefix = strlen(PROFILE_THROUGH);
	const struct view_function *outermost;

	/* The stack of the last process has a frame of its own in addition. */
	if (!stack->holds || stack->depth < 2)
		return;
	outermost = view_function(view, stack->function[stack->depth - 1]);
	if (view_is_named(outermost) && strncmp(outermost->name, PROFILE_THROUGH, prefix) == 0)
		strbuf_add(out, outermost->name + prefix, strlen(outermost->name) - prefix - 1);
}

/* --- the function that waits ---------------------------------------------------------- */

/* True for functions of the C or C++ library, the dynamic linker, the vDSO or a runtime. */
static bool
is_library(const struct view_function *function)
{
	/* In a statically linked program, functions of the libraries are recognized by name. */
	return own_is_system_file(function->module) ||
	       strncmp(function->module, "libstdc++", strlen("libstdc++")) == 0 ||
	       own_is_c_library_name(function->name) ||
	       strncmp(function->name, "std::", strlen("std::")) == 0 ||
	       language_waits(function->name);
}

size_t
waiting_place(const struct view *view, const uint32_t *function, size_t depth)
{
	for (size_t i = 0; i < depth; i++) {
		const struct view_function *at = view_function(view, function[i]);

		if (at->script)
			return i;
		if (at->module[0] != '\0' && !is_library(at))
			return i;
	}
	return 0;
}
