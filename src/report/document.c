/* SPDX-License-Identifier: MIT */
/* document.c - builds a cmark tree from the elements of a report. */
#include "wallsample/report/document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cmark-gfm-core-extensions.h>

#include "report/report_internal.h"
#include "wallsample/base/base.h"

/*
 * The width in cells of a table in a format without a limit of its own (document_style.width is 0).
 * A name at the end of a row may have kilobytes; this width cuts the name to a few lines of a
 * screen.
 */
#define WIDEST 320

cmark_node *
document_node(cmark_node_type type)
{
	return cmark_node_new_with_mem(type, document_memory());
}

/*
 * cmark_node_free() does not free the data of table cells. Nodes are therefore allocated from the
 * arena of cmark, which document_release() frees as a whole.
 */
cmark_mem *
document_memory(void)
{
	return cmark_get_arena_mem_allocator();
}

/* Returns a new node that is the last child of `parent`. */
static cmark_node *
add_node(cmark_node *parent, cmark_node_type type)
{
	cmark_node *node = document_node(type);

	cmark_node_append_child(parent, node);
	return node;
}

static void
document_add_text(cmark_node *parent, const char *text)
{
	cmark_node_set_literal(add_node(parent, CMARK_NODE_TEXT), text);
}

static struct document *
document_of(struct page *page)
{
	return (struct document *)page;
}

/* Adds a block, which ends the current list of fields. Returns the block. */
static cmark_node *
add_block(struct document *document, cmark_node *node)
{
	cmark_node_append_child(document->body, node);
	document->list = document->item = document->items = NULL;
	return node;
}

static void
add_heading(struct document *document, int level, const char *text)
{
	cmark_node *heading = add_block(document, document_node(CMARK_NODE_HEADING));

	cmark_node_set_heading_level(heading, level);
	document_add_text(heading, text);
}

/* --- text ------------------------------------------------------------------------------- */

static void
document_title(struct page *page, const char *text)
{
	add_heading(document_of(page), 1, text);
}

static void
document_heading(struct page *page, const char *text)
{
	add_heading(document_of(page), 2, text);
}

static void
document_figure(struct page *page)
{
	struct document *document = document_of(page);

	if (document->figure != NULL)
		add_block(document, document->figure);
	document->figure = NULL;
}

static void
document_section(struct page *page, const char *name)
{
	document_heading(page, name);
}

static void
document_paragraph(struct page *page, const char *text)
{
	document_add_text(add_block(document_of(page), document_node(CMARK_NODE_PARAGRAPH)), text);
}

/* --- fields ----------------------------------------------------------------------------- */

static cmark_node *
add_list(cmark_node *parent)
{
	cmark_node *list = add_node(parent, CMARK_NODE_LIST);

	cmark_node_set_list_type(list, CMARK_BULLET_LIST);
	cmark_node_set_list_tight(list, 1);
	return list;
}

/* Adds an item with an empty paragraph, and returns the paragraph. */
static cmark_node *
add_item(cmark_node *list)
{
	return add_node(add_node(list, CMARK_NODE_ITEM), CMARK_NODE_PARAGRAPH);
}

static void
document_field(struct page *page, const char *label, const char *value)
{
	struct document *document = document_of(page);
	cmark_node *paragraph;

	if (document->list == NULL)
		document->list = add_list(document->body);
	/* If the continued field has items, its continuation is one more item. */
	if (label[0] == '\0' && document->items != NULL) {
		document_add_text(add_item(document->items), value);
		return;
	}
	paragraph = add_item(document->list);
	document->item = cmark_node_parent(paragraph);
	document->items = NULL;
	if (label[0] != '\0') {
		document_add_text(add_node(paragraph, CMARK_NODE_STRONG), label);
		document_add_text(paragraph, ": ");
	}
	document_add_text(paragraph, value);
}

static void
document_item(struct page *page, const char *number, const char *other, const char *text)
{
	struct document *document = document_of(page);
	struct strbuf sb = STRBUF_INIT;

	if (document->item == NULL)
		document_field(page, "", "");
	if (document->items == NULL)
		document->items = add_list(document->item);
	strbuf_add_format(&sb, "%s%s%s  %s", number, other != NULL ? ", " : "",
			  other != NULL ? other : "", text);
	document_add_text(add_item(document->items), sb.data);
	strbuf_release(&sb);
}

/* --- the first screen ------------------------------------------------------------------- */

static void
document_head(struct page *page, const char *left, const char *right)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_format(&text, "%s: %s", left, right);
	document_paragraph(page, text.data);
	strbuf_release(&text);
}

static void
document_part(struct page *page, const char *name, const char *legend)
{
	document_heading(page, name);
	if (legend[0] != '\0')
		document_paragraph(page, legend);
}

