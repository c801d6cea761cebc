/* SPDX-License-Identifier: MIT */
/*
 * test_wait.c - which lock a thread waits for, told from memory that is made up: the layouts of
 * each C library, what looks like them and is not, and garbage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/futex.h>
#include <string.h>

#include "../scene/wait_scene.h"
#include "wallsample/base/base.h"

#define PRIVATE FUTEX_PRIVATE_FLAG
#define DATE FUTEX_CLOCK_REALTIME
/* How glibc's functions with a deadline sleep: for ever, until a date, until a time. */
#define FOR_EVER (FUTEX_WAIT_BITSET | DATE)
#define UNTIL_DATE (FUTEX_WAIT_BITSET | DATE)
#define UNTIL_TIME FUTEX_WAIT_BITSET

static struct wait_call
futex_call(uint64_t word, uint32_t operation, uint32_t value, bool timed)
{
	return (struct wait_call){.state = RUN_SLEEPING, .number = syscall_number("futex"),
				  .args = {word, operation, value, timed ? TIMES : 0}};
}

/* --- locks of the C libraries -------------------------------------------------------- */

#define WORDS 12

/* A structure, by the words of it that are not 0, and a call on one of them. */
struct lock_row {
	const char *name;
	struct {
		unsigned at;
		uint32_t value;
	} set[WORDS];
	unsigned word;
	uint32_t operation, value;
	bool timed;
	enum wait_kind kind;
	int object; /* relative to where the structure begins; -1: none */
	enum wait_layout layout;
	bool shared;
	enum wait_holder holder;
	uint32_t who; /* a tid, or how many readers */
};

#define GLIBC LAYOUT_GLIBC, false
#define MUSL LAYOUT_MUSL, false
#define NONE LAYOUT_NONE, false
#define GLIBC_SHARED LAYOUT_GLIBC, true
#define MUSL_SHARED LAYOUT_MUSL, true
#define NONE_SHARED LAYOUT_NONE, true
#define THREAD HOLDER_THREAD, LIVING
#define GONE(tid) HOLDER_GONE, (tid)
#define READERS(n) HOLDER_READERS, (n)
#define NOBODY HOLDER_NONE, 0
#define FOREIGN HOLDER_FOREIGN, 0
#define UNTOLD HOLDER_UNRECORDED, 0

#define MUTEX(lock, count, owner, users, kind)                                 \
	{ { 0, (lock) }, { 4, (count) }, { 8, (owner) }, { 12, (users) }, { 16, (kind) } }
#define RWLOCK(readers, writers, phase, futex, writer, shared, prefers)        \
	{ { 0, (readers) }, { 4, (writers) }, { 8, (phase) }, { 12, (futex) }, \
	  { 24, (writer) }, { 28, (shared) }, { 48, (prefers) } }
/* of 2.25 to 2.40, and from 2.41 on */
#define CONDITION(seq, start, refs0, refs1, size, waiters)                     \
	{ { 0, (seq) }, { 8, (start) }, { 16, (refs0) }, { 20, (refs1) },      \
	  { 32, (size) }, { 36, (waiters) } }
#define CONDITION_241(seq, start, size, waiters, signals0, signals1)           \
	{ { 0, (seq) }, { 8, (start) }, { 24, (size) }, { 28, (waiters) },     \
	  { 32, (signals0) }, { 36, (signals1) } }
#define BARRIER(in, round, count, shared, out)                                 \
	{ { 0, (in) }, { 4, (round) }, { 8, (count) }, { 12, (shared) }, { 16, (out) } }
/* The list pointers of a musl mutex that records its owner. */
#define LINKED { 24, 0x100 }, { 28, 0x7f3a }, { 32, 0x108 }, { 36, 0x7f3a }
#define WAITERS FUTEX_WAITERS
#define WAIT FUTEX_WAIT
#define P PRIVATE

