/* SPDX-License-Identifier: MIT */
/*
 * wait_glibc.c - recognises glibc's locks by the structure around the word of the futex.
 *
 * Layouts: sysdeps/nptl/bits/thread-shared-types.h, struct_mutex.h, struct_rwlock.h and
 * internaltypes.h of glibc 2.36 and 2.43, x86-64 and aarch64. The futex operations of each lock
 * were measured with those two versions, see tests/live/targets/waits.c.
 */
#include <linux/futex.h>

#include "wait/wait_internal.h"

/* Bits of __kind of a mutex. */
#define KIND_TYPE 3u
#define KIND_ROBUST 0x10u
#define KIND_PI 0x20u
#define KIND_CEILING 0x40u
#define KIND_ELISION 0x300u /* PTHREAD_MUTEX_ELISION_NP and PTHREAD_MUTEX_NO_ELISION_NP */

#define MUTEX_USERS 12 /* offset of __nusers */
#define MUTEX_SIZE 40
#define STDIO_COUNT 4    /* offset in _IO_lock_t of the recursion count */
#define WAITED_FOR 2u    /* value of the futex word of a lock with waiters */
#define CEILING_SHIFT 19 /* PTHREAD_MUTEX_PRIO_CEILING_SHIFT: higher bits hold the ceiling */
/* Flags in __readers of a rwlock. */
#define WRITE_LOCKED 2u
#define READERS_WAIT 4u

/*
 * Returns true when the system call can come from a library function that has a variant with a
 * deadline, such as pthread_rwlock_rdlock. Such functions use FUTEX_WAIT_BITSET. Without a deadline
 * they set the flag FUTEX_CLOCK_REALTIME, because they pass CLOCK_REALTIME as the clock. Before
 * glibc 2.32 some used FUTEX_WAIT when there was no deadline.
 */
static bool
can_be_timed_function(const struct futex_wait *wait)
{
	return wait->command == FUTEX_WAIT ? !wait->timed : wait->timed || wait->realtime;
}

/* --- mutexes -------------------------------------------------------------------------- */

/* Stores the kind of a mutex with these bits of __kind. Returns false when no mutex has them. */
static bool
mutex_kind(uint32_t bits, enum wait_kind *kind)
{
	static const enum wait_kind types[] = { WAIT_MUTEX, WAIT_MUTEX_RECURSIVE,
						WAIT_MUTEX_ERRORCHECK, WAIT_MUTEX };
	const uint32_t known = KIND_TYPE | KIND_ROBUST | KIND_PI | KIND_CEILING |
			       GLIBC_KIND_SHARED | KIND_ELISION;

	if ((bits & ~known) != 0)
		return false;
	*kind = types[bits & KIND_TYPE];
	if (bits & KIND_ROBUST)
		*kind = WAIT_MUTEX_ROBUST;
	if (bits & KIND_PI)
		*kind = WAIT_MUTEX_PI;
	return true;
}

/* Returns true when the futex value that the call expects can be that of a mutex with these bits of
 * __kind. */
static bool
value_is_of_mutex(const struct futex_wait *wait, uint32_t bits)
{
	const uint32_t now = around_u32(wait, 0);

	if (bits & KIND_PI)
		return false;
	if (bits & KIND_ROBUST) /* always shared: the kernel wakes a waiter when the owner ends */
		return wait->shared && (wait->value & FUTEX_WAITERS) != 0 &&
		       (wait->value & FUTEX_TID_MASK) != 0 &&
		       ((bits & GLIBC_KIND_SHARED) != 0 || word_has_owner(wait));
	if (wait->shared != ((bits & GLIBC_KIND_SHARED) != 0))
		return false;
	if (bits & KIND_CEILING)
		return (wait->value & ((1u << CEILING_SHIFT) - 1)) == WAITED_FOR;
	return wait->value == WAITED_FOR && now <= WAITED_FOR;
}

