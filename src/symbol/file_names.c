/* SPDX-License-Identifier: MIT */
/* file_names.c - finds names in the files of modules. */
#include "symbol/file_names_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/dwarf/dwarf_lines.h"
#include "wallsample/elf/code_ranges.h"
#include "wallsample/elf/symbol_names.h"

#define PLT_ENDING "@plt"

struct known_module {
	struct file_names *names;
	const struct module *module;
	const char *name; /* base name of the module, interned */
	struct debug_file file;
	struct dwarf_lines *lines; /* names by DWARF; NULL when the image cannot be used */
	/* Function table (pclntab.h); NULL when the module has none. */
	struct pclntab *pclntab;
	struct module_tables tables;
};

struct file_names {
	const struct modules *modules;
	const struct symbols_config *config;
	struct debug_files *debug;
	struct strings *texts;
	/* (id of a raw name in `texts`, is a stub) -> id of the readable name */
	struct table readable;
	/* By id of the module; NULL while no address in the module has been named. */
	struct known_module **module;
	size_t module_count, module_capacity;
	struct module_tables_budget tables_budget;
	struct strbuf scratch;
};

struct file_names *
file_names_create(const struct modules *modules, const struct symbols_config *config,
		  struct debug_files *debug, struct strings *texts)
{
	struct file_names *names = xcalloc(1, sizeof(*names));

	names->modules = modules;
	names->config = config;
	names->debug = debug;
	names->texts = texts;
	return names;
}

static void
known_module_free(struct known_module *known)
{
	if (known == NULL)
		return;
	dwarf_lines_free(known->lines);
	pclntab_free(known->pclntab);
	module_tables_release(&known->tables);
	debug_file_close(&known->file);
	free(known);
}

void
file_names_free(struct file_names *names)
{
	for (size_t i = 0; i < names->module_count; i++)
		known_module_free(names->module[i]);
	free(names->module);
	table_release(&names->readable);
	strbuf_release(&names->scratch);
	free(names);
}

void
file_names_configure(struct file_names *names, const struct symbols_config *config)
{
	names->config = config;
}

static const char *
intern(struct file_names *names, const char *text)
{
	return strings_text(names->texts, strings_intern(names->texts, text));
}

/* --- one module ------------------------------------------------------------------- */

static Dwarf *
open_dwarf(void *context)
{
	struct known_module *known = context;

	return debug_file_dwarf(known->names->debug, &known->file);
}

static void
close_dwarf(void *context, Dwarf *dwarf)
{
	struct known_module *known = context;

	debug_file_dwarf_end(known->names->debug, &known->file, dwarf);
}

static size_t
find_split(void *context, Dwarf_CU *cu)
{
	struct known_module *known = context;

	return debug_file_split(known->names->debug, &known->file, cu);
}

static void
say_slow(void *context)
{
	struct known_module *known = context;

	log_say(known->names->config->files.log, LOG_NORMAL,
		"%s: reading its DWARF takes too long: symbol tables name what is left",
		known->file.path != NULL ? known->file.path : known->module->path);
}

static struct known_module *
known_module(struct file_names *names, const struct module *module)
{
	struct known_module *known;

	if (module->id >= names->module_count) {
		names->module = xgrow(names->module, &names->module_capacity,
				      (size_t)module->id + 1, sizeof(struct known_module *));
		while (names->module_count <= module->id)
			names->module[names->module_count++] = NULL;
	}
	known = names->module[module->id];
	if (known != NULL)
		return known;
	known = names->module[module->id] = xcalloc(1, sizeof(*known));
	known->names = names;
	known->module = module;
	known->name = intern(names, module->name);
	module_tables_init(&known->tables, &names->tables_budget, module, &known->file,
			   names->config->files.log);
	if (module->image != NULL && !image_is_unchanged(module->image)) {
		log_say(names->config->files.log, LOG_NORMAL,
			"%s was written to while it was sampled: it names nothing", module->path);
	} else if (module->image != NULL) {
		const struct dwarf_opener opener = {
			.open = open_dwarf,
			.close = close_dwarf,
			.split = find_split,
			.slow = say_slow,
			.context = known,
		};

		debug_file_open(names->debug, module, &known->file);
		known->lines = dwarf_lines_create(&opener);
		known->pclntab = pclntab_open(module->image);
	}
	return known;
}

