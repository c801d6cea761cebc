/* SPDX-License-Identifier: MIT */
/*
 * view_threads.c - labels threads and tasks, selects them by the filter, and groups tasks into
 * units. In this file "task" means a green task (green_task.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"
#include "wallsample/analysis/process_choice.h"
#include "wallsample/process/process.h"
#include "wallsample/runtime/language.h"

/*
 * Up to this number of tasks, each task is a unit. If there are more tasks, find_units() groups
 * tasks into units.
 */
#define APART_MOST 100
/* Task ids above this number are addresses. */
#define NUMBER_MOST UINT32_MAX

/* --- names ---------------------------------------------------------------------------- */

/* Returns the name of a symbol, or NULL if it is not known. */
static const char *
naming_name_of(const struct naming *naming, size_t symbol)
{
	return naming->symbol[symbol].known ? naming->symbol[symbol].function : NULL;
}

/* Sets view->entry and view->created: names of functions, whatever the key of the view. */
static void
name_entries(const struct naming *naming)
{
	struct view *view = naming->view;
	const size_t frames = profile_frame_count(view->profile);

	for (uint32_t i = 0; i < profile_thread_count(view->profile); i++) {
		const struct profile_thread *task = profile_thread(view->profile, i);
		const struct names *names;

		if (task->is_green && task->entry < frames) {
			names = &naming->of_frame[task->entry];
			view->entry[i] = naming_name_of(naming, names->first + names->count - 1);
		}
		if (task->is_green && task->created_at < frames) {
			names = &naming->of_frame[task->created_at];
			view->created[i] = naming_name_of(naming, names->first);
		}
	}
}

/*
 * Returns the name of the function that the function `wrapper` has called in the stack. NULL if the
 * stack does not have `wrapper`, if the function called has no name, or if the wrapper is outside
 * of all language runtimes and the function called belongs to one.
 */
static const char *
find_callee(const struct naming *naming, uint32_t stack, const char *wrapper)
{
	const struct profile *profile = naming->view->profile;
	const char *inner = NULL;

	for (; stack != STACK_NONE; stack = profile_stack(profile, stack)->caller) {
		const struct names names = naming->of_frame[profile_stack(profile, stack)->frame];
		const size_t outermost = names.first + names.count - 1;
		const char *name = naming_name_of(naming, outermost);

		if (name != NULL && strcmp(name, wrapper) == 0) {
			if (names.count > 1)
				inner = naming_name_of(naming, outermost - 1);
			return inner == NULL || (language_of_runtime(inner) >= 0 &&
						 language_of_runtime(wrapper) < 0) ?
				       NULL :
				       inner;
		}
		inner = name;
	}
	return NULL;
}

/*
 * Replaces an entry function that is a wrapper made by a compiler by the function that the wrapper
 * has called in the stacks of samples.
 */
static void
unwrap_entries(const struct naming *naming)
{
	struct view *view = naming->view;
	const size_t frames = profile_frame_count(view->profile);
	/*
	 * indexed by frame of an entry function: if that function is a wrapper, the function that
	 * it has called; else NULL
	 */
	const char **callee = xcalloc(frames + 1, sizeof(*callee));

	for (size_t i = 0; i < profile_entry_count(view->profile); i++) {
		const struct profile_entry *sample = profile_entry(view->profile, i);
		const uint32_t entry = profile_thread(view->profile, sample->thread)->entry;
		const char *name = view->entry[sample->thread];

		if (name != NULL && callee[entry] == NULL && language_is_wrapper(name))
			callee[entry] = find_callee(naming, sample->stack, name);
	}
	for (uint32_t i = 0; i < profile_thread_count(view->profile); i++) {
		const uint32_t entry = profile_thread(view->profile, i)->entry;

		if (view->entry[i] != NULL && callee[entry] != NULL)
			view->entry[i] = callee[entry];
	}
	free(callee);
}

/*
 * Sets view->unit. If there are more than APART_MOST tasks, groups tasks into units: those of a
 * unit have the same entry function and the same name, which is their runtime's word for a task,
 * and either all or none of them belong to the runtime. Then sets view->unit_green, too.
 */
