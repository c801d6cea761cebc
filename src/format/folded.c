/* SPDX-License-Identifier: MIT */
/*
 * folded.c - writes one line per stack, "outermost;…;innermost WEIGHT", for flame graph tools.
 *
 * The weight is in microseconds, at least 1; in a dump it is the number of threads and tasks with
 * the stack. A name may contain spaces: readers take the weight after the last space. A comparison
 * of two runs has two weights, before and after, as difffolded.pl of FlameGraph writes them. In
 * this file "task" means a green task (green_task.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/format/exporters.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

struct line {
	const uint32_t *function;
	size_t depth;
	uint32_t process, thread;
	int64_t weight_ns;
	char *text;
};

struct folding {
	const struct view *view;
	enum weight weight;
	bool by_process, by_thread;
	/*
	 * the weight of a line is a number of threads or tasks: weight_ns is this number times
	 * NS_PER_US
	 */
	bool counted;
	/* the lines are part of a comparison: diff_name() gives the names of functions */
	bool compared;
	double scale; /* weights are multiplied by this factor */
	char **name;  /* by function of the view: the escaped name */
	struct line *line;
	size_t count, capacity;
};

/*
 * Adds a name in which ':' replaces ';', because ';' separates names. The only other changes are
 * those of strbuf_add_ordered_line(), so that readers get complete names.
 */
static void
folding_add_name(struct strbuf *out, const char *name)
{
	const size_t before = out->length;

	strbuf_add_ordered_line(out, name);
	for (size_t i = before; i < out->length; i++)
		if (out->data[i] == ';')
			out->data[i] = ':';
}

static void
make_names(struct folding *folding)
{
	const size_t count = view_function_count(folding->view);
	struct strbuf sb = STRBUF_INIT, scratch = STRBUF_INIT;

	folding->name = xcalloc(count + 1, sizeof(*folding->name));
	for (uint32_t i = 0; i < count; i++) {
		strbuf_clear(&sb);
		folding_add_name(&sb, folding->compared ? diff_name(folding->view, i, &scratch) :
							  view_function(folding->view, i)->label);
		folding->name[i] = xstrdup(sb.data);
	}
	strbuf_release(&sb);
	strbuf_release(&scratch);
}

/* Returns the number of threads or tasks that a row of a dump stands for. */
static int64_t
count_of(const struct view *view, const struct view_row *row)
{
	const struct profile_thread *of = profile_thread(view_profile(view), row->thread);

	if (row->samples <= 0)
		return 0;
	return of->is_green && of->green_id == 0 ? row->samples : 1;
}

/*
 * Makes one line per stack, or with by_process and by_thread one per stack, process and unit
 * (view_unit()): rows of the view with other states and system calls are merged.
 */
static void
make_lines(struct folding *folding)
{
	const struct view *view = folding->view;
	struct table known;

	table_init(&known);
	for (size_t i = 0; i < view_row_count(view); i++) {
		const struct view_row *row = view_row(view, i);
		const uint32_t thread = folding->by_thread ? view_unit(view, row->thread) : 0;
		const uint32_t process = folding->by_process ? process_of_record(view_profile(view),
										 row->thread) :
							       0;
		bool added;
		/* Rows with the same stack share its function array: the pointer identifies it. */
		const uint32_t at = *table_insert(&known, (uintptr_t)row->function,
						  (uint64_t)process << 32 | thread,
						  (uint32_t)folding->count, &added);

		if (added) {
			folding->line = xgrow(folding->line, &folding->capacity, folding->count + 1,
					      sizeof(*folding->line));
			folding->line[folding->count++] = (struct line){
				.function = row->function,
				.depth = row->depth,
				.process = process,
				.thread = view_unit(view, row->thread),
			};
		}
		folding->line[at].weight_ns += folding->counted ?
						       count_of(view, row) * (int64_t)NS_PER_US :
						       row->ns[folding->weight];
	}
	table_release(&known);
}

static char *
line_text(const struct folding *folding, const struct line *line)
{
	struct strbuf sb = STRBUF_INIT, name = STRBUF_INIT;

	if (folding->by_process) {
		strbuf_add_text(&name, "");
		process_add_label(view_profile(folding->view), line->process, &name);
		folding_add_name(&sb, name.data);
		strbuf_add_text(&sb, ";");
		strbuf_clear(&name);
	}
	if (folding->by_thread) {
		view_add_unit(folding->view, line->thread, &name);
		folding_add_name(&sb, name.data);
		strbuf_add_text(&sb, ";");
	}
	strbuf_release(&name);
	if (line->depth == 0)
		strbuf_add_text(&sb, "[no stack]");
	for (size_t i = line->depth; i-- > 0;) {
		strbuf_add_text(&sb, folding->name[line->function[i]]);
		if (i > 0)
			strbuf_add_text(&sb, ";");
	}
	return sb.data;
}