static const struct lock_row lock_rows[] = {
	{ "normal", MUTEX(2, 0, INNER, 1, 0), 0, WAIT | P, 2, 0, WAIT_MUTEX, 0, GLIBC, THREAD },
	{ "adaptive", MUTEX(2, 0, INNER, 1, 3), 0, WAIT | P, 2, 0, WAIT_MUTEX, 0, GLIBC, THREAD },
	{ "elided", MUTEX(2, 0, INNER, 1, 256), 0, WAIT | P, 2, 0, WAIT_MUTEX, 0, GLIBC, THREAD },
	{ "recursive", MUTEX(2, 3, INNER, 1, 1), 0, WAIT | P, 2, 0, WAIT_MUTEX_RECURSIVE, 0, GLIBC,
	  THREAD },
	{ "errorcheck", MUTEX(2, 0, INNER, 9, 2), 0, WAIT | P, 2, 0, WAIT_MUTEX_ERRORCHECK, 0,
	  GLIBC, THREAD },
	{ "timed", MUTEX(2, 0, INNER, 1, 0), 0, UNTIL_DATE | P, 2, 1, WAIT_MUTEX, 0, GLIBC,
	  THREAD },
	{ "clock", MUTEX(2, 0, INNER, 1, 0), 0, UNTIL_TIME | P, 2, 1, WAIT_MUTEX, 0, GLIBC,
	  THREAD },
	{ "shared", MUTEX(2, 0, INNER, 1, 128), 0, WAIT, 2, 0, WAIT_MUTEX, 0, GLIBC_SHARED,
	  THREAD },
	{ "shared, another's", MUTEX(2, 0, DEAD, 1, 128), 0, WAIT, 2, 0, WAIT_MUTEX, 0,
	  GLIBC_SHARED, FOREIGN },
	{ "shared robust", MUTEX(INNER | WAITERS, 0, INNER, 1, 128 + 16), 0, WAIT,
	  INNER | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, GLIBC_SHARED, THREAD },
	{ "left", MUTEX(2, 0, DEAD, 1, 0), 0, WAIT | P, 2, 0, WAIT_MUTEX, 0, GLIBC, GONE(DEAD) },
	{ "barged in", MUTEX(1, 0, INNER, 1, 0), 0, WAIT | P, 2, 0, WAIT_MUTEX, 0, GLIBC, THREAD },
	{ "nobody's now", MUTEX(0, 0, 0, 1, 0), 0, WAIT | P, 2, 0, WAIT_MUTEX, 0, GLIBC, NOBODY },
	{ "ceiling", MUTEX(7 << 19 | 2, 0, INNER, 1, 64), 0, WAIT | P, 7 << 19 | 2, 0, WAIT_MUTEX,
	  0, GLIBC, THREAD },
	{ "robust", MUTEX(INNER | WAITERS, 0, INNER, 1, 16), 0, WAIT, INNER | WAITERS, 0,
	  WAIT_MUTEX_ROBUST, 0, GLIBC, THREAD },
	{ "robust recursive", MUTEX(INNER | WAITERS, 1, INNER, 1, 17), 0, UNTIL_DATE,
	  INNER | WAITERS, 1, WAIT_MUTEX_ROBUST, 0, GLIBC, THREAD },
	{ "robust, died", MUTEX(WAITERS | FUTEX_OWNER_DIED, 0, DEAD, 1, 16), 0, WAIT,
	  DEAD | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, GLIBC, GONE(0) },
	{ "pi", MUTEX(INNER | WAITERS, 0, INNER, 1, 32), 0, FUTEX_LOCK_PI | P, 0, 0, WAIT_MUTEX_PI,
	  0, GLIBC, THREAD },
	{ "pi until", MUTEX(INNER | WAITERS, 0, INNER, 1, 34), 0, 13 | P, 0, 1, WAIT_MUTEX_PI, 0,
	  GLIBC, THREAD },
	{ "pi robust", MUTEX(INNER | WAITERS, 0, INNER, 1, 32 + 16), 0, FUTEX_LOCK_PI, 0, 0,
	  WAIT_MUTEX_PI, 0, GLIBC, THREAD },
	{ "pi shared", MUTEX(INNER | WAITERS, 0, INNER, 1, 128 + 32), 0, FUTEX_LOCK_PI, 0, 0,
	  WAIT_MUTEX_PI, 0, GLIBC_SHARED, THREAD },
	{ "pi, bare", { { 0, INNER | WAITERS } }, 0, FUTEX_LOCK_PI | P, 0, 0, WAIT_MUTEX_PI, 0,
	  GLIBC, THREAD },
	{ "read", RWLOCK(11, 1, 3, 1, INNER, 0, 0), 8, FOR_EVER | P, 3, 0, WAIT_RWLOCK_READ, 0,
	  GLIBC, THREAD },
	{ "read until", RWLOCK(11, 1, 3, 1, DEAD, 0, 0), 8, UNTIL_TIME | P, 3, 1,
	  WAIT_RWLOCK_READ, 0, GLIBC, GONE(DEAD) },
	{ "write first", RWLOCK(26, 1, 2, 1, 0, 0, 0), 8, FOR_EVER | P, 2, 0, WAIT_RWLOCK_WRITE, 0,
	  GLIBC, READERS(3) },
	{ "write behind", RWLOCK(3, 2, 1, 3, INNER, 0, 0), 12, FOR_EVER | P, 3, 0,
	  WAIT_RWLOCK_WRITE, 0, GLIBC, THREAD },
	{ "write, shared", RWLOCK(3, 2, 1, 3, DEAD, 1, 0), 12, FOR_EVER, 3, 0, WAIT_RWLOCK_WRITE,
	  0, GLIBC_SHARED, FOREIGN },
	{ "read fair", RWLOCK(22, 1, 2, 1, 0, 0, 2), 0, FOR_EVER | P, 22, 0, WAIT_RWLOCK_READ, 0,
	  GLIBC, READERS(2) },
	{ "condition", CONDITION(4, 0, 4, 0, 0, 16), 40, FOR_EVER | P, 0, 0, WAIT_CONDITION, 0,
	  GLIBC, NOBODY },
	{ "condition 2.31", CONDITION(4, 0, 4, 0, 0, 16), 40, WAIT | P, 0, 0, WAIT_CONDITION, 0,
	  GLIBC, NOBODY },
	{ "condition, second", CONDITION(7, 1, 2, 2, 8, 16), 44, FOR_EVER | P, 0, 0,
	  WAIT_CONDITION, 0, GLIBC, NOBODY },
	{ "condition, shared", CONDITION(2, 0, 2, 0, 0, 9), 40, FOR_EVER, 0, 0, WAIT_CONDITION, 0,
	  GLIBC_SHARED, NOBODY },
	{ "condition until", CONDITION(2, 0, 2, 0, 0, 10), 40, UNTIL_TIME | P, 0, 1,
	  WAIT_CONDITION, 0, GLIBC, NOBODY },
	{ "condition 2.41", CONDITION_241(2, 0, 0, 8, 0, 0), 32, FOR_EVER | P, 0, 0,
	  WAIT_CONDITION, 0, GLIBC, NOBODY },
	{ "condition 2.41, second", CONDITION_241(9, 1, 8, 24, 0, 7), 36, FOR_EVER | P, 7, 0,
	  WAIT_CONDITION, 0, GLIBC, NOBODY },
	{ "semaphore", { { 4, 3 } }, 0, FOR_EVER | P, 0, 0, WAIT_SEMAPHORE, 0, GLIBC, NOBODY },
	{ "semaphore until", { { 4, 1 } }, 0, UNTIL_TIME | P, 0, 1, WAIT_SEMAPHORE, 0, GLIBC,
	  NOBODY },
	{ "semaphore, shared", { { 4, 1 }, { 8, 128 } }, 0, FOR_EVER, 0, 0, WAIT_SEMAPHORE, 0,
	  GLIBC_SHARED, NOBODY },
	{ "join", { { 0, INNER } }, 0, FOR_EVER, INNER, 0, WAIT_JOIN, 0, GLIBC, THREAD },
	{ "join 2.31", { { 0, INNER } }, 0, WAIT, INNER, 0, WAIT_JOIN, 0, GLIBC, THREAD },
	{ "barrier", BARRIER(2, 0, 3, 0, 0), 4, WAIT | P, 0, 0, WAIT_BARRIER, 0, GLIBC, NOBODY },
	{ "barrier, later", BARRIER(7, 6, 3, 128, 6), 4, WAIT, 6, 0, WAIT_BARRIER, 0, GLIBC_SHARED,
	  NOBODY },
	{ "guard", { { 0, 0x10100 } }, 0, WAIT, 0x10100, 0, WAIT_ONCE, 0, GLIBC, NOBODY },
	{ "low-level", { { 0, 2 } }, 0, WAIT | P, 2, 0, WAIT_LOCK, 0, NONE, NOBODY },

	{ "musl normal", { { 4, 16 | WAITERS }, { 8, 1 } }, 4, WAIT | P, 16 | WAITERS, 0,
	  WAIT_MUTEX, 0, MUSL, UNTOLD },
	{ "musl timed", { { 4, 16 | WAITERS }, { 8, 1 } }, 4, WAIT | P, 16 | WAITERS, 1,
	  WAIT_MUTEX, 0, MUSL, UNTOLD },
	{ "musl recursive", { { 0, 1 }, { 4, INNER | WAITERS }, { 8, 2 }, { 20, 1 }, LINKED }, 4,
	  WAIT | P, INNER | WAITERS, 0, WAIT_MUTEX_RECURSIVE, 0, MUSL, THREAD },
	{ "musl errorcheck", { { 0, 2 }, { 4, INNER | WAITERS }, { 8, 2 }, LINKED }, 4, WAIT | P,
	  INNER | WAITERS, 0, WAIT_MUTEX_ERRORCHECK, 0, MUSL, THREAD },
	{ "musl robust, taken over", { { 0, 4 }, { 4, INNER | WAITERS }, { 8, 2 }, LINKED }, 4,
	  WAIT | P, DEAD | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, MUSL, THREAD },
	{ "musl left", { { 0, 1 }, { 4, 0xc0000000 }, { 8, 1 }, LINKED }, 4, WAIT | P,
	  0xc0000000, 0, WAIT_MUTEX_RECURSIVE, 0, MUSL, GONE(0) },
	{ "musl robust, shared", { { 0, 132 }, { 4, INNER | WAITERS }, { 8, 1 }, LINKED }, 4, WAIT,
	  INNER | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, MUSL_SHARED, THREAD },
	{ "musl pi", { { 0, 9 }, { 4, INNER | WAITERS } }, 4, FUTEX_LOCK_PI | P, 0, 0,
	  WAIT_MUTEX_PI, 0, MUSL, THREAD },
	{ "musl pi, shared", { { 0, 128 + 9 }, { 4, INNER | WAITERS } }, 4, FUTEX_LOCK_PI, 0, 0,
	  WAIT_MUTEX_PI, 0, MUSL_SHARED, THREAD },
	{ "musl behind a writer", { { 0, UINT32_MAX }, { 4, 2 } }, 0, WAIT | P, UINT32_MAX, 0,
	  WAIT_FUTEX, 0, MUSL, NOBODY },
	{ "musl behind readers", { { 0, 5 | WAITERS }, { 4, 1 } }, 0, WAIT | P, 5 | WAITERS, 0,
	  WAIT_RWLOCK_WRITE, 0, MUSL, READERS(5) },
	{ "musl semaphore 1.2.3", { { 0, UINT32_MAX }, { 4, 1 }, { 8, 128 } }, 0, WAIT | P,
	  UINT32_MAX, 0, WAIT_SEMAPHORE, 0, MUSL, NOBODY },
	{ "musl semaphore 1.2.4", { { 0, WAITERS }, { 4, 1 } }, 0, WAIT, WAITERS, 0,
	  WAIT_SEMAPHORE, 0, MUSL_SHARED, NOBODY },
	{ "musl stdio", { { 4, INNER | 0x40000000 }, { 8, '\n' } }, 4, WAIT | P,
	  INNER | 0x40000000, 0, WAIT_STDIO, 4, MUSL, THREAD },
	{ "musl shared condition", { { 0, UINT32_MAX }, { 4, UINT32_MAX }, { 8, 5 }, { 12, 1 } },
	  8, WAIT, 5, 0, WAIT_CONDITION, 0, MUSL_SHARED, NOBODY },

	/* what is none */
	{ "unknown kind", MUTEX(2, 0, INNER, 1, 0x404), 0, WAIT | P, 2, 0, WAIT_LOCK, 0, NONE,
	  NOBODY },
	{ "owner no tid", MUTEX(2, 0, 0x7f1234, 1, 0), 0, WAIT | P, 2, 0, WAIT_LOCK, 0, NONE,
	  NOBODY },
	{ "without users", MUTEX(2, 0, INNER, 0, 0), 0, WAIT | P, 2, 0, WAIT_LOCK, 0, NONE,
	  NOBODY },
	{ "other value", MUTEX(9, 0, INNER, 1, 0), 0, WAIT | P, 2, 0, WAIT_FUTEX, 0, NONE,
	  NOBODY },
	{ "Rust's mutex", { { 0, 2 } }, 0, UNTIL_TIME | P, 2, 0, WAIT_FUTEX, 0, NONE, NOBODY },
	{ "Rust's, owned", MUTEX(2, 0, INNER, 1, 0), 0, UNTIL_TIME | P, 2, 0, WAIT_FUTEX, 0, NONE,
	  NOBODY },
	{ "no waiters", CONDITION(4, 0, 4, 0, 0, 2), 40, FOR_EVER | P, 0, 0, WAIT_FUTEX, 40, NONE,
	  NOBODY },
	{ "too many references", CONDITION(4, 0, 6, 0, 0, 16), 40, FOR_EVER | P, 0, 0, WAIT_FUTEX,
	  40, NONE, NOBODY },
	{ "nobody came", CONDITION(4, 4, 4, 0, 0, 16), 40, FOR_EVER | P, 0, 0, WAIT_FUTEX, 40,
	  NONE, NOBODY },
	{ "not shared", { { 4, 1 }, { 8, 128 } }, 0, FOR_EVER | P, 0, 0, WAIT_FUTEX, 0, NONE,
	  NOBODY },
	{ "join of nobody", { { 0, DEAD } }, 0, FOR_EVER, DEAD, 0, WAIT_FUTEX, 0, NONE_SHARED,
	  NOBODY },
	{ "full barrier", BARRIER(3, 0, 3, 0, 0), 4, WAIT | P, 0, 0, WAIT_FUTEX, 4, NONE, NOBODY },
	{ "left a barrier", BARRIER(1, 0, 3, 0, 1), 4, WAIT | P, 0, 0, WAIT_FUTEX, 4, NONE,
	  NOBODY },
	{ "requeue", MUTEX(2, 0, INNER, 1, 0), 0, FUTEX_WAIT_REQUEUE_PI | P, 2, 0, WAIT_FUTEX, 0,
	  NONE, NOBODY },
	{ "musl, no waiters", { { 4, 16 | WAITERS } }, 4, WAIT | P, 16 | WAITERS, 0, WAIT_FUTEX, 4,
	  NONE, NOBODY },
	/* a word that counts waiters below a bit that says that it is held, as of InnoDB */
	{ "held and counted", { { 0, 4 }, { 4, 3 | WAITERS }, { 8, 1 }, LINKED }, 4, WAIT | P,
	  3 | WAITERS, 0, WAIT_FUTEX, 4, NONE, NOBODY },
	{ "counted like a thread", { { 0, 4 }, { 4, INNER | WAITERS }, { 8, 1 } }, 4, WAIT | P,
	  INNER | WAITERS, 0, WAIT_FUTEX, 4, NONE, NOBODY },
	{ "musl errorcheck, no owner", { { 0, 2 }, { 4, DEAD | WAITERS }, { 8, 2 }, LINKED }, 4,
	  WAIT | P, DEAD | WAITERS, 0, WAIT_FUTEX, 4, NONE, NOBODY },
	{ "robust, no owner", MUTEX(DEAD | WAITERS, 0, DEAD, 1, 16), 0, WAIT, DEAD | WAITERS, 0,
	  WAIT_FUTEX, 0, NONE_SHARED, NOBODY },
	{ "musl, no file", { { 0, 9 }, { 4, INNER | 0x40000000 }, { 8, '\n' } }, 4, WAIT | P,
	  INNER | 0x40000000, 0, WAIT_FUTEX, 4, NONE, NOBODY },
};

