/* SPDX-License-Identifier: MIT */
/*
 * dwarf_each.h - all units of a module's DWARF, one after the other, for who looks for something
 * whose address is not known.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_EACH_H
#define WALLSAMPLE_DWARF_DWARF_EACH_H

#include <elfutils/libdw.h>

#include "wallsample/dwarf/debug_file.h"
#include "wallsample/dwarf/dwarf_time.h"

/*
 * Calls `each` with the top entry of every compilation unit, whose split unit has been looked for;
 * what it returns is about how many bytes libdw keeps because of it. It ends when so much CPU time
 * was spent, of which `each` can ask, too. False: there is no DWARF.
 */
bool dwarf_each_unit(const struct debug_files_config *config, const struct module *module,
		     uint64_t most_ns,
		     size_t (*each)(void *context, Dwarf_Die *top, struct dwarf_time *time),
		     void *context);

/* Is it code of the image? What linkers drop keeps its debug information, at other addresses. */
bool dwarf_each_is_code(const struct image *image, uint64_t vaddr);

#endif
