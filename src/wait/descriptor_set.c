/* SPDX-License-Identifier: MIT */
/* descriptor_set.c - the descriptors of one target: their kinds, and the data to describe them. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wait/descriptor_internal.h"

/* --- one target -------------------------------------------------------------------- */

static void
open_folders(struct descriptors *descriptors)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

	if (descriptors->fd_dir >= 0)
		close(descriptors->fd_dir);
	if (descriptors->info_dir >= 0)
		close(descriptors->info_dir);
	descriptors->fd_dir = process_open_file(descriptors->process, "fd", flags);
	descriptors->info_dir = process_open_file(descriptors->process, "fdinfo", flags);
}

static bool
shares_network(const struct process *process)
{
	struct stat ours, theirs;

	return stat("/proc/self/ns/net", &ours) == 0 &&
	       fstatat(process->dirfd, "ns/net", &theirs, 0) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

struct descriptors *
descriptors_create(const struct process *process, struct endpoints *endpoints)
{
	struct descriptors *descriptors = xcalloc(1, sizeof(*descriptors));

	descriptors->process = process;
	descriptors->endpoints = endpoints;
	descriptors->fd_dir = -1;
	descriptors->info_dir = -1;
	descriptors->diag = -1;
	descriptors->same_network = shares_network(process);
	descriptors->ids = strings_create();
	open_folders(descriptors);
	return descriptors;
}

void
descriptors_forget_known(struct descriptors *descriptors)
{
	for (size_t i = 0; i < strings_count(descriptors->ids); i++) {
		free(descriptors->known[i].end[0].text);
		free(descriptors->known[i].end[1].text);
	}
	strings_free(descriptors->ids);
	descriptors->ids = NULL;
}

void
descriptors_free(struct descriptors *descriptors)
{
	if (descriptors == NULL)
		return;
	descriptors_forget_known(descriptors);
	servers_release(&descriptors->servers);
	free(descriptors->known);
	if (descriptors->fd_dir >= 0)
		close(descriptors->fd_dir);
	if (descriptors->info_dir >= 0)
		close(descriptors->info_dir);
	if (descriptors->diag >= 0)
		close(descriptors->diag);
	free(descriptors);
}

/* --- kinds --------------------------------------------------------------------------- */

bool
text_begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Returns true for consoles, /dev/tty and pseudo terminals, by their major numbers (Linux's
 * admin-guide/devices.txt) or the beginning of their path. */
static bool
is_terminal(const char *link, const struct statx *st)
{
	return st->stx_rdev_major == 4 || st->stx_rdev_major == 5 ||
	       (st->stx_rdev_major >= 136 && st->stx_rdev_major <= 143) ||
	       text_begins(link, "/dev/tty") || text_begins(link, "/dev/hvc");
}

/*
 * Returns the kind of a descriptor with a path. Reads only attributes that the kernel has cached
 * (AT_STATX_DONT_SYNC), because a file server that does not answer must not block wallsample.
 */
static enum descriptor_kind
kind_of_path(const struct descriptors *descriptors, const char *name, const char *link)
{
	struct statx st;

	if (statx(descriptors->fd_dir, name, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE,
		  &st) != 0)
		return DESCRIPTOR_FILE;
	switch (st.stx_mode & S_IFMT) {
	case S_IFDIR:
		return DESCRIPTOR_DIRECTORY;
	case S_IFIFO:
		return DESCRIPTOR_PIPE;
	case S_IFCHR:
		return is_terminal(link, &st) ? DESCRIPTOR_TERMINAL : DESCRIPTOR_DEVICE;
	case S_IFBLK:
		return DESCRIPTOR_DEVICE;
	default:
		return DESCRIPTOR_FILE;
	}
}

static enum descriptor_kind
kind_of_link(const struct descriptors *descriptors, const char *name, const char *link)
{
	static const struct {
		const char *link;
		enum descriptor_kind kind;
	} kinds[] = {
		{ "pipe:[", DESCRIPTOR_PIPE },
		{ "socket:[", DESCRIPTOR_SOCKET },
		{ "anon_inode:[eventpoll]", DESCRIPTOR_EPOLL },
		{ "anon_inode:[eventfd]", DESCRIPTOR_EVENTFD },
		{ "anon_inode:[timerfd]", DESCRIPTOR_TIMERFD },
		{ "anon_inode:[signalfd]", DESCRIPTOR_SIGNALFD },
		{ "anon_inode:inotify", DESCRIPTOR_INOTIFY },
		{ "anon_inode:[io_uring]", DESCRIPTOR_IO_URING },
	};

	if (link[0] == '/')
		return kind_of_path(descriptors, name, link);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text_begins(link, kinds[i].link))
			return kinds[i].kind;
	return DESCRIPTOR_OTHER;
}

/* Copies the text of the link into `link`, an array of LINK_SIZE bytes. Returns false when the
 * descriptor is not open, or the link may not be read. */
static bool
read_link(struct descriptors *descriptors, const char *name, char *link)
{
	ssize_t length;

	for (int attempt = 0; attempt < 2; attempt++) {
		/* The open directories are those of one thread, which may have ended before the
		 * others: they are opened again, for a living thread. */
		if (attempt > 0)
			open_folders(descriptors);
		if (descriptors->fd_dir < 0)
			continue;
		length = readlinkat(descriptors->fd_dir, name, link, LINK_SIZE - 1);
		if (length > 0) {
			link[length] = '\0';
			return true;
		}
	}
	link[0] = '\0';
	return false;
}

enum descriptor_kind
descriptor_read(struct descriptors *descriptors, int fd, char *link)
{
	char name[16];

	link[0] = '\0';
	snprintf(name, sizeof(name), "%d", fd);
	if (fd < 0 || !read_link(descriptors, name, link))
		return DESCRIPTOR_GONE;
	return kind_of_link(descriptors, name, link);
}

enum descriptor_kind
descriptor_look(struct descriptors *descriptors, int fd, const char **id)
{
	*id = descriptors->id;
	return descriptor_read(descriptors, fd, descriptors->id);
}
