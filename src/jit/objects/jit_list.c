/* SPDX-License-Identifier: MIT */
/*
 * jit_list.c - follows a list in another process's memory, which may be anything.
 */
#include "jit/objects/jit_watch_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

_Static_assert(sizeof(struct jit_descriptor) == 24 && sizeof(struct jit_entry) == 32,
	       "as a 64-bit program has them");

static bool
read_by(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	errno = 0; /* a part that was read leaves it as it is */
	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool
jit_read(struct jit_reader *reader, uint64_t address, void *to, size_t size)
{
	size_t capacity = 0, count;
	pid_t *tids = NULL;
	bool read = read_by(reader->tid, address, to, size);

	if (read || errno != ESRCH)
		return read;
	/* A thread that has ended has no memory, though its process lives. */
	count = process_list_threads(reader->process, &tids, &capacity);
	for (size_t i = 0; i < count && !read; i++) {
		read = read_by(tids[i], address, to, size);
		if (read)
			reader->tid = tids[i];
		else if (errno != ESRCH)
			break;
	}
	free(tids);
	return read;
}

bool
jit_list_read(struct jit_reader *reader, uint64_t address, struct jit_descriptor *descriptor)
{
	return jit_read(reader, address, descriptor, sizeof(*descriptor));
}

enum jit_walk
jit_list_walk(struct jit_reader *reader, uint64_t address, const struct jit_descriptor *before,
	      size_t most, struct jit_listed **listed, size_t *capacity, size_t *count)
{
	enum jit_walk result = JIT_WALK_WHOLE;
	struct jit_descriptor after;
	struct jit_entry entry;
	struct table seen;

	*count = 0;
	table_init(&seen);
	for (uint64_t at = before->first; at != 0; at = entry.next) {
		bool added;

		table_insert(&seen, at, 0, 0, &added);
		if (!added || *count == most) {
			result = JIT_WALK_CUT;
			break;
		}
		if (!jit_read(reader, at, &entry, sizeof(entry))) {
			result = JIT_WALK_CUT;
			break;
		}
		*listed = xgrow(*listed, capacity, *count + 1, sizeof(**listed));
		(*listed)[(*count)++] = (struct jit_listed){ .entry = at,
							     .address = entry.address,
							     .size = entry.size };
	}
	table_release(&seen);
	if (!jit_read(reader, address, &after, sizeof(after)) ||
	    memcmp(&after, before, sizeof(after)) != 0)
		return JIT_WALK_CHANGED;
	return result;
}
