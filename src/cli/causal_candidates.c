/* SPDX-License-Identifier: MIT */
/* causal_candidates.c - chooses candidates: the functions of a profile with the most Latency. */
#include <stdlib.h>
#include <string.h>

#include "cli/causal_command_internal.h"
#include "wallsample/analysis/result.h"

/* Functions named in the error when none matches --select. */
#define NAMED_MOST 5

/* A function with its Latency: with its callees, and its own. */
struct ranked {
	const struct view_function *function;
	int64_t cum_ns, flat_ns;
};

static int
candidate_compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->flat_ns != b->flat_ns)
		return a->flat_ns > b->flat_ns ? -1 : 1;
	if (a->cum_ns != b->cum_ns)
		return a->cum_ns > b->cum_ns ? -1 : 1;
	return strcmp(a->function->name, b->function->name);
}

/* Fills the table with the script functions of an interpreted program, else with all functions. */
static void
make_table(const struct view *view, struct top_table *table)
{
	top_table_make_program(view, WEIGHT_LATENCY, table);
	if (table->count > 0)
		return;
	top_table_release(table);
	top_table_make(view, WEIGHT_LATENCY, table);
}

static bool
candidate_is_wanted(const struct view_function *function, const regex_t *select)
{
	if (view_is_named(function) || !function->known)
		return false;
	return select == NULL || regexec(select, function->name, 0, NULL, 0) == 0;
}

static size_t
rank(const struct view *view, const regex_t *select, struct ranked *out)
{
	struct top_table table;
	size_t count = 0;

	/* --select may choose any function, not only those of the interpreted program. */
	if (select == NULL)
		make_table(view, &table);
	else
		top_table_make(view, WEIGHT_LATENCY, &table);
	for (size_t i = 0; i < table.count; i++) {
		const struct top_row *row = &table.row[i];
		const struct view_function *function = view_function(view, row->function);

		if (candidate_is_wanted(function, select) && row->cum[WEIGHT_LATENCY] > 0 &&
		    (select != NULL || row->flat[WEIGHT_LATENCY] > 0))
			out[count++] = (struct ranked){
				.function = function,
				.cum_ns = row->cum[WEIGHT_LATENCY],
				.flat_ns = row->flat[WEIGHT_LATENCY],
			};
	}
	top_table_release(&table);
	qsort(out, count, sizeof(*out), candidate_compare);
	return count;
}

static int
candidates_refuse(const struct ranked *ranked, size_t count, struct error *err)
{
	struct strbuf known = STRBUF_INIT;
	int rc;

	for (size_t i = 0; i < count && i < NAMED_MOST; i++) {
		strbuf_add_text(&known, i > 0 ? ", " : "");
		strbuf_add_escaped(&known, ranked[i].function->name);
	}
	if (count == 0)
		rc = error_set(err, ERROR_SYSTEM,
			       "no sampled function has a name: there is nothing to speed up");
	else
		rc = error_set(err, ERROR_SYSTEM,
			       "no function that ran matches --select; functions that ran most: %s",
			       known.data);
	strbuf_release(&known);
	return rc;
}

int
causal_candidates_choose(const struct view *view, const regex_t *select, size_t most,
			 struct causal_result *result, struct error *err)
{
	const double total = (double)view_total_ns(view, WEIGHT_LATENCY);
	struct ranked *ranked = xcalloc(view_function_count(view) + 1, sizeof(*ranked));
	size_t count = rank(view, select, ranked);
	int rc = 0;

	if (count == 0) {
		count = rank(view, NULL, ranked);
		rc = candidates_refuse(ranked, count, err);
		count = 0;
	}
	for (size_t i = 0; i < count && i < most; i++) {
		const struct view_function *function = ranked[i].function;
		const uint32_t number = causal_result_add_candidate(result, function->name,
								    function->module,
								    function->file,
								    view_key(view) == VIEW_BY_LINE ?
									    function->line :
									    0);
		struct causal_candidate *candidate = &result->candidate[number];

		candidate->share = total > 0 ? (double)ranked[i].cum_ns / total : 0;
		candidate->self_share = total > 0 ? (double)ranked[i].flat_ns / total : 0;
	}
	free(ranked);
	return rc;
}
