/* SPDX-License-Identifier: MIT */
/*
 * process.h - the sampled process, identified reliably.
 *
 * A struct process keeps a directory descriptor of /proc/PID, which the kernel ties to the
 * process, not to its pid: when the process has exited and the pid is reused, reads through the
 * descriptor fail with ESRCH. The functions of this header read /proc through this descriptor;
 * process_open_file() may also open /proc/TID of a thread, and then checks that the thread belongs
 * to the process.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_H
#define WALLSAMPLE_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/error.h"

/* Ids of processes and threads, and numbers of threads, are below this number: PID_MAX_LIMIT of the
 * kernel's include/linux/threads.h. */
#define PROCESS_ID_LIMIT 4194304

/* Size of a command name, with its terminating zero. */
#define PROCESS_COMM_SIZE 64

struct process {
	pid_t pid;
	int dirfd;           /* descriptor of /proc/PID */
	int taskfd;          /* descriptor of /proc/PID/task */
	uint64_t start_time; /* when it started, in clock ticks since boot: field 22 of stat */
	char comm[PROCESS_COMM_SIZE]; /* command name, raw bytes */
	/* first 4 KiB of the command line, its words joined by spaces; "[comm]" if it is empty */
	char *cmdline;
	char *exe; /* target of the link /proc/PID/exe; "" if not readable */
};

/*
 * Opens process `pid` and returns 0; the caller frees *out. If there is no such process, or `pid`
 * is a thread id (the error's text names its process), a kernel thread or a zombie, or /proc cannot
 * be read, sets *out to NULL and returns a negative error.
 */
int process_open(pid_t pid, struct process **out, struct error *err);
void process_free(struct process *process);

/* Reads the present command line: first 4 KiB, its words joined by spaces; "[comm]" if it is empty.
 * The caller frees the result. */
char *process_read_cmdline(const struct process *process, const char *comm);

/* Stores the real user id of the process. Returns false when it cannot be read. */
bool process_read_uid(const struct process *process, uid_t *uid);

/* Stores the permitted capabilities of the process: bit n stands for capability n of
 * capabilities(7). Returns false when they cannot be read. */
bool process_read_capabilities(const struct process *process, uint64_t *permitted);

/* Stores the user id on whose behalf wallsample runs: its effective user id, or, for root,
 * SUDO_UID. Returns false for root without a valid SUDO_UID of another user. */
bool user_of_caller(uid_t *uid);
/* Returns true if `uid` is wallsample's effective user id or the id from user_of_caller(). */
bool user_is_own(uid_t uid);
/* Largest length of a user name that is shown, with its terminating zero. */
#define USER_NAME_SIZE 64
/* Stores the name of the user in `to`, of USER_NAME_SIZE bytes; the number if the user has no name.
 * Characters that a terminal would interpret are replaced. Returns `to`. */
const char *user_name(uid_t uid, char *to);

/* Fields of a thread's stat line, with their numbers in proc_pid_stat(5). */
struct task_stat {
	pid_t tid;
	char comm[PROCESS_COMM_SIZE];
	char state;                          /* field 3: R, S, D, T, t, Z, X or I */
	pid_t ppid;                          /* field 4 */
	pid_t group, session;                /* fields 5, 6 */
	uint32_t num_threads;                /* field 20 */
	uint64_t minor_faults, major_faults; /* fields 10, 12 */
	uint64_t user_ticks, system_ticks;   /* fields 14, 15: CPU time in 1/_SC_CLK_TCK s */
	/* fields 16, 17: CPU time of ended children, in the same unit */
	uint64_t children_user_ticks, children_system_ticks;
	uint64_t start_time;  /* field 22: when it started, in clock ticks since boot */
	uint64_t flags;       /* field 9: PF_KTHREAD is 0x00200000 */
	uint64_t start_stack; /* field 28: bottom of the first thread's stack; 0: unknown */
	uint32_t processor;   /* field 39: CPU on which the thread ran last */
	uint64_t arg_start;   /* field 48: address of the command line; 0: unknown */
};

/*
 * Parses one stat line. The fields begin behind the last ')', because a command name may contain
 * any byte. Returns false when the line is malformed.
 */
bool task_stat_parse(const char *line, struct task_stat *stat);

/* Reads the stat line of a thread of the process. Returns false, with errno set, when it cannot be
 * read. */
bool process_read_task_stat(const struct process *process, pid_t tid, struct task_stat *stat);

/* Counters of a thread. */
struct task_use {
	/* Time on a CPU. The kernel updates it when the thread gives up its CPU, and at each
	 * scheduler tick (4 ms at 250 Hz). */
	uint64_t cpu_ns;
	uint64_t delay_ns; /* time for which the thread was ready to run and waited for a CPU */
	/* Number of times that it gave up its CPU, mostly to sleep. A stop by a tracer is one. */
	uint64_t voluntary;
};

