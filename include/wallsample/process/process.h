/* SPDX-License-Identifier: MIT */
/*
 * process.h - the process that is sampled, held so that it cannot be mistaken.
 *
 * A struct process keeps a directory descriptor on /proc/PID. The kernel ties
 * that descriptor to the process, not to the number: when the process has gone
 * and its number serves another, reads through it fail with ESRCH instead of
 * telling about a stranger. All reads of /proc below go through it.
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
	char *exe;           /* where /proc/PID/exe points; "" if not readable */
};

/*
 * Opens process `pid`. On failure *out is NULL and the error says which of the
 * refusals it was that can be seen without trying to attach: no such process,
 * a thread id (with its process's id), a kernel thread, a zombie.
 */
int process_open(pid_t pid, struct process **out, struct error *err);
void process_free(struct process *process);

/* What one `stat` line of a thread says; see proc_pid_stat(5) for the fields. */
struct task_stat {
	pid_t tid;
	char comm[64];
	char state;          /* R S D T t Z X I, field 3 */
	pid_t ppid;          /* 4 */
	uint32_t num_threads; /* 20 */
	uint64_t user_ticks, system_ticks; /* 14, 15: CPU time in 1/_SC_CLK_TCK s */
	uint64_t start_time; /* 22 */
	uint64_t flags;      /* 9: PF_KTHREAD is 0x00200000 */
	uint64_t start_stack; /* 28: 0 when not permitted or no memory */
	uint32_t processor;  /* 39: the CPU it ran on last */
	uint64_t arg_start;  /* 48: 0 as start_stack */
};

/*
 * Parses one stat line: from the last ')', because a command name may hold
 * anything. False when it is not such a line.
 */
bool task_stat_parse(const char *line, struct task_stat *stat);

/* Reads "TID/stat" below the process's task folder; false with errno set. */
bool process_read_task_stat(const struct process *process, pid_t tid, struct task_stat *stat);

/* Do its thread ids, as its own memory has them, mean to us what they mean to it? */
bool process_shares_pid_namespace(const struct process *process);
/* What the thread calls itself, in the innermost of its pid namespaces; 0: not known. */
pid_t process_inner_tid(const struct process *process, pid_t tid);

/* CPU time that all its threads have used, those that have ended too; false: not known. */
bool process_read_cpu_ns(const struct process *process, uint64_t *cpu_ns);

/*
 * Lists the thread ids of the process in ascending order into *tids, an array
 * from xgrow with *capacity elements that may be passed again. Returns the
 * count; 0 when the process has gone.
 */
size_t process_list_threads(const struct process *process, pid_t **tids, size_t *capacity);

/*
 * Opens `name` of the process for what needs its memory: "maps", "map_files/…", "exe",
 * "root". When the first thread has ended while others run on, its folder is empty of
 * these; then those of another thread are used. A descriptor, or -1 with errno set.
 */
int process_open_file(const struct process *process, const char *name, int flags);

/*
 * The mapping that holds the address in the memory of a thread: *start up to *end. 0, or the
 * error number: ENOENT when there is none, ENOTTY or EINVAL when this kernel cannot be asked
 * (before Linux 6.11).
 */
int process_mapping_at(const struct process *process, pid_t tid, uint64_t address, uint64_t *start,
		       uint64_t *end);

/*
 * CPUs that the process may use at once: its affinity mask, lowered by the CPU
 * quota of its cgroups (v2 cpu.max, v1 cpu.cfs_quota_us), rounded up; at least 1.
 */
unsigned process_allowed_cpus(const struct process *process);

#endif
