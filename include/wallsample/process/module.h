/* SPDX-License-Identifier: MIT */
/*
 * module.h - the modules of the target: ELF files, the vdso, and executable memory without a file.
 *
 * The table only grows: a module keeps its id for the whole run, across dlclose and exec, because
 * frames of samples are stored as (module, address).
 */
#ifndef WALLSAMPLE_PROCESS_MODULE_H
#define WALLSAMPLE_PROCESS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"
#include "wallsample/process/process.h"

#define MODULE_NONE UINT32_MAX

/* Kinds of modules: X(name, text). */
#define MODULE_KINDS(X)                                                                            \
	X(FILE, "file")           /* an ELF file */                                                \
	X(VDSO, "vdso")           /* the kernel's image in the process */                          \
	X(ANONYMOUS, "anonymous") /* executable memory without a file: JIT code */                 \
	X(JIT, "JIT object")      /* JIT code described by an ELF file in memory */                \
	X(OTHER, "other")         /* a file that could not be opened or is no ELF */

enum module_kind {
#define X(name, text) MODULE_##name,
	MODULE_KINDS(X)
#undef X
};

struct module {
	uint32_t id;
	enum module_kind kind;
	char *path;          /* path as in /proc/PID/maps, without the suffix " (deleted)" */
	const char *name;    /* base name: "libc.so.6", "[vdso]", "[anon]", "[jit]" */
	bool deleted;        /* the path had the suffix " (deleted)" */
	uint64_t dev, inode; /* as in /proc/PID/maps; 0 without a file */
	struct image *image; /* NULL for ANONYMOUS and OTHER */
	char build_id[2 * IMAGE_BUILD_ID_MAX + 1]; /* in hexadecimal digits; "": not known */
	const char *why; /* OTHER: a fixed text that says why there is no image; otherwise NULL */
};

struct modules;

struct modules *modules_create(void);
void modules_free(struct modules *modules);
size_t modules_count(const struct modules *modules);
/* Returns module number `id`, or NULL if there is none. */
struct module *modules_get(const struct modules *modules, uint32_t id);
/* Returns module number `id`, never NULL. `id` must be below modules_count(), as in mappings. */
struct module *modules_at(const struct modules *modules, uint32_t id);

/* One executable line of /proc/PID/maps. */
struct maps_line {
	uint64_t start, end, offset;
	uint64_t dev,
		inode;    /* device number as makedev(3) composes it, and inode; 0 without a file */
	const char *path; /* "" for anonymous memory */
};

/*
 * Returns the id of the module of a mapping, which is added if it is new. Its file is the one that
 * the target has mapped: /proc/PID/map_files/…, for the executable /proc/PID/exe, else the path
 * below /proc/PID/root without following links. The file is used only when it is a regular file
 * with the mapping's inode, or with the same bytes as the target's memory.
 */
uint32_t modules_add(struct modules *modules, const struct process *process,
		     const struct maps_line *line);

/*
 * Adds a module of kind JIT, named "[jit]", and takes over the image, whose addresses must be those
 * of the target. Returns the id; MODULE_NONE when there are too many modules, and then the caller
 * still owns the image.
 */
uint32_t modules_add_object(struct modules *modules, struct image *image);

/* A module in a recording. Pointers are borrowed. */
struct recorded_module {
	const char *path;
	const char *build_id; /* in hexadecimal digits; "": not known */
	enum module_kind kind;
	bool deleted;
	const char *symfs; /* directory that is searched for files first, or NULL */
};

/*
 * Adds a module, even when an equal one exists. Its file is used only when it is a regular file
 * with the same build-id; otherwise the kind is OTHER. Returns the id; MODULE_NONE when there are
 * too many modules.
 */
uint32_t modules_add_recorded(struct modules *modules, const struct recorded_module *recorded);

/* A module in a core file. Pointers are borrowed. */
struct dumped_module {
	const char *path; /* path in the core file */
	const char
		*file; /* file that the user has chosen to use instead of `path`; NULL: no choice */
	const char *symfs;     /* directory that is searched for files first, or NULL */
	enum module_kind kind; /* FILE, VDSO, ANONYMOUS or OTHER */
	/* First head_size bytes of the file as they were in memory; VDSO: the whole image. */
	const void *head;
	size_t head_size; /* 0: the core file does not contain these bytes */
};

/*
 * Adds a module, even when an equal one exists. A file is used only when it is a regular file with
 * the build-id found in memory or, if memory has no build-id, with the same first bytes; otherwise
 * the kind is OTHER and `why` is the reason. Returns the id; MODULE_NONE when there are too many
 * modules.
 */
uint32_t modules_add_dumped(struct modules *modules, const struct dumped_module *dumped);

#endif
