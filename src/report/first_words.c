/* SPDX-License-Identifier: MIT */
/* first_words.c - names of functions and other texts that the parts of a first screen share. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/first_internal.h"
#include "wallsample/report/quantity.h"
#include "wallsample/runtime/language.h"

/* Maximum number of callers that a cause names. */
#define CALLERS_MOST 2

/* --- names ------------------------------------------------------------------------------- */

void
first_add_function(const struct first *first, uint32_t id, struct strbuf *out)
{
	const struct view_function *function = view_function(first->view, id);

	if (first->own.rank[id] == OWN_UNNAMED)
		strbuf_add_format(out, "[%s]", function->module);
	else
		strbuf_add_text(out, function->name);
}

void
first_add_line(const struct first *first, uint32_t id, const char *file, uint32_t line,
	       struct strbuf *out)
{
	const struct view_function *function = view_function(first->view, id);
	const char *slash = file != NULL ? strrchr(file, '/') : NULL;

	if (first->own.rank[id] == OWN_UNNAMED)
		strbuf_add_text(out, "no symbols");
	else if (function->known && strcmp(function->place, function->module) != 0)
		strbuf_add_text(out, function->place);
	else if (function->script && function->module[0] != '\0')
		strbuf_add_text(out, function->module);
	else if (file != NULL)
		strbuf_add_text(out, slash != NULL ? slash + 1 : file);
	else if (!view_is_named(function) && function->module[0] != '[')
		strbuf_add_text(out, function->module);
	if (line > 0 && out->length > 0 && first->own.rank[id] != OWN_UNNAMED)
		strbuf_add_format(out, ":%" PRIu32, line);
}

void
first_add_place(const struct first *first, uint32_t id, const char *file, uint32_t line,
		struct strbuf *out)
{
	struct strbuf at = STRBUF_INIT;

	first_add_function(first, id, out);
	first_add_line(first, id, file, line, &at);
	if (at.length > 0)
		strbuf_add_format(out, " %s", at.data);
	strbuf_release(&at);
}

/* --- texts ------------------------------------------------------------------------------- */

void
cause_set_text(struct cause *cause, struct strbuf *text)
{
	cause->text = text->data;
	strbuf_init(text);
}

void
cause_set_next(struct cause *cause, struct strbuf *command, const char *why)
{
	free(cause->next.command);
	cause->next = (struct suggestion){ .command = command->data, .why = why };
	strbuf_init(command);
}

void
cause_add_detail(struct cause *cause, const char *label, struct strbuf *text)
{
	if (cause->details < CAUSE_DETAILS_MOST && text->length > 0) {
		cause->detail[cause->details++] = (struct cause_detail){ label, text->data };
		strbuf_init(text);
	} else {
		strbuf_release(text);
	}
}

/* False for the address of an object other than a lock: it says nothing that its kind does not. */
static bool
is_telling(const struct waiting_row *row)
{
	return wait_kind_has_owner(row->kind) || strncmp(row->object, "0x", 2) != 0;
}

void
first_add_wait(const struct first *first, const struct place_wait *wait, struct strbuf *out)
{
	const struct waiting_row *row = wait->row < first->waiting.count ?
						&first->waiting.row[wait->row] :
						NULL;

	if (wait->gil)
		strbuf_add_text(out, language_lock(first->input->stats->runtimes));
	else if (row != NULL)
		wait_kind_add(row->kind, row->kind_text, is_telling(row) ? row->object : "", out);
	else if (wait_kind_is_peer(wait->kind) || wait->kind == WAIT_ACCEPT)
		strbuf_add_text(out, wait_kind_text(wait->kind));
	else
		run_state_add(out, wait->state, wait->syscall);
}

void
first_add_wait_of(const struct first *first, const struct place_row *row, struct strbuf *out)
{
	first_add_wait(first, &row->wait, out);
	if (row->example < first->waiting.count)
		strbuf_add_format(out, ", e.g. %s", first->waiting.row[row->example].object);
}

/* Returns the row of the function's place; NULL: it has none. */
static const struct place_row *
place_of_function(const struct first *first, uint32_t function)
{
	for (size_t i = 0; i < first->places.count; i++)
		if (first->places.row[i].function == function)
			return &first->places.row[i];
	return NULL;
}

