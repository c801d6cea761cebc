/* SPDX-License-Identifier: MIT */
/* wait_kind.c - texts and properties of the kinds of waits; refines a kind by the descriptor, or by
 * the names of the functions in the call chain of the waiting thread. */
#include "wallsample/wait/wait.h"

#include <string.h>

#include "wallsample/process/c_library.h"

const char *
wait_kind_text(enum wait_kind kind)
{
	static const char *const texts[] = {
#define X(name, text) [WAIT_##name] = text,
		WAIT_KINDS(X)
#undef X
	};

	return texts[kind];
}

enum wait_kind
wait_kind_of_row(enum wait_kind kind)
{
	return kind == WAIT_RWLOCK_WRITE ? WAIT_RWLOCK_READ : kind;
}

void
wait_kind_add(enum wait_kind kind, const char *text, const char *object, struct strbuf *out)
{
	const bool is_descriptor = kind >= WAIT_FILE && kind <= WAIT_IO_URING;
	const char *comma = object[0] != '\0' ? strstr(text, ", ") : NULL;

	if (kind == WAIT_GREEN && object[0] != '\0') {
		strbuf_add_text(out, object);
		return;
	}
	if (comma != NULL) {
		strbuf_add(out, text, (size_t)(comma - text));
		strbuf_add_format(out, " %s (%s)", object, comma + 2);
		return;
	}
	/* The text of a descriptor may already begin with the text of the kind: "epoll of 3: …". */
	if (!is_descriptor || strncmp(object, text, strlen(text)) != 0)
		strbuf_add_text(out, text);
	else
		text = "";
	if (object[0] != '\0' && text[0] != '\0')
		strbuf_add_text(out, is_descriptor ? ": " : kind == WAIT_SLEEP ? ", " : " ");
	strbuf_add_text(out, object);
}

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool
ends(const char *text, const char *with)
{
	const size_t length = strlen(text), end = strlen(with);

	return length >= end && strcmp(text + length - end, with) == 0;
}

bool
wait_object_is_own(const char *text)
{
	return ends(text, " to itself") || ends(text, ", itself");
}

bool
wait_object_is_pair(const char *text)
{
	return begins(text, "unix to ") && text[strlen("unix to ")] != '/' &&
	       text[strlen("unix to ")] != '@';
}

bool
wait_object_leads_with_made(const char *text)
{
	const char *list = strstr(text, ": ");

	return begins(text, "epoll of ") && list != NULL &&
	       wait_object_is_made(list + strlen(": ")) &&
	       !wait_object_is_pair(list + strlen(": "));
}

bool
wait_object_is_made(const char *text)
{
	return (begins(text, "tcp to ") || begins(text, "unix to ") || begins(text, "udp to ")) &&
	       !wait_object_is_own(text);
}

bool
wait_object_is_bare(const char *text)
{
	return text[0] == '\0' || begins(text, "socket:[") || ends(text, " socket") ||
	       strcmp(text, WAIT_OBJECT_UNKNOWN) == 0;
}

uint64_t
wait_object_process(const char *text)
{
	uint64_t pid;

	while ((text = strchr(text, '(')) != NULL) {
		const char *digits = ++text;

		if (digits[0] >= '0' && digits[0] <= '9' && parse_u64(&digits, 10, &pid) &&
		    digits[0] == ')' && pid <= PROCESS_ID_LIMIT)
			return pid;
	}
	return 0;
}

bool
wait_kind_is_socket(enum wait_kind kind)
{
	return kind >= WAIT_SOCKET_READ && kind <= WAIT_CONNECT;
}

bool
wait_kind_is_peer(enum wait_kind kind)
{
	return kind == WAIT_SOCKET_READ || kind == WAIT_SOCKET_WRITE || kind == WAIT_CONNECT ||
	       kind == WAIT_CHILD;
}

bool
wait_kind_is_events(enum wait_kind kind)
{
	return kind >= WAIT_POLL && kind <= WAIT_IO_URING;
}

bool
wait_kind_in_memory(enum wait_kind kind)
{
	return kind >= WAIT_MUTEX && kind <= WAIT_FUTEX;
}

bool
wait_kind_has_owner(enum wait_kind kind)
{
	return (kind >= WAIT_MUTEX && kind <= WAIT_STDIO) || kind == WAIT_GIL ||
	       kind == WAIT_JOIN || kind == WAIT_FILE_LOCK;
}

