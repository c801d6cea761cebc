/* SPDX-License-Identifier: MIT */
/* process.c - opens a process by its directory in /proc and reads from there. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/process_internal.h"

/* Most bytes of a command line that are kept: it may have megabytes. */
#define CMDLINE_LIMIT 4096

/* Most readings of process_list_all_threads. 2 % of the readings were incomplete in a process whose
 * threads live for microseconds. */
#define READINGS_MOST 100

bool
process_read_task_stat(const struct process *process, pid_t tid, struct task_stat *stat)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/stat", (int)tid);
	return task_read_stat(process->taskfd, name, stat);
}

bool
process_read_task_use(const struct process *process, pid_t tid, struct task_use *use)
{
	struct task_status status;
	char name[16];
	bool read;
	int fd;

	snprintf(name, sizeof(name), "%d", (int)tid);
	fd = openat(process->taskfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	read = task_read_schedstat(fd, &use->cpu_ns, &use->delay_ns) &&
	       task_read_status(fd, &status);
	close(fd);
	if (read)
		use->voluntary = status.voluntary;
	return read;
}

bool
process_read_cpu_ns(const struct process *process, uint64_t *cpu_ns)
{
	const long hz = sysconf(_SC_CLK_TCK);
	struct task_stat stat;
	struct timespec time;
	struct stat file;
	clockid_t clock;

	/* A living process is measured by its CPU-time clock, in nanoseconds; its stat file has a
	 * resolution of only 1/100 s. If the process still is in /proc after the reading, the pid
	 * was not that of a later process. */
	if (clock_getcpuclockid(process->pid, &clock) == 0 && clock_gettime(clock, &time) == 0 &&
	    fstatat(process->dirfd, "stat", &file, 0) == 0) {
		*cpu_ns = (uint64_t)time.tv_sec * NS_PER_SEC + (uint64_t)time.tv_nsec;
		return true;
	}
	if (hz <= 0 || !task_read_stat(process->dirfd, "stat", &stat))
		return false;
	*cpu_ns = (stat.user_ticks + stat.system_ticks) * (NS_PER_SEC / (uint64_t)hz);
	return true;
}

bool
process_read_children_cpu_ns(const struct process *process, uint64_t *cpu_ns)
{
	const long hz = sysconf(_SC_CLK_TCK);
	struct task_stat stat;

	if (hz <= 0 || !task_read_stat(process->dirfd, "stat", &stat))
		return false;
	*cpu_ns = (stat.children_user_ticks + stat.children_system_ticks) *
		  (NS_PER_SEC / (uint64_t)hz);
	return true;
}

static char *
read_cmdline(int dirfd, const char *comm)
{
	size_t length = 0;
	char *text = file_read_text(dirfd, "cmdline", CMDLINE_LIMIT, &length);
	struct strbuf named = STRBUF_INIT;

	while (text && length > 0 && text[length - 1] == '\0')
		length--;
	if (text && length > 0) {
		for (size_t i = 0; i < length; i++)
			if (text[i] == '\0')
				text[i] = ' ';
		return text;
	}
	free(text);
	strbuf_add_format(&named, "[%s]", comm);
	return named.data;
}

char *
process_read_cmdline(const struct process *process, const char *comm)
{
	return read_cmdline(process->dirfd, comm);
}

static char *
read_exe(int dirfd)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(dirfd, "exe", path, sizeof(path));

	return xstrndup(path, n > 0 ? (size_t)n : 0);
}

static int
process_refuse_missing(pid_t pid, struct error *err)
{
	if (pid > 0 && (kill(pid, 0) == 0 || errno == EPERM))
		return error_set(err, ERROR_OTHER_USER,
				 "process %d exists, but /proc does not show it to you (it is "
				 "mounted with hidepid); run wallsample as root or as the user of "
				 "that process",
				 (int)pid);
	return error_set(err, ERROR_NO_PROCESS, "there is no process %d", (int)pid);
}

/* Refuses threads other than the first, kernel threads and zombies. */
static int
check_kind(const struct process *process, const struct task_stat *stat, struct error *err)
{
	char name[TASK_NAME_SIZE];
	struct task_status status;
	int pid = process->pid, tgid = 0;

	if (task_read_status(process->dirfd, &status))
		tgid = status.tgid;
	if (tgid > 0 && tgid != pid)
		return error_set(err, ERROR_IS_THREAD,
				 "%d is a thread of process %d (%s); use -p %d, and --tid %d for "
				 "that thread alone",
				 pid, tgid, task_name_of(tgid, name, sizeof(name)), tgid, pid);
	if (task_is_kernel_thread(stat))
		return error_set(err, ERROR_KERNEL,
				 "process %d (%s) is a kernel thread: it has no user-space stack "
				 "to sample",
				 pid, task_printable(stat->comm, name, sizeof(name)));
	if (task_is_zombie_process(stat))
		return error_set(err, ERROR_ZOMBIE,
				 "process %d (%s) has exited and only waits for its parent, "
				 "process %d, to collect it",
				 pid, task_printable(stat->comm, name, sizeof(name)),
				 (int)stat->ppid);
	return 0;
}

static int
open_directories(struct process *process, struct error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d", (int)process->pid);
	process->dirfd = process->pid > 0 ? open(name, flags) : -1;
	if (process->dirfd >= 0)
		process->taskfd = openat(process->dirfd, "task", flags);
	if (process->taskfd >= 0)
		return 0;
	if (errno == EMFILE || errno == ENFILE)
		return error_set(err, ERROR_SYSTEM, "cannot open %s: %s", name, strerror(errno));
	return process_refuse_missing(process->pid, err);
}

