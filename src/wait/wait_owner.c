/* SPDX-License-Identifier: MIT */
/* wait_owner.c - reads the owner of a lock from the memory of the lock. */
#include <linux/futex.h>

#include "wait/wait_internal.h"

/* Sets the holder of a lock that processes share, of which the owner is no thread of the target. */
static void
set_foreign_holder(const struct wait_source *source, pid_t inner, struct wait_owner *out)
{
	const pid_t tid = source->foreign != NULL ? source->foreign(source->context, inner) : -1;

	out->holder = tid == 0 ? HOLDER_GONE : HOLDER_FOREIGN;
	out->tid = tid == 0 ? inner : tid > 0 ? tid : 0;
}

/*
 * Sets the holder to the thread with the id `inner` in the target's pid namespace; with id 0 does
 * nothing. If the lock is process-shared (`shared`), an id that no live thread of the target has
 * may be that of a thread of another process.
 */
static void
set_holder(const struct wait_source *source, uint32_t inner, bool shared, struct wait_owner *out)
{
	pid_t tid = 0;

	if (inner == 0)
		return;
	out->shared = shared;
	if (inner < TID_LIMIT)
		tid = source->thread(source->context, (pid_t)inner);
	if (tid != 0) {
		out->holder = HOLDER_THREAD;
		out->tid = tid;
	} else if (inner < TID_LIMIT && shared) {
		set_foreign_holder(source, (pid_t)inner, out);
	} else if (shared) {
		out->holder = HOLDER_FOREIGN;
	} else if (inner < TID_LIMIT) {
		out->holder = HOLDER_GONE;
		out->tid = (pid_t)inner;
	}
}

/* Sets the holder from the word of a robust or PI futex: the owner's tid, and the kernel's bits
 * FUTEX_OWNER_DIED and FUTEX_WAITERS. */
static void
set_robust_holder(const struct wait_source *source, uint32_t word, bool shared,
		  struct wait_owner *out)
{
	if ((word & FUTEX_OWNER_DIED) == 0) {
		set_holder(source, word & FUTEX_TID_MASK, shared, out);
		return;
	}
	out->holder = HOLDER_GONE;
	out->tid = (pid_t)(word & FUTEX_TID_MASK);
	out->shared = shared;
}

static void
set_readers(uint32_t readers, struct wait_owner *out)
{
	if (!is_count(readers))
		return;
	out->holder = HOLDER_READERS;
	out->readers = readers;
}

/* --- one function for each kind of lock and C library ------------------------------------ */

static void
owner_of_glibc_mutex(const struct wait_source *source, enum wait_kind kind,
		     const unsigned char *bytes, struct wait_owner *out)
{
	const bool shared = (bytes_u32(bytes + GLIBC_MUTEX_KIND) & GLIBC_KIND_SHARED) != 0;

	if (kind == WAIT_MUTEX_ROBUST || kind == WAIT_MUTEX_PI)
		set_robust_holder(source, bytes_u32(bytes), shared, out);
	else
		set_holder(source, bytes_u32(bytes + GLIBC_MUTEX_OWNER), shared, out);
}

static void
owner_of_musl_mutex(const struct wait_source *source, enum wait_kind kind,
		    const unsigned char *bytes, struct wait_owner *out)
{
	const uint32_t word = bytes_u32(bytes + MUSL_MUTEX_LOCK);

	if (kind == WAIT_MUTEX)
		out->holder = (word & FUTEX_TID_MASK) != 0 ? HOLDER_UNRECORDED : HOLDER_NONE;
	else
		set_robust_holder(source, word, (bytes_u32(bytes) & MUSL_TYPE_SHARED) != 0, out);
}

static void
owner_of_glibc_rwlock(const struct wait_source *source, enum wait_kind kind,
		      const unsigned char *bytes, struct wait_owner *out)
{
	const uint32_t readers = bytes_u32(bytes), writer = bytes_u32(bytes + GLIBC_RWLOCK_WRITER);

	(void)kind;
	if (writer != 0)
		set_holder(source, writer, bytes_u32(bytes + GLIBC_RWLOCK_SHARED) != 0, out);
	else if ((readers & GLIBC_RWLOCK_WRITE_PHASE) == 0)
		set_readers(readers >> GLIBC_RWLOCK_SHIFT, out);
}

