/* SPDX-License-Identifier: MIT */
/*
 * folded.c - one line a stack, "outermost;…;innermost WEIGHT", as flame graph tools read it.
 *
 * The weight is wall time in microseconds, at least 1. A name may hold spaces:
 * readers take the weight from behind the last one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporters.h"
#include "wallsample/base.h"
#include "wallsample/table.h"

struct line {
	const uint32_t *function;
	size_t depth;
	uint32_t thread;
	int64_t weight_ns;
	char *text;
};

struct folding {
	const struct export_input *input;
	char **name; /* of each function, fit for a line */
	struct line *line;
	size_t count, capacity;
};

/*
 * ';' separates names here, so it cannot be part of one. Names stay whole otherwise, for
 * whatever reads them: only what a line of UTF-8 cannot hold is replaced.
 */
static void
add_name(struct strbuf *out, const char *name)
{
	const size_t before = out->length;

	strbuf_add_one_line(out, name);
	for (size_t i = before; i < out->length; i++)
		if (out->data[i] == ';')
			out->data[i] = ':';
}

static void
make_names(struct folding *folding)
{
	const size_t count = view_function_count(folding->input->view);
	struct strbuf sb;

	strbuf_init(&sb);
	folding->name = xcalloc(count + 1, sizeof(*folding->name));
	for (uint32_t i = 0; i < count; i++) {
		strbuf_clear(&sb);
		add_name(&sb, view_function(folding->input->view, i)->name);
		folding->name[i] = xstrdup(sb.data);
	}
	strbuf_release(&sb);
}

/* One line for each stack (of each thread): states and system calls do not show. */
static void
make_lines(struct folding *folding)
{
	const struct view *view = folding->input->view;
	struct table known;

	table_init(&known);
	for (size_t i = 0; i < view_row_count(view); i++) {
		const struct view_row *row = view_row(view, i);
		const uint32_t thread = folding->input->by_thread ? row->thread : 0;
		bool added;
		/* Rows of the same stack share its functions: the pointer is its name. */
		const uint32_t at = *table_place(&known, (uintptr_t)row->function, thread,
						 (uint32_t)folding->count, &added);

		if (added) {
			folding->line = xgrow(folding->line, &folding->capacity,
					      folding->count + 1, sizeof(*folding->line));
			folding->line[folding->count++] = (struct line){
				.function = row->function,
				.depth = row->depth,
				.thread = row->thread,
			};
		}
		folding->line[at].weight_ns += row->ns[folding->input->sort];
	}
	table_release(&known);
}

static char *
line_text(const struct folding *folding, const struct line *line)
{
	const struct profile *profile = view_profile(folding->input->view);
	struct strbuf sb;

	strbuf_init(&sb);
	if (folding->input->by_thread) {
		const struct profile_thread *thread = profile_thread(profile, line->thread);

		add_name(&sb, profile_text(profile, thread->name));
		strbuf_add_format(&sb, "-%jd;", (intmax_t)thread->tid);
	}
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

static void
write_lines(const struct folding *folding, FILE *out)
{
	size_t i = 0;

	while (i < folding->count) {
		const char *text = folding->line[i].text;
		int64_t ns = 0, us;

		/* Functions of the same name in two modules read the same. */
		for (; i < folding->count && strcmp(folding->line[i].text, text) == 0; i++)
			ns += folding->line[i].weight_ns;
		if (ns == 0)
			continue;
		us = (ns + (int64_t)NS_PER_US / 2) / (int64_t)NS_PER_US;
		fprintf(out, "%s %" PRId64 "\n", text, us > 0 ? us : 1);
	}
}

static void
folded_write(const struct export_input *input, FILE *out)
{
	struct folding folding = { .input = input };

	make_names(&folding);
	make_lines(&folding);
	for (size_t i = 0; i < folding.count; i++)
		folding.line[i].text = line_text(&folding, &folding.line[i]);
	if (folding.count > 1)
		qsort(folding.line, folding.count, sizeof(*folding.line), compare_lines);
	write_lines(&folding, out);
	for (size_t i = 0; i < folding.count; i++)
		free(folding.line[i].text);
	free(folding.line);
	for (size_t i = 0; i < view_function_count(input->view); i++)
		free(folding.name[i]);
	free(folding.name);
}

const struct exporter exporter_folded = {
	.name = "folded",
	.help = "one line a stack, for flame graphs",
	.endings = "folded,collapsed",
	.noun = "stacks",
	.write = folded_write,
};
