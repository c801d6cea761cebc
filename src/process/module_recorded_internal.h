/* SPDX-License-Identifier: MIT */
/* module_recorded_internal.h - makes the module of a recording, for modules_add_recorded. */
#ifndef WALLSAMPLE_PROCESS_MODULE_RECORDED_INTERNAL_H
#define WALLSAMPLE_PROCESS_MODULE_RECORDED_INTERNAL_H

#include "wallsample/process/module.h"

struct module *module_recorded_create(const struct recorded_module *recorded);

#endif
