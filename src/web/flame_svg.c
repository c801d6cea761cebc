/* SPDX-License-Identifier: MIT */
/*
 * flame_svg.c - draws a flame graph as an SVG: the root is at the bottom, the width of a frame is
 * its share of the time.
 *
 * The SVG is a file of its own, whose script flame.js adds zoom, search and keys, or an element of
 * the HTML page for browsers without scripts. Without scripts it is a picture in which each frame
 * has a title; flame.js reads its data from the elements. No name is part of a script or a style,
 * and all names are escaped.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "wallsample/report/report.h"
#include "wallsample/web/flame.h"

/* Sizes in pixels. flame.js has the values of WIDTH and MARGIN, too, labels.js those of LETTER,
 * SPACE and LETTERS_LEAST. */
#define WIDTH 1200
#define MARGIN 10
#define LEVEL 18        /* height of a level */
#define TOP 88          /* height of the space above the highest level in a file */
#define TOP_IN_PAGE 4   /* the same in a page */
#define BOTTOM 56       /* height of the space below the root */
#define LETTER 7.3      /* width of a letter, slightly more than in the font of flame.css */
#define SPACE 6         /* width of the space around the text of a frame */
#define LETTERS_LEAST 5 /* a frame with room for fewer letters has no label */

#define LEVELS_MOST 500 /* maximum number of levels, the root included */
/*
 * The lowest LEVELS_ALWAYS levels are always drawn, a higher level only if its frames have at least
 * the share LEVEL_SHARE_LEAST of the time.
 */
#define LEVELS_ALWAYS 60
#define LEVEL_SHARE_LEAST 0.01

struct drawing {
	const struct export_input *input;
	const struct flame_picture *picture;
	FILE *out;
	struct flame flame;
	unsigned top;    /* y coordinate of the highest level */
	uint32_t levels; /* number of levels drawn, the root included */
	size_t too_deep; /* number of frames above the drawn levels, which are not drawn */
	/* by kind: true if a frame of the kind was drawn; the legend then explains the kind */
	bool seen[FLAME_KIND_COUNT];
	struct strbuf name, module, fitted, line;
};

/* --- text ------------------------------------------------------------------------------------ */

static void
write_line(struct drawing *drawing, const char *class, int y)
{
	fprintf(drawing->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, MARGIN, y);
	xml_write_text(drawing->out, drawing->line.data);
	fputs("</text>\n", drawing->out);
	strbuf_clear(&drawing->line);
}

/* --- a frame ---------------------------------------------------------------------------------- */

static void
write_title(struct drawing *drawing, int64_t ns)
{
	struct strbuf *line = &drawing->line;

	fputs("<title>", drawing->out);
	xml_write_text(drawing->out, drawing->name.data);
	if (drawing->module.length > 0) {
		fputc('\n', drawing->out);
		xml_write_text(drawing->out, drawing->module.data);
	}
	fputc('\n', drawing->out);
	strbuf_add_format(line, "%s, %s", quantity_time(ns).text,
			  quantity_share((double)ns, (double)drawing->flame.total_ns).text);
	xml_write_text(drawing->out, line->data);
	strbuf_clear(line);
	fputs("</title>", drawing->out);
}

/* Sets drawing->fitted to the name, with the module if both fit into this number of cells. */
static void
fit_label(struct drawing *drawing, size_t cells)
{
	struct strbuf *fitted = &drawing->fitted;

	strbuf_clear(fitted);
	strbuf_add_text(fitted, drawing->name.data);
	if (drawing->module.length > 0)
		strbuf_add_format(fitted, " (%s)", drawing->module.data);
	if (display_width(fitted->data) <= cells)
		return;
	strbuf_clear(fitted);
	display_add_name(fitted, drawing->name.data, cells);
}

/*
 * Writes a frame with the name drawing->name and the module drawing->module. `start_ns` determines
 * its horizontal position, `ns` its width. The root is at level 0.
 */
