/* SPDX-License-Identifier: MIT */
/*
 * module.h - the files (and the vdso, and memory without a file) that code of
 * the target comes from.
 *
 * The table only grows: a module keeps its number for the whole run, through
 * dlclose and exec, because samples name their frames by (module, address).
 */
#ifndef WALLSAMPLE_PROCESS_MODULE_H
#define WALLSAMPLE_PROCESS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"
#include "wallsample/process/process.h"

#define MODULE_NONE UINT32_MAX

/* X(name, text) */
#define MODULE_KINDS(X)                                                        \
	X(FILE, "file")           /* an ELF file */                            \
	X(VDSO, "vdso")           /* the kernel's image in the process */      \
	X(ANONYMOUS, "anonymous") /* executable memory without a file: JIT code */ \
	X(JIT, "JIT object")      /* JIT code described by an ELF file in memory */ \
	X(OTHER, "other")         /* a file that could not be opened or is no ELF */

enum module_kind {
#define X(name, text) MODULE_##name,
	MODULE_KINDS(X)
#undef X
};

struct module {
	uint32_t id;
	enum module_kind kind;
	char *path;          /* as /proc/PID/maps gives it, " (deleted)" removed */
	const char *name;    /* base name: "libc.so.6", "[vdso]", "[anon]", "[jit]" */
	bool deleted;
	uint64_t dev, inode; /* as in maps; 0 for no file */
	struct image *image; /* NULL for ANONYMOUS and OTHER */
	char build_id[2 * IMAGE_BUILD_ID_MAX + 1]; /* in hexadecimal digits; "": not known */
	const char *why;     /* OTHER: why there is no image, a fixed text; else NULL */
};

struct modules;

struct modules *modules_create(void);
void modules_free(struct modules *modules);
size_t modules_count(const struct modules *modules);
/* Module number `id`; NULL if there is none. */
struct module *modules_get(const struct modules *modules, uint32_t id);
/* The same for an `id` below modules_count(), such as that of a mapping. Never NULL. */
struct module *modules_at(const struct modules *modules, uint32_t id);

/* One line of /proc/PID/maps that may be executed. */
struct maps_line {
	uint64_t start, end, offset;
	uint64_t dev, inode; /* dev as makedev(3) makes it */
	const char *path;    /* "" for anonymous memory */
};

/*
 * The module of a mapping, opened and added when it is new. Opens the file the
 * target really has mapped: /proc/PID/map_files/…, for the executable
 * /proc/PID/exe, else the path below /proc/PID/root without following links,
 * and then only when it is a regular file with the mapping's inode or the
 * same first bytes as the target's memory.
 */
uint32_t modules_add(struct modules *modules, const struct process *process,
		     const struct maps_line *line);

/*
 * A new module of kind JIT, named "[jit]", with this image, which is taken over; its addresses are
 * those of the target. MODULE_NONE, and the image is the caller's, when there are too
 * many modules.
 */
uint32_t modules_add_object(struct modules *modules, struct image *image);

/* A module as a recording knows it. All borrowed. */
struct recorded_module {
	const char *path;
	const char *build_id; /* in hexadecimal digits; "": none */
	enum module_kind kind;
	bool deleted;
	const char *symfs;    /* where files are looked for first: a directory, or NULL */
};

/*
 * A new module, whatever others there are. It gets its file only when that is a regular one
 * with the same build-id; else it is of kind OTHER. MODULE_NONE when there are too many.
 */
uint32_t modules_add_recorded(struct modules *modules, const struct recorded_module *recorded);

/* A module as a core file knows it. All borrowed. */
struct dumped_module {
	const char *path;  /* as the kernel gave it */
	const char *file;  /* which the user says it is: the path is not looked at; or NULL */
	const char *symfs; /* where files are looked for first: a directory, or NULL */
	enum module_kind kind; /* FILE, VDSO, ANONYMOUS or OTHER */
	/* What memory had where the file was mapped from its beginning on; of VDSO all of it. */
	const void *head;
	size_t head_size;  /* 0: the core does not have it */
};

/*
 * A new module, whatever others there are. A file becomes one of kind OTHER, and `why` says it,
 * unless it is a regular one with the build-id that memory had or, if it had none, the same first
 * bytes. MODULE_NONE when there are too many.
 */
uint32_t modules_add_dumped(struct modules *modules, const struct dumped_module *dumped);

#endif
