/* SPDX-License-Identifier: MIT */
/* diff_pairs.c - matches the functions of two runs. */
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/diff_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Attributes of a row that decide which functions match. */
struct trait {
	uint32_t name, module; /* ids in struct pairing's texts and modules */
	/*
	 * there: by run, true if the run has the function. named: the function has a symbol and a
	 * module.
	 */
	bool there[DIFF_SIDES], named;
};

struct pairing {
	struct diff_pairs *out;
	struct strings *texts, *modules;
	struct table known;  /* (name; module) -> row */
	struct trait *trait; /* indexed by row: its attributes */
	size_t trait_capacity;
	struct strbuf scratch;
};

/* Writes the label of a process, "postgres: app shop 10.0.0.7(5432) idle (812)", without its id and
 * with "…" in place of numbers: both differ between runs. */
static const char *
process_name(const char *label, struct strbuf *scratch)
{
	const char *id = strrchr(label, '(');
	const size_t digits = id != NULL ? strspn(id + 1, "0123456789") : 0;
	const bool has_id = digits > 0 && strcmp(id + 1 + digits, ")") == 0;
	char *title = xstrndup(label, has_id ? (size_t)(id - label) : strlen(label));
	const size_t length = strlen(title);

	if (has_id && length > 0 && title[length - 1] == ' ')
		title[length - 1] = '\0';
	strbuf_clear(scratch);
	strbuf_add_text(scratch, "");
	process_add_plain(title, scratch);
	free(title);
	return scratch->data;
}

const char *
diff_name(const struct view *view, uint32_t id, struct strbuf *scratch)
{
	const struct view_function *function = view_function(view, id);

	if (view_key(view) == VIEW_BY_PROCESS)
		return process_name(function->name, scratch);
	if (function->known || function->module[0] == '\0' ||
	    !view_key_is_of_function(view_key(view)))
		return function->name;
	/* If the module is not a file, its name is in brackets already. */
	if (function->module[0] == '[')
		return function->module;
	strbuf_clear(scratch);
	strbuf_add_format(scratch, "[%s]", function->module);
	return scratch->data;
}

static uint32_t
place_function(struct pairing *pairing, const struct view *view, uint32_t id, enum diff_side side)
{
	const struct view_function *function = view_function(view, id);
	struct diff_pairs *out = pairing->out;
	const char *name = diff_name(view, id, &pairing->scratch);
	const uint32_t text = strings_intern(pairing->texts, name);
	const uint32_t module = strings_intern(pairing->modules, function->place);
	uint32_t row;

	pairing->trait = table_row(&pairing->known, (uint64_t[]){ text, module }, pairing->trait,
				   &pairing->trait_capacity, sizeof(*pairing->trait), &row);
	if (row == out->count) {
		out->row = xgrow(out->row, &out->capacity, out->count + 1, sizeof(*out->row));
		out->row[out->count++] = (struct diff_row){
			.module = function->place,
			.needs_module = function->needs_module,
		};
		pairing->trait[row].name = text;
		pairing->trait[row].module = module;
		pairing->trait[row].named = function->known && function->module[0] != '\0';
	}
	pairing->trait[row].there[side] = true;
	return row;
}

/* --- names whose module has another name in the other run --------------------------------- */

/*
 * For a function name and a run: the row of the function with this name whose module is not in the
 * other run.
 */
struct left_over {
	uint32_t row;
	bool any;  /* `row` is set */
	bool many; /* the name has several such rows, so that a match would be ambiguous */
};

/* Sets there[module][side] to true if the run has the module. */
static void
find_modules(const struct pairing *pairing, bool (*there)[DIFF_SIDES])
{
	for (size_t i = 0; i < pairing->out->count; i++)
		for (int side = 0; side < DIFF_SIDES; side++)
			there[pairing->trait[i].module][side] |= pairing->trait[i].there[side];
}

/* Sets left[name][side] to the row with this name whose module is not in the other run. */
static void
find_left_over(const struct pairing *pairing, bool (*there)[DIFF_SIDES],
	       struct left_over (*left)[DIFF_SIDES])
{
	for (uint32_t i = 0; i < pairing->out->count; i++) {
		const struct trait *trait = &pairing->trait[i];
		const int side = trait->there[DIFF_BEFORE] ? DIFF_BEFORE : DIFF_AFTER;
		struct left_over *of = &left[trait->name][side];

		if (!trait->named ||
		    (there[trait->module][DIFF_BEFORE] && there[trait->module][DIFF_AFTER]))
			continue;
		of->many = of->any;
		of->any = true;
		of->row = i;
	}
}

/*
 * Matches functions by name alone: a function of the earlier run gets the row of the function of
 * the same name in the later run, if each run has exactly one row in `left` for this name.
 */
static void
join_left_over(struct pairing *pairing, const struct diff_run run[DIFF_SIDES])
{
	const size_t names = strings_count(pairing->texts);
	bool(*there)[DIFF_SIDES] = xcalloc(strings_count(pairing->modules) + 1, sizeof(*there));
	struct left_over(*left)[DIFF_SIDES] = xcalloc(names + 1, sizeof(*left));
	uint32_t *row_of = pairing->out->row_of[DIFF_BEFORE];

	find_modules(pairing, there);
	find_left_over(pairing, there, left);
	for (size_t f = 0; f < view_function_count(run[DIFF_BEFORE].view); f++) {
		const struct left_over *of = left[pairing->trait[row_of[f]].name];

		if (of[DIFF_BEFORE].any && !of[DIFF_BEFORE].many && of[DIFF_AFTER].any &&
		    !of[DIFF_AFTER].many && of[DIFF_BEFORE].row == row_of[f])
			row_of[f] = of[DIFF_AFTER].row;
	}
	free(there);
	free(left);
}

void
diff_pairs_make(const struct diff_run run[DIFF_SIDES], struct strings *texts,
		struct diff_pairs *out)
{
	struct pairing pairing = { .out = out, .texts = texts, .modules = strings_create() };

	*out = (struct diff_pairs){ .count = 0 };
	strbuf_init(&pairing.scratch);
	for (int side = 0; side < DIFF_SIDES; side++) {
		const size_t count = view_function_count(run[side].view);

		out->row_of[side] = xcalloc(count + 1, sizeof(*out->row_of[side]));
		for (uint32_t f = 0; f < count; f++)
			out->row_of[side][f] = place_function(&pairing, run[side].view, f,
							      (enum diff_side)side);
	}
	for (size_t i = 0; i < out->count; i++)
		out->row[i].name = strings_text(texts, pairing.trait[i].name);
	join_left_over(&pairing, run);
	strbuf_release(&pairing.scratch);
	table_release(&pairing.known);
	strings_free(pairing.modules);
	free(pairing.trait);
}
