/* SPDX-License-Identifier: MIT */
/*
 * module_file_internal.h - opens the very file that a mapping of the target is of.
 */
#ifndef WALLSAMPLE_PROCESS_MODULE_FILE_INTERNAL_H
#define WALLSAMPLE_PROCESS_MODULE_FILE_INTERNAL_H

#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

/*
 * Tries /proc/PID/map_files (needs privileges), /proc/PID/exe, for a file without a path
 * /proc/PID/fd, else the path below the target's root and the path below ours. A file is
 * taken only when it is a regular one and has the mapping's device and inode, or, on
 * file systems whose mappings show other numbers than stat (overlayfs, btrfs), the same bytes
 * as the target's memory. Nothing but regular files is ever opened for reading, so that no
 * device is touched and no open can wait for a peer.
 *
 * Returns a descriptor that the caller closes, or -1 with *why a fixed text, to be told with
 * the mapping's path.
 */
int module_file_open(const struct process *process, const struct maps_line *line,
		     const char **why);

/*
 * The file of this path below the directory, without following any link: a descriptor that only
 * names it (O_PATH), for file_open_named; or -1 with errno, ENOSYS before Linux 5.6.
 */
int module_file_name_below(int root, const char *path);

/* Why a file could not be opened, a fixed text. */
const char *module_file_why(int error);

#endif
