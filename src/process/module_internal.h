/* SPDX-License-Identifier: MIT */
/*
 * module_internal.h - the file behind a mapping, and modules of core files and recordings.
 */
#ifndef WALLSAMPLE_PROCESS_MODULE_INTERNAL_H
#define WALLSAMPLE_PROCESS_MODULE_INTERNAL_H

#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

/* --- files (module_file.c) ------------------------------------------------------------------- */

/*
 * Opens the file of a mapping. Tried in this order: /proc/PID/map_files (needs privileges),
 * /proc/PID/exe, for a file without a path /proc/PID/fd, else the path below the target's root
 * and the path below our root. A file is accepted only when it is a regular one and has the
 * device and inode of the mapping or, on file systems whose mappings show other numbers than
 * stat (overlayfs, btrfs), the same bytes as the target's memory. Only regular files are opened
 * for reading, so that no device is touched and no open waits for a peer.
 *
 * Returns a descriptor that the caller closes, or -1 with *why a fixed text, to be reported with
 * the mapping's path.
 */
int module_file_open(const struct process *process, const struct maps_line *line, const char **why);

/*
 * The file of this path below the directory, without following any link: a descriptor that only
 * names it (O_PATH), for file_open_named; or -1 with errno, ENOSYS before Linux 5.6.
 */
int module_file_name_below(int root, const char *path);

/* The reason why a file could not be opened, a fixed text. */
const char *module_file_why(int error);

/* --- modules without a process --------------------------------------------------------------- */

/* The module of a core file, for modules_add_dumped (module_dumped.c). `path` is taken over; the
 * caller has removed a suffix " (deleted)" from it, which `deleted` records. */
struct module *module_dumped_create(const struct dumped_module *dumped, char *path, bool deleted);

/* The module of a recording, for modules_add_recorded (module_recorded.c). */
struct module *module_recorded_create(const struct recorded_module *recorded);

#endif
