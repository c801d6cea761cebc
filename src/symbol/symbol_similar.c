/* SPDX-License-Identifier: MIT */
/*
 * symbol_similar.c - finds names that are similar to one that was not found.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/elf/symbol_names.h"
#include "symbol/symbol_internal.h"

/* Longer ones are compared by what they have in common only. */
#define COMPARED_MOST 64
/* Demangling a large program's names takes some of it. */
#define TIME_NS NS_PER_SEC

struct search {
	const char *name;
	bool code;
	struct symbol_similar *similar;
	struct strbuf readable;
	struct dwarf_time time;
};

static unsigned
least(unsigned a, unsigned b, unsigned c)
{
	const unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance, letters of either case being the same; both up to COMPARED_MOST. */
static unsigned
edit_distance(const char *a, const char *b)
{
	const size_t width = strlen(b);
	unsigned row[COMPARED_MOST + 1];

	for (size_t i = 0; i <= width; i++)
		row[i] = (unsigned)i;
	for (size_t y = 0; a[y] != '\0'; y++) {
		unsigned corner = row[0];

		row[0] = (unsigned)y + 1;
		for (size_t x = 0; x < width; x++) {
			const unsigned above = row[x + 1];
			const bool same = tolower((unsigned char)a[y]) ==
					  tolower((unsigned char)b[x]);

			row[x + 1] = least(above + 1, row[x] + 1, corner + !same);
			corner = above;
		}
	}
	return row[width];
}

/* UINT_MAX: not similar. */
static unsigned
distance(const char *name, const char *wanted)
{
	const size_t length = strlen(name), wanted_length = strlen(wanted);
	const size_t difference = length > wanted_length ? length - wanted_length :
							   wanted_length - length;
	unsigned edits;

	if (wanted_length >= 3 && strcasestr(name, wanted) != NULL)
		return difference < 100 ? 1 + (unsigned)difference / 8 : 100;
	if (length > COMPARED_MOST || wanted_length > COMPARED_MOST ||
	    difference > 1 + wanted_length / 4)
		return UINT32_MAX;
	edits = edit_distance(name, wanted);
	return edits <= 1 + wanted_length / 4 ? edits : UINT32_MAX;
}

static void
keep(struct symbol_similar *similar, const char *name, unsigned far)
{
	size_t at = similar->count;

	for (size_t i = 0; i < similar->count; i++)
		if (strcmp(similar->best[i].name, name) == 0)
			return;
	while (at > 0 && similar->best[at - 1].distance > far)
		at--;
	if (at == SYMBOL_SIMILAR_MOST)
		return;
	if (similar->count == SYMBOL_SIMILAR_MOST)
		free(similar->best[--similar->count].name);
	memmove(&similar->best[at + 1], &similar->best[at],
		(similar->count - at) * sizeof(similar->best[0]));
	similar->best[at] = (struct symbol_similar_name){ xstrdup(name), far };
	similar->count++;
}

static bool
look_at_symbol(void *context, const struct symbol_walked *symbol)
{
	struct search *search = context;
	const bool code = symbol->kind == SYMBOL_NAMED_CODE;
	unsigned far;

	if (dwarf_time_is_over(&search->time))
		return false;
	if (code != search->code || symbol->kind == SYMBOL_NAMED_THREAD_LOCAL)
		return true;
	strbuf_clear(&search->readable);
	symbol_name_add_readable(&search->readable, symbol->raw, true);
	if (search->readable.length == 0 || search->readable.length > 200)
		return true;
	far = distance(search->readable.data, search->name);
	if (far != UINT32_MAX)
		keep(search->similar, search->readable.data, far);
	return true;
}

void
symbol_lookup_similar(struct symbols *symbols, const struct module *module, const char *name,
		      bool code, struct symbol_similar *similar)
{
	struct search search = { .name = name, .code = code, .similar = similar };

	strbuf_init(&search.readable);
	dwarf_time_start(&search.time, TIME_NS);
	symbol_walk(symbols, module, look_at_symbol, &search);
	strbuf_release(&search.readable);
}

void
symbol_similar_release(struct symbol_similar *similar)
{
	for (size_t i = 0; i < similar->count; i++)
		free(similar->best[i].name);
	similar->count = 0;
}