/* Reads the counters of a thread. Returns false when they cannot be read, or when the kernel has no
 * /proc/PID/schedstat. */
bool process_read_task_use(const struct process *process, pid_t tid, struct task_use *use);

/* Returns true when the process is in wallsample's pid namespace, and also when its namespace
 * cannot be read. Callers then take thread ids in the memory of the process as valid in the
 * namespace of wallsample. */
bool process_shares_pid_namespace(const struct process *process);
/* Returns the number of the pid namespace of the process (its inode); 0: it cannot be read. */
uint64_t process_pid_namespace(const struct process *process);
/* Returns the id of the thread in the innermost of its pid namespaces; 0: not known. */
pid_t process_inner_tid(const struct process *process, pid_t tid);
/*
 * Finds the living thread, of any process, whose id is `inner` in the pid namespace of `process`.
 * Returns its id in wallsample's pid namespace; 0 if there is no such thread, or it has no id
 * there; -1 if the namespaces differ and the kernel does not translate ids (before Linux 6.11).
 */
pid_t process_translate_tid(const struct process *process, pid_t inner);
/* Stores the id and the command name of the process to which a thread of any process belongs.
 * Returns false when there is no living thread with this id. */
bool process_of_thread(pid_t tid, pid_t *pid, char comm[PROCESS_COMM_SIZE]);

/* Stores the CPU time of all threads of the process, including threads that have ended. Returns
 * false when it is not known. */
bool process_read_cpu_ns(const struct process *process, uint64_t *cpu_ns);
/*
 * Stores the CPU time of the children of the process that have ended and for which it has waited
 * (wait(2)), including the children that these had waited for (fields 16 and 17 of stat, truncated
 * to 1/_SC_CLK_TCK s each). Children that the kernel reaps itself, because the process ignores
 * SIGCHLD, are not included, nor are children that ended under another parent. Returns false when
 * the process has been reaped.
 */
bool process_read_children_cpu_ns(const struct process *process, uint64_t *cpu_ns);

/*
 * Stores the thread ids of the process in ascending order in *tids, an array from xgrow with room
 * for *capacity elements (NULL and 0 before the first call), which later calls reuse and the caller
 * frees. Returns the number of ids; 0 when the process has exited. If a thread exits meanwhile, the
 * list may lack other threads, because the kernel ends its listing there.
 */
size_t process_list_threads(const struct process *process, pid_t **tids, size_t *capacity);
/* As process_list_threads, but repeats the reading until the list has all threads that the process
 * had at one moment, at most a hundred times. */
size_t process_list_all_threads(const struct process *process, pid_t **tids, size_t *capacity);

/*
 * Opens a file in /proc/PID that shows memory, descriptors or the root directory, which a thread
 * gives up when it exits: "maps", "map_files/…", "exe", "root", "fd". In /proc/PID these files are
 * empty or missing when the first thread has ended while others run: then the file of another
 * thread is opened. Returns a descriptor, or -1 with errno set.
 */
int process_open_file(const struct process *process, const char *name, int flags);

/*
 * Finds the mapping [*start, *end) that contains the address in the memory of a thread. Returns 0
 * or an errno: ENOENT when no mapping contains it, ENOTTY or EINVAL when the kernel has no
 * PROCMAP_QUERY (before Linux 6.11).
 */
int process_mapping_at(const struct process *process, pid_t tid, uint64_t address, uint64_t *start,
		       uint64_t *end);

/* Returns the number of online CPUs, at least 1. */
unsigned cpus_online(void);

/*
 * Returns the number of CPUs that the process may use at once, at least 1. This is the number of
 * CPUs that are in the affinity mask of any of its first 256 threads (if no mask can be read, of
 * online CPUs); or, if that is less, the CPU quota of its cgroups (v2 cpu.max, v1
 * cpu.cfs_quota_us), rounded up.
 */
unsigned process_allowed_cpus(const struct process *process);

/* Returns the smallest CPU quota of the cgroups of the process as a number of CPUs, such as 0.1;
 * INFINITY if there is none. */
double process_cpu_quota(const struct process *process);
/* Returns the same value, and stores in `group` the path of the cgroup with that quota below its
 * mount point, cut to `size` bytes; "" if no cgroup has a quota. */
double process_cpu_group(const struct process *process, char *group, size_t size);
/* Returns the CPU quota of wallsample's own cgroups as a number of CPUs, such as 0.1; INFINITY if
 * there is none. */
double cpus_own_quota(void);

#endif