static bool
is_mutex(const struct futex_wait *wait, struct wait *out)
{
	const uint32_t bits = around_u32(wait, GLIBC_MUTEX_KIND);
	const uint32_t count = around_u32(wait, 4);
	const uint32_t owner = around_u32(wait, GLIBC_MUTEX_OWNER);
	const uint32_t users = around_u32(wait, MUTEX_USERS);
	enum wait_kind kind;

	if (wait->timed != (wait->command == FUTEX_WAIT_BITSET) ||
	    !around_has(wait, 0, MUTEX_SIZE) || !mutex_kind(bits, &kind) ||
	    !value_is_of_mutex(wait, bits))
		return false;
	if ((bits & KIND_ROBUST) != 0)
		return lock_found_shared(out, kind, wait->word, (bits & GLIBC_KIND_SHARED) != 0);
	/* Only robust and priority-inheriting mutexes use the list pointers. */
	if (around_u64(wait, 24) != 0 || around_u64(wait, 32) != 0 || owner >= TID_LIMIT)
		return false;
	if ((bits & KIND_TYPE) != 1 && count != 0)
		return false;
	/* Memory that is all zero proves nothing: without an owner another member must be set. */
	if (owner == 0 && bits == 0 && users == 0)
		return false;
	if (owner == 0 ? users > TID_LIMIT : !is_count(users))
		return false;
	return lock_found(out, kind, wait->word);
}

void
wait_of_pi(const struct futex_wait *wait, struct wait *out)
{
	const uint32_t bits = around_u32(wait, GLIBC_MUTEX_KIND);
	const uint32_t type = around_u32(wait, -MUSL_MUTEX_LOCK);
	enum wait_kind kind;

	/* The kernel, not the C library, defines that the futex word holds the owner's tid. */
	lock_found(out, WAIT_MUTEX_PI, wait->word);
	out->layout = LAYOUT_GLIBC;
	if (around_has(wait, 0, MUTEX_SIZE) && mutex_kind(bits, &kind) && kind == WAIT_MUTEX_PI) {
		out->shared = (bits & GLIBC_KIND_SHARED) != 0;
		return;
	}
	if (around_has(wait, -MUSL_MUTEX_LOCK, 0) && (type & MUSL_TYPE_PI) != 0 &&
	    (type & ~(MUSL_TYPE_PI | MUSL_TYPE_ROBUST | MUSL_TYPE_SHARED | 3u)) == 0) {
		out->object = wait->word - MUSL_MUTEX_LOCK;
		out->layout = LAYOUT_MUSL;
		out->shared = (type & MUSL_TYPE_SHARED) != 0;
	}
}

/* --- the lock of a FILE ----------------------------------------------------------------- */

/*
 * Offsets in struct pthread. The tid is behind a header and a list entry of 16 bytes. On x86-64 the
 * header is tcbhead_t, 704 bytes, and the tid is at 720 (glibc 2.36 and 2.43); on aarch64 it is 24
 * pointers, and the tid is at 208 (2.36). The symbol _thread_db_pthread_tid of glibc has the offset
 * of the tid.
 */
static const struct thread_layout {
	uint64_t tid;
	uint64_t
		self; /* offset of the pointer to the structure itself; 0: it has no such pointer */
} thread_layouts[] = {
	{ 720, 16 },
	{ 208, 0 },
};

bool
glibc_thread_at(const struct wait_source *source, uint64_t address, pid_t *tid)
{
	const struct memory *memory = &source->memory;

	if (address == 0 || address % 16 != 0 || address > UINT64_MAX - TID_LIMIT)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(thread_layouts); i++) {
		const struct thread_layout *layout = &thread_layouts[i];
		uint64_t self = 0;
		uint32_t inner;

		if (layout->self != 0 &&
		    (!memory_read(memory, address + layout->self, &self, sizeof(self)) ||
		     self != address))
			continue;
		if (!memory_read(memory, address + layout->tid, &inner, sizeof(inner)))
			continue;
		*tid = inner < TID_LIMIT ? (pid_t)inner : 0;
		if (layout->self != 0 || (*tid != 0 && source->thread(source->context, *tid) != 0))
			return true;
	}
	return false;
}

