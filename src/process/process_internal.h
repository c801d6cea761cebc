/* SPDX-License-Identifier: MIT */
/*
 * process_internal.h - internal interfaces of the files that read a process: its status files and
 * ancestors, probes of the permission to trace it, and the files of its modules.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_INTERNAL_H
#define WALLSAMPLE_PROCESS_PROCESS_INTERNAL_H

#include <limits.h>

#include "wallsample/base/base.h"
#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

/* --- task_file.c: stat and status ------------------------------------------------------------ */

/* Reads the stat line in the file `name` below `dirfd`. Returns false, with errno set, when the
 * file is not readable, or malformed (EPROTO). */
bool task_read_stat(int dirfd, const char *name, struct task_stat *stat);

/* Returns true for a thread of the kernel, which has no user space. */
bool task_is_kernel_thread(const struct task_stat *stat);
/* Returns true when the whole process has exited. `stat` must be that of its first thread, which
 * may be a zombie while other threads still run: then the result is false. */
bool task_is_zombie_process(const struct task_stat *stat);

/* Most bytes that are read of /proc/PID/status. */
#define STATUS_LIMIT (64 << 10)

/* Fields of /proc/PID/status, see proc_pid_status(5). A missing field is 0. */
struct task_status {
	char state; /* letter of proc_pid_stat(5) */
	pid_t tgid, ppid, tracer;
	uid_t uid;              /* real user id */
	uint64_t cap_effective; /* bit n: capability n, see capabilities(7) */
	uint64_t cap_permitted; /* in the same form */
	unsigned seccomp;       /* 2: a filter is in force */
	uint64_t voluntary;     /* number of times that it gave up its CPU, mostly to sleep */
};

/* Reads the file "status" below `dirfd`. False, with errno set: it is not readable. */
bool task_read_status(int dirfd, struct task_status *status);
void task_parse_status(const char *text, struct task_status *status);

/* Stores the first two numbers of the file "schedstat" below `dirfd`: time on a CPU, and time of
 * waiting for one, in ns. Returns false when the file cannot be read or has no such numbers. */
bool task_read_schedstat(int dirfd, uint64_t *cpu_ns, uint64_t *delay_ns);

/*
 * Copies text from outside the program to `to`, escaped as by strbuf_add_escaped. Text that does
 * not fit into `size` bytes is truncated between two characters. Returns `to`.
 */
const char *task_printable(const char *text, char *to, size_t size);

/* Parses the id of a user or group, such as the value of SUDO_UID. Returns false when `text` is
 * NULL or not a valid id. */
bool user_parse_id(const char *text, uint32_t *id);

/* Size of the buffer for a printable command name. */
#define TASK_NAME_SIZE 80

/* Copies the printable command name of process `pid` to `to`, or "?" if it cannot be read. Returns
 * `to`. */
const char *task_name_of(pid_t pid, char *to, size_t size);

/* Compares two pid_t, for qsort. */
int task_compare_ids(const void *left, const void *right);

#define LINEAGE_MAX 256

/* A process and its ancestors in wallsample's pid namespace, from the process upwards; at most the
 * first LINEAGE_MAX. */
struct lineage {
	pid_t pid[LINEAGE_MAX];
	size_t count;
};

void lineage_read(struct lineage *lineage, pid_t pid);
bool lineage_holds(const struct lineage *lineage, pid_t pid);

/* --- attach_probe.c: permission to trace ----------------------------------------------------- */

/*
 * Reads /proc/PID/task/TID/syscall, for which the kernel checks the same permission as for an
 * attach (PTRACE_MODE_ATTACH_FSCREDS). Returns 0 or an errno.
 */
int attach_probe_read(const struct process *process, pid_t tid);

/*
 * Tests whether the thread can be seized, from a child process that seizes it and exits at once.
 * The exit of a tracer detaches a running tracee, while PTRACE_DETACH requires a stopped one: the
 * target is never interrupted, and its system calls continue. A signal that arrives while the
 * thread is seized, which takes microseconds, is delivered after the child has exited. No error can
 * leave the target seized.
 *
 * Returns 0, or an errno: that of PTRACE_SEIZE, fork or pipe; EINTR when a signal has ended the
 * child; ETIMEDOUT when the kernel did not answer within two seconds, because it waits for an exec
 * of the target to end.
 */
int attach_probe_seize(pid_t tid);

/* --- module_file.c: the file behind a mapping ------------------------------------------------ */

/*
 * Opens the file of a mapping. Tries first /proc/PID/map_files, which needs privileges, then
 * /proc/PID/exe if that has the path of the mapping. Then, for a deleted file, tries the
 * descriptors in /proc/PID/fd; for any other file, the path below the target's root and below
 * wallsample's root. The file in map_files is the mapped one. Another file is accepted only when it
 * has the device and inode of the mapping or, because the numbers in maps may differ from those of
 * stat(2) (overlayfs, btrfs), when its bytes are those of the mapping's first and last page.
 * Only regular files are opened for reading: an open of a device may have an effect, and an open of
 * a FIFO may wait for a writer.
 *
 * The file is opened by `proxy` (file_proxy.h). Returns a descriptor that the caller closes, and
 * stores the properties of the file; or -1. Then *why is a fixed text, to be reported with the
 * mapping's path.
 */
int module_file_open(const struct process *process, const struct maps_line *line,
		     struct file_proxy *proxy, struct stat *st, const char **why);

/*
 * Opens the path below the directory `root` with O_PATH. Fails when a component of the path is a
 * symbolic link. Returns a descriptor for file_open_named, or -1 with errno set (ENOSYS before
 * Linux 5.6).
 */
int module_file_name_below(int root, const char *path);

/* Returns true when the path ends with MODULE_DELETED, which the kernel appends in /proc/PID/maps
 * to the path of a deleted file. */
#define MODULE_DELETED " (deleted)"
bool module_path_is_deleted(const char *path);

/* Copies all `size` bytes at the address of the process, or returns false. */
bool module_read_memory(const struct process *process, uint64_t address, void *to, size_t size);

/* Returns the reason why a file could not be opened with this errno, a fixed text. */
const char *module_file_why(int error);

/* Makes a module without an image. Takes over `path`, which must have no suffix " (deleted)". The
 * caller frees the module. */
struct module *module_create(char *path, bool deleted, enum module_kind kind);

#define MODULE_BUILD_ID_SIZE (2 * IMAGE_BUILD_ID_MAX + 1)

/* Writes the build-id in hexadecimal digits; "" when the image has none or is NULL. */
void module_build_id(const struct image *image, char text[MODULE_BUILD_ID_SIZE]);

/* --- module_stored.c: modules without a process ---------------------------------------------- */

/*
 * Makes the module of a core file for modules_add_dumped. Takes over `path`, which must have no
 * suffix " (deleted)"; `deleted`: in the core file the path has that suffix. The cache is that of
 * the image, borrowed; NULL: too many files are open. The caller frees the module.
 */
struct module *module_dumped_create(struct image_cache *cache, const struct dumped_module *dumped,
				    char *path, bool deleted);

/* Makes the module of a recording for modules_add_recorded. `cache` is that of the image, borrowed;
 * NULL: too many files are open. The caller frees the module. */
struct module *module_recorded_create(struct image_cache *cache,
				      const struct recorded_module *recorded);

#endif
