/* SPDX-License-Identifier: MIT */
/* file_names_internal.h - finds names in the files of modules: in symbol tables, DWARF and function
 * tables. The files of a module are read when the first address in the module is named. */
#ifndef WALLSAMPLE_SYMBOL_FILE_NAMES_INTERNAL_H
#define WALLSAMPLE_SYMBOL_FILE_NAMES_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/symbol/symbol.h"

struct file_names;

/* All pointers are borrowed until file_names_free. Texts of names are interned in `texts`. */
struct file_names *file_names_create(const struct modules *modules,
				     const struct symbols_config *config, struct debug_files *debug,
				     struct strings *texts);
void file_names_free(struct file_names *names);

/* Uses another configuration from now on, which is borrowed, too. */
void file_names_configure(struct file_names *names, const struct symbols_config *config);

/* Works as symbols_find() for a place whose module is in the table, but does not use the names that
 * a recording has, nor those of code made at run time. */
size_t file_names_find(struct file_names *names, const struct symbol_place *place,
		       struct symbol *out, size_t most);

/* See symbols_module_is_bare(); `id` must be that of a module. */
bool file_names_is_bare(struct file_names *names, uint32_t id);

/*
 * Returns the text for an address without a name: "libfoo.so+0x1234". If the unwind tables have the
 * start of the function, all its addresses get the text of the start: the function is then one row
 * in a report. Does not use libelf or libdw, so it may be called in wallsample itself.
 */
const char *file_names_address(struct file_names *names, const struct module *module,
			       uint64_t vaddr);

#endif