bool
wait_kind_is_blamed(enum wait_kind kind)
{
	return wait_kind_has_owner(kind) || kind == WAIT_SYSTEM_SEMAPHORE;
}

bool
wait_kind_is_lock(enum wait_kind kind)
{
	return kind == WAIT_LOCK || kind == WAIT_ALLOCATOR || kind == WAIT_DATABASE ||
	       kind == WAIT_FILE_LOCK ||
	       (wait_kind_in_memory(kind) && wait_kind_has_owner(kind) && kind != WAIT_JOIN &&
		kind != WAIT_GIL);
}

/* --- refinement by a descriptor ------------------------------------------------------------ */

enum wait_kind
wait_kind_of_descriptor(const struct wait *wait, enum descriptor_kind descriptor)
{
	/* clang-format off */
	static const struct {
		enum wait_kind read, write;
	} kinds[] = {
		[DESCRIPTOR_GONE] = { WAIT_DESCRIPTOR, WAIT_DESCRIPTOR },
		[DESCRIPTOR_FILE] = { WAIT_FILE, WAIT_FILE },
		[DESCRIPTOR_DIRECTORY] = { WAIT_FILE, WAIT_FILE },
		[DESCRIPTOR_PIPE] = { WAIT_PIPE_READ, WAIT_PIPE_WRITE },
		[DESCRIPTOR_TERMINAL] = { WAIT_TERMINAL, WAIT_TERMINAL },
		[DESCRIPTOR_DEVICE] = { WAIT_DEVICE, WAIT_DEVICE },
		[DESCRIPTOR_SOCKET] = { WAIT_SOCKET_READ, WAIT_SOCKET_WRITE },
		[DESCRIPTOR_EVENTFD] = { WAIT_EVENTFD, WAIT_EVENTFD },
		[DESCRIPTOR_TIMERFD] = { WAIT_TIMERFD, WAIT_TIMERFD },
		[DESCRIPTOR_SIGNALFD] = { WAIT_SIGNALFD, WAIT_SIGNALFD },
		[DESCRIPTOR_INOTIFY] = { WAIT_INOTIFY, WAIT_INOTIFY },
		[DESCRIPTOR_EPOLL] = { WAIT_DESCRIPTOR, WAIT_DESCRIPTOR },
		[DESCRIPTOR_IO_URING] = { WAIT_IO_URING, WAIT_IO_URING },
		[DESCRIPTOR_OTHER] = { WAIT_DESCRIPTOR, WAIT_DESCRIPTOR },
	};
	/* clang-format on */

	if (wait->kind != WAIT_DESCRIPTOR)
		return wait->kind;
	return wait->writes ? kinds[descriptor].write : kinds[descriptor].read;
}

/* --- refinement by names of functions ------------------------------------------------------ */

/*
 * Number of frames, from the leaf on, whose names are compared with those of lock functions. A lock
 * function is only a few frames from the leaf, which makes the system call; a lock function further
 * out has called other code, and is not what the thread waits in.
 */
#define FRAMES_MOST 8

#define NAMES_MOST 40 /* most names in one row; NULL ends a row with fewer names */

/*
 * Functions of locks, without leading underscores. A '*' at the beginning of a name stands for any
 * text.
 */
