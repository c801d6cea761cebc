/* SPDX-License-Identifier: MIT */
/*
 * python_module_internal.h - is a CPython in this file, where, and of which version?
 *
 * Symbols say where _PyRuntime is, else the section .PyRuntime (3.10 and later). Py_Version is a
 * number in the read-only data of 3.11 and later; what is older, or has no symbols, has its version
 * as text among the constants: "3.9.18" at the end of a string.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_MODULE_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_MODULE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/python/python_find_internal.h"
#include "wallsample/process/module.h"
#include "wallsample/elf/symbol_search.h"

/* Version texts that differ: other software has versions, too. */
#define PYTHON_MODULE_TEXTS 8

/* All addresses are the image's own. */
struct python_module {
	uint64_t runtime;        /* 0: no CPython is there */
	uint64_t version;        /* of Py_Version; 0: not there */
	bool debug;              /* --with-pydebug */
	bool traced;             /* --with-trace-refs: each object has two pointers more */
	struct address_range eval[PYTHON_EVAL_MOST];
	size_t eval_count;
	uint32_t named;          /* the version that the file's name has; 0: none */
	uint32_t text[PYTHON_MODULE_TEXTS]; /* versions among the constants */
	size_t text_count;
};

struct python_module_search {
	const struct module *module;
	enum python_module_stage {
		PYTHON_MODULE_RUNTIME, /* one symbol: nearly no module has it */
		PYTHON_MODULE_SECTION,
		PYTHON_MODULE_SYMBOLS, /* the others */
		PYTHON_MODULE_TEXT,
		PYTHON_MODULE_DONE,
	} stage;
	struct symbol_search symbols;
	size_t segment;          /* in which versions are looked for, */
	uint64_t at;             /* and how far that has come */
	struct python_module found;
};

/* The module must have an image. It is borrowed. */
void python_module_search_init(struct python_module_search *search, const struct module *module);
/* Goes on until *budget bytes were read, which are subtracted. True when search->found is it. */
bool python_module_search_step(struct python_module_search *search, uint64_t *budget);

/* The version of a module without Py_Version; 0: not known. */
uint32_t python_module_version(const struct python_module *module);

#endif
