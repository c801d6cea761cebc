/* SPDX-License-Identifier: MIT */
/*
 * task_file_internal.h - the stat and status files of a process, and its ancestors.
 */
#ifndef WALLSAMPLE_PROCESS_TASK_FILE_INTERNAL_H
#define WALLSAMPLE_PROCESS_TASK_FILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/process/process.h"

/* Reads the file `name` below `dirfd` as a stat line; false with errno set. */
bool task_read_stat(int dirfd, const char *name, struct task_stat *stat);

/* A kernel thread has no user space; a zombie has none any more. */
bool task_is_kernel_thread(const struct task_stat *stat);
/* A first thread that ended while others run on is a zombie, its process is not. */
bool task_is_zombie_process(const struct task_stat *stat);

/* What proc_pid_status(5) says; a field that is not there is 0. */
struct task_status {
	pid_t tgid, ppid, tracer;
	uid_t uid;              /* real */
	uint64_t cap_effective; /* bit n: capability n, see capabilities(7) */
	unsigned seccomp;       /* 2: a filter is in force */
};

/* Reads "status" below `dirfd`; false with errno set. */
bool task_read_status(int dirfd, struct task_status *status);
void task_parse_status(const char *text, struct task_status *status);

/*
 * Foreign text fit for a message: no byte of it can harm a terminal. What does not
 * fit is cut off between characters. Returns `to`.
 */
const char *task_printable(const char *text, char *to, size_t size);

/* Room for a printable command name. */
#define TASK_NAME_SIZE 80

/* The command name of process `pid`, printable; "?" when it cannot be read. */
const char *task_name_of(pid_t pid, char *to, size_t size);

/* A process and all its ancestors that are visible from here. */
#define LINEAGE_MAX 256

struct lineage {
	pid_t pid[LINEAGE_MAX];
	size_t count;
};

void lineage_read(struct lineage *lineage, pid_t pid);
bool lineage_holds(const struct lineage *lineage, pid_t pid);

#endif
