/* SPDX-License-Identifier: MIT */
/*
 * symbol.c - finds the names of addresses. The files of a module are read when the first address in
 * the module is named.
 */
#include "wallsample/symbol/symbol.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/dwarf/debug_file.h"
#include "wallsample/dwarf/dwarf_lines.h"
#include "symbol/symbol_internal.h"
#include "wallsample/elf/symbol_names.h"
#include "wallsample/elf/code_bytes.h"
#include "wallsample/elf/code_ranges.h"
#include "wallsample/base/table.h"

#define PLT_ENDING "@plt"

struct known_module {
	struct symbols *symbols;
	const struct module *module;
	const char *name; /* base name of the module, interned */
	struct debug_file file;
	struct dwarf_lines *lines; /* names by DWARF; NULL when the image cannot be used */
	/* Function table (pclntab.h); NULL when the module has none. */
	struct pclntab *pclntab;
	struct module_tables tables;
};

struct symbols {
	const struct modules *modules;
	const struct symbols_config *config;
	struct debug_files *files;
	struct strings *texts;
	/* (id of a raw name in `texts`, is a stub) -> id of the readable name */
	struct table readable;
	/* By id of the module; NULL while no address in the module has been named. */
	struct known_module **module;
	size_t module_count, module_capacity;
	struct module_tables_budget tables_budget;
	struct strbuf scratch;
};

struct symbols *
symbols_create(const struct modules *modules, const struct symbols_config *config)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->modules = modules;
	symbols->config = config;
	symbols->files = debug_files_create(&config->files);
	symbols->texts = strings_create();
	table_init(&symbols->readable);
	strbuf_init(&symbols->scratch);
	return symbols;
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
symbols_free(struct symbols *symbols)
{
	if (symbols == NULL)
		return;
	for (size_t i = 0; i < symbols->module_count; i++)
		known_module_free(symbols->module[i]);
	free(symbols->module);
	debug_files_free(symbols->files);
	strings_free(symbols->texts);
	table_release(&symbols->readable);
	strbuf_release(&symbols->scratch);
	free(symbols);
}

const struct symbols_config *
symbols_settings(const struct symbols *symbols)
{
	return symbols->config;
}

static const char *
intern(struct symbols *symbols, const char *text)
{
	return strings_text(symbols->texts, strings_intern(symbols->texts, text));
}

/* --- one module ------------------------------------------------------------------- */

static Dwarf *
open_dwarf(void *context)
{
	struct known_module *known = context;

	return debug_file_dwarf(known->symbols->files, &known->file);
}

static void
close_dwarf(void *context, Dwarf *dwarf)
{
	struct known_module *known = context;

	debug_file_dwarf_end(known->symbols->files, &known->file, dwarf);
}

static size_t
find_split(void *context, Dwarf_CU *cu)
{
	struct known_module *known = context;

	return debug_file_split(known->symbols->files, &known->file, cu);
}

static void
say_slow(void *context)
{
	struct known_module *known = context;

	log_say(known->symbols->config->files.log, LOG_NORMAL,
		"%s: reading its DWARF takes too long: symbol tables name what is left",
		known->file.path != NULL ? known->file.path : known->module->path);
}

static struct known_module *
known_module(struct symbols *symbols, const struct module *module)
{
	struct known_module *known;

	if (module->id >= symbols->module_count) {
		symbols->module = xgrow(symbols->module, &symbols->module_capacity,
					(size_t)module->id + 1, sizeof(struct known_module *));
		while (symbols->module_count <= module->id)
			symbols->module[symbols->module_count++] = NULL;
	}
	known = symbols->module[module->id];
	if (known != NULL)
		return known;
	known = symbols->module[module->id] = xcalloc(1, sizeof(*known));
	known->symbols = symbols;
	known->module = module;
	known->name = intern(symbols, module->name);
	module_tables_init(&known->tables, &symbols->tables_budget, module, &known->file,
			   symbols->config->files.log);
	if (module->image != NULL && !image_is_unchanged(module->image)) {
		log_say(symbols->config->files.log, LOG_NORMAL,
			"%s was written to while it was sampled: it names nothing", module->path);
	} else if (module->image != NULL) {
		const struct dwarf_opener opener = {
			.open = open_dwarf,
			.close = close_dwarf,
			.split = find_split,
			.slow = say_slow,
			.context = known,
		};

		debug_file_open(symbols->files, module, &known->file);
		known->lines = dwarf_lines_create(&opener);
		known->pclntab = pclntab_open(module->image);
	}
	return known;
}

/* --- texts ------------------------------------------------------------------------ */

static const char *
make_readable(struct symbols *symbols, const char *raw, bool is_stub)
{
	const bool demangle = symbols->config->demangle;

	strbuf_clear(&symbols->scratch);
	if (is_stub) {
		/* The text before "@plt" is a raw name, which is made readable alone. */
		char *name = xstrndup(raw, strlen(raw) - strlen(PLT_ENDING));

		symbol_name_add_readable(&symbols->scratch, name, demangle);
		strbuf_add(&symbols->scratch, PLT_ENDING, strlen(PLT_ENDING));
		free(name);
	} else {
		symbol_name_add_readable(&symbols->scratch, raw, demangle);
	}
	return symbols->scratch.data;
}