static void
find_units(struct view *view)
{
	const size_t count = profile_thread_count(view->profile);
	size_t tasks = 0;
	struct table known = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		view->unit[i] = i;
		tasks += profile_thread(view->profile, i)->is_green;
	}
	if (tasks <= APART_MOST)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_thread *task = profile_thread(view->profile, i);

		if (!task->is_green)
			continue;
		view->unit[i] = *table_insert(&known, (uintptr_t)view->entry[i],
					      (uint64_t)task->name << 1 | task->system, i, NULL);
		view->unit_green[view->unit[i]]++;
	}
	table_release(&known);
}

void
view_name_threads(struct naming *naming)
{
	struct view *view = naming->view;
	const size_t count = profile_thread_count(view->profile);

	view->entry = xcalloc(count + 1, sizeof(*view->entry));
	view->created = xcalloc(count + 1, sizeof(*view->created));
	view->unit = xcalloc(count + 1, sizeof(*view->unit));
	view->unit_green = xcalloc(count + 1, sizeof(*view->unit_green));
	name_entries(naming);
	unwrap_entries(naming);
	find_units(view);
}

const char *
view_green_entry(const struct view *view, uint32_t thread)
{
	return view->entry[thread];
}

const char *
view_green_creator(const struct view *view, uint32_t thread)
{
	return view->created[thread];
}

void
view_add_green_id(uint64_t id, struct strbuf *out)
{
	strbuf_add_format(out, id > NUMBER_MOST ? "0x%" PRIx64 : "%" PRIu64, id);
}

/* Adds the label of several tasks with the same entry function, such as "tasks main.taker". */
static void
add_green_group(const struct view *view, uint32_t thread, struct strbuf *out)
{
	const struct profile_thread *of = profile_thread(view->profile, thread);

	strbuf_add_format(out, "%ss", profile_text(view->profile, of->name));
	if (view->entry[thread] != NULL)
		strbuf_add_format(out, " %s", view->entry[thread]);
}

void
view_add_thread(const struct view *view, uint32_t thread, struct strbuf *out)
{
	const struct profile_thread *of = profile_thread(view->profile, thread);

	if (of->is_green && of->green_id == 0) {
		add_green_group(view, thread, out);
		return;
	}
	strbuf_add_text(out, profile_text(view->profile, of->name));
	if (!of->is_green) {
		strbuf_add_format(out, "-%jd", (intmax_t)of->tid);
		return;
	}
	strbuf_add_text(out, " ");
	view_add_green_id(of->green_id, out);
	if (view->entry[thread] != NULL)
		strbuf_add_format(out, " %s", view->entry[thread]);
}

uint32_t
view_unit(const struct view *view, uint32_t thread)
{
	return view->unit[thread];
}

void
view_add_unit(const struct view *view, uint32_t unit, struct strbuf *out)
{
	if (view->unit_green[unit] > 1)
		add_green_group(view, unit, out);
	else
		view_add_thread(view, unit, out);
}

void
view_add_name(const struct view *view, uint32_t thread, struct strbuf *out)
{
	const struct profile_thread *of = profile_thread(view->profile, thread);

	if (of->is_green)
		view_add_thread(view, thread, out);
	else
		strbuf_add_text(out, profile_text(view->profile, of->name));
}

int64_t
view_thread_number(const struct view *view, uint32_t thread)
{
	const struct profile_thread *of = profile_thread(view->profile, thread);

	/* Exporters may use the limit itself for tracks that they show beside threads. */
	return of->is_green ? PROCESS_ID_LIMIT + 1 + (int64_t)thread : (int64_t)of->tid;
}

/* --- selection ------------------------------------------------------------------------ */

/* Fills view->process_excluded. Returns the processes that the filter selects, by process of the
 * profile; the caller frees the array. */
