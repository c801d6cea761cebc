/* SPDX-License-Identifier: MIT */
/*
 * process_internal.h - status files of a process, its ancestors, and probes of the permission to
 * trace it.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_INTERNAL_H
#define WALLSAMPLE_PROCESS_PROCESS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/process/process.h"

/* --- stat and status (task_file.c) ---------------------------------------------------------- */

/* Reads the file `name` below `dirfd` as a stat line; false with errno set. */
bool task_read_stat(int dirfd, const char *name, struct task_stat *stat);

/* A kernel thread has no user space; a zombie has none any more. */
bool task_is_kernel_thread(const struct task_stat *stat);
/* The first thread is a zombie when it ended before others; its process is not. */
bool task_is_zombie_process(const struct task_stat *stat);

/* Fields of proc_pid_status(5); 0 for one that is missing. */
struct task_status {
	pid_t tgid, ppid, tracer;
	uid_t uid;              /* real */
	uint64_t cap_effective; /* bit n: capability n, see capabilities(7) */
	unsigned seccomp;       /* 2: a filter is in force */
};

/* Reads "status" below `dirfd`; false with errno set. */
bool task_read_status(int dirfd, struct task_status *status);
void task_parse_status(const char *text, struct task_status *status);

/* Copies foreign text to `to` with all bytes escaped that could harm a terminal. Text that is too
 * long ends between two characters. Returns `to`. */
const char *task_printable(const char *text, char *to, size_t size);

/* Room for a printable command name. */
#define TASK_NAME_SIZE 80

/* The command name of process `pid`, printable; "?" when it cannot be read. */
const char *task_name_of(pid_t pid, char *to, size_t size);

/* A process and all its ancestors in this PID namespace. */
#define LINEAGE_MAX 256

struct lineage {
	pid_t pid[LINEAGE_MAX];
	size_t count;
};

void lineage_read(struct lineage *lineage, pid_t pid);
bool lineage_holds(const struct lineage *lineage, pid_t pid);

/* --- permission to trace (attach_probe.c) ---------------------------------------------------- */

/*
 * Reads /proc/PID/task/TID/syscall, for which the kernel checks the same permission as for an
 * attach (PTRACE_MODE_ATTACH_FSCREDS). Returns 0 or an errno.
 */
int attach_probe_read(const struct process *process, pid_t tid);

/*
 * Seizes the thread from a child process that exits at once. The end of a tracer detaches a
 * running tracee, while PTRACE_DETACH requires a stopped one: the target is never interrupted,
 * its system calls continue, and a signal that arrives in those microseconds is delivered after
 * the child has exited. No error can leave the target seized.
 *
 * Returns 0, the errno of PTRACE_SEIZE, or ETIMEDOUT when the kernel did not answer within two
 * seconds: it waits for an exec of the target to end.
 */
int attach_probe_seize(pid_t tid);

#endif
