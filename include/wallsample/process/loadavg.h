/* SPDX-License-Identifier: MIT */
/* loadavg.h - what the kernel's /proc/loadavg (proc_loadavg(5)) says about the threads of the
 * machine, without listing them. */
#ifndef WALLSAMPLE_PROCESS_LOADAVG_H
#define WALLSAMPLE_PROCESS_LOADAVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All bytes zero: nothing was read yet. */
struct loadavg {
	bool opened;      /* `fd` is valid */
	int fd;           /* /proc/loadavg; -1: not readable */
	long long newest; /* id of the newest thread at the last loadavg_has_new_thread */
};

/*
 * Returns true if a thread or process of wallsample's PID namespace, or of one below it, has been
 * created since the previous call. Also returns true at the first call, and false if the kernel's
 * /proc/loadavg is not readable. The thread may become visible in /proc some time after the call.
 * Takes 1 us.
 */
bool loadavg_has_new_thread(struct loadavg *loadavg);
/* Returns the number of runnable threads of the whole machine, those on a CPU included; 0 if the
 * kernel's /proc/loadavg cannot be read or parsed. Takes 1 us. */
size_t loadavg_runnable(struct loadavg *loadavg);
/* Parses the number of runnable threads from the text of the file. Returns 0 if the text
 * has no such number. */
size_t loadavg_parse_runnable(const char *text);
/* Closes the file. */
void loadavg_release(struct loadavg *loadavg);

#endif
