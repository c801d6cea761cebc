/* SPDX-License-Identifier: MIT */
/* holders.c - finds the processes that have a pipe, a socket or a fifo open. */
#include "wait/descriptor_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/search.h"

/* Most descriptors that holders_scan reads. On a machine with more descriptors it reports none. */
#define WALK_MOST 200000
/* Most threads that are tried to find one whose descriptors can be listed, when the first thread
 * has exited. */
#define THREADS_MOST 64
/* The inode of the first pid namespace: PROC_PID_INIT_INO of Linux's proc_ns.h. */
#define FIRST_PID_NAMESPACE UINT64_C(0xeffffffc)

struct holder {
	uint64_t key; /* hash of the link's text */
	pid_t pid;
	/* thread whose directory lists the descriptor: the first, unless it has exited */
	pid_t tid;
	int fd;
};

struct holders {
	struct holder *list; /* ordered by key, then by pid */
	size_t count, capacity;
	size_t walked; /* number of descriptors that were read */
	bool all;      /* the descriptors of every process of the machine were read */
};

/* Returns the FNV-1a hash of 64 bits (draft-eastlake-fnv). Equal keys do not prove equal links. */
static uint64_t
link_key(const char *link, size_t length)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		key = (key ^ (unsigned char)link[i]) * UINT64_C(0x100000001b3);
	return key;
}

/* Returns true for the link of a pipe or socket, and for a path, which may be that of a fifo. */
static bool
is_of_interest(const char *link, size_t length)
{
	return length > 0 && (link[0] == '/' || strncmp(link, "pipe:[", 6) == 0 ||
			      strncmp(link, "socket:[", 8) == 0);
}

/* Returns true when the process has ended. Needed because reading the /proc directory of an ended
 * process also fails with EACCES. */
static bool
is_gone(pid_t pid)
{
	return kill(pid, 0) != 0 && errno == ESRCH;
}

static void
walk_descriptor(struct holders *holders, pid_t pid, pid_t tid, int dirfd, const char *name)
{
	char link[PATH_MAX];
	struct holder *holder;
	ssize_t length;
	uint64_t fd;

	if (!parse_whole_u64(name, 0, INT_MAX, &fd))
		return;
	holders->walked++;
	length = readlinkat(dirfd, name, link, sizeof(link) - 1);
	if (length <= 0) {
		holders->all &= errno == ENOENT || is_gone(pid);
		return;
	}
	link[length] = '\0';
	if (!is_of_interest(link, (size_t)length))
		return;
	holders->list = xgrow(holders->list, &holders->capacity, holders->count + 1,
			      sizeof(*holders->list));
	holder = &holders->list[holders->count++];
	holder->key = link_key(link, (size_t)length);
	holder->pid = pid;
	holder->tid = tid;
	holder->fd = (int)fd;
}

/*
 * Adds the pipes, sockets and paths in the directory `dirfd`, which is the "fd" directory of the
 * thread, and closes it. Reads at most WALK_MOST descriptors per scan. Returns the number of
 * descriptors read.
 */
static size_t
walk_folder(struct holders *holders, pid_t pid, pid_t tid, int dirfd)
{
	DIR *dir = fdopendir(dirfd);
	size_t before = holders->walked;
	struct dirent *entry;

	if (dir == NULL) {
		close(dirfd);
		return 0;
	}
	while (holders->walked < WALK_MOST && (entry = readdir(dir)) != NULL)
		walk_descriptor(holders, pid, tid, dirfd, entry->d_name);
	closedir(dir);
	return holders->walked - before;
}

/*
 * Reads the descriptors of a process from the /proc directory of a thread other than the first: the
 * directory of a first thread that has exited is closed to users other than root. Stops at the
 * first directory that contains descriptors. Returns false when it came to a directory that
 * wallsample may not read.
 */
static bool
walk_threads(struct holders *holders, pid_t pid)
{
	bool permitted = true;
	struct dirent *entry;
	char name[NAME_MAX + 8];
	int tried = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	dir = opendir(name);
	if (dir == NULL)
		return errno == ENOENT;
	while (tried < THREADS_MOST && permitted && (entry = readdir(dir)) != NULL) {
		uint64_t tid;
		int fd;

		if (!parse_whole_u64(entry->d_name, 1, INT_MAX, &tid) || (pid_t)tid == pid)
			continue;
		tried++;
		snprintf(name, sizeof(name), "%s/fd", entry->d_name);
		fd = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && walk_folder(holders, pid, (pid_t)tid, fd) > 0)
			break;
		permitted = fd >= 0 || errno == ENOENT || errno == ESRCH;
	}
	closedir(dir);
	return permitted;
}

static void
walk_process(struct holders *holders, pid_t pid)
{
	struct stat st;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && walk_folder(holders, pid, pid, fd) > 0)
		return;
	if (fd < 0 && (errno == ENOENT || errno == ESRCH))
		return;
	/* No descriptor was found: the process has none, its first thread has exited, or reading is
	 * not permitted. If the process has several threads, their directories are tried; the link
	 * count of /proc/PID/task is the number of threads plus two. */
	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	if (stat(name, &st) == 0 && st.st_nlink > 3)
		holders->all &= walk_threads(holders, pid);
	else
		holders->all &= fd >= 0;
}