static bool
is_stdio(const struct futex_wait *wait, struct wait *out)
{
	pid_t tid;

	return wait->command == FUTEX_WAIT && wait->value == WAITED_FOR && !wait->shared &&
	       around_has(wait, 0, 16) && around_u32(wait, STDIO_COUNT) < TID_LIMIT &&
	       glibc_thread_at(wait->source, around_u64(wait, GLIBC_STDIO_OWNER), &tid) &&
	       lock_found(out, WAIT_STDIO, wait->word);
}

/* --- rwlocks -------------------------------------------------------------------------- */

#define RWLOCK_USED                                                                                \
	2u /* PTHREAD_RWLOCK_FUTEX_USED: set in a futex word of a rwlock that has waiters */
#define RWLOCK_PHASE 8
#define RWLOCK_WRITERS 12

/* Returns true when a pthread_rwlock_t may begin `base` bytes from the futex word. */
static bool
rwlock_at(const struct futex_wait *wait, int base)
{
	return (wait->word + (uint64_t)(int64_t)base) % 8 == 0 &&
	       around_has(wait, base, base + 52) && around_u32(wait, base + RWLOCK_PHASE) <= 3 &&
	       around_u32(wait, base + RWLOCK_WRITERS) <= 3 && around_u64(wait, base + 16) == 0 &&
	       around_u32(wait, base + GLIBC_RWLOCK_WRITER) < TID_LIMIT &&
	       around_u32(wait, base + GLIBC_RWLOCK_SHARED) == wait->shared &&
	       around_u32(wait, base + 48) <=
		       2; /* __flags: 0 to 2, whether readers or writers take precedence */
}

static bool
is_rwlock(const struct futex_wait *wait, struct wait *out)
{
	const uint32_t both = GLIBC_RWLOCK_WRITE_PHASE | WRITE_LOCKED;
	const uint32_t held = wait->value >> GLIBC_RWLOCK_SHIFT;
	uint32_t readers;

	if (!can_be_timed_function(wait))
		return false;
	/* Two kinds of threads wait on __wrphase_futex: readers until the read phase begins, and
	 * the first writer until the write phase begins. */
	if (rwlock_at(wait, -RWLOCK_PHASE)) {
		readers = around_u32(wait, -RWLOCK_PHASE);
		if (wait->value == (1 | RWLOCK_USED) && (readers & both) == both &&
		    is_count(readers >> GLIBC_RWLOCK_SHIFT))
			return lock_found(out, WAIT_RWLOCK_READ, wait->word - RWLOCK_PHASE);
		if (wait->value == RWLOCK_USED && (readers & WRITE_LOCKED) != 0 &&
		    is_count(readers >> GLIBC_RWLOCK_SHIFT))
			return lock_found(out, WAIT_RWLOCK_WRITE, wait->word - RWLOCK_PHASE);
	}
	/* All writers but the first wait on __writers_futex. */
	if (rwlock_at(wait, -RWLOCK_WRITERS) && wait->value == (1 | RWLOCK_USED) &&
	    (around_u32(wait, -RWLOCK_WRITERS) & WRITE_LOCKED) != 0)
		return lock_found(out, WAIT_RWLOCK_WRITE, wait->word - RWLOCK_WRITERS);
	/* Readers that give precedence to a writer wait on __readers. */
	if (rwlock_at(wait, 0) && around_u32(wait, 48) == 2 && is_count(held) &&
	    (wait->value & both) == WRITE_LOCKED && (wait->value & READERS_WAIT) != 0)
		return lock_found(out, WAIT_RWLOCK_READ, wait->word);
	return false;
}

/* --- condition variables and semaphores ----------------------------------------------- */

/* Offsets in pthread_cond_t; -1: this version of glibc has no such member. */
static const struct condition_layout {
	/* __g_refs: for each of the two groups, number of threads that use its futex word << 1; the
	 * lowest bit is a flag */
	int references;
	int size;    /* __g1_orig_size: number of waiters << 2; the lowest two bits are a lock */
	int waiters; /* __wrefs: number of waiters << 3; the lowest three bits are flags */
	int signals; /* __g_signals: the futex words of both groups */
	int zeros;   /* 8 bytes that are always 0 */
} condition_layouts[] = {
	{ 16, 32, 36, 40, -1 }, /* glibc 2.25 to 2.40 */
	{ -1, 24, 28, 32, 40 }, /* glibc 2.41 and later */
};

