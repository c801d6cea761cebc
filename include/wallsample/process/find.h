/* SPDX-License-Identifier: MIT */
/*
 * find.h - finds processes by command name.
 */
#ifndef WALLSAMPLE_PROCESS_FIND_H
#define WALLSAMPLE_PROCESS_FIND_H

#include <stddef.h>
#include <sys/types.h>

#include "wallsample/base/error.h"

/*
 * Finds the processes whose command name (comm), or the base name of the first word of the command
 * line, matches the fnmatch(3) pattern `glob`. Omits the caller, its ancestors, kernel threads and
 * zombies. Stores an ascending array of pids, which the caller frees, and returns their number,
 * which may be 0. Returns a negative error when /proc cannot be read.
 */
int find_by_name(const char *glob, pid_t **pids, struct error *err);

/*
 * Stores the pid of the one process that matches `glob` by the rules of find_by_name, and returns
 * 0. If several match, and some of them belong to the user that has started wallsample
 * (user_of_caller), the others do not count. Returns ERROR_NO_MATCH (negated) when no process
 * matches, ERROR_AMBIGUOUS (negated) when several do (the text has the first few pids, command
 * lines and users), or an error of find_by_name.
 */
int find_one_by_name(const char *glob, pid_t *pid, struct error *err);

#endif