int
process_open(pid_t pid, struct process **out, struct error *err)
{
	struct process *process = xcalloc(1, sizeof(*process));
	struct task_stat stat;
	int rc;

	*out = NULL;
	process->pid = pid;
	process->dirfd = -1;
	process->taskfd = -1;
	rc = open_directories(process, err);
	if (rc == 0 && !task_read_stat(process->dirfd, "stat", &stat))
		rc = process_refuse_missing(pid, err);
	if (rc == 0)
		rc = check_kind(process, &stat, err);
	if (rc != 0) {
		process_free(process);
		return rc;
	}
	process->start_time = stat.start_time;
	memcpy(process->comm, stat.comm, sizeof(process->comm));
	process->cmdline = read_cmdline(process->dirfd, process->comm);
	process->exe = read_exe(process->dirfd);
	*out = process;
	return 0;
}

void
process_free(struct process *process)
{
	if (!process)
		return;
	if (process->taskfd >= 0)
		close(process->taskfd);
	if (process->dirfd >= 0)
		close(process->dirfd);
	free(process->cmdline);
	free(process->exe);
	free(process);
}

/* Appends the thread ids, which are the numeric names among the directory entries in the buffer, to
 * *tids, which has `count` elements. Returns the new number of elements. */
static size_t
collect_tids(const char *buffer, size_t size, pid_t **tids, size_t *capacity, size_t count)
{
	size_t at = 0;

	while (at < size) {
		const struct dirent64 *entry = (const void *)(buffer + at);
		uint64_t tid;

		at += entry->d_reclen;
		if (!parse_whole_u64(entry->d_name, 1, INT32_MAX, &tid))
			continue;
		*tids = xgrow(*tids, capacity, count + 1, sizeof(**tids));
		(*tids)[count++] = (pid_t)tid;
	}
	return count;
}

/*
 * getdents64 is called directly: readdir(3) would need a DIR, with a buffer and a descriptor of its
 * own beside `taskfd`.
 */
size_t
process_list_threads(const struct process *process, pid_t **tids, size_t *capacity)
{
	char buffer[32 << 10] __attribute__((aligned(8)));
	size_t count = 0, unique = 0;
	bool sorted = true;

	if (lseek(process->taskfd, 0, SEEK_SET) != 0)
		return 0;
	while (count < PROCESS_ID_LIMIT) {
		long n = syscall(SYS_getdents64, process->taskfd, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		count = collect_tids(buffer, (size_t)n, tids, capacity, count);
	}
	for (size_t i = 1; i < count && sorted; i++)
		sorted = (*tids)[i - 1] < (*tids)[i];
	if (sorted)
		return count;
	qsort(*tids, count, sizeof(**tids), task_compare_ids);
	/* The directory may list a thread twice when threads begin or end during the reading. */
	for (size_t i = 0; i < count; i++)
		if (unique == 0 || (*tids)[unique - 1] != (*tids)[i])
			(*tids)[unique++] = (*tids)[i];
	return unique;
}

/* True if the process has exited, or the list has all its threads: the process has as many, and
 * each in the list still exists. */
static bool
is_complete(const struct process *process, const pid_t *tids, size_t count)
{
	struct task_stat stat;

	if (!process_read_task_stat(process, process->pid, &stat) || stat.num_threads == 0)
		return true;
	if (stat.num_threads != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (tgkill(process->pid, tids[i], 0) != 0 && errno == ESRCH)
			return false;
	return true;
}

size_t
process_list_all_threads(const struct process *process, pid_t **tids, size_t *capacity)
{
	size_t count;
	int readings = 0;

	do
		count = process_list_threads(process, tids, capacity);
	while (++readings < READINGS_MOST && !is_complete(process, *tids, count));
	return count;
}

/*
 * Opens the /proc directory of a thread of the process that still has memory. Returns a descriptor,
 * or -1. /proc/TID exists for every thread, although a listing of /proc contains only the first
 * thread of each process. Tgid in the status file proves that the thread belongs to the process.
 */
static int
open_living_thread(const struct process *process)
{
	size_t capacity = 0, count;
	pid_t *tids = NULL;
	int found = -1;

	count = process_list_threads(process, &tids, &capacity);
	for (size_t i = 0; i < count && found < 0; i++) {
		struct task_status status;
		struct task_stat stat;
		char name[32];

		snprintf(name, sizeof(name), "/proc/%d", (int)tids[i]);
		found = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (found < 0)
			continue;
		if (task_read_status(found, &status) && status.tgid == process->pid &&
		    process_read_task_stat(process, tids[i], &stat) && stat.state != 'Z')
			break;
		close(found);
		found = -1;
	}
	free(tids);
	return found;
}

int
process_open_file(const struct process *process, const char *name, int flags)
{
	struct task_stat stat;
	int dirfd = -1, fd, error;

	if (task_read_stat(process->dirfd, "stat", &stat) && stat.state == 'Z')
		dirfd = open_living_thread(process);
	if (dirfd < 0)
		return openat(process->dirfd, name, flags);
	fd = openat(dirfd, name, flags);
	error = errno;
	close(dirfd);
	errno = error;
	return fd;
}

bool
process_read_uid(const struct process *process, uid_t *uid)
{
	struct task_status status;

	if (!task_read_status(process->dirfd, &status))
		return false;
	*uid = status.uid;
	return true;
}

bool
process_read_capabilities(const struct process *process, uint64_t *permitted)
{
	struct task_status status;

	if (!task_read_status(process->dirfd, &status))
		return false;
	*permitted = status.cap_permitted;
	return true;
}