static struct wait_call
row_place(const struct lock_row *row, uint64_t at)
{
	for (unsigned i = 0; i < WORDS; i++)
		if (row->set[i].value != 0)
			put32(at + row->set[i].at, row->set[i].value);
	return futex_call(at + row->word, row->operation, row->value, row->timed);
}

static void
row_check(const struct lock_row *row, uint64_t at)
{
	struct wait_call call;
	struct wait_owner owner;
	struct wait wait;

	call = row_place(row, at);
	assert_true(wait_futex_word(&call) == at + row->word);
	wait_classify(&scene_source, &call, &wait);
	if (wait.kind != row->kind || wait.layout != row->layout)
		fail_msg("%s: %s, layout %d", row->name, wait_kind_text(wait.kind),
			 (int)wait.layout);
	assert_true(wait.object == at + (unsigned)row->object);
	assert_true(wait.timed == row->timed);
	assert_int_equal(wait.fd, -1);
	if (wait.shared != row->shared)
		fail_msg("%s: shared %d", row->name, wait.shared);
	wait_owner(&scene_source, &wait, &owner);
	if (owner.holder != row->holder)
		fail_msg("%s: holder %d", row->name, (int)owner.holder);
	assert_int_equal(owner.holder == HOLDER_READERS ? owner.readers : (uint32_t)owner.tid,
			 row->who);
	/* The lock's memory may go in between. */
	scene.start = scene.end;
	wait_owner(&scene_source, &wait, &owner);
	assert_int_equal(owner.holder, HOLDER_NONE);
}