#define CONDITION_SIZE 48
#define CONDITION_SHARED 1u
#define CONDITION_WAITERS_SHIFT 3

/* Returns true when a pthread_cond_t may begin `base` bytes from the futex word, which would be the
 * word of group 0 or 1. */
static bool
condition_at(const struct futex_wait *wait, const struct condition_layout *layout, int base,
	     int group)
{
	const uint64_t last = around_u64(wait, base) >> 1;
	const uint64_t first = around_u64(wait, base + 8) >> 1;
	const uint32_t size = around_u32(wait, base + layout->size);
	const uint32_t flags = around_u32(wait, base + layout->waiters);
	const uint32_t waiters = flags >> CONDITION_WAITERS_SHIFT;

	if ((wait->word + (uint64_t)(int64_t)base) % 8 != 0 ||
	    !around_has(wait, base, base + CONDITION_SIZE) || !is_count(waiters) ||
	    ((flags & CONDITION_SHARED) != 0) != wait->shared || (size & 3) == 3 || last <= first ||
	    last - first < size >> 2)
		return false;
	if (layout->zeros >= 0)
		return around_u64(wait, base + layout->zeros) == 0;
	const uint32_t own = around_u32(wait, base + layout->references + 4 * group) >> 1;
	const uint32_t other = around_u32(wait, base + layout->references + 4 * (1 - group)) >> 1;
	return wait->value == 0 && own >= 1 && own <= waiters && other <= waiters - own;
}

/* Returns the number of waiters of the condition variable that contains the futex word, and stores
 * its address. Returns 0 when the word is in no condition variable. */
static uint32_t
condition_waiters(const struct futex_wait *wait, uint64_t *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(condition_layouts); i++)
		for (int group = 0; group < 2; group++) {
			const struct condition_layout *layout = &condition_layouts[i];
			const int base = -layout->signals - 4 * group;

			if (!condition_at(wait, layout, base, group))
				continue;
			*object = wait->word + (uint64_t)(int64_t)base;
			return around_u32(wait, base + layout->waiters) >> CONDITION_WAITERS_SHIFT;
		}
	return 0;
}

/* Returns the number of waiters of the semaphore that contains the futex word; 0: the word is in no
 * semaphore. The number is the upper half of the semaphore's first eight bytes. */
static uint32_t
semaphore_waiters(const struct futex_wait *wait)
{
	const uint32_t waiters = around_u32(wait, 4);
	/* The member `private` of sem_t has the inverse of the flag that the call passes:
	 * FUTEX_PRIVATE_FLAG means "shared". */
	const uint32_t shared = wait->shared ? FUTEX_PRIVATE_FLAG : 0;

	if (wait->word % 8 != 0 || wait->value != 0 || !around_has(wait, 0, 12) ||
	    around_u32(wait, 0) != 0 || !is_count(waiters) || around_u32(wait, 8) != shared)
		return 0;
	return waiters;
}

static bool
is_condition_or_semaphore(const struct futex_wait *wait, struct wait *out)
{
	const struct wait_source *source = wait->source;
	uint64_t condition = 0;
	uint32_t of_condition, of_semaphore;

	if (!can_be_timed_function(wait))
		return false;
	of_condition = condition_waiters(wait, &condition);
	of_semaphore = semaphore_waiters(wait);
	if (of_condition == 0 && of_semaphore == 0)
		return false;
	if (of_condition != 0 && of_semaphore != 0) {
		const size_t here = source->blocked(source->context, wait->word);
		const size_t beside = source->blocked(source->context, wait->word + 4);

		if (here == of_semaphore || here + beside != of_condition)
			of_condition = 0;
	}
	if (of_condition != 0)
		return lock_found(out, WAIT_CONDITION, condition);
	return lock_found(out, WAIT_SEMAPHORE, wait->word);
}

/* --- barriers, ends of threads, and C++'s static variables ------------------------------- */

