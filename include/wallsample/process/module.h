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
	X(OTHER, "other")         /* a file that could not be opened or is not an ELF file */

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
	/* Owned. NULL for ANONYMOUS and OTHER, and in a recording for VDSO and JIT. */
	struct image *image;
	char build_id[2 * IMAGE_BUILD_ID_MAX + 1]; /* in hexadecimal digits; "": not known */
	/* For OTHER: a fixed text that says why there is no image; NULL if the module comes from a
	 * recording in which its kind was OTHER. For other kinds: NULL. */
	const char *why;
};

struct modules;

/* At most 4,096 files, and no more than a third of the soft limit of open files (RLIMIT_NOFILE) at
 * the time of this call, are opened for images. The caller frees the result with modules_free. */
struct modules *modules_create(void);
void modules_free(struct modules *modules);
/* Sets how modules_add opens and reads files (file_proxy.h): until then, and with NULL, directly.
 * `proxy` is borrowed until modules_free. */
void modules_set_proxy(struct modules *modules, struct file_proxy *proxy);
/* Returns that proxy, borrowed; NULL if none is set. */
struct file_proxy *modules_proxy(const struct modules *modules);
size_t modules_count(const struct modules *modules);
/* Returns module number `id`, or NULL if there is none. */
struct module *modules_get(const struct modules *modules, uint32_t id);
/* Returns module number `id`, never NULL. `id` must be below modules_count(), which is true of the
 * ids in struct mapping. */
struct module *modules_at(const struct modules *modules, uint32_t id);

/* A line of /proc/PID/maps that describes an executable mapping. */
struct maps_line {
	uint64_t start, end, offset;
	uint64_t dev,
		inode;    /* device number as makedev(3) composes it, and inode; 0 without a file */
	const char *path; /* "" for anonymous memory */
};

/*
 * Returns the id of the module of a mapping. A module that is not in the table yet is added. If the
 * table already has 1,024 modules (16,384 if `wanted`: an address in the mapping is looked up; or
 * if the mapping has no file), returns instead the id of one module "[more modules]", of the kind
 * ANONYMOUS.
 *
 * The image of a new module is read from the file that the target has mapped: /proc/PID/map_files,
 * /proc/PID/exe, for a deleted file a descriptor in /proc/PID/fd, otherwise the path below
 * /proc/PID/root or "/", without following symbolic links. Only a regular file is used. Unless
 * map_files led to it, it must have the mapping's device and inode, or the same bytes as the
 * target's memory. At most 4,096 files, and a third of RLIMIT_NOFILE as it is when the table is
 * made, are opened; a module of a further file has the kind OTHER.
 */
uint32_t modules_add(struct modules *modules, const struct process *process,
		     const struct maps_line *line, bool wanted);

/* Returns true when the id is that of "[more modules]", and modules_add() with `wanted` would add a
 * module in its place. */
bool modules_is_deferred(const struct modules *modules, uint32_t id);

/*
 * Adds a module of kind JIT, named "[jit]", and takes over the image. The virtual addresses in the
 * image must be addresses in the target. Returns the id; MODULE_NONE when the table has 16,384
 * modules, and then the caller still owns the image.
 */
uint32_t modules_add_object(struct modules *modules, struct image *image);

/* A module as a recording describes it. Pointers are borrowed. */
struct recorded_module {
	const char *path;
	const char *build_id; /* in hexadecimal digits; "": not known */
	enum module_kind kind;
	bool deleted;
	const char *symfs; /* directory below which `path` is tried before "/", or NULL */
};

/*
 * Adds a module, even when an equal one exists. For the kind FILE, opens `path` below `symfs`, then
 * `path` itself. If neither is an ELF file with the recorded build-id, that is not known, or too
 * many files are open, the kind becomes OTHER. A module of another kind gets no image. Returns the
 * id; MODULE_NONE when the table has 16,384 modules.
 */
uint32_t modules_add_recorded(struct modules *modules, const struct recorded_module *recorded);

/* A module as a core file describes it. Pointers are borrowed. */
struct dumped_module {
	const char *path; /* path in the core file */
	const char
		*file; /* file that the user has chosen to use instead of `path`; NULL: no choice */
	const char *symfs;     /* directory below which `path` is tried before "/", or NULL */
	enum module_kind kind; /* FILE, VDSO, ANONYMOUS or OTHER */
	/* First head_size bytes of the file as they were in memory; VDSO: the whole image. */
	const void *head;
	size_t head_size; /* 0: the core file does not contain these bytes */
};

/*
 * Adds a module, even when an equal one exists. For the kind FILE, opens `file`; if `file` is NULL,
 * `path` below `symfs`, then `path` itself. An opened file is used only if it is an ELF file and
 * has the build-id that `head` contains or, if `head` contains none, begins with the bytes of
 * `head` (at most 4 KiB are compared). If head_size is 0 there is nothing to compare: `file` is
 * then used, and `path` is used unless it has the suffix " (deleted)". If no file is used, or too
 * many are open, the kind becomes OTHER, and `why` of the module is the reason. For the kind VDSO,
 * `head` is the image; if it is no ELF file, the kind becomes OTHER. Returns the id; MODULE_NONE
 * when the table has 16,384 modules.
 */
uint32_t modules_add_dumped(struct modules *modules, const struct dumped_module *dumped);

#endif