static void
test_locks(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_rows); i++) {
		scene_clear();
		row_check(&lock_rows[i], MEMORY + PAGE + 1024);
		/* One page alone: at its beginning, and at its end. */
		scene_clear();
		scene.start = MEMORY + PAGE;
		scene.end = scene.start + PAGE;
		row_check(&lock_rows[i], scene.start);
		scene_clear();
		scene.start = MEMORY + PAGE;
		scene.end = scene.start + PAGE;
		row_check(&lock_rows[i], scene.end - 56);
	}
}

/* Whatever part of a lock can be read, it is that lock or a futex, and nothing is read beyond. */
static void
test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lock_rows); i++)
		for (unsigned cut = 0; cut < 64; cut += 4) {
			const uint64_t at = MEMORY + 2 * PAGE - cut;
			const struct lock_row *row = &lock_rows[i];
			struct wait wait;

			scene_clear();
			const struct wait_call call = row_place(row, at);
			scene.end = MEMORY + 2 * PAGE;
			wait_classify(&scene_source, &call, &wait);
			assert_true(wait.kind < WAIT_KIND_COUNT);
			if (cut < row->word + 4 && row->kind != WAIT_FUTEX)
				assert_true(wait.kind == WAIT_FUTEX || wait.kind == WAIT_MUTEX_PI);
		}
}

