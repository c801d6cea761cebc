/* SPDX-License-Identifier: MIT */
/*
 * document_formats.c - exports the report as Markdown, LaTeX or man page: cmark renders its tree.
 */
#include "wallsample/report/document.h"

#include <string.h>
#include <time.h>

#include "wallsample/base/base.h"

/* What write_line() remembers of the lines before. */
struct document_lines {
	int since_heading; /* man: number of lines since a heading's command */
	bool titles;       /* LaTeX: the line is the row of titles of a table */
};

struct document_format {
	struct document_style style;
	bool escape_bars; /* the argument of document_tables() */
	char *(*render)(cmark_node *root, int options, int width, cmark_mem *memory);
	/* Writes a line of what render() returned, the newline included, as it is or changed. NULL:
	 * each line is written as it is. Text from outside the program has its special characters
	 * escaped, so no such text is a command of the format. */
	void (*write_line)(const char *line, struct document_lines *lines, FILE *out);
};

static void
write_lines(const struct document_format *format, char *text, FILE *out)
{
	struct document_lines lines = { .since_heading = 2 };
	struct strbuf line = STRBUF_INIT;

	while (*text != '\0') {
		const size_t length = strcspn(text, "\n");

		strbuf_add(&line, text, length);
		strbuf_add_text(&line, "\n");
		format->write_line(line.data, &lines, out);
		strbuf_clear(&line);
		text += length + (text[length] == '\n');
	}
	strbuf_release(&line);
}

static void
render(const struct export_subject *subject, const struct document_format *format, FILE *out)
{
	struct document document;
	char *text;

	document_make(subject, &format->style, NULL, &document);
	document_tables(format->escape_bars);
	text = format->render(document.root, CMARK_OPT_DEFAULT, 0, document_memory());
	if (format->write_line != NULL)
		write_lines(format, text, out);
	else
		fputs(text, out);
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
	.options = EXPORT_REPORT,
	.in_words = true,
	.write_any = markdown_write,
};

/* --- LaTeX ------------------------------------------------------------------------------ */

/*
 * LuaLaTeX and XeLaTeX accept any character; for pdfLaTeX a character that its fonts lack is an
 * error. The preamble redefines the macro that reports this error, \UTFviii@undefined@err of
 * utf8.def: it now writes the character's number in brackets. The macro's argument is the name
 * "u8:" followed by the character's bytes.
 */
static const char latex_before[] =
	"\\documentclass[a4paper,10pt]{article}\n"
	"\\usepackage{iftex}\n"
	"\\ifpdftex\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}"
	"\\else\\usepackage{fontspec}\\fi\n"
	"\\usepackage{textcomp}\n"
	"\\usepackage{longtable}\n"
	"\\usepackage[a4paper,landscape,margin=15mm]{geometry}\n"
	"\\setlength{\\tabcolsep}{4pt}\n"
	"\\setlength{\\parindent}{0pt}\n"
	"\\pagestyle{plain}\n"
	/* A heading stays with the first rows of its table. */
	"\\newcommand\\needroom{\\par"
	"\\ifdim\\dimexpr\\pagegoal-\\pagetotal\\relax<10\\baselineskip\\newpage\\fi}\n"
	"\\makeatletter\\ifpdftex\n"
	"\\def\\unknown@character#1:#2\\relax{"
	"[\\UTFviii@hexcodepoint{\\decode@UTFviii#2\\relax}]}\n"
	"\\def\\UTFviii@undefined@err#1{\\expandafter\\unknown@character\\string#1\\relax}\n"
	"\\fi\\makeatother\n"
	"\\begin{document}\n"
	"\\small\\sloppy\\frenchspacing\n";

/* Writes text with rules in place of the characters U+2581 to U+2588, which are columns of eight
 * heights: the fonts of LaTeX lack them. */
static void
latex_write_text(const char *text, FILE *out)
{
	while (*text != '\0') {
		const bool is_column = strncmp(text, "\xe2\x96", 2) == 0 &&
				       (unsigned char)text[2] >= 0x81 &&
				       (unsigned char)text[2] <= 0x88;

		if (is_column)
			fprintf(out, "\\rule{.525em}{%.1fex}",
				0.2 * ((unsigned char)text[2] - 0x80));
		else
			fputc(*text, out);
		text += is_column ? 3 : 1;
	}
}

