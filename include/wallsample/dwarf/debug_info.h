/* SPDX-License-Identifier: MIT */
/*
 * debug_info.h - the DWARF of a module for who wants its types, and no names.
 *
 * It is that of the module itself or of its debug file, which are looked for as for names, and
 * made ready for libdw with the same care (debug_file.h). Still it is foreign: entries
 * may form rings, and sizes may be anything.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_INFO_H
#define WALLSAMPLE_DWARF_DEBUG_INFO_H

#include <elfutils/libdw.h>

#include "wallsample/dwarf/debug_file.h"
#include "wallsample/process/module.h"

struct debug_info;

/*
 * NULL: there is none. Reads all of it, which takes 10 ms for 30 MiB in the page cache. The
 * module, and the texts and the log of config, are borrowed until it is closed.
 */
struct debug_info *debug_info_open(const struct module *module,
				   const struct debug_files_config *config);
Dwarf *debug_info_dwarf(const struct debug_info *info); /* never NULL */
void debug_info_close(struct debug_info *info);

#endif
