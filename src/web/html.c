/* SPDX-License-Identifier: MIT */
/*
 * html.c - writes the report as one HTML page, which loads nothing from the network.
 *
 * The page is made from the same tree of cmark nodes as the other documents (document.h), with a
 * style and a script (report.css, report.js). Below the summary, a report with samples has a flame
 * graph and, if its input has recordings, a timeline (timeline.css, timeline.js). For a browser
 * without scripts the flame graph is a picture.
 */
#include <stdlib.h>

#include "wallsample/report/document.h"
#include "wallsample/web/flame.h"
#include "web/html_internal.h"

/* Generated from the style sheets and scripts that local.mk lists as html_assets. */
extern const char html_css[], html_js[];
/* Base64 of the SHA-256 of the style sheet and of the script, as a browser computes them. The page
 * permits only these two, so a script or style in a name that was not escaped is not executed. */
extern const char html_css_hash[], html_js_hash[];

/* printf format; the arguments are the two hashes, the style sheet and `body`. */
static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'sha256-%s'; script-src 'sha256-%s'; img-src data:\">\n"
	"<link rel=\"icon\" href=\"data:,\">\n"
	"<title>Report by wallsample</title>\n"
	"<style>\n%s%s";

static const char body[] = "</style>\n"
			   "</head>\n"
			   "<body>\n"
			   "<button id=\"theme\" type=\"button\" hidden>theme: auto</button>\n"
			   "<main>";

/*
 * Limits of the picture for browsers without scripts: it takes about 250 bytes a frame, and names
 * of frames below half of this share would not fit.
 */
#define PICTURE_FRAMES_MOST 400
#define PICTURE_SHARE_LEAST 0.002
#define PICTURE_LEVELS_MOST 60

static const char flame_before[] = "<section id=\"flame\" aria-label=\"Flame graph\">\n"
				   "<h2>Flame graph</h2>\n";

/* A browser that runs scripts does not build what is in <noscript>. */
static const char flame_controls[] =
	"<div id=\"controls\" hidden>\n"
	"<span id=\"weights\" role=\"group\" aria-label=\"Weight\"></span>\n"
	"<label>search <input id=\"search\" type=\"search\" autocomplete=\"off\" "
	"spellcheck=\"false\"></label>\n"
	"<button id=\"reset\" type=\"button\">whole</button>\n"
	"<span id=\"found\" role=\"status\"></span>\n"
	"</div>\n"
	"<div id=\"graph\" tabindex=\"0\" role=\"application\" aria-label=\"Flame graph: arrow "
	"keys go from frame to frame, Enter zooms, Escape shows the whole\"></div>\n"
	"<ul id=\"legend\" aria-label=\"Colours\" hidden>";

static const char flame_data[] = "</ul>\n"
				 "<p id=\"detail\" role=\"status\"></p>\n"
				 "<p id=\"hidden-note\"></p>\n"
				 "<script type=\"application/json\" id=\"data\">";

static const char flame_after[] = "</script>\n</section>";

/* Adds the flame graph as a picture, which a browser shows if it does not run scripts. */
static void
add_picture(struct strbuf *out, const struct export_input *input)
{
	const struct flame_picture picture = {
		.most = PICTURE_FRAMES_MOST,
		.least = PICTURE_SHARE_LEAST,
		.levels = PICTURE_LEVELS_MOST,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		return;
	flame_draw(input, &picture, stream);
	if (fclose(stream) == 0)
		strbuf_add_format(out,
				  "<noscript>\n<p>%s. Zoom, search and the other weights need "
				  "JavaScript.</p>\n%s</noscript>\n",
				  html_weight_title(input->sort), text);
	free(text);
}

static cmark_node *
make_figure(const struct export_input *input)
{
	cmark_node *figure = document_node(CMARK_NODE_CUSTOM_BLOCK);
	struct strbuf sb = STRBUF_INIT, data = STRBUF_INIT, legend = STRBUF_INIT;

	html_add_data(&data, &legend, input);
	strbuf_add_text(&sb, flame_before);
	add_picture(&sb, input);
	strbuf_add_text(&sb, flame_controls);
	strbuf_add(&sb, legend.data, legend.length);
	strbuf_add_text(&sb, flame_data);
	strbuf_add(&sb, data.data, data.length);
	strbuf_add_text(&sb, flame_after);
	html_add_timeline(&sb, input);
	cmark_node_set_on_enter(figure, sb.data);
	strbuf_release(&sb);
	strbuf_release(&data);
	strbuf_release(&legend);
	return figure;
}

static void
html_write(const struct export_subject *subject, FILE *out)
{
	const struct export_input *input = subject->report;
	const bool has_figure = input != NULL && view_row_count(input->view) > 0;
	struct document_style style = { .bars = true };
	struct document document;
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;

	strbuf_add_format(&before, head, html_css_hash, html_js_hash, html_css, body);
	strbuf_add_format(&after, "</main>\n<script>\n%s</script>\n</body>\n</html>", html_js);
	style.before = before.data;
	style.after = after.data;
	document_make(subject, &style, has_figure ? make_figure(input) : NULL, &document);
	/* CMARK_OPT_UNSAFE permits raw HTML: the start and end of the page, the figure, bars and
	 * plots. They have no text from outside the program except the figure's escaped JSON. */
	fputs(cmark_render_html_with_mem(document.root, CMARK_OPT_UNSAFE, NULL, document_memory()),
	      out);
	document_release(&document);
	strbuf_release(&before);
	strbuf_release(&after);
}

const struct exporter exporter_html = {
	.name = "html",
	.help = "the report as one page for a browser, with a flame graph and a timeline",
	.endings = "html,htm",
	.noun = "report",
	.options = EXPORT_REPORT,
	.time = EXPORT_TIME_TOO,
	.in_words = true,
	.write_any = html_write,
	.causal_help = "the report as one page for a browser, with the curves",
	.diff_help = "the report as one page for a browser",
};