/* --- locks that processes share ---------------------------------------------------------- */

#define ELSEWHERE 78 /* in the target's namespace, a thread of another process */
#define STRANGER 8765 /* its id in wallsample's */
#define UNKNOWN 79

static pid_t
find_foreign(void *context, pid_t inner)
{
	(void)context;
	/* Threads of the target are not asked for. */
	assert_int_not_equal(inner, INNER);
	return inner == ELSEWHERE ? STRANGER : inner == UNKNOWN ? -1 : 0;
}

static const struct lock_row shared_rows[] = {
	{ "mutex", MUTEX(2, 0, ELSEWHERE, 1, 128), 0, WAIT, 2, 0, WAIT_MUTEX, 0,
	  GLIBC_SHARED, HOLDER_FOREIGN, STRANGER },
	{ "mutex, ended", MUTEX(2, 0, DEAD, 1, 128), 0, WAIT, 2, 0, WAIT_MUTEX, 0,
	  GLIBC_SHARED, GONE(DEAD) },
	{ "mutex, unknown", MUTEX(2, 0, UNKNOWN, 1, 128), 0, WAIT, 2, 0, WAIT_MUTEX, 0,
	  GLIBC_SHARED, FOREIGN },
	{ "own", MUTEX(2, 0, INNER, 1, 128), 0, WAIT, 2, 0, WAIT_MUTEX, 0, GLIBC_SHARED,
	  THREAD },
	{ "not shared", MUTEX(2, 0, ELSEWHERE, 1, 0), 0, WAIT | P, 2, 0, WAIT_MUTEX, 0,
	  GLIBC, GONE(ELSEWHERE) },
	{ "robust", MUTEX(ELSEWHERE | WAITERS, 0, ELSEWHERE, 1, 128 + 16), 0, WAIT,
	  ELSEWHERE | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, GLIBC_SHARED, HOLDER_FOREIGN,
	  STRANGER },
	{ "robust, died", MUTEX(WAITERS | FUTEX_OWNER_DIED, 0, ELSEWHERE, 1, 128 + 16), 0,
	  WAIT, ELSEWHERE | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, GLIBC_SHARED, GONE(0) },
	{ "robust, not shared", MUTEX(ELSEWHERE | WAITERS, 0, ELSEWHERE, 1, 16), 0, WAIT,
	  INNER | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, GLIBC, GONE(ELSEWHERE) },
	{ "pi", MUTEX(ELSEWHERE | WAITERS, 0, ELSEWHERE, 1, 128 + 32), 0, FUTEX_LOCK_PI, 0,
	  0, WAIT_MUTEX_PI, 0, GLIBC_SHARED, HOLDER_FOREIGN, STRANGER },
	{ "pi, not shared", MUTEX(ELSEWHERE | WAITERS, 0, ELSEWHERE, 1, 32 + 16), 0,
	  FUTEX_LOCK_PI, 0, 0, WAIT_MUTEX_PI, 0, GLIBC, GONE(ELSEWHERE) },
	{ "rwlock", RWLOCK(3, 2, 1, 3, ELSEWHERE, 1, 0), 12, FOR_EVER, 3, 0,
	  WAIT_RWLOCK_WRITE, 0, GLIBC_SHARED, HOLDER_FOREIGN, STRANGER },
	{ "rwlock, ended", RWLOCK(3, 2, 1, 3, DEAD, 1, 0), 12, FOR_EVER, 3, 0,
	  WAIT_RWLOCK_WRITE, 0, GLIBC_SHARED, GONE(DEAD) },
	{ "rwlock, not shared", RWLOCK(3, 2, 1, 3, ELSEWHERE, 0, 0), 12, FOR_EVER | P, 3, 0,
	  WAIT_RWLOCK_WRITE, 0, GLIBC, GONE(ELSEWHERE) },
	{ "musl", { { 0, 128 + 2 }, { 4, ELSEWHERE | WAITERS }, { 8, 1 }, LINKED }, 4, WAIT,
	  ELSEWHERE | WAITERS, 0, WAIT_MUTEX_ERRORCHECK, 0, MUSL_SHARED, HOLDER_FOREIGN,
	  STRANGER },
	{ "musl, ended", { { 0, 128 + 1 }, { 4, DEAD | WAITERS }, { 8, 1 }, LINKED }, 4,
	  WAIT, DEAD | WAITERS, 0, WAIT_MUTEX_RECURSIVE, 0, MUSL_SHARED, GONE(DEAD) },
	{ "musl robust", { { 0, 128 + 4 }, { 4, ELSEWHERE | WAITERS }, { 8, 1 }, LINKED },
	  4, WAIT, ELSEWHERE | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, MUSL_SHARED,
	  HOLDER_FOREIGN, STRANGER },
	{ "musl robust, died", { { 0, 128 + 4 },
	  { 4, ELSEWHERE | WAITERS | FUTEX_OWNER_DIED }, { 8, 1 }, LINKED }, 4, WAIT,
	  ELSEWHERE | WAITERS, 0, WAIT_MUTEX_ROBUST, 0, MUSL_SHARED, GONE(ELSEWHERE) },
	{ "musl pi", { { 0, 128 + 9 }, { 4, ELSEWHERE | WAITERS } }, 4, FUTEX_LOCK_PI, 0, 0,
	  WAIT_MUTEX_PI, 0, MUSL_SHARED, HOLDER_FOREIGN, STRANGER },
	{ "musl normal", { { 0, 128 }, { 4, 16 | WAITERS }, { 8, 1 } }, 4, WAIT,
	  16 | WAITERS, 0, WAIT_MUTEX, 0, MUSL_SHARED, UNTOLD },
};