/* --- texts ------------------------------------------------------------------------ */

static const char *
make_readable(struct file_names *names, const char *raw, bool is_stub)
{
	const bool demangle = names->config->demangle;

	strbuf_clear(&names->scratch);
	if (is_stub) {
		/* The text before "@plt" is a raw name, which is made readable alone. */
		char *name = xstrndup(raw, strlen(raw) - strlen(PLT_ENDING));

		symbol_name_add_readable(&names->scratch, name, demangle);
		strbuf_add(&names->scratch, PLT_ENDING, strlen(PLT_ENDING));
		free(name);
	} else {
		symbol_name_add_readable(&names->scratch, raw, demangle);
	}
	return names->scratch.data;
}

/* Returns the readable form of a raw name. Each name is demangled once. */
static const char *
readable(struct file_names *names, const char *raw, enum symbol_source source)
{
	const size_t length = strlen(raw);
	const bool is_stub = source == SYMBOL_PLT && length > strlen(PLT_ENDING);
	const uint32_t number = strings_intern(names->texts, raw);
	bool added;
	uint32_t *place = table_insert(&names->readable, number, is_stub, 0, &added);

	if (added)
		*place = strings_intern(names->texts, make_readable(names, raw, is_stub));
	return strings_text(names->texts, *place);
}

const char *
file_names_address(struct file_names *names, const struct module *module, uint64_t vaddr)
{
	uint64_t start, size;

	/* Code made at run time may move, and if each address had its own text, it would be a row
	 * of its own in a report. So all of these addresses get the name of the module. */
	if (module->kind == MODULE_ANONYMOUS || module->kind == MODULE_JIT)
		return intern(names, module->name);
	if (module->image != NULL && code_range(module->image, vaddr, &start, &size))
		vaddr = start;
	strbuf_clear(&names->scratch);
	strbuf_add_format(&names->scratch, "%s+0x%" PRIx64, module->name, vaddr);
	return intern(names, names->scratch.data);
}

/* --- finding ------------------------------------------------------------------------- */

static void
find_in_tables(struct file_names *names, struct known_module *known, uint64_t vaddr,
	       struct symbol *out)
{
	const struct symbol_range *range = module_tables_find_code(&known->tables, vaddr);
	const char *name = range != NULL ?
				   range->raw :
				   pclntab_names_function(known->pclntab, names->texts, vaddr);

	out->known = name != NULL;
	out->source = range != NULL ? range->source : name != NULL ? SYMBOL_PCLNTAB : SYMBOL_NONE;
	out->function = name != NULL ? readable(names, name, out->source) :
				       file_names_address(names, known->module, vaddr);
}

/* Names the address `vaddr` of a variable by the variable that contains it, and the offset of the
 * address in the variable. If no variable contains it, the name is that of the module and the
 * address. */
static void
find_variable(struct file_names *names, struct known_module *known, uint64_t vaddr,
	      struct symbol *out)
{
	const struct symbol_range *range;
	const char *name = known->name;
	uint64_t offset = vaddr;

	range = module_tables_find_data(&known->tables, vaddr);
	*out = (struct symbol){ .module = known->name, .source = SYMBOL_NONE };
	if (range != NULL) {
		name = readable(names, range->raw, range->source);
		offset = vaddr - range->start;
		out->known = true;
		out->source = range->source;
	}
	strbuf_clear(&names->scratch);
	strbuf_add_text(&names->scratch, name);
	if (offset != 0)
		strbuf_add_format(&names->scratch, "+0x%" PRIx64, offset);
	out->function = intern(names, names->scratch.data);
}

