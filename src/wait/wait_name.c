/* SPDX-License-Identifier: MIT */
/* wait_name.c - classifies a wait by the name of the function that waits. */
#include <string.h>

#include "wallsample/wait/wait.h"

/* Number of frames searched: the locking function calls the waiting one; callers of it do other
 * work. */
#define FRAMES_MOST 8

static const struct name_row {
	const char *name; /* without the underscores in front */
	enum wait_kind kind;
	bool is_end; /* a match of the end of the name is sufficient */
} rows[] = {
	{ "malloc", WAIT_ALLOCATOR, false },
	{ "free", WAIT_ALLOCATOR, false },
	{ "calloc", WAIT_ALLOCATOR, false },
	{ "realloc", WAIT_ALLOCATOR, false },
	{ "reallocarray", WAIT_ALLOCATOR, false },
	{ "memalign", WAIT_ALLOCATOR, false },
	{ "aligned_alloc", WAIT_ALLOCATOR, false },
	{ "posix_memalign", WAIT_ALLOCATOR, false },
	{ "valloc", WAIT_ALLOCATOR, false },
	{ "pvalloc", WAIT_ALLOCATOR, false },
	{ "mallinfo", WAIT_ALLOCATOR, false },
	{ "mallinfo2", WAIT_ALLOCATOR, false },
	{ "mallopt", WAIT_ALLOCATOR, false },
	{ "malloc_info", WAIT_ALLOCATOR, false },
	{ "malloc_stats", WAIT_ALLOCATOR, false },
	{ "malloc_trim", WAIT_ALLOCATOR, false },
	{ "malloc_usable_size", WAIT_ALLOCATOR, false },
	{ "malloc_consolidate", WAIT_ALLOCATOR, false },
	{ "malloc_fork_lock_parent", WAIT_ALLOCATOR, false },
	{ "malloc_arena_thread_freeres", WAIT_ALLOCATOR, false },
	{ "arena_thread_freeres", WAIT_ALLOCATOR, false },
	{ "arena_get2", WAIT_ALLOCATOR, false },
	{ "arena_get_retry", WAIT_ALLOCATOR, false },
	{ "get_free_list", WAIT_ALLOCATOR, false },
	{ "reused_arena", WAIT_ALLOCATOR, false },
	{ "tcache_init", WAIT_ALLOCATOR, false },
	{ "tcache_thread_shutdown", WAIT_ALLOCATOR, false },
	{ "sysmalloc", WAIT_ALLOCATOR, false },
	{ "systrim", WAIT_ALLOCATOR, false },
	{ "libc_malloc", WAIT_ALLOCATOR, false },
	{ "libc_malloc_impl", WAIT_ALLOCATOR, false },
	{ "libc_free", WAIT_ALLOCATOR, false },
	{ "libc_calloc", WAIT_ALLOCATOR, false },
	{ "libc_realloc", WAIT_ALLOCATOR, false },
	{ "libc_memalign", WAIT_ALLOCATOR, false },
	{ "mid_memalign", WAIT_ALLOCATOR, false },
	{ "int_malloc", WAIT_ALLOCATOR, false },
	{ "int_free", WAIT_ALLOCATOR, false },
	{ "int_realloc", WAIT_ALLOCATOR, false },
	{ "int_memalign", WAIT_ALLOCATOR, false },
	{ "pthread_once", WAIT_ONCE, false },
	{ "pthread_once_slow", WAIT_ONCE, false },
	{ "pthread_once_full", WAIT_ONCE, false },
	{ "call_once", WAIT_ONCE, false },
	{ "cxa_guard_acquire", WAIT_ONCE, false },
	{ "pthread_barrier_wait", WAIT_BARRIER, false },
	{ "pthread_mutex_lock", WAIT_MUTEX, false },
	{ "pthread_mutex_lock_full", WAIT_MUTEX, false },
	{ "pthread_mutex_cond_lock", WAIT_MUTEX, false },
	{ "pthread_mutex_cond_lock_full", WAIT_MUTEX, false },
	{ "pthread_mutex_timedlock", WAIT_MUTEX, false },
	{ "pthread_mutex_clocklock", WAIT_MUTEX, false },
	{ "pthread_mutex_clocklock_common", WAIT_MUTEX, false },
	{ "pthread_rwlock_rdlock", WAIT_RWLOCK_READ, false },
	{ "pthread_rwlock_timedrdlock", WAIT_RWLOCK_READ, false },
	{ "pthread_rwlock_clockrdlock", WAIT_RWLOCK_READ, false },
	{ "pthread_rwlock_wrlock", WAIT_RWLOCK_WRITE, false },
	{ "pthread_rwlock_timedwrlock", WAIT_RWLOCK_WRITE, false },
	{ "pthread_rwlock_clockwrlock", WAIT_RWLOCK_WRITE, false },
	{ "pthread_cond_wait", WAIT_CONDITION, false },
	{ "pthread_cond_timedwait", WAIT_CONDITION, false },
	{ "pthread_cond_clockwait", WAIT_CONDITION, false },
	{ "sem_wait", WAIT_SEMAPHORE, false },
	{ "sem_timedwait", WAIT_SEMAPHORE, false },
	{ "sem_clockwait", WAIT_SEMAPHORE, false },
	{ "new_sem_wait_slow64", WAIT_SEMAPHORE, false },
	{ "pthread_join", WAIT_JOIN, false },
	{ "pthread_timedjoin_np", WAIT_JOIN, false },
	{ "pthread_clockjoin_np", WAIT_JOIN, false },
	{ "pthread_clockjoin_ex", WAIT_JOIN, false },
	{ "flockfile", WAIT_STDIO, false },
	{ "lockfile", WAIT_STDIO, false },
	/*
	 * Rust's std: the modules in the path differ between versions, and mangling version 0
	 * puts the type in angle brackets.
	 */
	{ "Mutex::lock_contended", WAIT_MUTEX, true },
	{ "Mutex>::lock_contended", WAIT_MUTEX, true },
	{ "RwLock::read_contended", WAIT_RWLOCK_READ, true },
	{ "RwLock>::read_contended", WAIT_RWLOCK_READ, true },
	{ "RwLock::write_contended", WAIT_RWLOCK_WRITE, true },
	{ "RwLock>::write_contended", WAIT_RWLOCK_WRITE, true },
	{ "futex::Once::call", WAIT_ONCE, true },
	{ "futex::Once>::call", WAIT_ONCE, true },
	{ "futex::Once::wait", WAIT_ONCE, true },
	{ "futex::Once>::wait", WAIT_ONCE, true },
	{ "futex::Condvar::wait_optional_timeout", WAIT_CONDITION, true },
	{ "futex::Condvar>::wait_optional_timeout", WAIT_CONDITION, true },
	{ "futex::Condvar::wait", WAIT_CONDITION, true },
	{ "futex::Condvar>::wait", WAIT_CONDITION, true },
	{ "futex::Condvar::wait_timeout", WAIT_CONDITION, true },
	{ "futex::Condvar>::wait_timeout", WAIT_CONDITION, true },
};

