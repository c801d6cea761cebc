/* SPDX-License-Identifier: MIT */
/*
 * wait_internal.h - what the files that tell waits share: the time a call is given, and the memory
 * around the word that a thread sleeps on.
 */
#ifndef WALLSAMPLE_WAIT_WAIT_INTERNAL_H
#define WALLSAMPLE_WAIT_WAIT_INTERNAL_H

#include <time.h>

#include "wallsample/wait/wait.h"

/* Thread ids are below it, and so are counts of threads: PID_MAX_LIMIT of linux/threads.h. */
#define TID_LIMIT 4194304u

/* Can so many threads be? */
static inline bool
is_count(uint32_t n)
{
	return n >= 1 && n <= TID_LIMIT;
}

/* --- time ----------------------------------------------------------------------------- */

/* What is no clock: the time is a length, from the beginning of the call. */
#define CLOCK_OF_LENGTH ((clockid_t)-1)

/* Nothing when `address` is 0. Else: timed, until this struct timespec on the clock. */
void wait_until_timespec(const struct wait_source *source, uint64_t address, clockid_t clock,
			 struct wait *out);
/* The same for a struct timeval, a length. */
void wait_until_timeval(const struct wait_source *source, uint64_t address, struct wait *out);
/* The same for a length in ms as an int; below 0 it is none. */
void wait_until_ms(uint64_t argument, struct wait *out);

/* --- calls ---------------------------------------------------------------------------- */

void wait_of_futex(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);
void wait_of_poll(const struct wait_source *source, const struct wait_call *call,
		  struct wait *out);
void wait_of_select(const struct wait_source *source, const struct wait_call *call,
		    struct wait *out);

/* --- futexes -------------------------------------------------------------------------- */

/*
 * No structure that a word can be in begins earlier or ends later: 56 before it is where musl's
 * struct pthread begins, 56 behind it ends glibc's rwlock of which it is the first.
 */
#define AROUND_BEFORE 56
#define AROUND_AFTER 56

/* A sleep on a futex, and the memory around its word as one read found it. */
struct futex_wait {
	const struct wait_source *source;
	uint64_t word;     /* its address */
	uint32_t value;    /* what was expected there */
	int command;       /* FUTEX_WAIT and its like */
	bool shared;       /* without FUTEX_PRIVATE_FLAG */
	bool realtime;     /* with FUTEX_CLOCK_REALTIME */
	bool timed;
	uint64_t sp;
	uint64_t start;    /* of what was read */
	size_t size;       /* 0: not readable */
	unsigned char bytes[AROUND_BEFORE + AROUND_AFTER];
};

bool futex_wait_read(struct futex_wait *wait);
/* Was this read, from `from` up to `to`, both relative to the word? */
bool around_has(const struct futex_wait *wait, int from, int to);
/* What lies `offset` from the word; 0 if it was not read. */
uint32_t around_u32(const struct futex_wait *wait, int offset);
uint64_t around_u64(const struct futex_wait *wait, int offset);

uint32_t bytes_u32(const unsigned char *bytes);
uint64_t bytes_u64(const unsigned char *bytes);

/*
 * Each knows the locks of a C library: fills kind, object and layout and returns true, or
 * leaves `out` as it is.
 */
bool wait_of_glibc(const struct futex_wait *wait, struct wait *out);
bool wait_of_musl(const struct futex_wait *wait, struct wait *out);
/* FUTEX_LOCK_PI: the kernel says that it is such a mutex; this finds its beginning. */
void wait_of_pi(const struct futex_wait *wait, struct wait *out);

/* glibc's mutexes: bits of __kind, offsets. */
#define GLIBC_MUTEX_OWNER 8
#define GLIBC_MUTEX_USERS 12
#define GLIBC_MUTEX_KIND 16
#define GLIBC_MUTEX_SIZE 40
#define GLIBC_KIND_ROBUST 0x10u
#define GLIBC_KIND_PI 0x20u
#define GLIBC_KIND_CEILING 0x40u
#define GLIBC_KIND_SHARED 0x80u
/* False: no mutex has such a __kind. */
bool glibc_mutex_kind(uint32_t bits, enum wait_kind *kind);

/* glibc's rwlocks. */
#define GLIBC_RWLOCK_READERS 0
#define GLIBC_RWLOCK_WRITER 24
#define GLIBC_RWLOCK_SHARED 28
#define GLIBC_RWLOCK_WRITE_PHASE 1u /* bits of __readers */
#define GLIBC_RWLOCK_WRITE_LOCKED 2u
#define GLIBC_RWLOCK_WAITING 4u
#define GLIBC_RWLOCK_SHIFT 3

/* glibc's _IO_lock_t: its owner is a pointer to a struct pthread. */
#define GLIBC_STDIO_COUNT 4
#define GLIBC_STDIO_OWNER 8
/*
 * Is it a struct pthread? *tid is what it says its thread is, living or not (0). True for
 * one of a thread that has gone only where the structure names itself.
 */
bool glibc_thread_at(const struct wait_source *source, uint64_t address, pid_t *tid);

/* musl: a mutex is {type, lock, waiters}, and what holds a tid holds it in the low bits. */
#define MUSL_MUTEX_LOCK 4
#define MUSL_TYPE_ROBUST 4u
#define MUSL_TYPE_PI 8u
#define MUSL_TYPE_SHARED 128u
#define MUSL_WRITER 0x7fffffffu

#endif
