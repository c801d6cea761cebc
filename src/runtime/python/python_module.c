/* SPDX-License-Identifier: MIT */
/* python_module.c - searches a file for CPython, one piece per call. */
#include "runtime/python/python_find_internal.h"

#include <string.h>

#include "wallsample/base/base.h"

/* Bytes of constants that are read at once. */
#define PIECE ((size_t)64 << 10)
#define SECTION ".PyRuntime"
/* Most bytes of one segment that are searched for versions. */
#define TEXT_MOST (UINT64_C(256) << 20)
/* Bytes by which pieces overlap: more than the longest version, "3.10.13rc1" and a terminating
 * zero. */
#define TEXT_OVERLAP 16

enum { WANTED_RUNTIME, WANTED_OLD_EVAL, WANTED_PYPY };

static const struct symbol_wanted wanted_runtime[] = {
	[WANTED_RUNTIME] = { .name = "_PyRuntime" },
	/* The bytecode loop up to 3.5, and a function that calls it in later versions. */
	[WANTED_OLD_EVAL] = { .name = "PyEval_EvalFrameEx", .code = true },
	/* A function of PyPy's C interface (rpython/translator/c/src/entrypoint.c). */
	[WANTED_PYPY] = { .name = "pypy_execute_source", .code = true },
};

enum { WANTED_VERSION, WANTED_EVAL, WANTED_DEBUG, WANTED_TRACED };

static const struct symbol_wanted wanted[] = {
	[WANTED_VERSION] = { .name = "Py_Version" },
	[WANTED_EVAL] = { .name = "_PyEval_EvalFrameDefault", .code = true, .parts = true },
	/* This symbol exists only with Py_REF_DEBUG, which Py_DEBUG enables (Include/object.h). */
	[WANTED_DEBUG] = { .name = "_Py_NegativeRefcount", .code = true },
	/* This symbol exists only with Py_TRACE_REFS, which is not part of Py_DEBUG since 3.8. */
	[WANTED_TRACED] = { .name = "_Py_PrintReferences", .code = true },
};

bool
python_module_search_begin(void *memory, const struct module *module)
{
	struct python_module_search *search = memory;

	*search = (struct python_module_search){ .module = module };
	symbol_search_init(&search->symbols, module->image, wanted_runtime,
			   ARRAY_SIZE(wanted_runtime));
	return true;
}

/* --- symbols ----------------------------------------------------------------------------- */

/* Ends the stage PYTHON_MODULE_SYMBOLS: stores the results of the search for symbols. */
static void
take_symbols(struct python_module_search *search)
{
	const struct symbol_search *symbols = &search->symbols;
	struct python_module *found = &search->found;
	const struct symbol_search_found *symbol;

	symbol = symbol_search_first(symbols, WANTED_VERSION);
	found->version = symbol != NULL ? symbol->vaddr : 0;
	found->debug = symbol_search_first(symbols, WANTED_DEBUG) != NULL;
	found->traced = symbol_search_first(symbols, WANTED_TRACED) != NULL;
	for (size_t i = 0; i < symbols->found_count; i++) {
		symbol = &symbols->found[i];
		if (symbol->wanted == WANTED_EVAL && symbol->size > 0 &&
		    found->eval_count < PYTHON_EVAL_MOST)
			found->eval[found->eval_count++] = (struct address_range){ symbol->vaddr,
										   symbol->size };
	}
	/* The function may have parts that .dynsym does not list. */
	if (found->eval_count == 1)
		found->eval_count = python_eval_parts(search->module->image, found->eval, 1,
						      PYTHON_EVAL_MOST);
	search->stage = found->version == 0 ? PYTHON_MODULE_TEXT : PYTHON_MODULE_DONE;
}

/* --- the version ------------------------------------------------------------------------- */

static void
add_text(struct python_module *found, uint32_t version)
{
	for (size_t i = 0; i < found->text_count; i++)
		if (found->text[i] == version)
			return;
	if (found->text_count < PYTHON_MODULE_TEXTS)
		found->text[found->text_count++] = version;
}

static bool
is_in_number(char c)
{
	return (c >= '0' && c <= '9') || c == '.';
}

/*
 * Adds the versions, such as "3.9.18", at the ends of strings in the piece: those that have a patch
 * level, from PYTHON_MINOR_OLDEST to the version after PYTHON_MINOR_TRIED. A version at the first
 * byte is taken only at the beginning of a segment: otherwise the piece before has it, too, and the
 * byte before it.
 */
static void
scan_texts(struct python_module_search *search, const char *piece, size_t size)
{
	const char *at = piece, *end = piece + size;

	while ((at = memmem(at, (size_t)(end - at), "3.", 2)) != NULL) {
		uint32_t version;
		size_t length;

		if ((at == piece ? search->at == 0 : !is_in_number(at[-1])) &&
		    python_version_parse(at, (size_t)(end - at), &version, &length) &&
		    version >> 4 != 0 && (version & 0xf0) != 0 &&
		    python_minor(version) >= PYTHON_MINOR_OLDEST &&
		    python_minor(version) <= PYTHON_MINOR_TRIED + 1 && at + length < end &&
		    at[length] == '\0')
			add_text(&search->found, version);
		at += 2;
	}
}

