/* SPDX-License-Identifier: MIT */
/* file_lock_find.c - finds out by its descriptors whether a process holds a lock of a file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/wait/file_lock.h"

/* Most descriptors of a process that are looked at. */
#define DESCRIPTORS_MOST 4096
/* Most bytes of a file in /proc/PID/fdinfo that are read: 1,000 locks. */
#define LOCKS_MOST ((size_t)64 << 10)

/* Returns true if a line "lock:" of the file is that of a lock that conflicts with the wanted one.
 * The kernel lists there the locks that the process holds through the descriptor. */
static bool
has_conflict(const char *text, const struct file_lock_query *query)
{
	struct file_lock held;

	while (*text != '\0') {
		if (strncmp(text, "lock:", strlen("lock:")) == 0 &&
		    file_lock_parse(text + strlen("lock:"), &held) && !held.waits &&
		    held.inode == query->wanted.inode && file_locks_conflict(&held, &query->wanted))
			return true;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return false;
}

/*
 * Checks the descriptor `name` in the directories /proc/PID/fd (`fd_dir`) and fdinfo (`info_dir`).
 * fdinfo is read only for the file itself: for an epoll it may be long, and reading it locks the
 * epoll.
 */
static enum file_lock_state
check_descriptor(const struct file_lock_query *query, int fd_dir, int info_dir, const char *name)
{
	enum file_lock_state state = FILE_LOCK_UNREADABLE;
	struct statx st;
	char *text;

	if (statx(fd_dir, name, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_INO, &st) != 0)
		return errno == ENOENT || errno == ESRCH ? FILE_LOCK_FREE : FILE_LOCK_UNREADABLE;
	if (st.stx_ino != query->stat_inode)
		return FILE_LOCK_FREE;
	text = file_read_text(info_dir, name, LOCKS_MOST, NULL);
	if (text != NULL)
		state = has_conflict(text, query) ? FILE_LOCK_HELD : FILE_LOCK_FREE;
	free(text);
	return state;
}

/* Opens the directories of the descriptors. Returns false with errno set. */
static bool
open_directories(pid_t pid, int *fd_dir, int *info_dir)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	char name[32];
	int error;

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	*fd_dir = open(name, flags);
	if (*fd_dir < 0)
		return false;
	snprintf(name, sizeof(name), "/proc/%d/fdinfo", (int)pid);
	*info_dir = open(name, flags);
	if (*info_dir >= 0)
		return true;
	error = errno;
	close(*fd_dir);
	errno = error;
	return false;
}

/* Stores the number in the line of the text that begins with `word`, such as "pos:". */
static void
read_line_number(const char *text, const char *word, uint64_t *value)
{
	const char *at = strstr(text, word);

	if (at == NULL || (at != text && at[-1] != '\n'))
		return;
	at += strlen(word);
	parse_u64(&at, 10, value);
}

/* "ino:", Linux 5.14, has the inode as in /proc/locks; on overlayfs that of stat(2) may differ. */
static void
set_query(const char *info, const struct statx *st, const struct file_lock_request *request,
	  struct file_lock_query *query)
{
	uint64_t position = 0;

	query->stat_inode = query->wanted.inode = st->stx_ino;
	query->wanted.dev = makedev(st->stx_dev_major, st->stx_dev_minor);
	read_line_number(info, "ino:", &query->wanted.inode);
	read_line_number(info, "pos:", &position);
	file_lock_set_range(request, position <= INT64_MAX ? (int64_t)position : 0,
			    st->stx_size <= INT64_MAX ? (int64_t)st->stx_size : 0, &query->wanted);
}

bool
file_lock_query_of(pid_t pid, int fd, const struct file_lock_request *request,
		   struct file_lock_query *query)
{
	const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	int fd_dir, info_dir;
	struct statx st;
	char name[16];
	char *info;
	bool read;

	memset(query, 0, sizeof(*query));
	query->wanted.type = request->type;
	query->wanted.exclusive = request->exclusive;
	query->wanted.waits = true;
	query->wanted.pid = pid;
	if (!open_directories(pid, &fd_dir, &info_dir))
		return false;
	snprintf(name, sizeof(name), "%d", fd);
	read = statx(fd_dir, name, flags, STATX_INO | STATX_SIZE | STATX_TYPE, &st) == 0;
	/* The files that have a range are regular; fdinfo of others may be long. */
	info = read && S_ISREG(st.stx_mode) ? file_read_text(info_dir, name, LOCKS_MOST, NULL) :
					      NULL;
	if (read)
		set_query(info != NULL ? info : "", &st, request, query);
	free(info);
	close(fd_dir);
	close(info_dir);
	return read;
}

enum file_lock_state
file_lock_check(const struct file_lock_query *query, const struct file_lock_holder *holder)
{
	enum file_lock_state state;
	int fd_dir, info_dir;
	char name[16];

	if (holder->fd < 0)
		return FILE_LOCK_UNREADABLE;
	if (!open_directories(holder->pid, &fd_dir, &info_dir))
		return errno == ENOENT || errno == ESRCH ? FILE_LOCK_FREE : FILE_LOCK_UNREADABLE;
	snprintf(name, sizeof(name), "%d", holder->fd);
	state = check_descriptor(query, fd_dir, info_dir, name);
	close(fd_dir);
	close(info_dir);
	return state;
}

int
file_lock_descriptor(const struct file_lock_query *query, pid_t pid)
{
	int fd_dir, info_dir, found = -1;
	struct dirent *entry;
	uint64_t fd;
	DIR *dir;

	if (!open_directories(pid, &fd_dir, &info_dir))
		return errno == ENOENT || errno == ESRCH ? -1 : -2;
	dir = fdopendir(fd_dir);
	for (int i = 0; dir != NULL && found < 0 && i < DESCRIPTORS_MOST; i++) {
		entry = readdir(dir);
		if (entry == NULL)
			break;
		if (parse_whole_u64(entry->d_name, 0, INT_MAX, &fd) &&
		    check_descriptor(query, dirfd(dir), info_dir, entry->d_name) == FILE_LOCK_HELD)
			found = (int)fd;
	}
	if (dir != NULL)
		closedir(dir);
	else
		close(fd_dir);
	close(info_dir);
	return found;
}