static void
write_box(struct drawing *drawing, uint32_t level, int64_t start_ns, int64_t ns)
{
	const double scale = (WIDTH - 2 * MARGIN) / (double)drawing->flame.total_ns;
	const double x = MARGIN + (double)start_ns * scale, width = (double)ns * scale;
	const unsigned y = drawing->top + (drawing->levels - 1 - level) * LEVEL;
	const double letters = (width - SPACE) / LETTER;

	write_title(drawing, ns);
	fprintf(drawing->out, "<rect x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%d\"/>", x, y,
		width, LEVEL - 1);
	if (letters >= LETTERS_LEAST) {
		fit_label(drawing, (size_t)letters);
		fprintf(drawing->out, "<text x=\"%.3f\" y=\"%u\">", x + SPACE / 2.0, y + 13);
		xml_write_text(drawing->out, drawing->fitted.data);
		fputs("</text>", drawing->out);
	}
	fputs("</g>\n", drawing->out);
}

static void
write_node(struct drawing *drawing, const struct tree_node *node, int64_t start_ns)
{
	const enum flame_kind kind = flame_kind_of(&drawing->flame, node);

	drawing->seen[kind] = true;
	fprintf(drawing->out, "<g class=\"%c\">", flame_kind_class(kind));
	strbuf_clear(&drawing->name);
	strbuf_clear(&drawing->module);
	flame_add_name(&drawing->flame, node, &drawing->name);
	flame_add_module(&drawing->flame, node, &drawing->module);
	write_box(drawing, node->depth + 1, start_ns, node->cum[drawing->flame.weight]);
}

/* Writes the root, then each frame followed by its callees. */
static void
write_frames(struct drawing *drawing)
{
	const struct call_tree *tree = &drawing->flame.tree;
	/* By level: the start in ns of the next frame to draw. */
	int64_t *next = xcalloc((size_t)drawing->levels + 1, sizeof(*next));

	fprintf(drawing->out, "<g%s class=\"frames\">\n<g class=\"r\">",
		drawing->picture->script != NULL ? " id=\"frames\"" : "");
	strbuf_add_text(&drawing->name, "all");
	write_box(drawing, 0, 0, drawing->flame.total_ns);
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->node[i];
		int64_t start_ns;

		if (node->depth + 1 >= drawing->levels)
			continue;
		start_ns = next[node->depth];
		write_node(drawing, node, start_ns);
		next[node->depth + 1] = start_ns;
		next[node->depth] += node->cum[drawing->flame.weight];
	}
	fputs("</g>\n", drawing->out);
	free(next);
}

/* --- title, legend and frame ------------------------------------ */

static void
write_heading(struct drawing *drawing)
{
	static const char *const words[] = {
		[WEIGHT_WALL] = "Wall time, running or blocked",
		[WEIGHT_CPU] = "CPU time",
		[WEIGHT_LATENCY] = "Real time",
	};
	const struct export_input *input = drawing->input;
	struct strbuf *line = &drawing->line;

	strbuf_add_format(line, "%s, of process %jd (", words[input->sort],
			  (intmax_t)input->process->pid);
	strbuf_add_escaped(line, input->process->comm);
	strbuf_add_text(line, ")");
	report_add_others(input, line);
	/* A screen reader reads this text first, and a browser shows it as the title of the tab. */
	fputs("<title>", drawing->out);
	xml_write_text(drawing->out, line->data);
	fputs("</title>\n", drawing->out);
	write_line(drawing, "heading", 26);
	strbuf_add_format(line, "%s in all, sampled for %s at %s",
			  quantity_time(drawing->flame.total_ns).text,
			  quantity_time((int64_t)input->stats->elapsed_ns).text,
			  quantity_rate(input->stats->rate_wanted).text);
	if (input->filtered)
		strbuf_add_text(line, "; only the samples that options selected");
	write_line(drawing, "plain", 46);
}

static void
write_legend(struct drawing *drawing, unsigned y)
{
	struct strbuf *line = &drawing->line;
	double x = MARGIN;

	for (int i = 0; i < FLAME_KIND_COUNT; i++) {
		if (!drawing->seen[i])
			continue;
		flame_add_legend(drawing->flame.input, (enum flame_kind)i, line);
		fprintf(drawing->out,
			"<g class=\"frames %c\"><rect x=\"%.0f\" y=\"%u\" width=\"12\" "
			"height=\"12\"/></g><text class=\"plain\" x=\"%.0f\" y=\"%u\">%s</text>\n",
			flame_kind_class((enum flame_kind)i), x, y - 10, x + 17, y, line->data);
		x += 17 + LETTER * (double)(line->length + 2);
		strbuf_clear(line);
	}
}

