/* SPDX-License-Identifier: MIT */
/* wait_owner.c - reads the owner of a lock from the lock. */
#include <linux/futex.h>

#include "wait/wait_internal.h"

static bool
read_at(const struct wait_source *source, uint64_t address, unsigned char *to, size_t size)
{
	return address != 0 && memory_read(&source->memory, address, to, size);
}

/* Sets the holder to thread `inner`; of another process, perhaps, if the lock is `shared`. */
static void
hold(const struct wait_source *source, uint32_t inner, bool shared, struct wait_owner *out)
{
	pid_t tid = 0;

	if (inner == 0)
		return;
	if (inner < TID_LIMIT)
		tid = source->thread(source->context, (pid_t)inner);
	if (tid != 0) {
		out->holder = HOLDER_THREAD;
		out->tid = tid;
	} else if (shared) {
		out->holder = HOLDER_FOREIGN;
	} else if (inner < TID_LIMIT) {
		out->holder = HOLDER_GONE;
		out->tid = (pid_t)inner;
	}
}

/* The same from a word of a robust or PI futex, with the kernel's bits. */
static void
hold_robust(const struct wait_source *source, uint32_t word, bool shared, struct wait_owner *out)
{
	if ((word & FUTEX_OWNER_DIED) == 0) {
		hold(source, word & FUTEX_TID_MASK, shared, out);
		return;
	}
	out->holder = HOLDER_GONE;
	out->tid = (pid_t)(word & FUTEX_TID_MASK);
}

static void
owner_of_glibc_mutex(const struct wait_source *source, const struct wait *wait,
		     struct wait_owner *out)
{
	unsigned char bytes[GLIBC_MUTEX_KIND + 4];

	if (!read_at(source, wait->object, bytes, sizeof(bytes)))
		return;
	const uint32_t word = bytes_u32(bytes);
	const bool shared = (bytes_u32(bytes + GLIBC_MUTEX_KIND) & GLIBC_KIND_SHARED) != 0;
	if (wait->kind == WAIT_MUTEX_ROBUST || wait->kind == WAIT_MUTEX_PI)
		hold_robust(source, word, shared, out);
	else
		hold(source, bytes_u32(bytes + GLIBC_MUTEX_OWNER), shared, out);
}

static void
owner_of_musl_mutex(const struct wait_source *source, const struct wait *wait,
		    struct wait_owner *out)
{
	unsigned char bytes[MUSL_MUTEX_LOCK + 4];

	if (!read_at(source, wait->object, bytes, sizeof(bytes)))
		return;
	const uint32_t word = bytes_u32(bytes + MUSL_MUTEX_LOCK);
	if (wait->kind == WAIT_MUTEX)
		out->holder = (word & FUTEX_TID_MASK) != 0 ? HOLDER_UNTOLD : HOLDER_NOBODY;
	else
		hold_robust(source, word, (bytes_u32(bytes) & MUSL_TYPE_SHARED) != 0, out);
}

static void
owner_of_mutex(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	if (wait->layout == LAYOUT_GLIBC)
		owner_of_glibc_mutex(source, wait, out);
	else if (wait->layout == LAYOUT_MUSL)
		owner_of_musl_mutex(source, wait, out);
}

static void
hold_readers(uint32_t readers, struct wait_owner *out)
{
	if (readers == 0 || readers > TID_LIMIT)
		return;
	out->holder = HOLDER_READERS;
	out->readers = readers;
}

static void
owner_of_rwlock(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	unsigned char bytes[GLIBC_RWLOCK_SHARED + 4];
	const size_t size = wait->layout == LAYOUT_GLIBC ? sizeof(bytes) : 4;

	if (wait->layout == LAYOUT_NONE || !read_at(source, wait->object, bytes, size))
		return;
	const uint32_t first = bytes_u32(bytes);
	if (wait->layout == LAYOUT_MUSL) {
		if ((first & MUSL_WRITER) == MUSL_WRITER)
			out->holder = HOLDER_UNTOLD;
		else
			hold_readers(first & MUSL_WRITER, out);
		return;
	}
	const uint32_t writer = bytes_u32(bytes + GLIBC_RWLOCK_WRITER);
	if (writer != 0)
		hold(source, writer, bytes_u32(bytes + GLIBC_RWLOCK_SHARED) != 0, out);
	else if ((first & GLIBC_RWLOCK_WRITE_PHASE) == 0)
		hold_readers(first >> GLIBC_RWLOCK_SHIFT, out);
}

static void
owner_of_stdio(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	unsigned char bytes[GLIBC_STDIO_OWNER + 8];
	const size_t size = wait->layout == LAYOUT_GLIBC ? sizeof(bytes) : 4;
	pid_t inner;

	if (wait->layout == LAYOUT_NONE || !read_at(source, wait->object, bytes, size))
		return;
	if (wait->layout == LAYOUT_MUSL) {
		hold(source, bytes_u32(bytes) & FUTEX_TID_MASK, false, out);
		return;
	}
	const uint64_t owner = bytes_u64(bytes + GLIBC_STDIO_OWNER);
	if (!glibc_thread_at(source, owner, &inner))
		return;
	if (inner == 0) /* the kernel clears it when the thread exits */
		out->holder = HOLDER_GONE;
	else
		hold(source, (uint32_t)inner, false, out);
}

static void
owner_of_join(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	unsigned char bytes[4];

	if (wait->layout == LAYOUT_NONE || !read_at(source, wait->object, bytes, sizeof(bytes)))
		return;
	if (bytes_u32(bytes) == 0)
		out->holder = HOLDER_GONE;
	else
		hold(source, bytes_u32(bytes), false, out);
}

static void
owner_of_runtime(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	if (source->runtime_owner == NULL)
		return;
	out->tid = source->runtime_owner(source->context, wait->object);
	if (out->tid > 0)
		out->holder = HOLDER_THREAD;
}

void
wait_owner(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	*out = (struct wait_owner){ .holder = HOLDER_NOBODY };
	switch (wait->kind) {
	case WAIT_MUTEX:
	case WAIT_MUTEX_RECURSIVE:
	case WAIT_MUTEX_ERRORCHECK:
	case WAIT_MUTEX_ROBUST:
	case WAIT_MUTEX_PI:
		owner_of_mutex(source, wait, out);
		break;
	case WAIT_RWLOCK_READ:
	case WAIT_RWLOCK_WRITE:
		owner_of_rwlock(source, wait, out);
		break;
	case WAIT_STDIO:
		owner_of_stdio(source, wait, out);
		break;
	case WAIT_JOIN:
		owner_of_join(source, wait, out);
		break;
	case WAIT_GIL:
		owner_of_runtime(source, wait, out);
		break;
	default:
		break;
	}
}
