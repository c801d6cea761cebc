/* SPDX-License-Identifier: MIT */
/*
 * wait.h - what a blocked thread waits for, and the owner of that object: from its system call, the
 * arguments and the target's memory, read while it sleeps and without a stop.
 *
 * Memory is hostile: it may change while it is read, or be garbage. A structure that is
 * inconsistent is no mutex: the kind falls back to WAIT_FUTEX, and reports to the name of the
 * system call.
 */
#ifndef WALLSAMPLE_WAIT_WAIT_H
#define WALLSAMPLE_WAIT_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/wait/descriptor.h"
#include "wallsample/base/memory.h"
#include "wallsample/thread/state.h"

/*
 * X(NAME, text): kinds of waits. NONE: the thread does not wait. OTHER: only the system call is
 * known.
 */
#define WAIT_KINDS(X)                                                                              \
	X(NONE, "")                                                                                \
	/* locks: the object is an address, and most have an owner */                              \
	X(MUTEX, "mutex")                                                                          \
	X(MUTEX_RECURSIVE, "recursive mutex")                                                      \
	X(MUTEX_ERRORCHECK, "error-checking mutex")                                                \
	X(MUTEX_ROBUST, "robust mutex")                                                            \
	X(MUTEX_PI, "priority-inheriting mutex")                                                   \
	X(RWLOCK_READ, "rwlock, to read")                                                          \
	X(RWLOCK_WRITE, "rwlock, to write")                                                        \
	X(STDIO, "stdio lock")                                                                     \
	X(ALLOCATOR, "allocator lock")                                                             \
	X(LOCK, "lock") /* internal to the C library, without an owner */                          \
	X(ONCE, "once")                                                                            \
	X(GIL, "GIL") /* the lock of an interpreter */                                             \
	/* others in memory */                                                                     \
	X(CONDITION, "condition variable")                                                         \
	X(SEMAPHORE, "semaphore")                                                                  \
	X(BARRIER, "barrier")                                                                      \
	X(JOIN, "end of thread") /* the owner is that thread */                                    \
	X(FUTEX, "futex")                                                                          \
	/* of a descriptor */                                                                      \
	X(FILE, "file")                                                                            \
	X(PIPE_READ, "pipe read")                                                                  \
	X(PIPE_WRITE, "pipe write")                                                                \
	X(TERMINAL, "terminal")                                                                    \
	X(SOCKET_READ, "socket receive")                                                           \
	X(SOCKET_WRITE, "socket send")                                                             \
	X(ACCEPT, "socket accept")                                                                 \
	X(CONNECT, "socket connect")                                                               \
	X(EVENTFD, "eventfd")                                                                      \
	X(TIMERFD, "timerfd")                                                                      \
	X(SIGNALFD, "signalfd")                                                                    \
	X(INOTIFY, "inotify")                                                                      \
	X(DEVICE, "device")                                                                        \
	X(DESCRIPTOR, "descriptor") /* a descriptor of another kind */                             \
	/* several descriptors at once */                                                          \
	X(POLL, "poll")                                                                            \
	X(SELECT, "select")                                                                        \
	X(EPOLL, "epoll")                                                                          \
	X(IO_URING, "io_uring")                                                                    \
	/* without an object */                                                                    \
	X(SLEEP, "time to pass")                                                                   \
	X(CHILD, "child")                                                                          \
	X(SIGNAL, "signal")                                                                        \
	X(FAULT, "page fault")                                                                     \
	X(DISK, "disk")            /* in a system call, uninterruptible */                         \
	X(STOPPED, "continuation") /* stopped by a job-control signal */                           \
	X(TASK, "task") /* of a task; the object is the text that its runtime reports */           \
	X(OTHER, "system call")

enum wait_kind {
#define X(name, text) WAIT_##name,
	WAIT_KINDS(X) WAIT_KIND_COUNT
#undef X
};

const char *wait_kind_text(enum wait_kind kind);
/*
 * Adds `text` of the kind, and the object, not escaped: "mutex table_lock", "rwlock cache (to
 * read)", "socket receive: tcp to 10.0.0.7:443". An object "" is left out.
 */
