/* SPDX-License-Identifier: MIT */
/* pclntab_names.c - names by Go's own table. */
#include "symbol/symbol_internal.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/pclntab.h"
#include "wallsample/symbol/symbol.h"

struct pclntab_names {
	struct pclntab *table;
	struct strbuf texts; /* of the last answer, each with its zero */
};

struct pclntab_names *
pclntab_names_create(const struct image *image)
{
	struct pclntab *table = pclntab_open(image);
	struct pclntab_names *names;

	if (table == NULL)
		return NULL;
	names = xcalloc(1, sizeof(*names));
	names->table = table;
	strbuf_init(&names->texts);
	return names;
}

void
pclntab_names_free(struct pclntab_names *names)
{
	if (names == NULL)
		return;
	pclntab_free(names->table);
	strbuf_release(&names->texts);
	free(names);
}

/* Where texts are in the buffer, which moves while it grows. */
#define NOWHERE SIZE_MAX
struct text_place {
	size_t function, file;
};

/* Ends the text that was added behind `start`. */
static size_t
end_text(struct pclntab_names *names, size_t start, bool added)
{
	if (!added)
		return NOWHERE;
	strbuf_add(&names->texts, "", 1);
	return start;
}

static struct text_place
add_texts(struct pclntab_names *names, const struct pclntab_place *place)
{
	struct strbuf *texts = &names->texts;
	struct text_place at;
	size_t start = texts->length;

	at.function = end_text(names, start, pclntab_name(names->table, place->name, texts));
	start = texts->length;
	at.file = end_text(names, start, pclntab_file(names->table, place->file, texts));
	return at;
}

static const char *
text_at(const struct pclntab_names *names, size_t at)
{
	return at != NOWHERE ? names->texts.data + at : NULL;
}

size_t
pclntab_names_find(struct pclntab_names *names, uint64_t vaddr, struct dwarf_place *out,
		   size_t most)
{
	struct pclntab_place place[SYMBOL_CHAIN_MAX];
	struct text_place at[SYMBOL_CHAIN_MAX];
	size_t count;

	if (names == NULL)
		return 0;
	count = pclntab_places(names->table, vaddr, place,
			       most < SYMBOL_CHAIN_MAX ? most : SYMBOL_CHAIN_MAX);
	if (count == 0 || place[0].line == 0)
		return 0;
	strbuf_clear(&names->texts);
	for (size_t i = 0; i < count; i++)
		at[i] = add_texts(names, &place[i]);
	for (size_t i = 0; i < count; i++)
		out[i] = (struct dwarf_place){
			.function = text_at(names, at[i].function),
			.file = text_at(names, at[i].file),
			.line = place[i].line,
			.inlined = i + 1 < count,
		};
	return out[count - 1].function != NULL ? count : 0;
}

const char *
pclntab_names_function(struct pclntab_names *names, uint64_t vaddr)
{
	struct pclntab_function function;

	if (names == NULL || !pclntab_find(names->table, vaddr, &function))
		return NULL;
	strbuf_clear(&names->texts);
	return pclntab_name(names->table, function.name, &names->texts) ? names->texts.data : NULL;
}