/* clang-format off */
static const struct {
	enum wait_kind kind;
	const char *name[NAMES_MOST];
} lock_functions[] = {
	{ WAIT_ALLOCATOR,
	  { "malloc", "free", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc",
	    "posix_memalign", "valloc", "pvalloc", "mallinfo", "mallinfo2", "mallopt",
	    "malloc_info", "malloc_stats", "malloc_trim", "malloc_usable_size",
	    "malloc_consolidate", "malloc_fork_lock_parent", "malloc_arena_thread_freeres",
	    "arena_thread_freeres", "arena_get2", "arena_get_retry", "get_free_list",
	    "reused_arena", "tcache_init", "tcache_thread_shutdown", "sysmalloc", "systrim",
	    "libc_malloc", "libc_malloc_impl", "libc_free", "libc_calloc", "libc_realloc",
	    "libc_memalign", "mid_memalign", "int_malloc", "int_free", "int_realloc",
	    "int_memalign" } },
	{ WAIT_ONCE,
	  { "pthread_once", "pthread_once_slow", "pthread_once_full", "call_once",
	    "cxa_guard_acquire" } },
	{ WAIT_BARRIER, { "pthread_barrier_wait" } },
	{ WAIT_MUTEX,
	  { "pthread_mutex_lock", "pthread_mutex_lock_full", "pthread_mutex_cond_lock",
	    "pthread_mutex_cond_lock_full", "pthread_mutex_timedlock",
	    "pthread_mutex_clocklock", "pthread_mutex_clocklock_common" } },
	{ WAIT_RWLOCK_READ,
	  { "pthread_rwlock_rdlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock" } },
	{ WAIT_RWLOCK_WRITE,
	  { "pthread_rwlock_wrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock" } },
	{ WAIT_CONDITION,
	  { "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait" } },
	{ WAIT_SEMAPHORE,
	  { "sem_wait", "sem_timedwait", "sem_clockwait", "new_sem_wait_slow64" } },
	{ WAIT_JOIN,
	  { "pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np",
	    "pthread_clockjoin_ex" } },
	{ WAIT_STDIO, { "flockfile", "lockfile" } },
	/*
	 * Rust's standard library: the modules in the path differ between versions, and symbol
	 * mangling version 0 puts the type in angle brackets.
	 */
	{ WAIT_MUTEX, { "*Mutex::lock_contended", "*Mutex>::lock_contended" } },
	{ WAIT_RWLOCK_READ, { "*RwLock::read_contended", "*RwLock>::read_contended" } },
	{ WAIT_RWLOCK_WRITE, { "*RwLock::write_contended", "*RwLock>::write_contended" } },
	{ WAIT_ONCE,
	  { "*futex::Once::call", "*futex::Once>::call", "*futex::Once::wait",
	    "*futex::Once>::wait" } },
	{ WAIT_CONDITION,
	  { "*futex::Condvar::wait_optional_timeout", "*futex::Condvar>::wait_optional_timeout",
	    "*futex::Condvar::wait", "*futex::Condvar>::wait", "*futex::Condvar::wait_timeout",
	    "*futex::Condvar>::wait_timeout" } },
};
/* clang-format on */

/* Returns true when one of the names matches the first `length` bytes of `function`. */
static bool
names_match(const char *const names[NAMES_MOST], const char *function, size_t length)
{
	for (size_t i = 0; i < NAMES_MOST && names[i] != NULL; i++) {
		const bool is_end = names[i][0] == '*';
		const char *wanted = names[i] + is_end;
		const size_t size = strlen(wanted);

		if (size <= length && (is_end || size == length) &&
		    memcmp(function + length - size, wanted, size) == 0)
			return true;
	}
	return false;
}

enum wait_kind
wait_kind_by_name(enum wait_kind kind, const char *const *function, size_t count)
{
	/* pthread_once runs a callback, which may wait for anything: pthread_once itself waits only
	 * when it is the innermost function apart from plumbing. */
	bool innermost = true;

	/* Semaphores of the C library do not call syscall(). std::future of C++ does, and its
	 * memory looks like a semaphore. */
	if (kind == WAIT_SEMAPHORE && count > 0 && function[0] != NULL &&
	    strcmp(function[0], "syscall") == 0)
		kind = WAIT_FUTEX;
	if ((wait_kind_is_events(kind) || kind == WAIT_CONDITION || kind == WAIT_SEMAPHORE ||
	     kind == WAIT_FUTEX) &&
	    database_lock_find(function, count) != NULL)
		return WAIT_DATABASE;
	if (kind != WAIT_FUTEX && kind != WAIT_LOCK)
		return kind;
	for (size_t i = 0; i < count && i < FRAMES_MOST; i++) {
		const char *name = function[i];
		size_t length;

		if (name == NULL)
			continue;
		name += strspn(name, "_");
		/* Suffixes do not belong to the name: ".isra.0", "@@GLIBC_2.34", "(int)". */
		length = strcspn(name, ".@(");
		for (size_t j = 0; j < ARRAY_SIZE(lock_functions); j++)
			if ((innermost || lock_functions[j].kind != WAIT_ONCE) &&
			    names_match(lock_functions[j].name, name, length))
				return lock_functions[j].kind;
		innermost = innermost && (memmem(name, length, "futex", strlen("futex")) != NULL ||
					  c_library_leads_to_syscall(name, length));
	}
	return kind;
}
