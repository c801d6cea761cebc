/* SPDX-License-Identifier: MIT */
/*
 * symbol.c - names addresses, module by module, each read when first asked about.
 */
#include "wallsample/symbol.h"

#include <inttypes.h>
#include <stdlib.h>

#include "symbol_names.h"
#include "symbol_table.h"
#include "wallsample/base.h"
#include "wallsample/table.h"

struct known_module {
	bool read;
	struct symbol_table table;
	const char *name; /* interned */
};

struct symbols {
	const struct modules *modules;
	struct strings *texts;
	struct known_module *module; /* by number */
	size_t module_count, module_capacity;
	struct strbuf scratch;
};

struct symbols *
symbols_create(const struct modules *modules)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->modules = modules;
	symbols->texts = strings_create();
	strbuf_init(&symbols->scratch);
	return symbols;
}

void
symbols_free(struct symbols *symbols)
{
	if (symbols == NULL)
		return;
	for (size_t i = 0; i < symbols->module_count; i++)
		symbol_table_release(&symbols->module[i].table);
	free(symbols->module);
	strings_free(symbols->texts);
	strbuf_release(&symbols->scratch);
	free(symbols);
}

static const char *
intern(struct symbols *symbols, const char *text)
{
	return strings_text(symbols->texts, strings_intern(symbols->texts, text));
}

/* What is known about a module; it is read the first time. */
static struct known_module *
known_module(struct symbols *symbols, const struct module *module)
{
	struct known_module *known;

	if (module->id >= symbols->module_count) {
		symbols->module = xgrow(symbols->module, &symbols->module_capacity,
					(size_t)module->id + 1, sizeof(*symbols->module));
		while (symbols->module_count <= module->id)
			symbols->module[symbols->module_count++] = (struct known_module){ 0 };
	}
	known = &symbols->module[module->id];
	if (known->read)
		return known;
	known->read = true;
	known->name = intern(symbols, module->name);
	if (module->image != NULL)
		symbol_table_init(&known->table, module->image);
	return known;
}

static const char *
range_text(struct symbols *symbols, struct symbol_range *range)
{
	if (range->text == SYMBOL_TEXT_NONE) {
		strbuf_clear(&symbols->scratch);
		symbol_name_add_readable(&symbols->scratch, range->raw);
		range->text = strings_intern(symbols->texts, symbols->scratch.data);
	}
	return strings_text(symbols->texts, range->text);
}

static const char *
address_text(struct symbols *symbols, const char *module, uint64_t vaddr)
{
	strbuf_clear(&symbols->scratch);
	strbuf_add_format(&symbols->scratch, "%s+0x%" PRIx64, module, vaddr);
	return intern(symbols, symbols->scratch.data);
}

void
symbols_find(struct symbols *symbols, uint32_t id, uint64_t vaddr, struct symbol *out)
{
	const struct module *module;
	struct known_module *known;
	struct symbol_range *range;

	if (id >= modules_count(symbols->modules)) {
		*out = (struct symbol){ .function = "[unknown]", .module = "" };
		return;
	}
	module = modules_get(symbols->modules, id);
	known = known_module(symbols, module);
	range = symbol_table_find(&known->table, vaddr);
	out->module = known->name;
	out->known = range != NULL;
	if (range != NULL)
		out->function = range_text(symbols, range);
	else if (module->kind == MODULE_ANONYMOUS)
		/* Code made at run time moves: its addresses would be a row each. */
		out->function = known->name;
	else
		out->function = address_text(symbols, known->name, vaddr);
}

bool
symbols_module_is_bare(struct symbols *symbols, uint32_t id)
{
	if (id >= modules_count(symbols->modules))
		return true;
	return known_module(symbols, modules_get(symbols->modules, id))->table.count == 0;
}