/* A thread of another process is the owner only if the lock's own flag says that processes share
 * it. */
static void
test_foreign(void **state)
{
	struct wait_source source = scene_source;
	struct wait_owner owner;
	struct wait wait;

	(void)state;
	source.foreign = find_foreign;
	for (size_t i = 0; i < ARRAY_SIZE(shared_rows); i++) {
		const struct lock_row *row = &shared_rows[i];

		scene_clear();
		const struct wait_call call = row_place(row, MEMORY + PAGE);
		wait_classify(&source, &call, &wait);
		wait_owner(&source, &wait, &owner);
		if (wait.kind != row->kind || wait.layout != row->layout ||
		    wait.shared != row->shared)
			fail_msg("%s: %s, layout %d, shared %d", row->name,
				 wait_kind_text(wait.kind), (int)wait.layout, wait.shared);
		if (owner.holder != row->holder || owner.tid != (pid_t)row->who)
			fail_msg("%s: holder %d, tid %d", row->name, (int)owner.holder,
				 (int)owner.tid);
		assert_true(owner.shared == (row->shared && row->holder != HOLDER_UNRECORDED));
	}
}

/* --- locks whose holder is found through a pointer ----------------------------------- */

#define LOCK_AT (MEMORY + 64)
#define SELF (MEMORY + PAGE)
#define SELF_TID 720

static void
put_self(uint32_t tid)
{
	put64(SELF, SELF);
	put64(SELF + 16, SELF);
	put32(SELF + SELF_TID, tid);
}

static void
test_stdio(void **state)
{
	const struct wait_call call = futex_call(LOCK_AT, WAIT | P, 2, false);
	struct wait_owner owner;
	struct wait wait;

	(void)state;
	scene_clear();
	put32(LOCK_AT, 2);
	put32(LOCK_AT + 4, 1);
	put64(LOCK_AT + 8, SELF);
	put_self(INNER);
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_STDIO);
	assert_true(wait.object == LOCK_AT);
	wait_owner(&scene_source, &wait, &owner);
	assert_int_equal(owner.holder, HOLDER_THREAD);
	assert_int_equal(owner.tid, LIVING);
	put_self(0);
	wait_owner(&scene_source, &wait, &owner);
	assert_int_equal(owner.holder, HOLDER_GONE);
	/* A thread structure that does not name itself, as on aarch64. */
	put_self(0);
	put64(SELF + 16, 0);
	put32(SELF + 208, INNER);
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_STDIO);
	wait_owner(&scene_source, &wait, &owner);
	assert_int_equal(owner.tid, LIVING);
	/* A pointer to anything else. */
	put32(SELF + 208, DEAD);
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_LOCK);
	put64(LOCK_AT + 8, UINT64_MAX - 15);
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_LOCK);
}

static void
test_join(void **state)
{
	struct wait_call call = futex_call(SELF + 1576, FOR_EVER, 2, false);
	struct wait_owner owner;
	struct wait wait;

	(void)state;
	/* glibc 2.43 */
	scene_clear();
	put_self(INNER);
	put32(SELF + 1576, 2);
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_JOIN);
	assert_true(wait.object == SELF + SELF_TID);
	wait_owner(&scene_source, &wait, &owner);
	assert_int_equal(owner.tid, LIVING);
	put_self(DEAD);
	wait_owner(&scene_source, &wait, &owner);
	assert_int_equal(owner.holder, HOLDER_GONE);
	assert_int_equal(owner.tid, DEAD);
	/* not what its calls are: private, or of another state */
	call.args[1] |= P;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_FUTEX);
	put32(SELF + 1576, 3);
	call = futex_call(SELF + 1576, FOR_EVER, 3, false);
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_FUTEX);
	/* musl on x86-64 and aarch64 */
	for (unsigned at = 40; at <= 56; at += 16) {
		scene_clear();
		put64(SELF, SELF);
		put32(SELF + at, 2);
		put32(SELF + at - 8, INNER);
		call = futex_call(SELF + at, WAIT | P, 2, true);
		wait_classify(&scene_source, &call, &wait);
		assert_int_equal(wait.kind, WAIT_JOIN);
		assert_int_equal(wait.layout, LAYOUT_MUSL);
		assert_true(wait.object == SELF + at - 8);
		wait_owner(&scene_source, &wait, &owner);
		assert_int_equal(owner.tid, LIVING);
		/* a lock behind __dso_handle, which nobody has just then */
		put32(SELF + at - 8, 0);
		wait_classify(&scene_source, &call, &wait);
		assert_int_not_equal(wait.kind, WAIT_JOIN);
		put32(SELF + at - 8, INNER);
		put32(SELF + at, 3); /* detached */
		call.args[2] = 3;
		wait_classify(&scene_source, &call, &wait);
		assert_int_equal(wait.kind, WAIT_FUTEX);
	}
}