/* Length of the name without a suffix ".isra.0", "@@GLIBC_2.34" or "(int)". */
static size_t
name_length(const char *name)
{
	return strcspn(name, ".@(");
}

static bool
row_fits(const struct name_row *row, const char *name, size_t length)
{
	const size_t wanted = strlen(row->name);

	if (row->is_end)
		return length >= wanted && memcmp(name + length - wanted, row->name, wanted) == 0;
	return length == wanted && memcmp(name, row->name, wanted) == 0;
}

/* Functions between the system call and the function of the lock. */
static bool
is_plumbing(const char *name, size_t length)
{
	static const char *const whole[] = {
		"syscall",
		"syscall_cp",
		"syscall_cp_asm",
		"syscall_cp_c",
		"internal_syscall_cancel",
		"syscall_cancel",
		"syscall_cancel_arch",
		"lll_lock_wait",
		"lll_lock_wait_private",
		"timedwait",
		"timedwait_cp",
		"wait",
	};

	if (memmem(name, length, "futex", strlen("futex")) != NULL)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (length == strlen(whole[i]) && memcmp(name, whole[i], length) == 0)
			return true;
	return false;
}

enum wait_kind
wait_kind_by_name(enum wait_kind kind, const char *const *function, size_t count)
{
	/* pthread_once runs a callback, which may wait for anything. */
	bool innermost = true;

	/* The C library's semaphores do not call syscall(); std::future does and looks like one. */
	if (kind == WAIT_SEMAPHORE && count > 0 && function[0] != NULL &&
	    strcmp(function[0], "syscall") == 0)
		kind = WAIT_FUTEX;
	if (kind != WAIT_FUTEX && kind != WAIT_LOCK)
		return kind;
	for (size_t i = 0; i < count && i < FRAMES_MOST; i++) {
		const char *name = function[i];
		size_t length;

		if (name == NULL)
			continue;
		name += strspn(name, "_");
		length = name_length(name);
		for (size_t j = 0; j < ARRAY_SIZE(rows); j++)
			if (row_fits(&rows[j], name, length) &&
			    (innermost || rows[j].kind != WAIT_ONCE))
				return rows[j].kind;
		innermost = innermost && is_plumbing(name, length);
	}
	return kind;
}
