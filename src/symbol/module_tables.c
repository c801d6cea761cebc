/* SPDX-License-Identifier: MIT */
/*
 * module_tables.c - the symbol tables of one module, which are read when they are needed, and are
 * released when other modules need the memory.
 */
#include "symbol/symbol_internal.h"

#include "wallsample/elf/elf_open.h"

/* Largest memory in bytes of the symbol tables of all modules. */
#define TABLES_MOST ((size_t)64 << 20)

void
module_tables_init(struct module_tables *tables, struct module_tables_budget *budget,
		   const struct module *module, const struct debug_file *file,
		   const struct log *log)
{
	*tables = (struct module_tables){
		.budget = budget, .next = budget->first, .module = module, .file = file, .log = log
	};
	budget->first = tables;
}

static void
release_tables(struct module_tables *tables)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables->table); i++) {
		tables->budget->bytes -= tables->table[i].bytes;
		symbol_table_release(&tables->table[i]);
		tables->is_read[i] = false;
	}
}

void
module_tables_release(struct module_tables *tables)
{
	struct module_tables **at = &tables->budget->first;

	while (*at != tables)
		at = &(*at)->next;
	*at = tables->next;
	release_tables(tables);
	plt_stubs_release(&tables->stubs);
}

/* Releases the tables of all other modules if there is no memory for a further table. */
static void
make_room(const struct module_tables *tables)
{
	struct module_tables *other = tables->budget->first;

	if (tables->budget->bytes <= TABLES_MOST - SYMBOL_TABLE_MOST)
		return;
	for (; other != NULL; other = other->next)
		if (other != tables)
			release_tables(other);
}

static void
say_too_large(struct module_tables *tables)
{
	if (tables->is_said)
		return;
	tables->is_said = true;
	log_say(tables->log, LOG_NORMAL,
		"%s: some addresses have no names: the symbols around one address need more than "
		"%zu MiB of memory",
		tables->module->path, SYMBOL_TABLE_MOST >> 20);
}

/* Returns one of the module's tables, which has the ranges around `vaddr`. */
static struct symbol_table *
read_table(struct module_tables *tables, bool data, uint64_t vaddr)
{
	const struct symbol_table_source source = {
		.files = symbol_files_of(tables->module, tables->file),
		.stubs = data ? NULL : &tables->stubs,
		.data = data,
		.most = SYMBOL_TABLE_MOST,
	};
	struct symbol_table *table = &tables->table[data];

	tables->budget->bytes -= table->bytes;
	if (tables->is_read[data]) {
		symbol_table_move(table, &source, vaddr);
	} else {
		make_room(tables);
		symbol_table_init(table, &source, vaddr);
	}
	tables->is_read[data] = true;
	tables->budget->bytes += table->bytes;
	if (table->too_large)
		say_too_large(tables);
	return table;
}

/* The stubs are read with an Elf of their own, because an Elf keeps all that was read with it. */
static void
read_stubs(struct module_tables *tables)
{
	const struct image *image = tables->module->image;
	struct symbol_file file;

	tables->are_stubs_read = true;
	if (tables->file->own == NULL)
		return;
	file = (struct symbol_file){ elf_open_image(image, NULL), image->fd };
	plt_stubs_read(&tables->stubs, &file);
	elf_end(file.elf);
}

static struct symbol_table *
functions(struct module_tables *tables, uint64_t vaddr)
{
	if (!tables->are_stubs_read)
		read_stubs(tables);
	return read_table(tables, false, vaddr);
}

const struct symbol_range *
module_tables_find_code(struct module_tables *tables, uint64_t vaddr)
{
	return symbol_table_find_code(functions(tables, vaddr), tables->module->image, vaddr);
}

const struct symbol_range *
module_tables_find_data(struct module_tables *tables, uint64_t vaddr)
{
	return symbol_table_find(read_table(tables, true, vaddr), vaddr);
}

bool
module_tables_are_bare(struct module_tables *tables)
{
	const struct symbol_table *table = &tables->table[false];

	if (!tables->is_read[false])
		table = functions(tables, 0);
	return table->count == 0 && table->part_shift == 0;
}