static void
document_cause(struct page *page, size_t number, const char *title, const char *text)
{
	(void)number;
	document_field(page, title, text);
}

static void
document_detail(struct page *page, const char *label, const char *text)
{
	document_item(page, label, NULL, text);
}

/* --- tables ----------------------------------------------------------------------------- */

/*
 * cmark does not export the types of table nodes. find_table_types() therefore lets cmark parse a
 * small table, and reads the types from its nodes.
 */
struct table_types {
	cmark_syntax_extension *extension;
	cmark_node_type table, row, cell;
};

static int
bar_is_special(cmark_syntax_extension *extension, cmark_node *node, int c)
{
	(void)extension;
	return c == '|' && cmark_node_get_type(node) == CMARK_NODE_TEXT;
}

/*
 * The extension's hook that escapes '|' for Markdown also runs for LaTeX and man pages, where the
 * added backslash is harmful. LaTeX's text for '|' is "\textbar{}"; with one more backslash it
 * begins with "\\", which ends the row of the table. In a man page "\|" is a thin space.
 */
cmark_syntax_extension *
document_tables(bool escape_bars)
{
	cmark_syntax_extension *extension;

	cmark_gfm_core_extensions_ensure_registered();
	extension = cmark_find_syntax_extension("table");
	cmark_syntax_extension_set_commonmark_escape_func(extension,
							  escape_bars ? bar_is_special : NULL);
	return extension;
}

static struct table_types
find_table_types(void)
{
	static const char smallest[] = "|a|\n|-|\n";
	struct table_types types = { .extension = document_tables(true) };
	cmark_parser *parser = cmark_parser_new_with_mem(CMARK_OPT_DEFAULT, document_memory());
	cmark_node *document, *table, *row;

	cmark_parser_attach_syntax_extension(parser, types.extension);
	cmark_parser_feed(parser, smallest, strlen(smallest));
	document = cmark_parser_finish(parser);
	table = cmark_node_first_child(document);
	row = cmark_node_first_child(table);
	types.table = cmark_node_get_type(table);
	types.row = cmark_node_get_type(row);
	types.cell = cmark_node_get_type(cmark_node_first_child(row));
	cmark_parser_free(parser);
	return types;
}

/* A table that is being added to the tree. */
struct building {
	const struct columns *table;
	struct table_types types;
	size_t width[COLUMNS_MAX];
	/* by column: true if the column has bars, and the format cannot draw bars */
	bool left_out[COLUMNS_MAX];
};

/*
 * Returns a new node of the table extension; it becomes a child of `parent` unless `parent` is
 * NULL.
 */
static cmark_node *
add_table_node(const struct building *b, cmark_node *parent, cmark_node_type type)
{
	cmark_node *node = cmark_node_new_with_mem_and_ext(type, document_memory(),
							   b->types.extension);

	if (parent != NULL)
		cmark_node_append_child(parent, node);
	return node;
}

/* Adds the content of b->table->cell[at], a bar or text, to the node `cell`. */
static void
add_cell(const struct building *b, cmark_node *cell, size_t at)
{
	struct strbuf text = STRBUF_INIT;

	if (b->table->cell[at].bar) {
		strbuf_add_format(&text, "<svg class=\"bar\" width=\"%.1f%%\"></svg>",
				  100 * b->table->cell[at].part);
		cmark_node_set_literal(add_node(cell, CMARK_NODE_HTML_INLINE), text.data);
	} else {
		strbuf_add_text(&text, "");
		columns_cell_text(b->table, at, b->width[at % b->table->column_count], &text);
		document_add_text(cell, text.data);
	}
	strbuf_release(&text);
}

/* Adds the row of titles, or the row that begins with cell number `first`. */
static void
add_row(const struct building *b, cmark_node *table, bool titles, size_t first)
{
	cmark_node *row = add_table_node(b, table, b->types.row);

	cmark_gfm_extensions_set_table_row_is_header(row, titles);
	for (size_t c = 0; c < b->table->column_count; c++) {
		cmark_node *cell;

		if (b->left_out[c])
			continue;
		cell = add_table_node(b, row, b->types.cell);
		if (titles)
			document_add_text(cell, b->table->column[c].title);
		else
			add_cell(b, cell, first + c);
	}
}

static cmark_node *
build_table(const struct document *document, const struct columns *columns)
{
	struct building b = { .table = columns, .types = find_table_types() };
	cmark_node *table = add_table_node(&b, NULL, b.types.table);
	uint8_t alignment[COLUMNS_MAX];
	uint16_t count = 0;

	columns_measure(columns, document->page.width, b.width);
	for (size_t c = 0; c < columns->column_count; c++) {
		b.left_out[c] = c < columns->cell_count && columns->cell[c].bar &&
				!document->style->bars;
		if (!b.left_out[c])
			alignment[count++] = columns->column[c].right ? 'r' : 'l';
	}
	columns_narrow(columns, b.left_out, document->page.width, b.width);
	cmark_gfm_extensions_set_table_columns(table, count);
	cmark_gfm_extensions_set_table_alignments(table, count, alignment);
	add_row(&b, table, true, 0);
	for (size_t i = 0; i < columns->cell_count; i += columns->column_count)
		add_row(&b, table, false, i);
	return table;
}

