/* SPDX-License-Identifier: MIT */
/*
 * symbol_lookup.c - compares the names of symbols with one that is looked for.
 */
#include "wallsample/symbol/symbol_lookup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/elf/symbol_names.h"
#include "symbol/symbol_internal.h"

enum match {
	MATCH_NONE,
	MATCH_ENDING, /* with what a compiler has put behind it */
	MATCH_WHOLE,
};

struct lookup {
	const char *name;
	const char *file; /* or NULL */
	char *word;       /* of the name: a symbol without it cannot be meant */
	struct strbuf readable;
	struct symbol_named *out;
	size_t count, most;
	enum match match; /* of those that were found */
};

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool
is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/*
 * The last identifier of a name: mangled names have identifiers as they are, and demangling
 * all names of a program would take seconds. "" when there is none that must be there.
 */
static char *
last_word(const char *name)
{
	size_t end = strlen(name), start;

	start = end;
	while (start > 0 && is_word_byte(name[start - 1]))
		start--;
	/* Rust writes other letters in a code of its own. */
	for (const char *at = name; *at != '\0'; at++)
		if ((unsigned char)*at >= 0x80)
			start = end;
	return xstrndup(name + start, end - start);
}

/* Is it what compilers add to the whole of something? Parts (".cold", ".part.0") are not. */
static bool
is_whole_ending(const char *ending)
{
	return ending[0] == '.' && ending[1] != '\0' && strstr(ending, ".cold") == NULL &&
	       strstr(ending, ".part") == NULL;
}

static enum match
match_text(const char *text, size_t length, const char *name)
{
	const size_t wanted = strlen(name);

	if (length < wanted || memcmp(text, name, wanted) != 0)
		return MATCH_NONE;
	if (length == wanted)
		return MATCH_WHOLE;
	return is_whole_ending(text + wanted) ? MATCH_ENDING : MATCH_NONE;
}

static enum match
match_symbol(struct lookup *lookup, const char *raw)
{
	const size_t length = symbol_name_length(raw);
	enum match match = match_text(raw, length, lookup->name);

	if (match == MATCH_WHOLE || !symbol_name_is_mangled(raw) ||
	    strstr(raw, lookup->word) == NULL)
		return match;
	strbuf_clear(&lookup->readable);
	symbol_name_add_readable(&lookup->readable, raw, true);
	if (lookup->readable.data == NULL)
		return match;
	return match_text(lookup->readable.data, lookup->readable.length, lookup->name);
}

static bool
lookup_has(const struct lookup *lookup, const struct symbol_walked *symbol)
{
	for (size_t i = 0; i < lookup->count; i++)
		if (lookup->out[i].vaddr == symbol->vaddr && lookup->out[i].kind == symbol->kind)
			return true;
	return false;
}

static void
keep(struct lookup *lookup, const struct symbol_walked *symbol)
{
	struct symbol_named *named;

	if (lookup_has(lookup, symbol) || lookup->count == lookup->most)
		return;
	named = &lookup->out[lookup->count++];
	*named = (struct symbol_named){ .kind = symbol->kind,
					.vaddr = symbol->vaddr,
					.size = symbol->size };
	if (symbol->file != NULL) {
		const char *file = base_name(symbol->file);
		const size_t length = strlen(file);

		if (length >= sizeof(named->file))
			file += length - sizeof(named->file) + 1;
		memcpy(named->file, file, strlen(file) + 1);
	}
}

static bool
look_at_symbol(void *context, const struct symbol_walked *symbol)
{
	struct lookup *lookup = context;
	const enum match match = match_symbol(lookup, symbol->raw);

	if (match == MATCH_NONE || match < lookup->match)
		return true;
	if (lookup->file != NULL &&
	    (symbol->file == NULL || strcmp(base_name(symbol->file), lookup->file) != 0))
		return true;
	if (match > lookup->match)
		lookup->count = 0;
	lookup->match = match;
	keep(lookup, symbol);
	return true;
}

static int
compare_named(const void *left, const void *right)
{
	const struct symbol_named *a = left, *b = right;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

size_t
symbol_lookup(struct symbols *symbols, const struct module *module, const char *name,
	      const char *file, struct symbol_named *out, size_t most)
{
	struct lookup lookup = { .name = name, .file = file, .out = out, .most = most };

	lookup.word = last_word(name);
	strbuf_init(&lookup.readable);
	symbol_walk(symbols, module, look_at_symbol, &lookup);
	strbuf_release(&lookup.readable);
	free(lookup.word);
	if (lookup.count > 1)
		qsort(out, lookup.count, sizeof(*out), compare_named);
	return lookup.count;
}
