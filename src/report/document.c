/* SPDX-License-Identifier: MIT */
/*
 * document.c - builds a cmark tree from the elements of a report.
 */
#include "wallsample/report/document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cmark-gfm-core-extensions.h>

#include "report/report_internal.h"
#include "wallsample/base/base.h"

/*
 * The width of a table's line if no paper limits it: a name at its end, which may have kilobytes,
 * is cut to a few lines of a screen.
 */
#define WIDEST 320

cmark_node *
document_node(cmark_node_type type)
{
	return cmark_node_new_with_mem(type, document_memory());
}

/* The library does not free the data of a table's cells: an arena frees all memory at once. */
cmark_mem *
document_memory(void)
{
	return cmark_get_arena_mem_allocator();
}

void
document_add_text(cmark_node *parent, const char *text)
{
	cmark_node *node = document_node(CMARK_NODE_TEXT);

	cmark_node_set_literal(node, text);
	cmark_node_append_child(parent, node);
}

static struct document *
document_of(struct page *page)
{
	return (struct document *)page;
}

/* Adds a block, which ends the current list of fields. */
static void
add_block(struct document *document, cmark_node *node)
{
	cmark_node_append_child(document->body, node);
	document->list = document->item = document->items = NULL;
}

static void
add_heading(struct document *document, int level, const char *text)
{
	cmark_node *heading = document_node(CMARK_NODE_HEADING);

	cmark_node_set_heading_level(heading, level);
	document_add_text(heading, text);
	add_block(document, heading);
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
document_section(struct page *page, const char *name)
{
	struct document *document = document_of(page);

	if (document->figure != NULL)
		add_block(document, document->figure);
	document->figure = NULL;
	document_heading(page, name);
}

static void
document_paragraph(struct page *page, const char *text)
{
	cmark_node *paragraph = document_node(CMARK_NODE_PARAGRAPH);

	document_add_text(paragraph, text);
	add_block(document_of(page), paragraph);
}

/* --- fields ----------------------------------------------------------------------------- */

static cmark_node *
new_list(cmark_node *parent)
{
	cmark_node *list = document_node(CMARK_NODE_LIST);

	cmark_node_set_list_type(list, CMARK_BULLET_LIST);
	cmark_node_set_list_tight(list, 1);
	cmark_node_append_child(parent, list);
	return list;
}

/* Adds an item with an empty paragraph, and returns the paragraph. */
static cmark_node *
new_item(cmark_node *list)
{
	cmark_node *item = document_node(CMARK_NODE_ITEM);
	cmark_node *paragraph = document_node(CMARK_NODE_PARAGRAPH);

	cmark_node_append_child(list, item);
	cmark_node_append_child(item, paragraph);
	return paragraph;
}

static void
document_field(struct page *page, const char *label, const char *value)
{
	struct document *document = document_of(page);
	cmark_node *paragraph, *strong;

	if (document->list == NULL)
		document->list = new_list(document->body);
	/* The continuation of a field is below its items. */
	if (label[0] == '\0' && document->items != NULL) {
		document_add_text(new_item(document->items), value);
		return;
	}
	paragraph = new_item(document->list);
	document->item = cmark_node_parent(paragraph);
	document->items = NULL;
	if (label[0] != '\0') {
		strong = document_node(CMARK_NODE_STRONG);
		document_add_text(strong, label);
		cmark_node_append_child(paragraph, strong);
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
		document->items = new_list(document->item);
	strbuf_add_format(&sb, "%s%s%s  %s", number, other != NULL ? ", " : "",
			  other != NULL ? other : "", text);
	document_add_text(new_item(document->items), sb.data);
	strbuf_release(&sb);
}

/* --- tables ----------------------------------------------------------------------------- */

/* The library does not export these types: they are read from a parsed table. */
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
 * The hook of the extension that escapes '|' for CommonMark also runs for LaTeX and man pages, in
 * which the backslash ends a row or becomes a thin space.
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

/* A table that is being added to the tree, without columns that the format cannot draw. */
struct building {
	const struct document *document;
	const struct columns *table;
	struct table_types types;
	size_t width[COLUMNS_MAX];
	bool left_out[COLUMNS_MAX];
	struct strbuf text;
};

static cmark_node *
document_add_row(struct building *b, cmark_node *table, bool header)
{
	cmark_node *row = cmark_node_new_with_mem_and_ext(b->types.row, document_memory(),
							  b->types.extension);

	cmark_gfm_extensions_set_table_row_is_header(row, header);
	cmark_node_append_child(table, row);
	return row;
}

static void
add_bar(cmark_node *cell, double part)
{
	cmark_node *bar = document_node(CMARK_NODE_HTML_INLINE);
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_format(&sb, "<span class=\"bar\" style=\"width:%.1f%%\"></span>", 100 * part);
	cmark_node_set_literal(bar, sb.data);
	cmark_node_append_child(cell, bar);
	strbuf_release(&sb);
}

static cmark_node *
new_cell(struct building *b, cmark_node *row)
{
	cmark_node *cell = cmark_node_new_with_mem_and_ext(b->types.cell, document_memory(),
							   b->types.extension);

	cmark_node_append_child(row, cell);
	return cell;
}

static void
add_titles(struct building *b, cmark_node *table)
{
	cmark_node *row = document_add_row(b, table, true);

	for (size_t c = 0; c < b->table->column_count; c++)
		if (!b->left_out[c])
			document_add_text(new_cell(b, row), b->table->column[c].title);
}

static void
add_cells(struct building *b, cmark_node *table)
{
	cmark_node *row = NULL;

	for (size_t i = 0; i < b->table->cell_count; i++) {
		const size_t c = i % b->table->column_count;
		cmark_node *cell;

		if (c == 0)
			row = document_add_row(b, table, false);
		if (b->left_out[c])
			continue;
		cell = new_cell(b, row);
		if (b->table->cell[i].bar) {
			add_bar(cell, b->table->cell[i].part);
			continue;
		}
		strbuf_clear(&b->text);
		strbuf_add_text(&b->text, "");
		columns_cell_text(b->table, i, b->width[c], &b->text);
		document_add_text(cell, b->text.data);
	}
}

static cmark_node *
build_table(struct building *b)
{
	cmark_node *table = cmark_node_new_with_mem_and_ext(b->types.table, document_memory(),
							    b->types.extension);
	uint8_t alignment[COLUMNS_MAX];
	uint16_t count = 0;

	columns_measure(b->table, b->document->page.width, b->width);
	for (size_t c = 0; c < b->table->column_count; c++) {
		b->left_out[c] = c < b->table->cell_count && b->table->cell[c].bar &&
				 !b->document->style->bars;
		if (!b->left_out[c])
			alignment[count++] = b->table->column[c].right ? 'r' : 'l';
	}
	cmark_gfm_extensions_set_table_columns(table, count);
	cmark_gfm_extensions_set_table_alignments(table, count, alignment);
	add_titles(b, table);
	add_cells(b, table);
	return table;
}

/* Adds a block with all that write() writes: raw HTML, or preformatted text. */
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
	struct building building = { .document = document, .table = table };

	if (document->style->preformatted) {
		add_written(document, CMARK_NODE_CODE_BLOCK, write_preformatted, table);
		return;
	}
	building.types = find_table_types();
	add_block(document, build_table(&building));
	strbuf_release(&building.text);
}

/* --- plots ------------------------------------------------------------------------------ */

/* Writes the plot, which has no foreign text: its subject is named above it. */
static void
write_plot(const void *plot, const struct document *document, FILE *out)
{
	if (!document->style->bars) {
		plot_write_text(plot, out, document->page.width, document->style->ascii);
		return;
	}
	fprintf(out,
		"<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-label=\"Gain by how much faster it is\">\n",
		PLOT_WIDTH, PLOT_HEIGHT);
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
	}
	page_write(page, document_title, "%s by wallsample", subject->report == NULL ? "," : "");
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
