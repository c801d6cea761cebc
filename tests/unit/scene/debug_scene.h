/* SPDX-License-Identifier: MIT */
/*
 * debug_scene.h - a directory with programs and their debug files, made when the test runs.
 */
#ifndef WALLSAMPLE_DEBUG_SCENE_H
#define WALLSAMPLE_DEBUG_SCENE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "wallsample/dwarf/debug_file.h"

/* The directory; every command of scene_run runs in it. */
extern char scene_dir[64];

/* cmocka's setup and teardown of one test: an empty directory, and nothing left of it. */
int scene_setup(void **state);
int scene_teardown(void **state);

/* Is the tool there? Skips the test if not. */
void scene_needs(const char *tool);

/* Runs a line of the shell, which must succeed. */
void scene_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "DIR/name"; lives as long as the directory. */
const char *scene_path(const char *name);

/* The file of the scene as a module with the path "/name". */
struct module *scene_module(const char *name);
void scene_module_free(struct module *module);

/* "ab/cdef…", or without the slash. */
const char *scene_id(const struct module *module, bool slash);

/* Writes name.c with the function `marker` and compiles it to `name`. */
void scene_compile(const char *name, const char *flags);

/* One module's debug file, and what was said about it. */
struct scene_open {
	struct debug_files *files;
	struct debug_file file;
	struct module *module;
	struct log log;
	char *said;
	size_t said_size;
};

/* `config` may be NULL: nothing is set. */
void scene_open(struct scene_open *scene, const char *name,
		const struct debug_files_config *config);
void scene_close(struct scene_open *scene);
/* Opens the file again as an object that the target has made. */
void scene_open_jit(struct scene_open *scene);

/* How many lines were said that have the text in them. */
int scene_said(struct scene_open *scene, const char *text);

/* Does the DWARF of the open file have the function, with a line? Split units are looked into. */
bool scene_has_function(struct scene_open *scene, const char *function);

/* Has the symbol table the function? */
bool scene_has_symbol(Elf *elf, const char *function);

#endif
