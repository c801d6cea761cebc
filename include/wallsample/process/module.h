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

/* X(name, text) */
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
	char *path;          /* path in /proc/PID/maps, " (deleted)" removed */
	const char *name;    /* base name: "libc.so.6", "[vdso]", "[anon]", "[jit]" */
	bool deleted;        /* the path had the suffix " (deleted)" */
	uint64_t dev, inode; /* as in /proc/PID/maps; 0 without a file */
	struct image *image; /* NULL for ANONYMOUS and OTHER */
	char build_id[2 * IMAGE_BUILD_ID_MAX + 1]; /* in hexadecimal digits; "": not known */
	const char *why; /* OTHER: the reason why there is no image, a fixed text; else NULL */
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
	uint64_t dev, inode; /* dev: as made by makedev(3) */
	const char *path;    /* "" for anonymous memory */
};

/*
 * Returns the id of the module of a mapping. A new module is added with the file that the target
 * has mapped: /proc/PID/map_files/…, for the executable /proc/PID/exe, else the path below
 * /proc/PID/root without following links. The file is used only when it is a regular one with the
 * mapping's inode or the same bytes as the target's memory.
 */
uint32_t modules_add(struct modules *modules, const struct process *process,
		     const struct maps_line *line);

/*
 * Adds a module of kind JIT, named "[jit]". It takes over the image, whose addresses must be those
 * of the target. Returns its id; MODULE_NONE when there are too many modules, and then the image
 * remains the caller's.
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
 * Adds a module, even when an equal one exists. Its file is used only when it is a regular one
 * with the same build-id; else the kind is OTHER. Returns its id; MODULE_NONE when there are too
 * many modules.
 */
uint32_t modules_add_recorded(struct modules *modules, const struct recorded_module *recorded);

/* A module in a core file. Pointers are borrowed. */
struct dumped_module {
	const char *path;      /* path in the core file */
	const char *file;      /* file that the user has chosen in place of the path; or NULL */
	const char *symfs;     /* directory that is searched for files first, or NULL */
	enum module_kind kind; /* FILE, VDSO, ANONYMOUS or OTHER */
	/* Memory to which the beginning of the file was mapped; VDSO: the whole image. */
	const void *head;
	size_t head_size; /* 0: the core file does not have that memory */
};

/*
 * Adds a module, even when an equal one exists. A file is used only when it is a regular one with
 * the build-id found in memory or, when there is none, the same first bytes; else the kind is
 * OTHER and `why` is the reason. Returns its id; MODULE_NONE when there are too many modules.
 */
uint32_t modules_add_dumped(struct modules *modules, const struct dumped_module *dumped);

#endif
