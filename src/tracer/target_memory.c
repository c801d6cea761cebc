/* SPDX-License-Identifier: MIT */
/* target_memory.c - reads resident pages, if necessary by a second process. */
#include "wallsample/tracer/target_memory.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer/slow_reader_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/snapshot.h"

/* Largest number of bytes of mountinfo that are searched. */
#define MOUNTS_MOST ((size_t)1 << 20)

/* Returns true when a line of mountinfo is that of a file system in user space, of the type fuse,
 * fuseblk or fuse.NAME, which this user has mounted. The type stands behind " - ", and the options
 * of the file system at the end of the line (proc_pid_mountinfo(5)). */
static bool
is_mounted_by(const char *line, uid_t uid)
{
	const char *type = strstr(line, " - fuse");
	const char *user = type != NULL ? strstr(type, "user_id=") : NULL;
	uint64_t number;

	if (user == NULL || strncmp(type, " - fusectl ", 11) == 0)
		return false;
	user += strlen("user_id=");
	return parse_u64(&user, 10, &number) && number == uid;
}

static bool
has_file_system_of(int fd, uid_t uid)
{
	char *text = xmalloc(MOUNTS_MOST + 1), *rest = text, *line;
	const size_t size = file_read_at(fd, 0, text, MOUNTS_MOST);
	bool found = false;

	text[size] = '\0';
	while (!found && (line = strsep(&rest, "\n")) != NULL)
		found = is_mounted_by(line, uid);
	free(text);
	return found;
}

/* True if the user of the process may be hostile, and has mounted a file system that need not
 * answer. */
static bool
may_hang(const struct target_memory *memory)
{
	uid_t uid;

	return process_read_uid(memory->process, &uid) && !user_is_own(uid) &&
	       has_file_system_of(memory->mounts, uid);
}

/* True if the mounts were not read yet, or have changed since. */
static bool
has_new_mounts(struct target_memory *memory)
{
	struct pollfd mounts = { .fd = memory->mounts, .events = POLLPRI };

	if (memory->mounts < 0)
		return false;
	if (!memory->looked) {
		memory->looked = true;
		return true;
	}
	return poll(&mounts, 1, 0) > 0 && (mounts.revents & POLLPRI) != 0;
}

void
target_memory_init(struct target_memory *memory, const struct process *process)
{
	*memory = (struct target_memory){ .process = process };
	resident_init(&memory->resident, process);
	memory->mounts = openat(process->dirfd, "mountinfo", O_RDONLY | O_CLOEXEC);
}

void
target_memory_release(struct target_memory *memory)
{
	resident_release(&memory->resident);
	if (memory->mounts >= 0)
		close(memory->mounts);
	slow_reader_free(memory->slow);
}

void
target_memory_renew(struct target_memory *memory)
{
	resident_renew(&memory->resident);
	if (memory->slow != NULL)
		slow_reader_renew(memory->slow);
	else if (has_new_mounts(memory) && may_hang(memory))
		memory->slow = slow_reader_create();
}

/* A range of RESIDENT_BYTES that was looked up last, and which of its pages are in memory. */
struct window {
	uint64_t start; /* 1: none was looked up */
	uint32_t pages;
};

static bool
is_in_memory(const struct target_memory *memory, struct window *window, uint64_t page)
{
	const uint64_t start = page / RESIDENT_BYTES * RESIDENT_BYTES;

	if (window->start != start) {
		window->start = start;
		window->pages = resident_pages(&memory->resident, start, false);
	}
	return (window->pages >> (page - start) / MEMORY_PAGE & 1) != 0;
}

/* Returns the number of bytes from `address` on, `size` at most, up to the first page that is in
 * memory, or is not: the one that differs from `there`. */
static size_t
run_size(const struct target_memory *memory, struct window *window, uint64_t address, size_t size,
	 bool there)
{
	uint64_t page = address / MEMORY_PAGE * MEMORY_PAGE;

	while (page < address + size && is_in_memory(memory, window, page) == there)
		page += MEMORY_PAGE;
	if (page >= address + size)
		return size;
	return page > address ? (size_t)(page - address) : 0;
}

/* Reads `size` bytes of pages that are in memory. */
static size_t
read_there(const struct target_memory *memory, pid_t tid, uint64_t address, void *to, size_t size)
{
	const struct memory_piece piece = { .address = address, .size = size };

	if (size == 0)
		return 0;
	if (memory->slow != NULL)
		return slow_reader_read(memory->slow, tid, &piece, 1, to);
	return memory_read_process(tid, address, to, size);
}

size_t
target_memory_read(const struct target_memory *memory, pid_t tid, uint64_t address, void *to,
		   size_t size)
{
	struct window window = { .start = 1 };

	if (address + size < address)
		return 0;
	return read_there(memory, tid, address, to, run_size(memory, &window, address, size, true));
}

size_t
target_memory_copy_stack(const struct target_memory *memory, pid_t tid, uint64_t address, void *to,
			 size_t size)
{
	struct window window = { .start = 1 };
	size_t done = 0;
	bool any = false;

	if (address + size < address)
		return 0;
	while (done < size) {
		const size_t hole = run_size(memory, &window, address + done, size - done, false);
		size_t part, got;

		memset((uint8_t *)to + done, SNAPSHOT_ABSENT_BYTE, hole);
		done += hole;
		part = run_size(memory, &window, address + done, size - done, true);
		got = read_there(memory, tid, address + done, (uint8_t *)to + done, part);
		any |= got > 0;
		done += got;
		if (got < part)
			break;
	}
	return any ? done : 0;
}

size_t
target_memory_read_pieces(const struct target_memory *memory, pid_t tid,
			  const struct memory_piece *piece, size_t count, void *to)
{
	size_t whole = 0, size;

	if (memory->slow == NULL)
		return memory_read_pieces(tid, piece, count, to);
	size = slow_reader_read(memory->slow, tid, piece, count, to);
	while (whole < count && size >= piece[whole].size)
		size -= piece[whole++].size;
	return whole;
}
