/* SPDX-License-Identifier: MIT */
/*
 * debug_scene.h - a directory with programs and their debug files, made when the test runs.
 */
#ifndef WALLSAMPLE_DEBUG_SCENE_H
#define WALLSAMPLE_DEBUG_SCENE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "wallsample/dwarf/debug_file.h"

/* The path of the directory, in which scene_run() runs its commands. */
extern char scene_dir[64];

/* Setup and teardown of a cmocka test: create an empty directory, and remove it with its files. */
int scene_setup(void **state);
int scene_teardown(void **state);

/* Skips the test when the tool is not installed. */
void scene_needs(const char *tool);

/* Runs a shell command; fails the test when the command fails. */
void scene_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns the path "DIR/name", which is valid until scene_teardown(). */
const char *scene_path(const char *name);

/* Opens a file of the directory as a module with the path "/name". */
struct module *scene_module(const char *name);
void scene_module_free(struct module *module);

/* Returns the build-id of the module as "abcdef…" or, with `slash`, as "ab/cdef…", in a static
 * buffer. */
const char *scene_id(const struct module *module, bool slash);

/* Writes name.c with the function `marker` and compiles it to `name`. */
void scene_compile(const char *name, const char *flags);

/* A module, its debug file, and the messages about that file. */
struct scene_open {
	struct debug_files *files;
	struct debug_file file;
	struct module *module;
	struct log log;
	char *said;
	size_t said_size;
};

/* Opens a file of the directory and its debug file. `config` may be NULL: no option is set. */
void scene_open(struct scene_open *scene, const char *name,
		const struct debug_files_config *config);
void scene_close(struct scene_open *scene);
/* Opens the debug file of the open module again, as if the module were of kind JIT. */
void scene_open_jit(struct scene_open *scene);

/* Returns the number of messages that contain the text. */
int scene_said(struct scene_open *scene, const char *text);

/* Returns true when the DWARF of the open file, including split units, has the function with a
 * source line. */
bool scene_has_function(struct scene_open *scene, const char *function);

/* Returns true when the symbol table (.symtab) has the function. */
bool scene_has_symbol(Elf *elf, const char *function);

#endif