static bool *
choose_processes(struct view *view)
{
	const size_t count = profile_process_count(view->profile);
	bool *wanted = xcalloc(count + 1, sizeof(*wanted));

	view->process_excluded = xcalloc(count + 1, sizeof(*view->process_excluded));
	/* The threads of a profile without processes belong to PROCESS_FIRST. */
	wanted[PROCESS_FIRST] = view->filter.process.count == 0;
	for (uint32_t i = 0; i < count; i++) {
		const enum process_choice choice = process_choice_of(view->profile, i,
								     &view->filter);

		wanted[i] = choice == PROCESS_SELECTED;
		view->process_excluded[i] = choice == PROCESS_EXCLUDED;
	}
	return wanted;
}

/* True if the filter selects the process of the thread. CPU time of children that were not sampled,
 * and the unknown holders of locks, belong to no process: filter.process does not select them. */
static bool
process_is_wanted(const struct view *view, const bool *wanted, uint32_t thread)
{
	if (process_is_unsampled(view->profile, thread) ||
	    profile_is_no_thread(view->profile, thread))
		return view->filter.process.count == 0;
	return wanted[profile_thread(view->profile, thread)->process];
}

void
view_choose_threads(struct view *view)
{
	const struct filter *filter = &view->filter;
	const size_t count = profile_thread_count(view->profile);
	bool *processes = choose_processes(view);

	view->only_threads = filter_selects_threads(filter);
	view->thread_wanted = xcalloc(count + 1, sizeof(*view->thread_wanted));
	view->thread_excluded = xcalloc(count + 1, sizeof(*view->thread_excluded));
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_thread *thread = profile_thread(view->profile, i);
		const char *name = profile_text(view->profile, thread->name);

		view->thread_wanted[i] = thread->is_green ?
						 filter_green(filter, thread->green_id) :
						 filter_thread(filter, thread->tid, name);
		view->thread_wanted[i] &= process_is_wanted(view, processes, i);
		view->thread_excluded[i] = !thread->is_green &&
					   filter_excludes_thread(filter, name);
	}
	free(processes);
}

struct run_excluded
view_excluded(const struct view *view)
{
	const struct profile *profile = view->profile;
	struct run_excluded excluded = { .threads = 0 };

	for (uint32_t i = 0; i < profile_thread_count(profile); i++)
		excluded.threads += view->thread_excluded[i];
	for (size_t i = 0; excluded.threads > 0 && i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const uint32_t thread = entry->carrier != 0 ? entry->carrier - 1 : entry->thread;

		if (view->thread_excluded[thread] && entry->ns[WEIGHT_CPU] > 0)
			excluded.cpu_ns += (uint64_t)entry->ns[WEIGHT_CPU];
	}
	return excluded;
}

struct run_excluded_processes
view_excluded_processes(const struct view *view)
{
	const struct profile *profile = view->profile;
	struct run_excluded_processes excluded = { .count = 0 };

	for (uint32_t i = 0; i < profile_process_count(profile); i++)
		excluded.count += view->process_excluded[i];
	for (size_t i = 0; excluded.count > 0 && i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const struct profile_thread *thread = profile_thread(profile, entry->thread);

		if (view->process_excluded[thread->process] && entry->ns[WEIGHT_CPU] > 0 &&
		    !process_is_unsampled(profile, entry->thread))
			excluded.cpu_ns += (uint64_t)entry->ns[WEIGHT_CPU];
	}
	return excluded;
}

int32_t
view_syscall(const struct view *view, const struct profile_entry *sample)
{
	if (run_state_runnable(sample->state))
		return (int32_t)SYSCALL_NONE; /* the call of a woken thread has ended */
	return sample->state == RUN_SLEEPING && sample->carrier == 0 &&
			       sample->syscall == SYSCALL_NONE &&
			       profile_thread(view->profile, sample->thread)->is_green ?
		       (int32_t)SYSCALL_GREEN :
		       sample->syscall;
}

bool
view_wants_thread(const struct view *view, const struct profile_entry *entry)
{
	if (!profile_thread(view->profile, entry->thread)->is_green)
		return view->thread_wanted[entry->thread] && view->filter.green.id == NULL;
	if (!view->thread_wanted[entry->thread])
		return false;
	return entry->carrier != 0 ? view->thread_wanted[entry->carrier - 1] : !view->only_threads;
}
