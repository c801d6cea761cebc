/* SPDX-License-Identifier: MIT */
/* module_dumped_internal.h - makes the module of a core file, for modules_add_dumped. */
#ifndef WALLSAMPLE_PROCESS_MODULE_DUMPED_INTERNAL_H
#define WALLSAMPLE_PROCESS_MODULE_DUMPED_INTERNAL_H

#include "wallsample/process/module.h"

/* `path` is taken over; of " (deleted)" it has been freed. */
struct module *module_dumped_create(const struct dumped_module *dumped, char *path, bool deleted);

#endif
