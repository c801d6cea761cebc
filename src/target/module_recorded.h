/* SPDX-License-Identifier: MIT */
/* module_recorded.h - makes the module of a recording, for modules_add_recorded. */
#ifndef WALLSAMPLE_MODULE_RECORDED_H
#define WALLSAMPLE_MODULE_RECORDED_H

#include "wallsample/module.h"

struct module *module_recorded_create(const struct recorded_module *recorded);

#endif