static void
owner_of_musl_rwlock(const struct wait_source *source, enum wait_kind kind,
		     const unsigned char *bytes, struct wait_owner *out)
{
	const uint32_t holds = bytes_u32(bytes) & MUSL_WRITER;

	(void)source;
	(void)kind;
	if (holds == MUSL_WRITER)
		out->holder = HOLDER_UNRECORDED;
	else
		set_readers(holds, out);
}

static void
owner_of_glibc_stdio(const struct wait_source *source, enum wait_kind kind,
		     const unsigned char *bytes, struct wait_owner *out)
{
	pid_t inner;

	(void)kind;
	if (!glibc_thread_at(source, bytes_u64(bytes + GLIBC_STDIO_OWNER), &inner))
		return;
	if (inner == 0) /* the thread has exited: the kernel has cleared its tid */
		out->holder = HOLDER_GONE;
	else
		set_holder(source, (uint32_t)inner, false, out);
}

static void
owner_of_musl_stdio(const struct wait_source *source, enum wait_kind kind,
		    const unsigned char *bytes, struct wait_owner *out)
{
	(void)kind;
	set_holder(source, bytes_u32(bytes) & FUTEX_TID_MASK, false, out);
}

/* Finds the thread that pthread_join waits for. The object is the word with that thread's id, which
 * the kernel clears when the thread exits. */
static void
owner_of_join(const struct wait_source *source, enum wait_kind kind, const unsigned char *bytes,
	      struct wait_owner *out)
{
	(void)kind;
	if (bytes_u32(bytes) == 0)
		out->holder = HOLDER_GONE;
	else
		set_holder(source, bytes_u32(bytes), false, out);
}

#define LOCK_BYTES_MOST 32

static const struct {
	enum wait_kind first, last;
	enum wait_layout layout;
	size_t size; /* number of bytes to read at the object's address, at most LOCK_BYTES_MOST */
	void (*find)(const struct wait_source *source, enum wait_kind kind,
		     const unsigned char *bytes, struct wait_owner *out);
} rows[] = {
	{ WAIT_MUTEX, WAIT_MUTEX_PI, LAYOUT_GLIBC, GLIBC_MUTEX_KIND + 4, owner_of_glibc_mutex },
	{ WAIT_MUTEX, WAIT_MUTEX_PI, LAYOUT_MUSL, MUSL_MUTEX_LOCK + 4, owner_of_musl_mutex },
	{ WAIT_RWLOCK_READ, WAIT_RWLOCK_WRITE, LAYOUT_GLIBC, GLIBC_RWLOCK_SHARED + 4,
	  owner_of_glibc_rwlock },
	{ WAIT_RWLOCK_READ, WAIT_RWLOCK_WRITE, LAYOUT_MUSL, 4, owner_of_musl_rwlock },
	{ WAIT_STDIO, WAIT_STDIO, LAYOUT_GLIBC, GLIBC_STDIO_OWNER + 8, owner_of_glibc_stdio },
	{ WAIT_STDIO, WAIT_STDIO, LAYOUT_MUSL, 4, owner_of_musl_stdio },
	{ WAIT_JOIN, WAIT_JOIN, LAYOUT_GLIBC, 4, owner_of_join },
	{ WAIT_JOIN, WAIT_JOIN, LAYOUT_MUSL, 4, owner_of_join },
};

static void
owner_of_parked(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	if (wait->owner == 0 || source->parked_owner == NULL) {
		out->holder = HOLDER_UNRECORDED;
		return;
	}
	out->tid = source->parked_owner(source->context, wait->owner);
	if (out->tid > 0)
		out->holder = HOLDER_THREAD;
}

void
wait_owner(const struct wait_source *source, const struct wait *wait, struct wait_owner *out)
{
	unsigned char bytes[LOCK_BYTES_MOST];

	*out = (struct wait_owner){ .holder = HOLDER_NONE };
	if (wait->kind == WAIT_GIL && source->runtime_owner != NULL) {
		out->tid = source->runtime_owner(source->context, wait->object);
		if (out->tid > 0)
			out->holder = HOLDER_THREAD;
	}
	if (wait->layout == LAYOUT_PARKED)
		owner_of_parked(source, wait, out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].first <= wait->kind && wait->kind <= rows[i].last &&
		    rows[i].layout == wait->layout && wait->object != 0 &&
		    memory_read(&source->memory, wait->object, bytes, rows[i].size))
			rows[i].find(source, wait->kind, bytes, out);
}
