/* SPDX-License-Identifier: MIT */
/* report_tree.c - reports the call tree, and the callers and callees of the functions in focus. */
#include "wallsample/report/quantity.h"
#include "wallsample/analysis/tree.h"
#include "report/report_internal.h"

/* Nodes of the call tree below this share of the weight are not shown. */
#define SHARE_LEAST 0.005
/*
 * A frame at depth n of the call tree is indented by n cells. BESIDE_INDENT cells of the page are
 * kept for names and numbers; the remaining width, and at least INDENT_LEAST, limits the
 * indentation. A frame that would be indented further has its depth as a number: "[57] name".
 */
#define BESIDE_INDENT 48
#define INDENT_LEAST 8
/* The offset of the value for `weight` in an array member of a row. */
#define AT(row, member, weight) (offsetof(row, member) + (size_t)(weight) * sizeof(int64_t))

static void
add_indented_name(const struct report_cell *cell, struct strbuf *out)
{
	const size_t width = *(const size_t *)cell->table->context;
	const size_t room = width > BESIDE_INDENT + INDENT_LEAST ? width - BESIDE_INDENT :
								   INDENT_LEAST;
	const struct tree_node *node = cell->row;

	strbuf_add_format(out, "%*s", (int)(node->depth < room ? node->depth : room), "");
	if (node->depth > room)
		strbuf_add_format(out, "[%u] ", node->depth);
	tree_add_name(cell->table->view, node, out);
}

void
report_write_tree(const struct export_input *input, struct page *page)
{
	const enum weight sort = input->sort;
	const struct report_column column[] = {
		{ report_weight_words[sort].share, NULL, COLUMN_SHARE,
		  .at = AT(struct tree_node, cum, sort) },
		{ "self%", NULL, COLUMN_SHARE, .at = AT(struct tree_node, flat, sort) },
		{ "call tree", NULL, COLUMN_TEXT, .text = add_indented_name, .left = true },
	};
	struct call_tree tree;

	call_tree_make(input->view, sort, input->tree, SHARE_LEAST, export_outer_frames(input),
		       &tree);
	page->ops->section(page, "Call tree");
	report_table_write(&REPORT_TABLE(column, tree.node, tree.count,
					 .whole = view_total_ns(input->view, sort),
					 .view = input->view, .context = &page->width),
			   page);
	if (tree.hidden > 0)
		page_write(page, page->ops->rest, "… and %s",
			   quantity_things(tree.hidden, "lighter call", "lighter calls").text);
	call_tree_release(&tree);
}

static void
add_no_neighbour(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_text(out, cell->table->context);
}

static void
write_neighbours(const struct export_input *input, const char *title, const char *none,
		 const struct neighbour_row *row, size_t count, struct page *page)
{
	const struct report_column column[] = {
		{ "share", NULL, COLUMN_SHARE, .at = AT(struct neighbour_row, ns, input->sort) },
		{ title, NULL, COLUMN_FUNCTION, .at = offsetof(struct neighbour_row, function),
		  .text = add_no_neighbour, .left = true },
	};

	report_table_write(&REPORT_TABLE(column, row, count, .limit = input->limit, .one = "",
					 .many = "",
					 .whole = view_total_ns(input->view, input->sort),
					 .view = input->view, .context = none),
			   page);
}

void
report_write_focus(const struct export_input *input, struct page *page)
{
	struct neighbours near;

	neighbours_make(input->view, input->sort, input->focus, &near);
	if (near.self_count == 0) {
		page->ops->heading(page, "Focus: no function matches");
	} else {
		page_write(page, page->ops->heading, "Focus: %s of the whole is in them",
			   quantity_share((double)near.ns[input->sort],
					  (double)view_total_ns(input->view, input->sort))
				   .text);
		write_neighbours(input, "callers", "[none: it is outermost]", near.caller,
				 near.caller_count, page);
		write_neighbours(input, "in focus", "", near.self, near.self_count, page);
		write_neighbours(input, "callees", "[itself]", near.callee, near.callee_count,
				 page);
	}
	neighbours_release(&near);
}