static int
compare_holders(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Returns true when wallsample runs in the first pid namespace: in other namespaces some processes
 * of the machine are not visible. */
static bool
sees_all_processes(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && (uint64_t)st.st_ino == FIRST_PID_NAMESPACE;
}

struct holders *
holders_scan(void)
{
	struct holders *holders = xcalloc(1, sizeof(*holders));
	struct dirent *entry;
	bool first = false;
	DIR *dir;

	holders->all = sees_all_processes();
	dir = opendir("/proc");
	while (dir != NULL && holders->walked < WALK_MOST && (entry = readdir(dir)) != NULL) {
		uint64_t pid;

		if (!parse_whole_u64(entry->d_name, 1, INT_MAX, &pid))
			continue;
		/* When /proc is mounted with hidepid, processes that may not be read, such as pid
		 * 1, are missing. */
		first |= pid == 1;
		walk_process(holders, (pid_t)pid);
	}
	holders->all &= first;
	if (dir != NULL)
		closedir(dir);
	if (holders->walked >= WALK_MOST)
		holders->count = 0;
	if (holders->count > 0)
		qsort(holders->list, holders->count, sizeof(*holders->list), compare_holders);
	return holders;
}

void
holders_free(struct holders *holders)
{
	if (holders == NULL)
		return;
	free(holders->list);
	free(holders);
}

#define PATH_SIZE 64

/* Writes the path of the descriptor. /proc/TID exists for each thread, although a listing of /proc
 * contains only the first thread of each process. */
static void
path_of(const struct holder *holder, char *path)
{
	snprintf(path, PATH_SIZE, "/proc/%d/fd/%d", (int)holder->tid, holder->fd);
}

/* Returns true when both descriptors refer to one file: in two mount namespaces the same path may
 * name two files. */
static bool
is_same_holder_file(const struct holder *a, const struct holder *b)
{
	const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	char path[PATH_SIZE];
	struct statx x, y;

	path_of(a, path);
	if (statx(AT_FDCWD, path, flags, STATX_INO, &x) != 0)
		return false;
	path_of(b, path);
	return statx(AT_FDCWD, path, flags, STATX_INO, &y) == 0 && x.stx_ino == y.stx_ino &&
	       x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor;
}

/*
 * Returns true when the descriptor still has this link and is open for this access. The permission
 * bits of the link show how the file was opened (tid_fd_update_inode in Linux's fs/proc/fd.c).
 */
static bool
holder_is_current(const struct holder *holder, const char *link, enum holder_access access)
{
	const size_t length = strlen(link);
	char path[PATH_SIZE], text[PATH_MAX];
	struct stat st;

	path_of(holder, path);
	if (access != HOLDER_ANY &&
	    (lstat(path, &st) != 0 ||
	     (st.st_mode & (access == HOLDER_READS ? S_IRUSR : S_IWUSR)) == 0))
		return false;
	return readlink(path, text, sizeof(text)) == (ssize_t)length &&
	       memcmp(text, link, length) == 0;
}

/*
 * found->sure is set when the descriptors of all processes were read at a time when the process
 * `own` had an end of the pipe open: an end that no process has open cannot be opened again.
 */
void
holders_find(const struct holders *holders, pid_t own, const char *link, enum holder_access access,
	     struct holders_found *found)
{
	const uint64_t key = link_key(link, strlen(link));
	const struct holder *end_of_own = NULL;
	size_t first, end;
	pid_t last = 0;

	memset(found, 0, sizeof(*found));
	SEARCH_FIRST_NOT(first, holders->count, holders->list[first].key < key);
	for (end = first; end < holders->count && holders->list[end].key == key; end++)
		if (holders->list[end].pid == own)
			end_of_own = &holders->list[end];
	if (link[0] == '/' && end_of_own == NULL)
		return;
	for (size_t i = first; i < end; i++) {
		const struct holder *holder = &holders->list[i];

		if (holder->pid == last || !holder_is_current(holder, link, access) ||
		    (link[0] == '/' && !is_same_holder_file(holder, end_of_own)))
			continue;
		last = holder->pid;
		found->count++;
		if (holder->pid == own)
			found->own = true;
		else if (found->kept < HOLDERS_KEPT)
			found->pid[found->kept++] = holder->pid;
	}
	found->named = found->kept < HOLDERS_NAMED ? found->kept : HOLDERS_NAMED;
	found->sure = holders->all && end_of_own != NULL;
}

void
holders_add_process(pid_t pid, struct strbuf *out)
{
	char name[32];
	size_t length = 0;
	char *comm;

	snprintf(name, sizeof(name), "/proc/%d/comm", (int)pid);
	comm = file_read_text(AT_FDCWD, name, 256, &length);
	if (comm != NULL && length > 0 && comm[length - 1] == '\n')
		length--;
	strbuf_add(out, comm != NULL ? comm : "?", comm != NULL ? length : 1);
	strbuf_add_format(out, " (%d)", (int)pid);
	free(comm);
}

void
holders_add_text(const struct holders_found *found, struct strbuf *out)
{
	size_t more = found->count - found->named - (found->own ? 1 : 0);

	if (found->count == 0)
		strbuf_add_text(out, "no process");
	for (size_t i = 0; i < found->named; i++) {
		bool last = i + 1 == found->count;

		if (i > 0)
			strbuf_add_text(out, last ? " and " : ", ");
		holders_add_process(found->pid[i], out);
	}
	if (found->own)
		strbuf_add_text(out, found->named == 0 ? "itself" :
				     more == 0         ? " and itself" :
							 ", itself");
	if (more > 0)
		strbuf_add_format(out, " and %zu more", more);
}
