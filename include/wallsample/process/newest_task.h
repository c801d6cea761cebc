/* SPDX-License-Identifier: MIT */
/* newest_task.h - finds out whether a thread may have been created, without listing threads. */
#ifndef WALLSAMPLE_PROCESS_NEWEST_TASK_H
#define WALLSAMPLE_PROCESS_NEWEST_TASK_H

#include <stdbool.h>
#include <stdint.h>

/* All bytes zero: nothing was read yet. */
struct newest_task {
	bool opened;  /* `fd` is valid */
	int fd;       /* /proc/loadavg; -1: not readable */
	long long id; /* the newest id at the latest call */
};

/*
 * Returns true if a thread or process of wallsample's PID namespace, or of one below it, has been
 * created since the previous call. Also returns true at the first call, and false if the kernel's
 * /proc/loadavg is not readable. The thread may become visible in /proc some time after the call.
 * Takes 1 us.
 */
bool newest_task_changed(struct newest_task *newest);
void newest_task_release(struct newest_task *newest);

#endif