static int
compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return strcmp(a->text, b->text);
}

/* Makes the lines and sorts them by their text. */
static void
fold(struct folding *folding)
{
	make_names(folding);
	make_lines(folding);
	for (size_t i = 0; i < folding->count; i++)
		folding->line[i].text = line_text(folding, &folding->line[i]);
	if (folding->count > 1)
		qsort(folding->line, folding->count, sizeof(*folding->line), compare_lines);
}

static void
folding_release(struct folding *folding)
{
	for (size_t i = 0; i < folding->count; i++)
		free(folding->line[i].text);
	free(folding->line);
	for (size_t i = 0; i < view_function_count(folding->view); i++)
		free(folding->name[i]);
	free(folding->name);
}

/*
 * Returns the sum of the scaled weights, in microseconds, of the lines with this text, which begin
 * at index *at; at least 1 if a weight is above 0. Sets *at to the index of the line after them.
 * Several lines may have the same text, because two modules may have functions of the same name.
 */
static int64_t
take_lines(const struct folding *folding, size_t *at, const char *text)
{
	int64_t ns = 0, us;

	for (; *at < folding->count && strcmp(folding->line[*at].text, text) == 0; (*at)++)
		ns += folding->line[*at].weight_ns;
	us = (int64_t)((double)ns * folding->scale / (double)NS_PER_US + 0.5);
	return ns > 0 && us == 0 ? 1 : us;
}

static void
write_folded(struct folding *folding, FILE *out)
{
	size_t at = 0;

	fold(folding);
	while (at < folding->count) {
		const char *text = folding->line[at].text;
		const int64_t us = take_lines(folding, &at, text);

		if (us > 0)
			fprintf(out, "%s %" PRId64 "\n", text, us);
	}
	folding_release(folding);
}

static void
folded_write(const struct export_input *input, FILE *out)
{
	write_folded(&(struct folding){ .view = input->view,
					.weight = input->sort,
					.by_process = input->by_process,
					.by_thread = input->by_thread,
					.scale = 1 },
		     out);
}

/* Writes for each stack the number of threads and tasks with that stack. */
static void
folded_write_dump(const struct export_input *input, FILE *out)
{
	write_folded(&(struct folding){ .view = input->view, .counted = true, .scale = 1 }, out);
}

/*
 * Returns the alphabetically first text of the next lines of both sides, side[s].line[at[s]]; NULL
 * if no line is left.
 */
static const char *
next_text(const struct folding side[DIFF_SIDES], const size_t at[DIFF_SIDES])
{
	const char *next = NULL;

	for (int s = 0; s < DIFF_SIDES; s++)
		if (at[s] < side[s].count &&
		    (next == NULL || strcmp(side[s].line[at[s]].text, next) < 0))
			next = side[s].line[at[s]].text;
	return next;
}

/*
 * Writes each stack with its time in both runs. The times of the earlier run are scaled to the
 * length of the later run.
 */
static void
folded_write_diff(const struct diff_input *input, FILE *out)
{
	const uint64_t *wall_ns = input->diff->wall_ns;
	struct folding side[DIFF_SIDES];
	size_t at[DIFF_SIDES] = { 0, 0 };
	const char *text;

	for (int s = 0; s < DIFF_SIDES; s++) {
		side[s] = (struct folding){
			.view = input->run[s].view,
			.weight = input->diff->weight,
			.compared = true,
			.scale = 1,
		};
		fold(&side[s]);
	}
	if (wall_ns[DIFF_BEFORE] > 0 && wall_ns[DIFF_AFTER] > 0)
		side[DIFF_BEFORE].scale = (double)wall_ns[DIFF_AFTER] /
					  (double)wall_ns[DIFF_BEFORE];
	while ((text = next_text(side, at)) != NULL) {
		const int64_t before = take_lines(&side[DIFF_BEFORE], &at[DIFF_BEFORE], text);
		const int64_t after = take_lines(&side[DIFF_AFTER], &at[DIFF_AFTER], text);

		if (before > 0 || after > 0)
			fprintf(out, "%s %" PRId64 " %" PRId64 "\n", text, before, after);
	}
	for (int s = 0; s < DIFF_SIDES; s++)
		folding_release(&side[s]);
}

const struct exporter exporter_folded = {
	.name = "folded",
	.help = "one line a stack, for flame graphs",
	.endings = "folded,collapsed",
	.noun = "stacks",
	.options = EXPORT_STACKS,
	.write = folded_write,
	.write_diff = folded_write_diff,
	.write_dump = folded_write_dump,
};