/* Searches one piece of the segments that are not writable, or ends the stage PYTHON_MODULE_TEXT
 * after the last one. Returns the number of bytes that were read. */
static size_t
python_module_scan_text(struct python_module_search *search)
{
	const struct image *image = search->module->image;
	const struct image_segment *segment;
	uint64_t left;
	size_t size;
	char *piece;

	if (search->segment == image->segment_count) {
		search->stage = PYTHON_MODULE_DONE;
		return 0;
	}
	segment = &image->segment[search->segment];
	left = segment->file_size - search->at;
	size = left < PIECE ? (size_t)left : PIECE;
	piece = xmalloc(PIECE);
	if (segment->writable || search->at >= segment->file_size ||
	    !image_read_offset(image, segment->offset + search->at, piece, size))
		size = 0;
	else
		scan_texts(search, piece, size);
	free(piece);
	if (size == PIECE && search->at < TEXT_MOST) {
		search->at += PIECE - TEXT_OVERLAP;
	} else {
		search->segment++;
		search->at = 0;
	}
	return size;
}

/* Returns the version in a file's name, such as "libpython3.9.so.1.0", "python3.9d" or "python3.9",
 * without a patch level; 0: there is none. */
static uint32_t
version_of_name(const char *name)
{
	const char *word = strstr(name, "python3.");
	uint32_t version;
	size_t length;

	if (word == NULL)
		return 0;
	word += strlen("python");
	return python_version_parse(word, strlen(word), &version, &length) ? version & 0xffff0000 :
									     0;
}

uint32_t
python_module_version(const struct python_module *module)
{
	uint32_t version = module->named;
	size_t count = 0;

	for (size_t i = 0; i < module->text_count; i++) {
		const uint32_t text = module->text[i];

		if (module->named != 0 && (text & 0xffff0000) != module->named)
			continue;
		version = text;
		count++;
	}
	/* If several versions agree with the file's name, or none, only the two numbers in the name
	 * are certain. */
	return count == 1 ? version : module->named;
}

/* --- stages ------------------------------------------------------------------------------ */

/* Sets the members of *found for an interpreter that is not read, if the module has one. The
 * version is that in the file's name, such as "libpython2.7.so.1.0" or "python3.6m". */
static void
take_unread(const struct python_module_search *search, struct python_module *found)
{
	const char *word = strstr(search->module->name, "python");
	const size_t digit = word != NULL ? strlen("python") : 0;
	size_t length;

	if (symbol_search_first(&search->symbols, WANTED_PYPY) != NULL) {
		found->unread = "PyPy";
		return;
	}
	if (symbol_search_first(&search->symbols, WANTED_OLD_EVAL) == NULL)
		return;
	found->unread = "CPython";
	if (word == NULL || (word[digit] != '2' && word[digit] != '3') || word[digit + 1] != '.')
		return;
	length = 2 + strspn(word + digit + 2, "0123456789");
	if (length > 2 && length < sizeof(found->unread_version))
		memcpy(found->unread_version, word + digit, length);
}

/* Ends the stage PYTHON_MODULE_RUNTIME: stores the address of _PyRuntime and the version in the
 * file's name, and begins the stage PYTHON_MODULE_SYMBOLS. Ends the search if the file has no
 * _PyRuntime. */
static void
take_runtime(struct python_module_search *search)
{
	const struct image *image = search->module->image;
	const struct symbol_search_found *symbol = symbol_search_first(&search->symbols,
								       WANTED_RUNTIME);

	search->found.runtime = symbol != NULL ? symbol->vaddr :
						 image_section_vaddr(image, SECTION, 0);
	search->stage = PYTHON_MODULE_DONE;
	if (search->found.runtime == 0) {
		take_unread(search, &search->found);
		return;
	}
	search->found.named = version_of_name(search->module->name);
	symbol_search_init(&search->symbols, image, wanted, ARRAY_SIZE(wanted));
	search->stage = PYTHON_MODULE_SYMBOLS;
}

bool
python_module_search_step(void *memory, uint64_t *budget)
{
	struct python_module_search *search = memory;

	while (search->stage != PYTHON_MODULE_DONE && *budget > 0) {
		size_t used = PIECE / 4;

		if (search->stage == PYTHON_MODULE_TEXT)
			used = python_module_scan_text(search);
		else if (!symbol_search_step(&search->symbols, budget))
			break; /* the budget is used up */
		else if (search->stage == PYTHON_MODULE_RUNTIME)
			take_runtime(search);
		else
			take_symbols(search);
		*budget -= used < *budget ? used : *budget;
	}
	return search->stage == PYTHON_MODULE_DONE;
}