static void
write_left_out(struct drawing *drawing, int y)
{
	const struct call_tree *tree = &drawing->flame.tree;
	struct strbuf *line = &drawing->line;

	if (tree->hidden > 0) {
		strbuf_add_text(line, quantity_things(tree->hidden, "frame is", "frames are").text);
		if (tree->count < drawing->picture->most)
			strbuf_add_format(line, " left out, narrower than %g %% of the width",
					  drawing->picture->least * 100);
		else
			strbuf_add_text(line, " left out: these are the widest");
	}
	if (drawing->too_deep > 0) {
		strbuf_add_text(line, line->length > 0 ? "; " : "");
		strbuf_add_text(line,
				quantity_things(drawing->too_deep, "frame is", "frames are").text);
		strbuf_add_format(line, " left out, above level %u", drawing->levels);
	}
	if (line->length > 0)
		write_line(drawing, "plain", y);
}

/*
 * Sets drawing->levels, the number of levels to draw, and drawing->too_deep. No level has more time
 * than the level below it, so the count ends at the first level with too little time.
 */
static void
measure(struct drawing *drawing)
{
	const struct call_tree *tree = &drawing->flame.tree;
	const double least = LEVEL_SHARE_LEAST * (double)drawing->flame.total_ns;
	int64_t ns[LEVELS_MOST] = { 0 };

	for (size_t i = 0; i < tree->count; i++)
		if (tree->node[i].depth + 1 < LEVELS_MOST)
			ns[tree->node[i].depth + 1] += tree->node[i].cum[drawing->flame.weight];
	drawing->levels = 1;
	while (drawing->levels < drawing->picture->levels && drawing->levels < LEVELS_MOST &&
	       ns[drawing->levels] > 0 &&
	       (drawing->levels < LEVELS_ALWAYS || (double)ns[drawing->levels] >= least))
		drawing->levels++;
	for (size_t i = 0; i < tree->count; i++)
		drawing->too_deep += tree->node[i].depth + 1 >= drawing->levels;
}

static void
write_begin(struct drawing *drawing, unsigned height)
{
	FILE *out = drawing->out;

	if (drawing->picture->style == NULL) {
		fprintf(out,
			"<svg class=\"picture\" viewBox=\"0 0 %d %u\" role=\"img\" "
			"aria-label=\"Flame graph\">\n",
			WIDTH, height);
		return;
	}
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<style>\n%s</style>\n"
		"<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, height, WIDTH, height, drawing->picture->style);
	write_heading(drawing);
}

static void
draw(struct drawing *drawing)
{
	const unsigned root = drawing->top + drawing->levels * LEVEL;
	FILE *out = drawing->out;

	write_begin(drawing, root + BOTTOM);
	if (drawing->flame.total_ns > 0)
		write_frames(drawing);
	else
		fprintf(out,
			"<text class=\"plain\" x=\"%d\" y=\"%u\">There are no samples.</text>\n",
			MARGIN, drawing->top + 12);
	if (drawing->picture->script != NULL)
		fprintf(out, "<text class=\"plain\" id=\"details\" x=\"%d\" y=\"%u\"></text>\n",
			MARGIN, drawing->top - 6);
	write_legend(drawing, root + 20);
	write_left_out(drawing, (int)root + 42);
	if (drawing->picture->script != NULL)
		fprintf(out, "<script><![CDATA[\n%s]]></script>\n", drawing->picture->script);
	fputs("</svg>\n", out);
}

void
flame_draw(const struct export_input *input, const struct flame_picture *picture, FILE *out)
{
	struct drawing drawing = {
		.input = input,
		.picture = picture,
		.out = out,
		.top = picture->style != NULL ? TOP : TOP_IN_PAGE,
	};

	flame_make(input, input->sort, picture->most, picture->least, &drawing.flame);
	measure(&drawing);
	draw(&drawing);
	flame_release(&drawing.flame);
	strbuf_release(&drawing.name);
	strbuf_release(&drawing.module);
	strbuf_release(&drawing.fitted);
	strbuf_release(&drawing.line);
}
