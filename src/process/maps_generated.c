/* SPDX-License-Identifier: MIT */
/* maps_generated.c - whether a process has code that was made at run time. */
#include "wallsample/process/maps.h"

bool
maps_have_generated_code(const struct maps *maps)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct module *module = modules_at(maps_modules(maps), mapping->module);

		/* Paths such as "[vsyscall]" are those of the kernel's code. */
		if (module->kind == MODULE_ANONYMOUS || module->kind == MODULE_JIT ||
		    (module->kind == MODULE_OTHER && module->path[0] != '['))
			return true;
	}
	return false;
}
