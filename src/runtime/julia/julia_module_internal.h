/* SPDX-License-Identifier: MIT */
/*
 * julia_module_internal.h - is this file a part of Julia's runtime, and where has it what leads
 * to tasks?
 *
 * Until 1.5 all is in libjulia; since then libjulia has the variables that programs may use, and
 * libjulia-internal the rest. A file of another name is not looked into: no program has Julia
 * linked into it.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_MODULE_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_MODULE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/process/module.h"
#include "wallsample/elf/symbol_search.h"

/* All addresses are the image's own; 0: not there. */
struct julia_module {
	uint64_t threads; /* jl_all_tls_states: where the array of them is, a pointer */
	uint64_t count;   /* jl_n_threads: how many it has, an int */
	uint64_t nothing; /* jl_nothing: the object that stands for none, a pointer */
	uint64_t base;    /* jl_base_module: its module Base, a pointer */
	uint32_t version; /* of JULIA_VERSION; 0: it is not this file that tells */
};

struct julia_module_search {
	const struct module *module;
	struct symbol_search symbols;
	struct julia_module found;
};

/* May the file be one, by its name? */
bool julia_module_is_named(const struct module *module);

/* The module must have an image. It is borrowed. */
void julia_module_search_init(struct julia_module_search *search, const struct module *module);
/* Goes on until *budget bytes were read, which are subtracted. True when search->found is it. */
bool julia_module_search_step(struct julia_module_search *search, uint64_t *budget);

#endif