/* Adds a block whose content write() writes: raw HTML, or preformatted text. */
static void
add_written(struct document *document, cmark_node_type type,
	    void (*write)(const void *what, const struct document *document, FILE *out),
	    const void *what)
{
	cmark_node *block = document_node(type);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out != NULL) {
		write(what, document, out);
		if (fclose(out) == 0)
			cmark_node_set_literal(block, text);
	}
	free(text);
	add_block(document, block);
}

/* Writes the table as a terminal shows it. */
static void
write_preformatted(const void *table, const struct document *document, FILE *out)
{
	columns_write(table, out, document->page.width);
}

static void
document_table(struct page *page, const struct columns *table)
{
	struct document *document = document_of(page);

	if (document->style->preformatted)
		add_written(document, CMARK_NODE_CODE_BLOCK, write_preformatted, table);
	else
		add_block(document, build_table(document, table));
}

/* --- plots ------------------------------------------------------------------------------ */

/*
 * Writes the plot: an SVG as raw HTML if the format can draw, else characters. Nothing needs to be
 * escaped, because a plot has no text from outside the program.
 */
static void
write_plot(const void *what, const struct document *document, FILE *out)
{
	const struct plot *plot = what;

	if (!document->style->bars) {
		plot_write_text(plot, out, document->page.width, document->style->ascii);
		return;
	}
	fprintf(out,
		"<svg class=\"plot %s\" viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-label=\"Gain by how much faster it is\">\n",
		plot->verdict, PLOT_WIDTH, PLOT_HEIGHT);
	plot_write_svg(plot, out);
	fputs("</svg>\n", out);
}

static void
document_plot(struct page *page, const struct plot *plot)
{
	struct document *document = document_of(page);

	add_written(document, document->style->bars ? CMARK_NODE_HTML_BLOCK : CMARK_NODE_CODE_BLOCK,
		    write_plot, plot);
}

/* --- the whole -------------------------------------------------------------------------- */

static const struct page_ops document_ops = {
	.head = document_head,
	.part = document_part,
	.cause = document_cause,
	.detail = document_detail,
	.figure = document_figure,
	.section = document_section,
	.heading = document_heading,
	.lead = document_paragraph,
	.paragraph = document_paragraph,
	.field = document_field,
	.line = document_field,
	.item = document_item,
	.table = document_table,
	.plot = document_plot,
	.rest = document_paragraph,
};

static void
add_title(struct document *document, const struct export_subject *subject)
{
	struct page *page = &document->page;

	if (subject->causal != NULL) {
		const struct causal_result *result = subject->causal->result;

		page_add(page, "What would make %jd (%s) faster", (intmax_t)result->pid,
			 result->command != NULL ? result->command : "");
	} else if (subject->diff != NULL) {
		const struct process *before = subject->diff->run[DIFF_BEFORE].process;
		const struct process *after = subject->diff->run[DIFF_AFTER].process;

		page_add(page, "Process %jd (%s) and %jd (%s), compared", (intmax_t)before->pid,
			 before->comm, (intmax_t)after->pid, after->comm);
	} else {
		page_add(page, "Process %jd (%s)", (intmax_t)subject->report->process->pid,
			 subject->report->process->comm);
		report_add_others(subject->report, &page->text);
	}
	page_write(page, document_title, "%s by wallsample", subject->causal != NULL ? "," : "");
}

void
document_make(const struct export_subject *subject, const struct document_style *style,
	      cmark_node *figure, struct document *out)
{
	*out = (struct document){
		.page = {
			.ops = &document_ops,
			.width = style->width > 0 ? style->width : WIDEST,
			.in_words = true,
		},
		.style = style,
		.root = document_node(CMARK_NODE_DOCUMENT),
		.figure = figure,
	};
	out->body = out->root;
	if (style->before != NULL) {
		out->body = document_node(CMARK_NODE_CUSTOM_BLOCK);
		cmark_node_set_on_enter(out->body, style->before);
		cmark_node_set_on_exit(out->body, style->after);
		cmark_node_append_child(out->root, out->body);
	}
	add_title(out, subject);
	report_write(subject, &out->page);
}

void
document_release(struct document *document)
{
	cmark_arena_reset();
	strbuf_release(&document->page.text);
	*document = (struct document){ 0 };
}