static void
test_musl_condition(void **state)
{
	const uint64_t node = MEMORY + PAGE + 64;
	struct wait_call call = futex_call(node + 20, WAIT | P, 2, false);
	struct wait wait;

	(void)state;
	scene_clear();
	put32(node + 20, 2);
	call.sp = node - 128;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_CONDITION);
	assert_true(wait.object == 0);
	/* Nothing but the stack tells it from a lock. */
	call.sp = node + 64;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_LOCK);
	call.sp = 0;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_LOCK);
}

/* A semaphore behind what could be a condition variable's head, and the other way round. */
static void
test_condition_or_semaphore(void **state)
{
	static const struct lock_row both = {
		.set = CONDITION(4, 0, 4, 0, 0, 16), .word = 40, .operation = FOR_EVER | P,
	};
	struct wait_call call;
	struct wait wait;

	(void)state;
	scene_clear();
	call = row_place(&both, MEMORY + PAGE);
	put32(MEMORY + PAGE + 44, 1); /* waiters of the one, signals of the other */
	scene.word = call.args[0];
	scene.blocked = 1;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_SEMAPHORE);
	scene.blocked = 2;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_CONDITION);
	scene.blocked = 3;
	wait_classify(&scene_source, &call, &wait);
	assert_int_equal(wait.kind, WAIT_SEMAPHORE);
}

/* --- names --------------------------------------------------------------------------- */

