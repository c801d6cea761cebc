/* SPDX-License-Identifier: MIT */
/* proc_listing.c - lists the processes in /proc, some at a time. readdir(3) would read up to a
 * thousand at once, which takes milliseconds. */
#include "process/process_set_parts_internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Places in struct linux_dirent64 of getdents64(2): d_reclen, 16 bits; d_name. */
#define ENTRY_LENGTH 16
#define ENTRY_NAME 19

void
proc_listing_init(struct proc_listing *listing)
{
	listing->fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	listing->at = listing->filled = 0;
}

void
proc_listing_rewind(struct proc_listing *listing)
{
	if (listing->fd >= 0)
		lseek(listing->fd, 0, SEEK_SET);
	listing->at = listing->filled = 0;
}

/* Reads the next entries. Returns false at the end. */
static bool
listing_fill(struct proc_listing *listing)
{
	const long got = listing->fd < 0 ? -1 :
					   syscall(SYS_getdents64, listing->fd, listing->bytes,
						   sizeof(listing->bytes));

	listing->at = 0;
	listing->filled = got > 0 ? (size_t)got : 0;
	return got > 0;
}

pid_t
proc_listing_next(struct proc_listing *listing)
{
	for (;;) {
		const uint8_t *entry = listing->bytes + listing->at;
		const size_t left = listing->filled - listing->at;
		uint16_t length;
		uint64_t pid;

		if (left <= ENTRY_NAME) {
			if (!listing_fill(listing))
				return 0;
			continue;
		}
		memcpy(&length, entry + ENTRY_LENGTH, sizeof(length));
		if (length <= ENTRY_NAME || length > left ||
		    memchr(entry + ENTRY_NAME, '\0', length - ENTRY_NAME) == NULL)
			return 0;
		listing->at += length;
		if (parse_whole_u64((const char *)entry + ENTRY_NAME, 1, PROCESS_ID_LIMIT - 1,
				    &pid))
			return (pid_t)pid;
	}
}

void
proc_listing_release(struct proc_listing *listing)
{
	if (listing->fd >= 0)
		close(listing->fd);
	listing->fd = -1;
}
