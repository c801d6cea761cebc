/* SPDX-License-Identifier: MIT */
/* report_tree.c - the call tree, and the callers and callees of the functions in focus. */
#include "wallsample/report/quantity.h"
#include "wallsample/report/report.h"
#include "wallsample/analysis/tree.h"

/* Nodes of less than this share are not worth a line. */
#define SHARE_LEAST 0.005
/* Cells that names and numbers need beside the indentation; deeper frames say their depth. */
#define BESIDE_INDENT 48
#define INDENT_LEAST 8

static void
add_indented_name(struct strbuf *sb, const struct view *view, const struct tree_node *node,
		  size_t width)
{
	const size_t room = width > BESIDE_INDENT + INDENT_LEAST ? width - BESIDE_INDENT :
								   INDENT_LEAST;
	size_t indent = node->depth < room ? node->depth : room;

	strbuf_clear(sb);
	while (indent-- > 0)
		strbuf_add_text(sb, " ");
	if (node->depth > room)
		strbuf_add_format(sb, "[%u] ", node->depth);
	strbuf_add_foreign(sb, view_function(view, node->function)->name);
}

void
report_write_tree(const struct export_input *input, struct page *page)
{
	const struct column column[] = {
		{ weight_share_title(input->sort), true, 0 },
		{ "self%", true, 0 },
		{ "call tree", false, 0 },
	};
	const int64_t total = view_total_ns(input->view, input->sort);
	struct call_tree tree;
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	call_tree_make(input->view, input->sort, input->tree, SHARE_LEAST, &tree);
	for (size_t i = 0; i < tree.count; i++) {
		const struct tree_node *node = &tree.node[i];

		report_add_share_cell(&table, &sb, node->cum[input->sort], total);
		report_add_share_cell(&table, &sb, node->flat[input->sort], total);
		add_indented_name(&sb, input->view, node, page->width);
		columns_add(&table, sb.data);
	}
	page->ops->section(page, "Call tree");
	page->ops->table(page, &table);
	if (tree.hidden > 0) {
		strbuf_clear(&sb);
		strbuf_add_text(&sb, "… and ");
		quantity_add_things(&sb, tree.hidden, "lighter call", "lighter calls");
		page->ops->rest(page, sb.data);
	}
	columns_release(&table);
	strbuf_release(&sb);
	call_tree_release(&tree);
}

static void
write_neighbours(const struct export_input *input, const char *title, const char *none,
		 const struct neighbour_row *row, size_t count, struct page *page)
{
	const struct column column[] = {
		{ "share", true, 0 },
		{ title, false, 0 },
	};
	const int64_t total = view_total_ns(input->view, input->sort);
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count && i < input->limit; i++) {
		report_add_share_cell(&table, &sb, row[i].ns[input->sort], total);
		if (row[i].function == TREE_NONE)
			columns_add(&table, none);
		else
			report_add_function_cell(&table,
						 view_function(input->view, row[i].function));
	}
	page->ops->table(page, &table);
	if (count > input->limit) {
		strbuf_clear(&sb);
		strbuf_add_format(&sb, "… and %zu more", count - input->limit);
		page->ops->rest(page, sb.data);
	}
	columns_release(&table);
	strbuf_release(&sb);
}

void
report_write_focus(const struct export_input *input, struct page *page)
{
	struct neighbours near;
	struct strbuf sb;

	neighbours_make(input->view, input->sort, input->focus, &near);
	strbuf_init(&sb);
	strbuf_add_text(&sb, "Focus: ");
	if (near.self_count == 0) {
		strbuf_add_text(&sb, "no function matches");
		page->ops->heading(page, sb.data);
	} else {
		quantity_add_share(&sb, (double)near.ns[input->sort],
				   (double)view_total_ns(input->view, input->sort));
		strbuf_add_text(&sb, " of the whole is in them");
		page->ops->heading(page, sb.data);
		write_neighbours(input, "callers", "[none: it is outermost]", near.caller,
				 near.caller_count, page);
		write_neighbours(input, "in focus", "", near.self, near.self_count, page);
		write_neighbours(input, "callees", "[itself]", near.callee, near.callee_count,
				 page);
	}
	strbuf_release(&sb);
	neighbours_release(&near);
}