/*
 * cmark writes tables as floats, which cannot break across pages, and without rules. They become
 * long tables with rules, whose titles are repeated on each page. All letters of their font have
 * the same width, so that a table is as wide as its cells: 120 of 1.48 mm and the space between 10
 * columns are 206 mm, of 267 mm on a page.
 */
static void
latex_write_line(const char *line, struct document_lines *lines, FILE *out)
{
	static const char begin[] = "\\begin{tabular}", heading[] = "\\subsection{";

	if (strncmp(line, heading, strlen(heading)) == 0)
		fputs("\\needroom\n", out);
	if (strcmp(line, "\\begin{table}\n") == 0) {
		fputs("{\\footnotesize\\ttfamily\n", out);
	} else if (strcmp(line, "\\end{table}\n") == 0) {
		fputs("}\n", out);
	} else if (strcmp(line, "\\end{tabular}\n") == 0) {
		fputs("\\end{longtable}\n", out);
	} else if (strncmp(line, begin, strlen(begin)) == 0) {
		fprintf(out, "\\begin{longtable}[l]%s\\hline\n", line + strlen(begin));
		lines->titles = true;
	} else {
		latex_write_text(line, out);
		if (lines->titles)
			fputs("\\hline\\endhead\n\\hline\\endfoot\n", out);
		lines->titles = false;
	}
}

static const struct document_format latex = {
	.style = { .width = 120,
		   .ascii = true,
		   .before = latex_before,
		   .after = "\\end{document}" },
	.render = cmark_render_latex_with_mem,
	.write_line = latex_write_line,
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
	.options = EXPORT_REPORT,
	.in_words = true,
	.write_any = latex_write,
};

/* --- man page --------------------------------------------------------------------------- */

/*
 * Writes a line of a manual page in the form that mandoc(1) accepts. cmark selects the font C for
 * examples, which mandoc does not know: the commands EX and EE replace the font. The command for a
 * paragraph is left out after a heading, because a heading begins a paragraph.
 */
static void
man_write_line(const char *line, struct document_lines *lines, FILE *out)
{
	lines->since_heading++;
	if (strcmp(line, ".SH\n") == 0 || strcmp(line, ".SS\n") == 0)
		lines->since_heading = 0;
	else if (strcmp(line, ".nf\n") == 0 || strcmp(line, ".fi\n") == 0 ||
		 (strcmp(line, ".PP\n") == 0 && lines->since_heading == 2))
		return;
	else if (strcmp(line, "\\f[C]\n") == 0)
		line = ".EX\n";
	else if (strcmp(line, "\\f[]\n") == 0)
		line = ".EE\n";
	fputs(line, out);
}

/*
 * Tables are preformatted, because the tables of cmark need tbl(1) and cmark does not escape the
 * special characters of tbl(1).
 */
static const struct document_format man = {
	.style = { .width = 64, /* in cells: fits 80 columns after two indentations */
		   .preformatted = true,
		   .ascii = true,
		   /* without the command that begins a page: man_write() writes it */
		   .before = "",
		   .after = "" },
	.render = cmark_render_man_with_mem,
	.write_line = man_write_line,
};

/* Returns when the run began, by CLOCK_REALTIME; 0: not known. */
static uint64_t
subject_began_ns(const struct export_subject *subject)
{
	if (subject->causal != NULL)
		return subject->causal->result->started_ns;
	return subject->diff != NULL ? subject->diff->run[DIFF_AFTER].began_ns :
				       subject->report->began_ns;
}

static void
man_write(const struct export_subject *subject, FILE *out)
{
	const time_t began = (time_t)(subject_began_ns(subject) / NS_PER_SEC);
	char date[32] = "1970-01-01";
	struct tm tm;

	/* The date of a page, which mandoc(1) requires, is that of the run. */
	if (began != 0 && localtime_r(&began, &tm) != NULL)
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	fprintf(out, ".TH WALLSAMPLE-REPORT 7 %s wallsample\n", date);
	render(subject, &man, out);
}

const struct exporter exporter_man = {
	.name = "man",
	.help = "the report as a manual page",
	.endings = "man",
	.noun = "report",
	.options = EXPORT_REPORT,
	.in_words = true,
	.write_any = man_write,
};
