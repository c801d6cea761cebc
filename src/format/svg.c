/* SPDX-License-Identifier: MIT */
/*
 * svg.c - writes a flame graph as a self-contained file: the root is at the bottom, the width of a
 * frame is its share of the time.
 *
 * Without scripts the file is a picture in which each frame has a title; the script flame.js adds
 * zoom, search and keys. The script reads its data from the SVG elements. No name is part of a
 * script or a style, and svg.c escapes all names.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "wallsample/report/display.h"
#include "format/format_internal.h"
#include "wallsample/report/quantity.h"
#include "wallsample/base/base.h"
#include "wallsample/analysis/tree.h"
#include "wallsample/runtime/language.h"

/* Sizes in pixels. flame.js has the values of WIDTH and MARGIN, too. */
#define WIDTH 1200
#define MARGIN 10
#define LEVEL 18        /* height of a level */
#define TOP 88          /* height of the space above the highest level */
#define BOTTOM 56       /* height of the space below the root */
#define LETTER 7.3      /* width of a letter, slightly more than in the font of flame.css */
#define LETTERS_LEAST 5 /* a frame with room for fewer letters has no label */

/* Limits that keep the file small. */
#define SHARE_LEAST 0.001 /* narrower frames, as a share of the whole width, are left out */
#define FRAMES_MOST 20000 /* maximum number of frames: the widest are drawn */
#define LEVELS_MOST 500   /* maximum number of levels, the root included */
/*
 * The lowest LEVELS_ALWAYS levels are always drawn, a higher level only if its frames have at least
 * the share LEVEL_SHARE_LEAST of the time.
 */
#define LEVELS_ALWAYS 60
#define LEVEL_SHARE_LEAST 0.01
#define NAME_MOST 240 /* width of a name in cells: each frame has a copy of its name */

#define SHADES 5 /* number of colours of native code */

static const char style[] =
#include "flame.css.h"
	;
static const char script[] =
#include "flame.js.h"
	;

/* X(NAME, class, text in the legend) */
#define KINDS(X)                                                                                   \
	X(CODE, "c", "code, a shade for each module")                                              \
	X(SCRIPT, "p", NULL) /* the legend lists the interpreted languages instead */              \
	X(NAMELESS, "u", "without a name")                                                         \
	X(STATE, "w", "waiting")                                                                   \
	X(QUEUED, "q", "waiting for a CPU")                                                        \
	X(NOBODY, "n", "while no thread could run")                                                \
	X(FAILED, "e", "not known")                                                                \
	X(THREAD, "t", "thread")

enum kind {
#define X(name, class, text) KIND_##name,
	KINDS(X) KIND_COUNT
#undef X
};

static const struct {
	const char *class, *text;
} kinds[] = {
#define X(name, class, text) { class, text },
	KINDS(X)
#undef X
};