/*
 * Names the function that contains the address. DWARF may have the name that a C library uses
 * internally (__libc_read) where the symbol table also has the name that programs call (read): the
 * name with fewer leading underscores is taken.
 */
static void
name_function(struct file_names *names, struct known_module *known, uint64_t vaddr,
	      const char *function, struct symbol *out)
{
	const struct symbol_range *range = NULL;

	if (function == NULL) {
		find_in_tables(names, known, vaddr, out);
		return;
	}
	if (out->source == SYMBOL_DWARF && function[0] == '_' && !symbol_name_is_mangled(function))
		range = module_tables_find_code(&known->tables, vaddr);
	if (range != NULL && strspn(range->raw, "_") < strspn(function, "_"))
		function = range->raw;
	out->function = readable(names, function, out->source);
}

/*
 * Removes the functions that are not to be reported from the chain `place`, innermost first, and
 * returns the number of those that remain. When a function is inlined into a function of the same
 * name (a part that the compiler has split off), only the inner one of the two remains. If inlined
 * functions are not reported, only the last function of the chain remains, with the line of its own
 * that calls the first inlined function.
 */
static size_t
drop_places(const struct file_names *names, struct dwarf_place *place, size_t count)
{
	const size_t last = count - 1;
	const char *inner = count > 1 ? place[last - 1].function : NULL;
	const char *outer = place[last].function;

	if (inner != NULL && outer != NULL && strcmp(inner, outer) == 0) {
		place[last - 1].inlined = false;
		count = last;
	}
	if (names->config->inlines)
		return count;
	place[0] = place[count - 1];
	return 1;
}

/* Names an address by the sources that have lines and inlined functions: pclntab, else DWARF.
 * Returns the number of names; 0 when neither names the address. */
static size_t
find_with_lines(struct file_names *names, struct known_module *known, uint64_t vaddr,
		struct symbol *out, size_t most)
{
	struct dwarf_place place[SYMBOL_CHAIN_MAX];
	enum symbol_source source = SYMBOL_PCLNTAB;
	size_t count;

	most = most < SYMBOL_CHAIN_MAX ? most : SYMBOL_CHAIN_MAX;
	count = pclntab_names_find(known->pclntab, names->texts, vaddr, place, most);
	if (count == 0 && known->lines != NULL) {
		source = SYMBOL_DWARF;
		count = dwarf_lines_find(known->lines, vaddr, place, most);
	}
	if (count > 0)
		count = drop_places(names, place, count);
	for (size_t i = 0; i < count; i++) {
		out[i] = (struct symbol){
			.module = known->name,
			.file = place[i].file != NULL ? intern(names, place[i].file) : NULL,
			.line = place[i].line,
			.source = source,
			.known = true,
			.inlined = i + 1 < count,
		};
		if (i + 1 == count)
			name_function(names, known, vaddr, place[i].function, &out[i]);
		else
			out[i].function = readable(names,
						   place[i].function != NULL ? place[i].function :
									       "[inlined]",
						   source);
	}
	return count;
}

size_t
file_names_find(struct file_names *names, const struct symbol_place *place, struct symbol *out,
		size_t most)
{
	struct known_module *known = known_module(names, modules_at(names->modules, place->module));
	size_t count;

	if (place->data) {
		find_variable(names, known, place->vaddr, out);
		return 1;
	}
	count = find_with_lines(names, known, place->vaddr, out, most);
	if (count > 0)
		return count;
	*out = (struct symbol){ .module = known->name };
	find_in_tables(names, known, place->vaddr, out);
	return 1;
}

bool
file_names_is_bare(struct file_names *names, uint32_t id)
{
	struct known_module *known = known_module(names, modules_at(names->modules, id));

	return known->pclntab == NULL && module_tables_are_bare(&known->tables);
}
