/* SPDX-License-Identifier: MIT */
/*
 * wait_internal.h - internal interfaces of the files that classify waits: time-outs of calls, and
 * the memory around the word of a futex.
 */
#ifndef WALLSAMPLE_WAIT_WAIT_INTERNAL_H
#define WALLSAMPLE_WAIT_WAIT_INTERNAL_H

#include <time.h>

#include "wallsample/base/bytes.h"
#include "wallsample/wait/wait.h"

/* Thread ids are below it, and so are counts of threads: PID_MAX_LIMIT of linux/threads.h. */
#define TID_LIMIT 4194304u

/* True for a possible number of threads. */
static inline bool
is_count(uint32_t n)
{
	return n >= 1 && n <= TID_LIMIT;
}

/* --- time ----------------------------------------------------------------------------- */

/* In place of a clock: the time is relative to the beginning of the call. */
#define CLOCK_OF_LENGTH ((clockid_t)-1)

/* Sets timed and left_ns from a struct timespec of this clock; does nothing for address 0. */
void wait_until_timespec(const struct wait_source *source, uint64_t address, clockid_t clock,
			 struct wait *out);
/* The same from a relative struct timeval. */
void wait_until_timeval(const struct wait_source *source, uint64_t address, struct wait *out);
/* The same from relative milliseconds (int); below 0: no time-out. */
void wait_until_ms(uint64_t argument, struct wait *out);

/* --- calls ---------------------------------------------------------------------------- */

void wait_of_futex(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);
void wait_of_poll(const struct wait_source *source, const struct wait_call *call, struct wait *out);
void wait_of_select(const struct wait_source *source, const struct wait_call *call,
		    struct wait *out);

/* --- futexes -------------------------------------------------------------------------- */

/*
 * Bounds of all structures that contain a word: musl's struct pthread begins 56 bytes before it,
 * glibc's rwlock, of which the word is the first member, ends 56 bytes after it.
 */
#define AROUND_BEFORE 56
#define AROUND_AFTER 56

/* A sleep on a futex, and the memory around its word as one read found it. */
struct futex_wait {
	const struct wait_source *source;
	uint64_t word;  /* its address */
	uint32_t value; /* the value expected by the call */
	int command;    /* FUTEX_WAIT and its like */
	bool shared;    /* without FUTEX_PRIVATE_FLAG */
	bool realtime;  /* with FUTEX_CLOCK_REALTIME */
	bool timed;
	uint64_t sp;
	uint64_t start; /* address of bytes[] */
	size_t size;    /* valid bytes; 0: not readable */
	unsigned char bytes[AROUND_BEFORE + AROUND_AFTER];
};

bool futex_wait_read(struct futex_wait *wait);
/* True when [from, to), relative to the word, was read. */
bool around_has(const struct futex_wait *wait, int from, int to);
/* The value at `offset` from the word; 0 if it was not read. */
uint32_t around_u32(const struct futex_wait *wait, int offset);
uint64_t around_u64(const struct futex_wait *wait, int offset);

/*
 * Recognise the locks of a C library: fill kind, object and layout and return true, or leave `out`
 * unchanged.
 */
bool wait_of_glibc(const struct futex_wait *wait, struct wait *out);
bool wait_of_musl(const struct futex_wait *wait, struct wait *out);
/* FUTEX_LOCK_PI: always a priority-inheriting mutex; finds its address. */
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
/* False for an invalid __kind. */
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
 * True when a struct pthread is at the address; *tid is its thread, 0 if that has exited. A
 * structure of a thread that has exited is recognised only where it has a self pointer.
 */
bool glibc_thread_at(const struct wait_source *source, uint64_t address, pid_t *tid);

/* musl: a mutex is {type, lock, waiters}; a tid is in the low bits of a word. */
#define MUSL_MUTEX_LOCK 4
#define MUSL_TYPE_ROBUST 4u
#define MUSL_TYPE_PI 8u
#define MUSL_TYPE_SHARED 128u
#define MUSL_WRITER 0x7fffffffu

#endif
