/* SPDX-License-Identifier: MIT */
/* module_dumped.h - makes the module of a core file, for modules_add_dumped. */
#ifndef WALLSAMPLE_MODULE_DUMPED_H
#define WALLSAMPLE_MODULE_DUMPED_H

#include "wallsample/module.h"

/* `path` is taken over; of " (deleted)" it has been freed. */
struct module *module_dumped_create(const struct dumped_module *dumped, char *path, bool deleted);

#endif
