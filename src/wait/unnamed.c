/* SPDX-License-Identifier: MIT */
/* unnamed.c - descriptors of what has no name: told by what it waits for. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wait/descriptor_internal.h"
#include "wait/fdinfo_internal.h"

/*
 * The kernel holds an epoll while it writes down what that watches: 2 us for each, in which the
 * target may have to wait, half a millisecond for so many. A process with more descriptors is not
 * asked.
 */
#define WATCHED_MOST 256
#define STATUS_MOST ((size_t)64 << 10)
/* More than those of such an epoll take. */
#define INFO_MOST ((size_t)1 << 20)
/* So many different ones of them are told. */
#define TOLD_MOST 3

static void
read_info(const struct descriptors *descriptors, int fd, struct fdinfo *info)
{
	char name[16];
	char *text = NULL;

	snprintf(name, sizeof(name), "%d", fd);
	if (descriptors->info_dir >= 0)
		text = file_read_text(descriptors->info_dir, name, INFO_MOST, NULL);
	fdinfo_parse(text != NULL ? text : "", info);
	free(text);
}

/* A number may be another file's than when it was added. What has no name has one inode. */
static bool
is_still(const struct descriptors *descriptors, int fd, uint64_t inode)
{
	struct statx st;
	char name[16];

	snprintf(name, sizeof(name), "%d", fd);
	return statx(descriptors->fd_dir, name, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_INO,
		     &st) == 0 && st.stx_ino == inode;
}

/*
 * "epoll of 5: tcp port 6379, eventfd, pipe from itself, …"; what is called the same, once.
 * Sockets come first: work comes from them, and from the rest mostly wake-ups.
 */
static void
add_epoll(struct descriptors *descriptors, const struct fdinfo *info, struct strbuf *out)
{
	const size_t listed = info->watched < FDINFO_WATCHED ? info->watched : FDINFO_WATCHED;
	struct strings *told = strings_create();
	size_t count = 0;
	struct strbuf part;

	strbuf_init(&part);
	strbuf_add_text(out, "epoll");
	if (info->watched > 0)
		strbuf_add_format(out, " of %zu", info->watched);
	for (size_t n = 0; n < 2 * listed && count < TOLD_MOST; n++) {
		const size_t i = n % listed;
		const int fd = info->first[i].fd;
		char link[LINK_SIZE];
		const enum descriptor_kind kind = descriptor_read(descriptors, fd, link);

		strbuf_clear(&part);
		if (kind == DESCRIPTOR_GONE || (kind == DESCRIPTOR_SOCKET) != (n < listed) ||
		    !is_still(descriptors, fd, info->first[i].inode) ||
		    !descriptor_add(descriptors, fd, link, true, &part) ||
		    strings_intern(told, part.data) < count)
			continue;
		strbuf_add_text(out, count++ == 0 ? ": " : ", ");
		strbuf_add(out, part.data, part.length);
	}
	if (count > 0 && count < info->watched)
		strbuf_add_text(out, ", …");
	strbuf_release(&part);
	strings_free(told);
}

/*
 * For how many there is room in the process's table: at least as many as there are, and more if
 * one has a high number or had.
 */
static uint64_t
read_table_size(const struct descriptors *descriptors)
{
	char *text = file_read_text(descriptors->process->dirfd, "status", STATUS_MOST, NULL);
	const char *at = text != NULL ? strstr(text, "\nFDSize:") : NULL;
	uint64_t size = 0;

	if (at != NULL) {
		at += strlen("\nFDSize:");
		if (!parse_u64(&at, 10, &size))
			size = 0;
	}
	free(text);
	return size;
}

/*
 * Linux 6.2 and later say as the size of the folder how many descriptors there are. What is not
 * known is too many: before 6.2 also those of a process whose first thread has ended.
 */
static bool
has_too_many(const struct descriptors *descriptors)
{
	struct stat st;
	uint64_t count;

	if (fstat(descriptors->fd_dir, &st) == 0 && st.st_size > 0)
		count = (uint64_t)st.st_size;
	else
		count = read_table_size(descriptors);
	return count == 0 || count > WATCHED_MOST;
}

void
unnamed_describe(struct descriptors *descriptors, int fd, enum descriptor_kind kind,
		 struct strbuf *out)
{
	struct fdinfo info;

	if (kind == DESCRIPTOR_EPOLL && has_too_many(descriptors)) {
		strbuf_add_text(out, "epoll");
		return;
	}
	read_info(descriptors, fd, &info);
	switch (kind) {
	case DESCRIPTOR_EVENTFD:
		strbuf_add_text(out, "eventfd");
		break;
	case DESCRIPTOR_TIMERFD:
		fdinfo_add_timer(&info, out);
		break;
	case DESCRIPTOR_SIGNALFD:
		fdinfo_add_signals(&info, out);
		break;
	case DESCRIPTOR_INOTIFY:
		strbuf_add_format(out, "inotify of %zu", info.watches);
		break;
	case DESCRIPTOR_EPOLL:
		add_epoll(descriptors, &info, out);
		break;
	case DESCRIPTOR_IO_URING:
		strbuf_add_text(out, "io_uring");
		break;
	default:
		strbuf_add_text(out, "pidfd");
		if (info.pid > 0) {
			strbuf_add_text(out, " of ");
			holders_add_process((pid_t)info.pid, out);
		}
		break;
	}
}