/* Returns the readable form of a raw name. Each name is demangled once. */
static const char *
readable(struct symbols *symbols, const char *raw, enum symbol_source source)
{
	const size_t length = strlen(raw);
	const bool is_stub = source == SYMBOL_PLT && length > strlen(PLT_ENDING);
	const uint32_t number = strings_intern(symbols->texts, raw);
	bool added;
	uint32_t *place = table_insert(&symbols->readable, number, is_stub, 0, &added);

	if (added)
		*place = strings_intern(symbols->texts, make_readable(symbols, raw, is_stub));
	return strings_text(symbols->texts, *place);
}

/*
 * Returns the text for an address without a name: "libfoo.so+0x1234". If the unwind tables have the
 * start of the function, all its addresses get the text of the start: the function is then one row
 * in a report.
 */
static const char *
address_text(struct symbols *symbols, const struct known_module *known, uint64_t vaddr)
{
	uint64_t start, size;

	/* Code made at run time may move, and if each address had its own text, it would be a row
	 * of its own in a report. So all of these addresses get the name of the module. */
	if (known->module->kind == MODULE_ANONYMOUS || known->module->kind == MODULE_JIT)
		return known->name;
	if (known->module->image != NULL && code_range(known->module->image, vaddr, &start, &size))
		vaddr = start;
	strbuf_clear(&symbols->scratch);
	strbuf_add_format(&symbols->scratch, "%s+0x%" PRIx64, known->name, vaddr);
	return intern(symbols, symbols->scratch.data);
}

/* --- finding ------------------------------------------------------------------------- */

static void
find_in_tables(struct symbols *symbols, struct known_module *known, uint64_t vaddr,
	       struct symbol *out)
{
	const struct symbol_range *range = module_tables_find_code(&known->tables, vaddr);
	const char *name = range != NULL ?
				   range->raw :
				   pclntab_names_function(known->pclntab, symbols->texts, vaddr);

	out->known = name != NULL;
	out->source = range != NULL ? range->source : name != NULL ? SYMBOL_PCLNTAB : SYMBOL_NONE;
	out->function = name != NULL ? readable(symbols, name, out->source) :
				       address_text(symbols, known, vaddr);
}

/* Names the address `vaddr` of a variable by the variable that contains it, and the offset of the
 * address in the variable. If no variable contains it, the name is that of the module and the
 * address. */
static void
find_variable(struct symbols *symbols, struct known_module *known, uint64_t vaddr,
	      struct symbol *out)
{
	const struct symbol_range *range;
	const char *name = known->name;
	uint64_t offset = vaddr;

	range = module_tables_find_data(&known->tables, vaddr);
	*out = (struct symbol){ .module = known->name, .source = SYMBOL_NONE };
	if (range != NULL) {
		name = readable(symbols, range->raw, range->source);
		offset = vaddr - range->start;
		out->known = true;
		out->source = range->source;
	}
	strbuf_clear(&symbols->scratch);
	strbuf_add_text(&symbols->scratch, name);
	if (offset != 0)
		strbuf_add_format(&symbols->scratch, "+0x%" PRIx64, offset);
	out->function = intern(symbols, symbols->scratch.data);
}

/*
 * Names the function that contains the address. DWARF may have the name that a C library uses
 * internally (__libc_read) where the symbol table also has the name that programs call (read): the
 * name with fewer leading underscores is taken.
 */
static void
name_function(struct symbols *symbols, struct known_module *known, uint64_t vaddr,
	      const char *function, struct symbol *out)
{
	const struct symbol_range *range = NULL;

	if (function == NULL) {
		find_in_tables(symbols, known, vaddr, out);
		return;
	}
	if (out->source == SYMBOL_DWARF && function[0] == '_' && !symbol_name_is_mangled(function))
		range = module_tables_find_code(&known->tables, vaddr);
	if (range != NULL && strspn(range->raw, "_") < strspn(function, "_"))
		function = range->raw;
	out->function = readable(symbols, function, out->source);
}

/*
 * Removes the functions that are not to be reported from the chain `place`, innermost first, and
 * returns the number of those that remain. When a function is inlined into a function of the same
 * name (a part that the compiler has split off), only the inner one of the two remains. If inlined
 * functions are not reported, only the last function of the chain remains, with the line of its own
 * that calls the first inlined function.
 */
static size_t
drop_places(const struct symbols *symbols, struct dwarf_place *place, size_t count)
{
	const size_t last = count - 1;
	const char *inner = count > 1 ? place[last - 1].function : NULL;
	const char *outer = place[last].function;

	if (inner != NULL && outer != NULL && strcmp(inner, outer) == 0) {
		place[last - 1].inlined = false;
		count = last;
	}
	if (symbols->config->inlines)
		return count;
	place[0] = place[count - 1];
	return 1;
}

