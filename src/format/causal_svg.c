/* SPDX-License-Identifier: MIT */
/*
 * causal_svg.c - draws the curves of a causal profile as an SVG: for each progress point a title
 * and one plot per candidate. Plots are ordered by descending slope of the curve; candidates
 * without enough data (CAUSAL_UNSURE) come last.
 *
 * Names occur only as escaped text, never in the style.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/report/causal_words.h"
#include "wallsample/report/display.h"
#include "format/format_internal.h"
#include "wallsample/report/quantity.h"

/* Sizes in pixels. */
#define WIDTH 1200
#define MARGIN 12
#define PER_ROW 3
#define CELL_WIDTH ((WIDTH - 2 * MARGIN) / PER_ROW)
#define LINE 16          /* height of a line of text */
#define SENTENCE_LINES 4 /* lines of text below the name of a candidate */
#define CELL_HEIGHT ((1 + SENTENCE_LINES) * LINE + 8 + PLOT_HEIGHT + 16)
#define HEAD 62      /* height of the title and the text about the whole run */
#define PART_HEAD 34 /* height of the title above the plots of a progress point */
#define LETTER 7.3   /* width of a letter, slightly more than in the font of causal.css */
#define CELL_LETTERS ((size_t)((CELL_WIDTH - 16) / LETTER))
/* maximum length in letters of a name in a sentence: the sentence must fit SENTENCE_LINES */
#define NAME_LETTERS 40
/* maximum length in letters of the name of a progress point in a title */
#define POINT_LETTERS 80

static const char style[] =
#include "palette.css.h"
#include "causal.css.h"
	;

struct drawing {
	const struct causal_input *input;
	FILE *out;
	int y; /* y coordinate of the top of the next part */
	struct strbuf line;
};