struct drawing {
	const struct export_input *input;
	const struct view *view;
	FILE *out;
	struct call_tree tree;
	uint32_t levels; /* number of levels drawn, the root included */
	size_t too_deep; /* number of frames above the drawn levels, which are not drawn */
	int64_t total_ns;
	/* by kind: true if a frame of the kind was drawn; the legend then explains the kind */
	bool seen[KIND_COUNT];
	struct strbuf name, fitted, line;
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

static enum kind
kind_of_function(const struct view_function *function)
{
	if (function->script)
		return KIND_SCRIPT;
	switch (function->named) {
	case NAMED_NONE:
		return function->known ? KIND_CODE : KIND_NAMELESS;
	case NAMED_GAP:
	case NAMED_SLEEPING:
	case NAMED_UNINTERRUPTIBLE:
	case NAMED_IDLE:
		return KIND_NOBODY;
	default:
		return KIND_FAILED;
	}
}

static enum kind
kind_of(const struct drawing *drawing, const struct tree_node *node)
{
	if (node->kind == TREE_THREAD)
		return KIND_THREAD;
	if (node->kind == TREE_STATE)
		return node->function == RUN_QUEUED || node->function == RUN_READY ? KIND_QUEUED :
										     KIND_STATE;
	return kind_of_function(view_function(drawing->view, node->function));
}

/*
 * Returns the shade of a module, from a hash of its name (FNV-1a): the module has the same shade in
 * every flame graph.
 */
static unsigned
shade_of(const char *module)
{
	uint32_t hash = 2166136261u;

	for (; *module != '\0'; module++)
		hash = (hash ^ (unsigned char)*module) * 16777619u;
	return (hash ^ hash >> 16) % SHADES;
}

static void
make_name(struct drawing *drawing, const struct tree_node *node)
{
	struct strbuf *name = &drawing->name, *whole = &drawing->line;

	strbuf_clear(name);
	if (node->kind == TREE_THREAD) {
		view_add_unit(drawing->view, node->function, whole);
		strbuf_add_escaped(name, whole->data);
		strbuf_clear(whole);
	} else if (node->kind == TREE_STATE) {
		strbuf_add_text(name, "[");
		run_state_add(name, (enum run_state)node->function, node->syscall);
		strbuf_add_text(name, "]");
	} else {
		strbuf_add_escaped(whole, view_function(drawing->view, node->function)->label);
		display_add_name(name, whole->data, NAME_MOST);
		strbuf_clear(whole);
	}
}

static void
write_title(struct drawing *drawing, const char *module, int64_t ns)
{
	struct strbuf *line = &drawing->line;

	fputs("<title>", drawing->out);
	xml_write_text(drawing->out, drawing->name.data);
	if (module[0] != '\0') {
		strbuf_add_escaped(line, module);
		fputc('\n', drawing->out);
		xml_write_text(drawing->out, line->data);
		strbuf_clear(line);
	}
	fputc('\n', drawing->out);
	strbuf_add_format(line, "%s, %s", quantity_time(ns).text,
			  quantity_share((double)ns, (double)drawing->total_ns).text);
	xml_write_text(drawing->out, line->data);
	strbuf_clear(line);
	fputs("</title>", drawing->out);
}

/*
 * Writes a frame with the name drawing->name. `start_ns` determines its horizontal position, `ns`
 * its width. The root is at level 0.
 */
static void
write_box(struct drawing *drawing, const char *module, uint32_t level, int64_t start_ns, int64_t ns)
{
	const double scale = (WIDTH - 2 * MARGIN) / (double)drawing->total_ns;
	const double x = MARGIN + (double)start_ns * scale, width = (double)ns * scale;
	const unsigned y = TOP + (drawing->levels - 1 - level) * LEVEL;
	const double letters = (width - 6) / LETTER;

	write_title(drawing, module, ns);
	fprintf(drawing->out, "<rect x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%d\"/>", x, y,
		width, LEVEL - 1);
	if (letters >= LETTERS_LEAST) {
		strbuf_clear(&drawing->fitted);
		display_add_name(&drawing->fitted, drawing->name.data, (size_t)letters);
		fprintf(drawing->out, "<text x=\"%.3f\" y=\"%u\">", x + 3, y + 13);
		xml_write_text(drawing->out, drawing->fitted.data);
		fputs("</text>", drawing->out);
	}
	fputs("</g>\n", drawing->out);
}

static void
write_node(struct drawing *drawing, const struct tree_node *node, int64_t start_ns)
{
	const enum kind kind = kind_of(drawing, node);
	const char *module = "";

	if (node->kind == TREE_FUNCTION)
		module = view_function(drawing->view, node->function)->module;
	drawing->seen[kind] = true;
	fprintf(drawing->out, "<g class=\"%s", kinds[kind].class);
	if (kind == KIND_CODE)
		fprintf(drawing->out, "%u", shade_of(module));
	fputs("\">", drawing->out);
	make_name(drawing, node);
	write_box(drawing, module, node->depth + 1, start_ns, node->cum[drawing->input->sort]);
}

/* Writes the root, then each frame followed by its callees. */
static void
write_frames(struct drawing *drawing)
{
	/* By level: the start in ns of the next frame to draw. */
	int64_t *next = xcalloc((size_t)drawing->levels + 1, sizeof(*next));

	fputs("<g id=\"frames\">\n<g class=\"r\">", drawing->out);
	strbuf_clear(&drawing->name);
	strbuf_add_text(&drawing->name, "all");
	write_box(drawing, "", 0, 0, drawing->total_ns);
	for (size_t i = 0; i < drawing->tree.count; i++) {
		const struct tree_node *node = &drawing->tree.node[i];
		int64_t start_ns;

		if (node->depth + 1 >= drawing->levels)
			continue;
		start_ns = next[node->depth];
		write_node(drawing, node, start_ns);
		next[node->depth + 1] = start_ns;
		next[node->depth] += node->cum[drawing->input->sort];
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
		[WEIGHT_OVERHEAD] = "CPU time",
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
			  quantity_time(drawing->total_ns).text,
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

	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (!drawing->seen[i])
			continue;
		if (i == KIND_SCRIPT)
			language_add_titles(line, drawing->input->stats->runtimes);
		else
			strbuf_add_text(line, kinds[i].text);
		fprintf(drawing->out,
			"<g class=\"%s%s\"><rect x=\"%.0f\" y=\"%u\" width=\"12\" "
			"height=\"12\"/></g><text class=\"plain\" x=\"%.0f\" y=\"%u\">%s</text>\n",
			kinds[i].class, i == KIND_CODE ? "0" : "", x, y - 10, x + 17, y,
			line->data);
		x += 17 + LETTER * (double)(line->length + 2);
		strbuf_clear(line);
	}
}

static void
write_left_out(struct drawing *drawing, int y)
{
	struct strbuf *line = &drawing->line;

	if (drawing->tree.hidden > 0) {
		strbuf_add_text(line,
				quantity_things(drawing->tree.hidden, "frame is", "frames are")
					.text);
		if (drawing->tree.count < FRAMES_MOST)
			strbuf_add_format(line, " left out, narrower than %g %% of the width",
					  SHARE_LEAST * 100);
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
	const double least = LEVEL_SHARE_LEAST * (double)drawing->total_ns;
	int64_t ns[LEVELS_MOST] = { 0 };

	for (size_t i = 0; i < drawing->tree.count; i++)
		if (drawing->tree.node[i].depth + 1 < LEVELS_MOST)
			ns[drawing->tree.node[i].depth + 1] += drawing->tree.node[i]
								       .cum[drawing->input->sort];
	drawing->levels = 1;
	while (drawing->levels < LEVELS_MOST && ns[drawing->levels] > 0 &&
	       (drawing->levels < LEVELS_ALWAYS || (double)ns[drawing->levels] >= least))
		drawing->levels++;
	for (size_t i = 0; i < drawing->tree.count; i++)
		drawing->too_deep += drawing->tree.node[i].depth + 1 >= drawing->levels;
}

static void
draw(struct drawing *drawing)
{
	const unsigned root = TOP + drawing->levels * LEVEL;
	const unsigned height = root + BOTTOM;
	FILE *out = drawing->out;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<style>\n%s</style>\n"
		"<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, height, WIDTH, height, style);
	write_heading(drawing);
	if (drawing->total_ns > 0)
		write_frames(drawing);
	else
		fprintf(out,
			"<text class=\"plain\" x=\"%d\" y=\"%d\">There are no samples.</text>\n",
			MARGIN, TOP);
	fprintf(out, "<text class=\"plain\" id=\"details\" x=\"%d\" y=\"%d\"></text>\n", MARGIN,
		TOP - 6);
	write_legend(drawing, root + 20);
	write_left_out(drawing, (int)root + 42);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
}

static void
svg_write(const struct export_input *input, FILE *out)
{
	struct drawing drawing = {
		.input = input,
		.view = input->view,
		.out = out,
		.total_ns = view_total_ns(input->view, input->sort),
	};

	flame_tree_make(input->view, input->sort, FRAMES_MOST, SHARE_LEAST,
			FLAME_STATES | (input->by_thread ? FLAME_THREADS : 0), &drawing.tree);
	measure(&drawing);
	draw(&drawing);
	call_tree_release(&drawing.tree);
	strbuf_release(&drawing.name);
	strbuf_release(&drawing.fitted);
	strbuf_release(&drawing.line);
}

const struct exporter exporter_svg = {
	.name = "svg",
	.help = "an interactive flame graph, one file for a browser",
	.endings = "svg",
	.noun = "flame graph",
	.write = svg_write,
	.write_causal = svg_write_causal,
	.causal_help = "the curves as one picture",
};
