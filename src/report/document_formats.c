/* SPDX-License-Identifier: MIT */
/*
 * document_formats.c - exports the report as Markdown, LaTeX or man page: cmark renders its tree.
 */
#include "wallsample/report/document.h"

struct document_format {
	struct document_style style;
	bool escape_bars; /* the argument of document_tables() */
	char *(*render)(cmark_node *root, int options, int width, cmark_mem *memory);
};

static void
render(const struct export_subject *subject, const struct document_format *format, FILE *out)
{
	struct document document;

	document_make(subject, &format->style, NULL, &document);
	document_tables(format->escape_bars);
	fputs(format->render(document.root, CMARK_OPT_DEFAULT, 0, document_memory()), out);
	document_release(&document);
}

/* --- Markdown --------------------------------------------------------------------------- */

static const struct document_format markdown = {
	.escape_bars = true,
	.render = cmark_render_commonmark_with_mem,
};

static void
markdown_write(const struct export_subject *subject, FILE *out)
{
	render(subject, &markdown, out);
}

const struct exporter exporter_markdown = {
	.name = "markdown",
	.help = "the report as Markdown",
	.endings = "md,markdown",
	.noun = "report",
	.in_words = true,
	.write_any = markdown_write,
};

/* --- LaTeX ------------------------------------------------------------------------------ */

/*
 * cmark writes tables as floats, which cannot break across pages. The preamble replaces the
 * environment tabular by longtable, which can break across pages. LuaLaTeX and XeLaTeX accept any
 * character; for pdfLaTeX a character that its fonts lack is an error. The preamble redefines the
 * macro that reports this error, \UTFviii@undefined@err of utf8.def: it now writes the character's
 * number in brackets. The macro's argument is the name "u8:" followed by the character's bytes.
 */
static const char latex_before[] =
	"\\documentclass[a4paper,10pt]{article}\n"
	"\\usepackage{iftex}\n"
	"\\ifpdftex\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}"
	"\\else\\usepackage{fontspec}\\fi\n"
	"\\usepackage{textcomp}\n"
	"\\usepackage{longtable}\n"
	"\\usepackage[a4paper,landscape,margin=15mm]{geometry}\n"
	"\\renewenvironment{table}{}{}\n"
	"\\renewenvironment{tabular}[1]{\\begin{longtable}[l]{#1}}{\\end{longtable}}\n"
	"\\setlength{\\tabcolsep}{4pt}\n"
	"\\setlength{\\parindent}{0pt}\n"
	"\\pagestyle{plain}\n"
	"\\makeatletter\\ifpdftex\n"
	"\\def\\unknown@character#1:#2\\relax{"
	"[\\UTFviii@hexcodepoint{\\decode@UTFviii#2\\relax}]}\n"
	"\\def\\UTFviii@undefined@err#1{\\expandafter\\unknown@character\\string#1\\relax}\n"
	"\\fi\\makeatother\n"
	"\\begin{document}\n"
	"\\small\\sloppy\n";

static const struct document_format latex = {
	.style = { .width = 120,
		   .ascii = true,
		   .before = latex_before,
		   .after = "\\end{document}" },
	.render = cmark_render_latex_with_mem,
};

static void
latex_write(const struct export_subject *subject, FILE *out)
{
	render(subject, &latex, out);
}

const struct exporter exporter_latex = {
	.name = "latex",
	.help = "the report for LaTeX",
	.endings = "tex,latex",
	.noun = "report",
	.in_words = true,
	.write_any = latex_write,
};

/* --- man page --------------------------------------------------------------------------- */

/*
 * Tables are preformatted, because the tables of cmark need tbl(1) and cmark does not escape the
 * special characters of tbl(1).
 */
static const struct document_format man = {
	.style = { .width = 64, /* in cells: fits 80 columns after two indentations */
		   .preformatted = true,
		   .ascii = true,
		   .before = ".TH WALLSAMPLE-REPORT 7",
		   .after = "" },
	.render = cmark_render_man_with_mem,
};

static void
man_write(const struct export_subject *subject, FILE *out)
{
	render(subject, &man, out);
}

const struct exporter exporter_man = {
	.name = "man",
	.help = "the report as a manual page",
	.endings = "man",
	.noun = "report",
	.in_words = true,
	.write_any = man_write,
};
