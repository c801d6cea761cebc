/* SPDX-License-Identifier: MIT */
/*
 * symbol_lookup.c - finds the symbols with a name, and names that are similar to a name that was
 * not found.
 */
#include "wallsample/symbol/symbol_lookup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/elf/symbol_names.h"

/* --- all symbols of a module ------------------------------------------------------------- */

/* Opens the files of a module and calls `each` for every symbol, until `each` returns false. */
static void
walk_module(struct symbols *symbols, const struct module *module,
	    bool (*each)(void *context, const struct symbol_entry *entry), void *context)
{
	struct debug_files *files;
	struct symbol_files tables;
	struct debug_file file;

	if (module->image == NULL || !image_is_unchanged(module->image))
		return;
	files = debug_files_create(&symbols_settings(symbols)->files);
	debug_file_open(files, module, &file);
	tables = symbol_files_of(module, &file);
	symbol_files_walk(&tables, each, context);
	debug_file_close(&file);
	debug_files_free(files);
}

/* Stores the kind of a symbol. Returns false for symbols without an address in memory, and for
 * symbols that are neither code nor data. */
static bool
symbol_kind(const struct symbol_entry *entry, enum symbol_named_kind *kind)
{
	if ((entry->section.sh_flags & SHF_ALLOC) == 0)
		return false;
	switch (GELF_ST_TYPE(entry->sym.st_info)) {
	case STT_OBJECT:
		*kind = SYMBOL_NAMED_DATA;
		return true;
	case STT_TLS:
		*kind = SYMBOL_NAMED_THREAD_LOCAL;
		return true;
	case STT_FUNC:
		*kind = SYMBOL_NAMED_CODE;
		return true;
	case STT_GNU_IFUNC:
		*kind = SYMBOL_NAMED_RESOLVER;
		return true;
	case STT_NOTYPE:
		*kind = (entry->section.sh_flags & SHF_EXECINSTR) != 0 ? SYMBOL_NAMED_CODE :
									 SYMBOL_NAMED_DATA;
		return true;
	default:
		return false;
	}
}

/* --- symbols with a name ----------------------------------------------------------------- */

enum match {
	MATCH_NONE,
	/* The symbol's name is the wanted name with a suffix of the compiler. */
	MATCH_ENDING,
	MATCH_WHOLE,
};

struct lookup {
	const char *name;
	/* Base name of the wanted source file; NULL: symbols of all files match. */
	const char *file;
	char *word; /* part of the name that every matching mangled symbol contains */
	struct strbuf readable;
	struct symbol_named *out;
	size_t count, most;
	enum match match; /* how the symbols in `out` match */
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
 * Returns the last identifier of a readable name; the caller frees it. A mangled name contains the
 * identifiers of the readable name unchanged, so only symbols with this identifier need to be
 * demangled: demangling all names of a program would take seconds. Returns "", which all symbols
 * contain, when the name does not end in an identifier, or when mangled names may contain the
 * identifier in another form.
 */
static char *
last_word(const char *name)
{
	size_t end = strlen(name), start;

	start = end;
	while (start > 0 && is_word_byte(name[start - 1]))
		start--;
	/* Rust encodes letters beyond ASCII in mangled names. */
	for (const char *at = name; *at != '\0'; at++)
		if ((unsigned char)*at >= 0x80)
			start = end;
	return xstrndup(name + start, end - start);
}

/* Returns whether `ending` is a suffix that the compiler gives to a whole function or variable;
 * false for the suffixes of parts of functions (".cold", ".part.0"). */
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

static void
lookup_keep(struct lookup *lookup, const struct symbol_entry *entry, enum symbol_named_kind kind,
	    const char *file)
{
	struct symbol_named *named = &lookup->out[lookup->count];

	for (size_t i = 0; i < lookup->count; i++)
		if (lookup->out[i].vaddr == entry->sym.st_value && lookup->out[i].kind == kind)
			return;
	if (lookup->count == lookup->most)
		return;
	lookup->count++;
	*named = (struct symbol_named){ .kind = kind,
					.vaddr = entry->sym.st_value,
					.size = entry->sym.st_size };
	if (file != NULL) {
		const size_t length = strlen(file);

		if (length >= sizeof(named->file))
			file += length - sizeof(named->file) + 1;
		memcpy(named->file, file, strlen(file) + 1);
	}
}

static bool
lookup_visit(void *context, const struct symbol_entry *entry)
{
	struct lookup *lookup = context;
	const char *raw = symbol_entry_name(entry, SYMBOL_NAME_MAX);
	const char *file = NULL;
	enum symbol_named_kind kind;
	enum match match;

	if (raw == NULL || !symbol_kind(entry, &kind))
		return true;
	if (GELF_ST_BIND(entry->sym.st_info) == STB_LOCAL && entry->file != NULL)
		file = base_name(entry->file);
	match = match_symbol(lookup, raw);
	if (match == MATCH_NONE || match < lookup->match ||
	    (lookup->file != NULL && (file == NULL || strcmp(file, lookup->file) != 0)))
		return true;
	if (match > lookup->match)
		lookup->count = 0;
	lookup->match = match;
	lookup_keep(lookup, entry, kind, file);
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
	walk_module(symbols, module, lookup_visit, &lookup);
	strbuf_release(&lookup.readable);
	free(lookup.word);
	if (lookup.count > 1)
		qsort(out, lookup.count, sizeof(*out), compare_named);
	return lookup.count;
}

/* --- similar names ----------------------------------------------------------------------- */

/* Largest length in bytes of names whose edit distance is computed. A longer name is similar only
 * when it contains the wanted name. */
#define COMPARED_MOST 64
/* Limit of CPU time in ns for one module: demangling the names of a large program can take
 * longer. */
#define TIME_NS NS_PER_SEC

struct similar_search {
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

/* Returns Levenshtein's distance of two names of at most COMPARED_MOST bytes, ignoring the case of
 * letters. */
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

/* Returns a measure of the difference of a name from the wanted name, larger for less similar
 * names; UINT32_MAX when they are not similar. */
static unsigned
name_distance(const char *name, const char *wanted)
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
similar_keep(struct symbol_similar *similar, const char *name, unsigned far)
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
similar_visit(void *context, const struct symbol_entry *entry)
{
	struct similar_search *search = context;
	const char *raw = symbol_entry_name(entry, SYMBOL_NAME_MAX);
	enum symbol_named_kind kind;
	unsigned far;

	if (dwarf_time_is_over(&search->time))
		return false;
	if (raw == NULL || !symbol_kind(entry, &kind) || kind == SYMBOL_NAMED_THREAD_LOCAL ||
	    (kind == SYMBOL_NAMED_CODE) != search->code)
		return true;
	strbuf_clear(&search->readable);
	symbol_name_add_readable(&search->readable, raw, true);
	if (search->readable.length == 0 || search->readable.length > 200)
		return true;
	far = name_distance(search->readable.data, search->name);
	if (far != UINT32_MAX)
		similar_keep(search->similar, search->readable.data, far);
	return true;
}

void
symbol_lookup_similar(struct symbols *symbols, const struct module *module, const char *name,
		      bool code, struct symbol_similar *similar)
{
	struct similar_search search = { .name = name, .code = code, .similar = similar };

	dwarf_time_start(&search.time, TIME_NS);
	walk_module(symbols, module, similar_visit, &search);
	strbuf_release(&search.readable);
}

void
symbol_similar_release(struct symbol_similar *similar)
{
	for (size_t i = 0; i < similar->count; i++)
		free(similar->best[i].name);
	similar->count = 0;
}
