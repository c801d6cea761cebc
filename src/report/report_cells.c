/* SPDX-License-Identifier: MIT */
/*
 * report_cells.c - writes cells of a report's tables.
 */
#include "report/report_internal.h"

/* A name that is an address includes the module already. */
void
report_add_function_cell(struct columns *table, const struct view_function *function)
{
	struct strbuf name, module;

	strbuf_init(&name);
	strbuf_init(&module);
	strbuf_add_escaped(&name, function->name);
	if (function->needs_module)
		strbuf_add_escaped(&module, function->module);
	columns_add_detailed(table, name.data, module.length > 0 ? module.data : "");
	strbuf_release(&name);
	strbuf_release(&module);
}

void
report_add_parallelism(struct strbuf *out, int64_t overhead_ns, int64_t busy_ns)
{
	if (busy_ns > 0)
		strbuf_add_format(out, "%.2f", (double)overhead_ns / (double)busy_ns);
	else
		strbuf_add_text(out, "-");
}