static void
test_words(void **state)
{
	static const struct {
		enum wait_kind kind;
		const char *object, *words;
	} rows[] = {
		{ WAIT_MUTEX, "table", "mutex table" },
		{ WAIT_RWLOCK_READ, "table", "rwlock table (to read)" },
		{ WAIT_RWLOCK_WRITE, "", "rwlock, to write" },
		{ WAIT_EPOLL, "epoll of 2: eventfd", "epoll of 2: eventfd" },
		{ WAIT_FILE, "/x", "file: /x" },
		{ WAIT_FILE_LOCK, "/x, bytes 1-9", "file lock /x, bytes 1-9" },
		{ WAIT_SYSTEM_SEMAPHORE, "2 of set 5", "System V semaphore 2 of set 5" },
		{ WAIT_MESSAGE_RECEIVE, "5, key 0x4", "message queue 5, key 0x4 (to receive)" },
		{ WAIT_SLEEP, "", "time to pass" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf text;

		strbuf_init(&text);
		wait_kind_add(rows[i].kind, wait_kind_text(rows[i].kind), rows[i].object, &text);
		assert_string_equal(text.data, rows[i].words);
		strbuf_release(&text);
	}
}

static void
test_names(void **state)
{
	static const char *const future[] = { "syscall",
					      "std::__atomic_futex_unsigned_base::_M_futex_wait" };
	static const struct {
		const char *names[4];
		enum wait_kind kind;
	} stacks[] = {
		{ { "__lll_lock_wait_private", "_int_free", "free" }, WAIT_ALLOCATOR },
		{ { "__lll_lock_wait_private", "__libc_malloc", "work" }, WAIT_ALLOCATOR },
		{ { NULL, "malloc", "work" }, WAIT_ALLOCATOR },
		{ { "_int_malloc.part.0", "malloc" }, WAIT_ALLOCATOR },
		{ { "__pthread_once_slow.isra.0", "work" }, WAIT_ONCE },
		{ { "futex_wait", "___pthread_once@@GLIBC_2.34" }, WAIT_ONCE },
		{ { "syscall", "__cxa_guard_acquire", "f()" }, WAIT_ONCE },
		{ { "__futex_wait", "pthread_barrier_wait" }, WAIT_BARRIER },
		{ { "std::sys::sync::mutex::futex::Mutex::lock_contended", "f" }, WAIT_MUTEX },
		{ { "syscall", "<std::sys::sync::mutex::futex::Mutex>::lock_contended" },
		  WAIT_MUTEX },
		{ { "syscall", "<std::sys::sync::condvar::futex::Condvar>::wait" },
		  WAIT_CONDITION },
		/* what is called once may wait for anything */
		{ { "syscall", "take", "init", "__pthread_once_slow" }, WAIT_LOCK },
		{ { "syscall", "mallocate", "free_all", "my_malloc" }, WAIT_LOCK },
		{ { "", "_", "." }, WAIT_LOCK },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		if (wait_kind_by_name(WAIT_LOCK, stacks[i].names, 4) != stacks[i].kind)
			fail_msg("%s", stacks[i].names[1]);
	assert_int_equal(wait_kind_by_name(WAIT_MUTEX, stacks[0].names, 4), WAIT_MUTEX);
	assert_int_equal(wait_kind_by_name(WAIT_FUTEX, stacks[0].names, 0), WAIT_FUTEX);
	assert_int_equal(wait_kind_by_name(WAIT_SEMAPHORE, stacks[0].names, 1), WAIT_SEMAPHORE);
	assert_int_equal(wait_kind_by_name(WAIT_SEMAPHORE, future, 2), WAIT_FUTEX);
}

/* Waits of PostgreSQL and MariaDB, and of a program that has a function of the same name. */
static void
test_database_locks(void **state)
{
	static const char *const postgres[] = { "epoll_wait", "WaitEventSetWait", "WaitLatch",
						"ProcSleep", NULL, "LockAcquireExtended" };
	static const char *const mariadb[] = { "__pthread_cond_wait_common",
					       "pthread_cond_timedwait", "lock_wait",
					       "row_mysql_handle_errors" };
	static const char *const program[] = { "pthread_cond_wait", "lock_wait", "work" };
	static const char *const parts[] = { "ProcSleep.isra.0" };
	static const char *const tables[] = { "MDL_wait::timed_wait" };
	static const char *const others[] = { "ProcSleepy", "MyProcSleep" };

	(void)state;
	assert_int_equal(wait_kind_by_name(WAIT_EPOLL, postgres, 6), WAIT_DATABASE);
	assert_int_equal(wait_kind_by_name(WAIT_EPOLL, postgres, 3), WAIT_EPOLL);
	assert_int_equal(wait_kind_by_name(WAIT_FILE, postgres, 6), WAIT_FILE);
	assert_int_equal(wait_kind_by_name(WAIT_CONDITION, mariadb, 4), WAIT_DATABASE);
	assert_int_equal(wait_kind_by_name(WAIT_CONDITION, mariadb, 3), WAIT_CONDITION);
	assert_int_equal(wait_kind_by_name(WAIT_CONDITION, program, 3), WAIT_CONDITION);
	assert_non_null(strstr(database_lock_find(postgres, 6)->query, "pg_blocking_pids(pid)"));
	assert_true(database_lock_find(postgres, 6)->has_holder);
	assert_ptr_equal(database_lock_find(parts, 1), database_lock_find(postgres, 6));
	assert_false(database_lock_find(tables, 1)->has_holder);
	assert_null(database_lock_find(others, 2));
	assert_null(database_lock_find(program, 3));
}

/* --- garbage ------------------------------------------------------------------------- */

/* Such as stands in locks, so that some checks are passed, and some of it is not. */
static uint32_t
likely_word(struct rng *rng)
{
	static const uint32_t words[] = {0, 0, 0, 1, 2, 3, 4, 8, 16, 32, 128, INNER, DEAD, WAITERS,
					 INNER | WAITERS, UINT32_MAX, 0x40000000, 0x7f3a};
	const uint64_t random = rng_next(rng);

	return random % 8 == 0 ? (uint32_t)(random >> 32)
			       : words[(random >> 8) % ARRAY_SIZE(words)];
}

static void
test_garbage(void **state)
{
	static const char *const names[] = {"futex", "futex", "futex", "futex", "ppoll", "pselect6",
					    "nanosleep", "io_uring_enter", "futex_waitv", "clone3"};
	static const uint32_t operations[] = {WAIT | P, WAIT, FOR_EVER | P, FOR_EVER,
					      UNTIL_TIME | P, FUTEX_LOCK_PI | P, 13, 11, 1};
	size_t told[WAIT_KIND_COUNT] = {0};
	struct wait_owner owner;
	struct wait wait;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 20);
	scene_clear();
	for (int round = 0; round < 200000; round++) {
		struct wait_call call = {.state = RUN_SLEEPING, .sp = MEMORY};

		for (unsigned at = 0; at < 256; at += 4)
			put32(MEMORY + at, likely_word(&rng));
		call.number = syscall_number(names[rng_next(&rng) % ARRAY_SIZE(names)]);
		for (unsigned i = 0; i < 6; i++)
			call.args[i] = rng_next(&rng) % 4 == 0 ? rng_next(&rng)
							       : MEMORY + rng_next(&rng) % 256;
		call.args[1] = operations[rng_next(&rng) % ARRAY_SIZE(operations)];
		call.args[2] = likely_word(&rng);
		if (rng_next(&rng) % 2 == 0)
			call.args[3] = 0;
		scene.reads = scene.largest = 0;
		wait_classify(&scene_source, &call, &wait);
		assert_true(wait.kind < WAIT_KIND_COUNT);
		/* the time; twice: the word's surroundings in two parts, a thread's structure */
		assert_true(scene.reads <= 1 + 2 * (2 + 3) && scene.largest <= 8192);
		scene.reads = scene.largest = 0;
		wait_owner(&scene_source, &wait, &owner);
		assert_true(scene.reads <= 4 && scene.largest <= 64);
		assert_true(owner.holder <= HOLDER_UNRECORDED);
		told[wait.kind]++;
	}
	assert_true(told[WAIT_FUTEX] != 0 && told[WAIT_MUTEX_PI] != 0);
}

/* Addresses at both ends of the address space. */
static void
test_ends(void **state)
{
	(void)state;
	scene_clear();
	for (uint64_t at = 0; at < 200; at++) {
		struct wait_call low = futex_call(at, WAIT | P, 2, true);
		struct wait_call high = futex_call(UINT64_MAX - at, FOR_EVER | P, 0, false);
		struct wait wait;

		low.args[3] = UINT64_MAX - at;
		wait_classify(&scene_source, &low, &wait);
		assert_int_equal(wait.kind, WAIT_FUTEX);
		wait_classify(&scene_source, &high, &wait);
		assert_int_equal(wait.kind, WAIT_FUTEX);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_stdio),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_musl_condition),
		cmocka_unit_test(test_condition_or_semaphore),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_database_locks),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