void wait_kind_add(enum wait_kind kind, const char *text, const char *object, struct strbuf *out);
/* True when the object is an address of the target's memory. */
bool wait_kind_in_memory(enum wait_kind kind);
/* True when the object can have an owner, whose release ends the wait. */
bool wait_kind_has_owner(enum wait_kind kind);

/* The owner of the object. */
enum wait_holder {
	HOLDER_NOBODY,  /* no owner at the moment, or none known */
	HOLDER_THREAD,  /* a thread of the process */
	HOLDER_GONE,    /* a thread that has exited, or held the lock at a fork */
	HOLDER_READERS, /* readers of an rwlock, which does not record their ids */
	HOLDER_FOREIGN, /* of a process-shared lock: probably a thread of another process */
	HOLDER_UNTOLD,  /* unknown: such a lock does not record an owner */
};

struct wait_owner {
	enum wait_holder holder;
	pid_t tid; /* THREAD: in wallsample's pid namespace; GONE: as in memory; else 0 */
	uint32_t readers;
};

/* The system call of a thread. */
struct wait_call {
	enum run_state state;
	long number; /* true_syscall: never restart_syscall */
	uint64_t args[6];
	uint64_t sp; /* in user space; 0: unknown, then musl's conditions are not recognised */
};

/* Layout of the object, for wait_owner. */
enum wait_layout {
	LAYOUT_NONE, /* unknown */
	LAYOUT_GLIBC,
	LAYOUT_MUSL,
	LAYOUT_RUNTIME, /* of a language runtime: see runtime_owner of struct wait_source */
};

struct wait {
	enum wait_kind kind;
	enum wait_layout layout;
	bool timed; /* the wait has a time-out */
	/*
	 * Address of the lock; for JOIN, of the thread's tid; for an unknown futex, of its word;
	 * 0: none, or not found (CONDITION of musl).
	 */
	uint64_t object;
	/* -1: none. For POLL and SELECT: the descriptor, if there is only one. */
	int fd;
	bool writes;  /* DESCRIPTOR, and POLL or SELECT for one: waits to write */
	uint32_t fds; /* POLL, SELECT: number of descriptors; 0: unknown, or above 1024 */
	pid_t child;  /* CHILD: pid in the target's namespace; <= 0 as of waitpid(2) */
	/*
	 * Nanoseconds until the time-out; UINT64_MAX: not known. For a relative time-out it is the
	 * full length, an upper bound.
	 */
	uint64_t left_ns;
};

/* Sources of wait_classify and wait_owner. */
struct wait_source {
	struct memory memory;
	/* Converts a tid of the target's pid namespace to wallsample's; 0: no such live thread. */
	pid_t (*thread)(void *context, pid_t inner);
	/* Number of threads last seen in a futex call on the address; 0: not known. */
	size_t (*blocked)(void *context, uint64_t address);
	/*
	 * runtime_lock: true when the word is part of a lock of a language runtime, *lock its
	 * address. runtime_owner: the thread that owns that lock; 0: none. Both may be NULL.
	 */
	bool (*runtime_lock)(void *context, uint64_t word, uint64_t *lock);
	pid_t (*runtime_owner)(void *context, uint64_t lock);
	void *context;
};

/*
 * Classifies the wait of a thread in this call. Takes some microseconds. A read or write of a
 * descriptor is DESCRIPTOR, to be refined by wait_kind_of_descriptor.
 */
void wait_classify(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);

/* Refines DESCRIPTOR by the kind of the descriptor; other kinds are returned unchanged. */
enum wait_kind wait_kind_of_descriptor(const struct wait *wait, enum descriptor_kind descriptor);

/* Reads the current owner: one read of memory, up to four for a stdio lock. */
void wait_owner(const struct wait_source *source, const struct wait *wait, struct wait_owner *out);

/*
 * Refines a kind that memory does not determine by the function that waits: FUTEX and LOCK by names
 * such as pthread_once or malloc; SEMAPHORE when the function is of another library. `function`:
 * plain names, innermost first. Returns the kind, changed or not.
 */
enum wait_kind wait_kind_by_name(enum wait_kind kind, const char *const *function, size_t count);

/* Address of the futex that the call sleeps on; 0: not a futex call. */
uint64_t wait_futex_word(const struct wait_call *call);

#endif