static bool
is_barrier(const struct futex_wait *wait, struct wait *out)
{
	/* Members of pthread_barrier_t: in, current_round (the futex word), count, shared, out. */
	const uint32_t entered = around_u32(wait, -4) - wait->value;
	const uint32_t count = around_u32(wait, 4);
	const uint32_t shared = wait->shared ? FUTEX_PRIVATE_FLAG : 0;
	size_t blocked;

	if (wait->command != FUTEX_WAIT || wait->timed || !around_has(wait, -4, 16) ||
	    around_u32(wait, 0) != wait->value || count < 2 || !is_count(count) ||
	    around_u32(wait, 8) != shared)
		return false;
	/* Each round advances current_round by the count of threads. Only threads of earlier rounds
	 * have left the barrier. */
	if (wait->value % count != 0 || entered < 1 || entered >= count ||
	    around_u32(wait, 12) > wait->value)
		return false;
	blocked = wait->source->blocked(wait->source->context, wait->word);
	return blocked <= entered && lock_found(out, WAIT_BARRIER, wait->word - 4);
}

/* pthread_join of glibc 2.36 waits on the tid of struct pthread. When the thread exits, the kernel
 * clears the tid and wakes the waiter (CLONE_CHILD_CLEARTID). */
static bool
is_join(const struct futex_wait *wait, struct wait *out)
{
	return can_be_timed_function(wait) && wait->shared && wait->value != 0 &&
	       wait->value < TID_LIMIT && around_u32(wait, 0) == wait->value &&
	       wait->source->thread(wait->source->context, (pid_t)wait->value) != 0 &&
	       lock_found_shared(out, WAIT_JOIN, wait->word, false);
}

/*
 * pthread_join of glibc 2.43 sleeps on the state word of struct pthread, whose distance from the
 * tid varies. The structure is found by the pointer to itself that it has on x86-64.
 */
#define STATE_EXITING 1
#define STATE_JOINABLE 2
#define STATE_BEHIND_MOST 2048 /* largest offset of the state in struct pthread; 1576 in 2.43 */
#define THREAD_ALIGNMENT 64

static bool
is_join_by_state(const struct futex_wait *wait, struct wait *out)
{
	const struct memory *memory = &wait->source->memory;
	const struct thread_layout *layout = &thread_layouts[0];
	unsigned char bytes[STATE_BEHIND_MOST];
	const uint64_t start = (wait->word - sizeof(bytes)) & ~(uint64_t)(THREAD_ALIGNMENT - 1);

	if (!can_be_timed_function(wait) || !wait->shared ||
	    (wait->value != STATE_EXITING && wait->value != STATE_JOINABLE) ||
	    around_u32(wait, 0) != wait->value || !memory_read(memory, start, bytes, sizeof(bytes)))
		return false;
	for (size_t at = 0; at < sizeof(bytes); at += THREAD_ALIGNMENT)
		if (bytes_u64(bytes + at) == start + at &&
		    bytes_u64(bytes + at + layout->self) == start + at)
			return lock_found_shared(out, WAIT_JOIN, start + at + layout->tid, false);
	return false;
}

/* Value of libstdc++'s guard of a static variable (__cxa_guard_acquire) that one thread initialises
 * and another waits for: the byte "pending" and the byte "waiters" are 1. */
#define GUARD_PENDING_AND_WAITED_FOR 0x10100u

static bool
is_guard(const struct futex_wait *wait, struct wait *out)
{
	return wait->command == FUTEX_WAIT && wait->shared && !wait->timed && wait->word % 8 == 0 &&
	       wait->value == GUARD_PENDING_AND_WAITED_FOR && around_u32(wait, 0) == wait->value &&
	       lock_found_shared(out, WAIT_ONCE, wait->word, false);
}

bool
wait_of_glibc(const struct futex_wait *wait, struct wait *out)
{
	/* The structures with the most distinctive contents are tried first. */
	return is_mutex(wait, out) || is_stdio(wait, out) || is_rwlock(wait, out) ||
	       is_condition_or_semaphore(wait, out) || is_join_by_state(wait, out) ||
	       is_join(wait, out) || is_guard(wait, out) || is_barrier(wait, out);
}