static void
write_text(struct drawing *drawing, const char *class, int x, int y, const char *text)
{
	fprintf(drawing->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
	xml_write_text(drawing->out, text);
	fputs("</text>\n", drawing->out);
}

/* Writes drawing->line as a line of text, and clears it. */
static void
write_line(struct drawing *drawing, const char *class, int x, int y)
{
	write_text(drawing, class, x, y, drawing->line.length > 0 ? drawing->line.data : "");
	strbuf_clear(&drawing->line);
}

/*
 * Wraps drawing->line to the width of a cell of the grid of plots, writes at most SENTENCE_LINES of
 * the resulting lines, and clears drawing->line.
 */
static void
write_sentence(struct drawing *drawing, int x, int y)
{
	char *text = NULL, *rest;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return;
	display_wrap(out, drawing->line.data, 0, CELL_LETTERS);
	strbuf_clear(&drawing->line);
	if (fclose(out) == 0) {
		rest = text;
		for (int i = 0; i < SENTENCE_LINES && rest != NULL && *rest != '\0'; i++) {
			const char *line = strsep(&rest, "\n");

			/* display_wrap() does not divide a word that is wider than the line. */
			display_add_fitted(&drawing->line, line, CELL_LETTERS);
			write_line(drawing, "plain", x, y + i * LINE);
		}
	}
	free(text);
}

/* --- a plot ----------------------------------------------------------------------------------- */

/* Writes rank, name and module, "3. parse (server)"; leaves out the module if it does not fit. */
static void
write_name(struct drawing *drawing, const struct causal_candidate *candidate, size_t rank, int x,
	   int y)
{
	struct strbuf *line = &drawing->line;
	struct strbuf name = STRBUF_INIT, module = STRBUF_INIT;

	strbuf_add_escaped(&name, candidate->name);
	if (candidate->module[0] != '\0' && strcmp(candidate->module, candidate->name) != 0) {
		strbuf_add_text(&module, " (");
		strbuf_add_escaped(&module, candidate->module);
		strbuf_add_text(&module, ")");
	}
	if (rank > 0)
		strbuf_add_format(line, "%zu. ", rank);
	display_add_name(line, name.length > 0 ? name.data : "", CELL_LETTERS - line->length);
	if (module.length > 0 && line->length + module.length <= CELL_LETTERS)
		strbuf_add_text(line, module.data);
	write_line(drawing, "name", x, y);
	strbuf_release(&name);
	strbuf_release(&module);
}

/* Writes the title that a browser shows when the pointer is over the plot. */
static void
write_title(struct drawing *drawing, const struct causal_candidate *candidate)
{
	strbuf_add_escaped(&drawing->line, candidate->name);
	fputs("<title>", drawing->out);
	if (drawing->line.length > 0)
		xml_write_text(drawing->out, drawing->line.data);
	fputs("</title>\n", drawing->out);
	strbuf_clear(&drawing->line);
}

/*
 * Draws the plot of a curve with its name and sentence. `place` is the number of the cell in the
 * grid of plots, from 0 on, row by row. `rank` is 0 if the curve has no rank.
 */
static void
write_cell(struct drawing *drawing, const struct causal_ranking *ranking,
	   const struct causal_curve *curve, size_t rank, size_t place)
{
	const struct causal_candidate *candidate = &drawing->input->result
							    ->candidate[curve->candidate];
	const int x = MARGIN + (int)(place % PER_ROW) * CELL_WIDTH;
	const int y = drawing->y + (int)(place / PER_ROW) * CELL_HEIGHT;
	struct plot plot;

	fprintf(drawing->out, "<g class=\"%s\">\n", causal_verdict_word(curve->verdict));
	write_title(drawing, candidate);
	write_name(drawing, candidate, rank, x, y + LINE);
	causal_add_sentence(&drawing->line, drawing->input, curve, NAME_LETTERS);
	write_sentence(drawing, x, y + 2 * LINE);
	causal_plot(ranking, curve, &plot);
	fprintf(drawing->out, "<g class=\"plot\" transform=\"translate(%d %d)\">\n", x,
		y + (1 + SENTENCE_LINES) * LINE + 8);
	if (plot.count > 0)
		plot_write_svg(&plot, drawing->out);
	fputs("</g>\n</g>\n", drawing->out);
}

static size_t
shown(size_t count, size_t limit)
{
	return count < limit ? count : limit;
}

static size_t
cells_of(const struct causal_input *input, const struct causal_ranking *ranking)
{
	return shown(ranking->known_count, input->limit) +
	       shown(ranking->unsure_count, input->limit);
}

static int
height_of(const struct causal_input *input, const struct causal_ranking *ranking)
{
	const size_t rows = (cells_of(input, ranking) + PER_ROW - 1) / PER_ROW;

	return PART_HEAD + (rows > 0 ? (int)rows * CELL_HEIGHT : LINE);
}

static void
write_part(struct drawing *drawing, uint32_t at)
{
	const struct causal_input *input = drawing->input;
	const struct causal_point *point = &input->result->point[at];
	const struct causal_ranking ranking = causal_ranking_of(input, at);
	const size_t known = shown(ranking.known_count, input->limit);
	const size_t cells = cells_of(input, &ranking);
	struct strbuf *line = &drawing->line;
	struct strbuf name = STRBUF_INIT;

	strbuf_add_escaped(&name, point->name);
	strbuf_add_format(line, "What would %s ",
			  point->kind == CAUSAL_LATENCY ? "shorten" : "raise");
	display_add_fitted(line, name.length > 0 ? name.data : "", POINT_LETTERS);
	strbuf_release(&name);
	strbuf_add_text(line, ": now ");
	if (point->kind == CAUSAL_LATENCY)
		strbuf_add_text(line, quantity_time((int64_t)input->curves->latency_ns[at]).text);
	else
		causal_add_rate(line, input->curves->rate[at]);
	strbuf_add_text(line, point->kind == CAUSAL_LATENCY ? " each" : " a second");
	write_line(drawing, "heading", MARGIN, drawing->y + 20);
	drawing->y += PART_HEAD;
	for (size_t i = 0; i < cells; i++)
		if (i < known)
			write_cell(drawing, &ranking, &ranking.known[i], i + 1, i);
		else
			write_cell(drawing, &ranking, &ranking.unsure[i - known], 0, i);
	if (cells == 0)
		write_text(drawing, "plain", MARGIN, drawing->y, "There was no experiment.");
	drawing->y += height_of(input, &ranking) - PART_HEAD;
}

/* --- title and frame -------------------------------------------- */

static void
write_heading(struct drawing *drawing)
{
	const struct causal_result *result = drawing->input->result;
	struct strbuf *line = &drawing->line;

	strbuf_add_format(line, "What would make process %jd (", (intmax_t)result->pid);
	strbuf_add_escaped(line, result->command != NULL ? result->command : "");
	strbuf_add_text(line, ") faster");
	/* A screen reader reads this text first, and a browser shows it as the title of the tab. */
	fputs("<title>", drawing->out);
	xml_write_text(drawing->out, line->data);
	fputs("</title>\n", drawing->out);
	write_line(drawing, "heading", MARGIN, 26);
	strbuf_add_format(line, "%s in %s; bands are 95%% intervals",
			  quantity_things(result->experiment_count, "experiment", "experiments")
				  .text,
			  quantity_time((int64_t)result->wall_ns).text);
	if (drawing->input->snapshot)
		strbuf_add_text(line, "; experiments continue");
	write_line(drawing, "plain", MARGIN, 46);
}

void
svg_write_causal(const struct causal_input *input, FILE *out)
{
	struct drawing drawing = { .input = input, .out = out, .y = HEAD };
	int height = HEAD + MARGIN;

	for (uint32_t i = 0; i < input->result->point_count; i++) {
		const struct causal_ranking ranking = causal_ranking_of(input, i);

		height += height_of(input, &ranking);
	}
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n<style>\n%s</style>\n"
		"<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, height, WIDTH, height, style);
	write_heading(&drawing);
	for (uint32_t i = 0; i < input->result->point_count; i++)
		write_part(&drawing, i);
	fputs("</svg>\n", out);
	strbuf_release(&drawing.line);
}
