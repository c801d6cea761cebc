/* SPDX-License-Identifier: MIT */
/*
 * wait_internal.h - internal interfaces of the files that classify waits: time-outs of calls,
 * memory around the word of a futex, layouts of locks.
 */
#ifndef WALLSAMPLE_WAIT_WAIT_INTERNAL_H
#define WALLSAMPLE_WAIT_WAIT_INTERNAL_H

#include <time.h>

#include "wallsample/base/bytes.h"
#include "wallsample/wait/wait.h"
#include "wallsample/process/process.h"

/* All thread ids are below this number, and no process has more threads. */
#define TID_LIMIT ((uint32_t)PROCESS_ID_LIMIT)

/* Returns true when n can be a number of threads, and is not 0. */
static inline bool
is_count(uint32_t n)
{
	return n >= 1 && n <= TID_LIMIT;
}

/* Returns argument `i` of the call, of type int. */
static inline int
argument_int(const struct wait_call *call, unsigned i)
{
	return (int)(int32_t)(uint32_t)call->args[i];
}

/* --- calls that wait for objects of the kernel: file_lock.c, system_v.c ----------------------- */

/* Set kind and request of a wait in flock(2) or fcntl(2) for a lock of a file. An uninterruptible
 * sleep in such a call is for the file or its server: it has the kind FILE. */
void wait_of_flock(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);
void wait_of_fcntl(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);
/* Set the object of a wait in semop(2), semtimedop(2), msgrcv(2) or msgsnd(2). */
void wait_of_semop(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);
void wait_of_message(const struct wait_source *source, const struct wait_call *call,
		     struct wait *out);

/* --- time ----------------------------------------------------------------------------- */

/* In place of a clock: the time-out is relative to the beginning of the call. */
#define CLOCK_OF_LENGTH ((clockid_t)-1)

/*
 * Sets timed and left_ns from the struct timespec at the address, which is an absolute time of
 * `clock` or, with CLOCK_OF_LENGTH, relative. Does nothing for address 0. If the memory is not
 * readable, or the time of the clock cannot be read (a CPU-time clock), sets only timed.
 */
void wait_until_timespec(const struct wait_source *source, uint64_t address, clockid_t clock,
			 struct wait *out);
/* As wait_until_timespec, for a struct timeval that is relative to the beginning of the call. */
void wait_until_timeval(const struct wait_source *source, uint64_t address, struct wait *out);
/* Sets timed and left_ns from an int argument in milliseconds, relative; below 0: no time-out. */
void wait_until_ms(uint64_t argument, struct wait *out);

/* --- futexes -------------------------------------------------------------------------- */

/* Classifies a call of futex(2): sets object and the time-out and, if the lock is recognised, kind
 * and layout. For a lock of a language runtime sets no time-out. Does nothing for a futex operation
 * that does not sleep. */
void wait_of_futex(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);

/*
 * Number of bytes that are read before a futex word, and from the word on, to recognise the
 * structure that contains it: musl's struct pthread begins 56 bytes before its futex word, and
 * glibc's rwlock, whose first word may be the futex word, has 56 bytes.
 */
#define AROUND_BEFORE 56
#define AROUND_AFTER 56

/* A sleep on a futex, and the memory around its word, from one read. */
struct futex_wait {
	const struct wait_source *source;
	uint64_t word;  /* address of the futex word */
	uint32_t value; /* value of the word that the call expects */
	int command;    /* operation without flags, such as FUTEX_WAIT */
	bool shared;    /* the call has no FUTEX_PRIVATE_FLAG */
	bool realtime;  /* the call has FUTEX_CLOCK_REALTIME */
	bool timed;     /* the call has a time-out */
	uint64_t sp;    /* stack pointer of the thread; 0: unknown */
	uint64_t start; /* address in the target of bytes[0] */
	size_t size;    /* number of valid bytes; 0: the memory cannot be read */
	unsigned char bytes[AROUND_BEFORE + AROUND_AFTER];
};

/* Returns true when the bytes [from, to), relative to the word, were read. */
bool around_has(const struct futex_wait *wait, int from, int to);
/* Return the value at `offset` from the futex word; 0 when these bytes were not read. */
uint32_t around_u32(const struct futex_wait *wait, int offset);
uint64_t around_u64(const struct futex_wait *wait, int offset);

/*
 * Returns true when the low bits of the futex word, now or as the call expects it, are the id of a
 * live thread of the target, or when the word has FUTEX_OWNER_DIED. To be called for locks of one
 * process whose word holds the owner's tid: the kernel or the C library changes the word when the
 * owner exits, so that any other number refutes such a lock.
 */
bool word_has_owner(const struct futex_wait *wait);
/* Sets kind and object of the wait. Always returns true, for callers that end with
 * `return … && lock_found(…)`. */
bool lock_found(struct wait *out, enum wait_kind kind, uint64_t object);
/* As lock_found, for an object whose sharing the flag of the futex call does not show. */
bool lock_found_shared(struct wait *out, enum wait_kind kind, uint64_t object, bool shared);
/*
 * Recognise the locks of a C library: set kind and object and return true, or leave `out` unchanged
 * and return false.
 */
bool wait_of_glibc(const struct futex_wait *wait, struct wait *out);
bool wait_of_musl(const struct futex_wait *wait, struct wait *out);
/* Sets kind, object and layout for FUTEX_LOCK_PI and FUTEX_LOCK_PI2, which only priority-inheriting
 * mutexes use. */
void wait_of_pi(const struct futex_wait *wait, struct wait *out);

/* Offsets in glibc's pthread_mutex_t, and a bit of its __kind. */
#define GLIBC_MUTEX_OWNER 8
#define GLIBC_MUTEX_KIND 16
#define GLIBC_KIND_SHARED 0x80u

/* Offsets in glibc's pthread_rwlock_t. */
#define GLIBC_RWLOCK_WRITER 24
#define GLIBC_RWLOCK_SHARED 28
#define GLIBC_RWLOCK_WRITE_PHASE                                                                   \
	1u /* flag in __readers; the number of readers is in the bits above the flags */
#define GLIBC_RWLOCK_SHIFT 3

/* Offset in glibc's _IO_lock_t of the owner, a pointer to a struct pthread. */
#define GLIBC_STDIO_OWNER 8
/*
 * Returns true when a struct pthread is at the address, and stores the id of its thread in the
 * target's pid namespace; 0: that thread has exited. The structure of an exited thread is
 * recognised only on architectures where it has a pointer to itself.
 */
bool glibc_thread_at(const struct wait_source *source, uint64_t address, pid_t *tid);

/* musl's mutex is {type, lock, waiters}; the low bits of `lock` hold a thread id. */
#define MUSL_MUTEX_LOCK 4
#define MUSL_TYPE_ROBUST 4u
#define MUSL_TYPE_PI 8u
#define MUSL_TYPE_SHARED 128u
/* Low 31 bits of the first word of musl's rwlock while a writer has the lock. */
#define MUSL_WRITER 0x7fffffffu

#endif
