/* SPDX-License-Identifier: MIT */
/*
 * process.h - the sampled process, identified reliably.
 *
 * A struct process keeps a directory descriptor of /proc/PID, which the kernel ties to the
 * process, not to its pid: when the process has exited and the pid is reused, reads through the
 * descriptor fail with ESRCH. All reads of /proc below use it.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_H
#define WALLSAMPLE_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/error.h"

struct process {
	pid_t pid;
	int dirfd;           /* /proc/PID */
	int taskfd;          /* /proc/PID/task */
	uint64_t start_time; /* clock ticks since boot: stat field 22 */
	char comm[64];       /* as the kernel has it, raw bytes */
	char *cmdline;       /* words joined by a space, raw bytes; "[comm]" if empty */
	char *exe;           /* target of the link /proc/PID/exe; "" if not readable */
};

/*
 * Opens process `pid`; the caller frees it. Returns 0, or a negative error with *out NULL for
 * what can be detected without attaching: no such process, a thread id (the text names its
 * process), a kernel thread, a zombie.
 */
int process_open(pid_t pid, struct process **out, struct error *err);
void process_free(struct process *process);

/* Fields of a thread's `stat` line; the numbers are those of proc_pid_stat(5). */
struct task_stat {
	pid_t tid;
	char comm[64];
	char state;                        /* R S D T t Z X I, field 3 */
	pid_t ppid;                        /* 4 */
	uint32_t num_threads;              /* 20 */
	uint64_t user_ticks, system_ticks; /* 14, 15: CPU time in 1/_SC_CLK_TCK s */
	uint64_t start_time;               /* 22 */
	uint64_t flags;                    /* 9: PF_KTHREAD is 0x00200000 */
	uint64_t start_stack;              /* 28: 0 when not permitted or no memory */
	uint32_t processor;                /* 39: the CPU it ran on last */
	uint64_t arg_start;                /* 48: 0 as start_stack */
};

/*
 * Parses one stat line, from the last ')', because a command name may contain any byte. False
 * when the line is malformed.
 */
bool task_stat_parse(const char *line, struct task_stat *stat);

/* Reads "TID/stat" below the process's task directory; false with errno set. */
bool process_read_task_stat(const struct process *process, pid_t tid, struct task_stat *stat);

/* Is the process in wallsample's pid namespace? Then thread ids in its memory are also valid
 * here. */
bool process_shares_pid_namespace(const struct process *process);
/* The id of the thread in the innermost of its pid namespaces; 0: not known. */
pid_t process_inner_tid(const struct process *process, pid_t tid);

/* CPU time of all threads of the process, ended ones included; false: not known. */
bool process_read_cpu_ns(const struct process *process, uint64_t *cpu_ns);

/*
 * Lists the thread ids of the process in ascending order into *tids, an array
 * from xgrow with *capacity elements, which can be reused in the next call. Returns the
 * count; 0 when the process has exited.
 */
size_t process_list_threads(const struct process *process, pid_t **tids, size_t *capacity);

/*
 * Opens a file of the process that depends on its memory: "maps", "map_files/…", "exe", "root".
 * These are empty or missing in /proc/PID when the first thread has ended and others still run;
 * then those of another thread are used. Returns a descriptor, or -1 with errno set.
 */
int process_open_file(const struct process *process, const char *name, int flags);

/*
 * Finds the mapping [*start, *end) that contains the address in the memory of a thread. Returns 0
 * or an errno: ENOENT when there is none, ENOTTY or EINVAL when the kernel has no PROCMAP_QUERY
 * (before Linux 6.11).
 */
int process_mapping_at(const struct process *process, pid_t tid, uint64_t address, uint64_t *start,
		       uint64_t *end);

/*
 * Number of CPUs that the process may use at once: those in its affinity mask, limited by the CPU
 * quota of its cgroups (v2 cpu.max, v1 cpu.cfs_quota_us), rounded up; at least 1.
 */
unsigned process_allowed_cpus(const struct process *process);

#endif
