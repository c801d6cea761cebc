/* SPDX-License-Identifier: MIT */
/* proc_folder.h - a directory in place of /proc/PID, with a file "maps" that a test writes. */
#ifndef TEST_PROC_FOLDER_H
#define TEST_PROC_FOLDER_H

#include <stddef.h>

#include "wallsample/process/process.h"

struct proc_folder {
	char path[64];
	struct process process; /* its directory is this one; it has no threads */
};

void proc_folder_make(struct proc_folder *folder);
void proc_folder_write(const struct proc_folder *folder, const char *text, size_t length);
void proc_folder_remove(struct proc_folder *folder);

#endif