void
first_add_place_of(const struct first *first, uint32_t function, struct strbuf *out)
{
	const struct place_row *row = place_of_function(first, function);

	first_add_place(first, function, row != NULL ? row->file : NULL,
			row != NULL ? row->line : 0, out);
}

/* Adds the callers of function[place] that are the program's own, but not main. */
static void
add_callers(const struct first *first, const uint32_t *function, size_t depth, size_t place,
	    size_t most, struct strbuf *out)
{
	uint32_t last = function[place];
	size_t added = 0;

	for (size_t at = place + 1; at < depth && added < most; at++) {
		if (first->own.rank[function[at]] < OWN_FILE || function[at] == last)
			continue;
		if (strcmp(view_function(first->view, function[at])->name, "main") == 0)
			return;
		strbuf_add_text(out, added == 0 ? ", called by " : ", ");
		first_add_function(first, function[at], out);
		last = function[at];
		added++;
	}
}

void
first_add_stack(const struct first *first, uint32_t stack, size_t most, struct strbuf *out)
{
	const struct view *lines = first->input->lines;
	const struct view_function *line = NULL;
	const uint32_t *function, *by_line;
	size_t depth, depth_by_line, place;

	view_stack(first->view, stack, &function, &depth);
	if (depth == 0)
		return;
	place = own_place(&first->own, function, depth);
	if (lines != NULL) {
		view_stack(lines, stack, &by_line, &depth_by_line);
		if (depth_by_line == depth)
			line = view_function(lines, by_line[place]);
	}
	first_add_place(first, function[place], line != NULL ? line->file : NULL,
			line != NULL ? line->line : 0, out);
	add_callers(first, function, depth, place, most, out);
}

/* Returns the stack of the profile entry with the most wall time among the entries whose place is
 * the function. If there are entries of runnable threads, only these count. STACK_NONE: the
 * function is the place of no stack. */
static uint32_t
main_stack_of(const struct first *first, uint32_t id)
{
	const struct profile *profile = view_profile(first->view);
	uint32_t stack = STACK_NONE;
	int64_t most_ns = 0;
	bool could_run = false;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const bool can_run = run_state_runnable(entry->state);
		const int64_t ns = entry->ns[WEIGHT_WALL];
		const uint32_t *function;
		size_t depth;

		if (can_run < could_run || (can_run == could_run && ns <= most_ns) ||
		    !view_sample(first->view, entry, &function, &depth) || depth == 0 ||
		    function[own_place(&first->own, function, depth)] != id)
			continue;
		stack = entry->stack;
		most_ns = ns;
		could_run = can_run;
	}
	return stack;
}

void
cause_add_function(const struct first *first, const struct finding *found, const char *label,
		   struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;
	const uint32_t *function;
	uint32_t stack;
	size_t depth;

	if (found->function < view_function_count(first->view)) {
		first_add_place_of(first, found->function, &text);
		stack = main_stack_of(first, found->function);
		depth = 0;
		if (stack != STACK_NONE)
			view_stack(first->view, stack, &function, &depth);
		if (depth > 0)
			add_callers(first, function, depth, own_place(&first->own, function, depth),
				    CALLERS_MOST, &text);
	}
	cause_add_detail(cause, label, &text);
}

double
first_cpus_used(const struct first *first)
{
	const struct run_stats *stats = &first->stats;
	const double run_ns = (double)stats->elapsed_ns;
	const int64_t cpu_ns = stats->target_cpu_known ? (int64_t)stats->target_cpu_ns :
							 view_total_ns(first->view, WEIGHT_CPU);

	return run_ns > 0 ? (double)cpu_ns / run_ns : 0;
}

void
first_add_cpus_used(const struct first *first, struct strbuf *out)
{
	const unsigned cpus = first->input->stats->cpus;

	strbuf_add_format(out, first_cpus_used(first) < 0.1 ? "%.2f" : "%.1f",
			  first_cpus_used(first));
	if (cpus > 0)
		strbuf_add_format(out, " of %s", quantity_things(cpus, "CPU", "CPUs").text);
	else
		strbuf_add_text(out, " CPUs");
}