/* Names an address by the sources that have lines and inlined functions: pclntab, else DWARF.
 * Returns the number of names; 0 when neither names the address. */
static size_t
find_with_lines(struct symbols *symbols, struct known_module *known, uint64_t vaddr,
		struct symbol *out, size_t most)
{
	struct dwarf_place place[SYMBOL_CHAIN_MAX];
	enum symbol_source source = SYMBOL_PCLNTAB;
	size_t count;

	most = most < SYMBOL_CHAIN_MAX ? most : SYMBOL_CHAIN_MAX;
	count = pclntab_names_find(known->pclntab, symbols->texts, vaddr, place, most);
	if (count == 0 && known->lines != NULL) {
		source = SYMBOL_DWARF;
		count = dwarf_lines_find(known->lines, vaddr, place, most);
	}
	if (count > 0)
		count = drop_places(symbols, place, count);
	for (size_t i = 0; i < count; i++) {
		out[i] = (struct symbol){
			.module = known->name,
			.file = place[i].file != NULL ? intern(symbols, place[i].file) : NULL,
			.line = place[i].line,
			.source = source,
			.known = true,
			.inlined = i + 1 < count,
		};
		if (i + 1 == count)
			name_function(symbols, known, vaddr, place[i].function, &out[i]);
		else
			out[i].function = readable(symbols,
						   place[i].function != NULL ? place[i].function :
									       "[inlined]",
						   source);
	}
	return count;
}

static bool
find_in_jit(struct symbols *symbols, const struct known_module *known,
	    const struct symbol_place *place, struct symbol *out)
{
	const struct jit *jit = symbols->config->jit;
	struct jit_symbol found;

	if (jit == NULL)
		return false;
	if (!jit_find_bytecode(jit, &place->bytecode, place->epoch, &found) &&
	    (known->module->kind != MODULE_ANONYMOUS ||
	     !jit_find(jit, place->vaddr, place->epoch, &found)))
		return false;
	*out = (struct symbol){
		.function = intern(symbols, found.name),
		.module = known->name,
		.file = found.file != NULL ? intern(symbols, found.file) : NULL,
		.line = found.line,
		.source = SYMBOL_JIT,
		.known = true,
	};
	return true;
}

static size_t
find_stored(struct symbols *symbols, const struct module *module, const struct symbol_place *place,
	    struct symbol *out, size_t most)
{
	const struct symbols_config *config = symbols->config;
	size_t count = 0;

	if (config->stored != NULL)
		count = config->stored(config->stored_context, place, out, most);
	for (size_t i = 0; i < count; i++) {
		out[i].function = intern(symbols, out[i].function);
		out[i].file = out[i].file != NULL ? intern(symbols, out[i].file) : NULL;
		out[i].module = intern(symbols, module->name);
	}
	if (count > 1 && !config->inlines) {
		out[0] = out[count - 1];
		return 1;
	}
	return count;
}

/* As symbols_find, for a place without a stored name. */
static size_t
find_name(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	  size_t most)
{
	struct known_module *known = known_module(symbols,
						  modules_at(symbols->modules, place->module));
	size_t count;

	if (place->data) {
		find_variable(symbols, known, place->vaddr, out);
		return 1;
	}
	if (find_in_jit(symbols, known, place, out))
		return 1;
	count = find_with_lines(symbols, known, place->vaddr, out, most);
	if (count > 0)
		return count;
	*out = (struct symbol){ .module = known->name };
	find_in_tables(symbols, known, place->vaddr, out);
	return 1;
}

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	const struct image *image;
	struct symbol nameless;
	size_t count;

	if (place->module >= modules_count(symbols->modules)) {
		*out = (struct symbol){ .function = "[unknown]",
					.module = "",
					.source = SYMBOL_NONE };
		return 1;
	}
	count = find_stored(symbols, modules_at(symbols->modules, place->module), place, out, most);
	if (count > 0 && out[0].known)
		return count;
	/* The recording has a text without a name, which a file that is here may have. */
	nameless = count > 0 ? out[0] : (struct symbol){ .function = NULL };
	count = find_name(symbols, place, out, most);
	if (!out[0].known && nameless.function != NULL)
		out[0] = nameless;
	image = modules_at(symbols->modules, place->module)->image;
	out->follows_syscall = !out->known && !place->data && image != NULL &&
			       code_follows_syscall(image, place->vaddr);
	return count;
}

enum debuginfod_state
symbols_debuginfod_state(const struct symbols *symbols)
{
	return debug_files_servers(symbols->files);
}

bool
symbols_module_is_bare(struct symbols *symbols, uint32_t id)
{
	struct known_module *known;

	if (id >= modules_count(symbols->modules))
		return true;
	known = known_module(symbols, modules_at(symbols->modules, id));
	return known->pclntab == NULL && module_tables_are_bare(&known->tables);
}
