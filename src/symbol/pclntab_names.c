/* SPDX-License-Identifier: MIT */
/*
 * pclntab_names.c - finds names, files and lines of addresses in the function table of Go programs.
 */
#include "symbol/symbol_internal.h"

#include "wallsample/base/base.h"

/* Returns the text at the offset `at`, which `add` (pclntab_name or pclntab_file) reads from the
 * table, interned in `texts`; NULL when there is no text. */
static const char *
intern_text(const struct pclntab *table, struct strings *texts, uint32_t at,
	    bool (*add)(const struct pclntab *table, uint32_t at, struct strbuf *to))
{
	struct strbuf text = STRBUF_INIT;
	const char *interned = NULL;

	if (add(table, at, &text))
		interned = strings_text(texts, strings_intern(texts, text.data));
	strbuf_release(&text);
	return interned;
}

size_t
pclntab_names_find(const struct pclntab *table, struct strings *texts, uint64_t vaddr,
		   struct dwarf_place *out, size_t most)
{
	struct pclntab_place place[SYMBOL_CHAIN_MAX];
	size_t count;

	if (table == NULL)
		return 0;
	count = pclntab_places(table, vaddr, place,
			       most < SYMBOL_CHAIN_MAX ? most : SYMBOL_CHAIN_MAX);
	if (count == 0 || place[0].line == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		out[i] = (struct dwarf_place){
			.function = intern_text(table, texts, place[i].name, pclntab_name),
			.file = intern_text(table, texts, place[i].file, pclntab_file),
			.line = place[i].line,
			.inlined = i + 1 < count,
		};
	return out[count - 1].function != NULL ? count : 0;
}

const char *
pclntab_names_function(const struct pclntab *table, struct strings *texts, uint64_t vaddr)
{
	struct pclntab_function function;

	if (table == NULL || !pclntab_find(table, vaddr, &function))
		return NULL;
	return intern_text(table, texts, function.name, pclntab_name);
}
