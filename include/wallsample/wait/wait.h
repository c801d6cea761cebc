/* SPDX-License-Identifier: MIT */
/*
 * wait.h - classifies the object that a blocked thread waits for, such as a mutex or a pipe, and
 * finds the owner of that object. The sources are the thread's system call with its arguments, and
 * the target's memory, which is read while the thread sleeps, without stopping it.
 *
 * Memory is hostile: it may change while it is read, or be garbage. A structure that is
 * inconsistent is not classified as a lock: the kind is then WAIT_FUTEX, whose text is "futex".
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
#include "wallsample/wait/file_lock.h"
#include "wallsample/wait/wait_kind.h"

/* Kinds of owners of an object. */
enum wait_holder {
	HOLDER_NONE,    /* the object has no owner at the moment, or its owner is unknown */
	HOLDER_THREAD,  /* a thread of the process */
	HOLDER_GONE,    /* a thread that exited, or held the lock in the parent before a fork */
	HOLDER_READERS, /* readers of an rwlock, which does not record their ids */
	/* probably a thread of another process: by its own flag, processes share the lock */
	HOLDER_FOREIGN,
	HOLDER_UNRECORDED, /* unknown: this type of lock does not record its owner */
	/* The holders below are set by the sampler, and not by wait_owner. */
	HOLDER_PROCESSES, /* FILE_LOCK: one or more processes, or unknown (file_locks_stack) */
	HOLDER_UNREAD,    /* FILE_LOCK: the holders are not read yet */
	HOLDER_OPERATED,  /* SYSTEM_SEMAPHORE: the process that operated on it last, or unknown */
};

struct wait_owner {
	enum wait_holder holder;
	/*
	 * THREAD and FOREIGN: id in wallsample's pid namespace; FOREIGN: 0 if it is not known.
	 * GONE: id in the lock, or 0. OPERATED: id of the process, or 0: not known. Else 0.
	 *
	 * A lock has the id that its owner has in the owner's pid namespace. It is taken for one in
	 * the pid namespace of the waiting process: if processes of several namespaces share the
	 * lock, `tid` may be another thread.
	 */
	pid_t tid;
	/* THREAD, FOREIGN, GONE: by its own flag, processes share the lock. GONE then means that no
	 * process has a living thread with this id, or FUTEX_OWNER_DIED. */
	bool shared;
	uint32_t readers; /* READERS: number of readers that hold the lock */
};

/* The system call of a thread. */
struct wait_call {
	enum run_state state;
	long number; /* or a SYSCALL_* of state.h; never restart_syscall, but the restarted call */
	uint64_t args[6];
	uint64_t sp; /* user stack pointer, 0: unknown; to recognise condition variables of musl */
};

/* The library that has defined the layout of the object, for wait_owner. */
enum wait_layout {
	LAYOUT_NONE, /* unknown */
	LAYOUT_GLIBC,
	LAYOUT_MUSL,
	LAYOUT_RUNTIME, /* a language runtime: see runtime_owner of struct wait_source */
	LAYOUT_PARKED,  /* a language runtime: see parked_owner of struct wait_source */
};

struct wait {
	enum wait_kind kind;
	enum wait_layout layout;
	bool timed; /* the wait has a time-out */
	/*
	 * Threads of other processes may wait for the object, if it is in shared memory: the futex
	 * call has no FUTEX_PRIVATE_FLAG or, for a lock that has a flag of its own, that flag says
	 * so. (A robust mutex of one process is waited for without FUTEX_PRIVATE_FLAG.)
	 */
	bool shared;
	/*
	 * Address of the lock, condition variable, semaphore or barrier; JOIN: address of the
	 * thread's tid; FUTEX: address of the futex word. 0: the wait has no object in memory, or
	 * its address is unknown (condition variables of musl). FILE_LOCK, SYSTEM_SEMAPHORE: 0;
	 * the sampler sets a number of its own for the object.
	 */
	uint64_t object;
	/* LAYOUT_PARKED: address of the word that names the owner; 0: the lock has no such word. */
	uint64_t owner;
	/* Descriptor, or -1 if the wait has none. POLL, SELECT: the descriptor if there is only
	 * one. CHILD: the pidfd of waitid(2), or -1. */
	int fd;
	bool writes; /* the thread waits to write to `fd`, and not to read from it; else false */
	/*
	 * The end of the pipe or socket that `fd` is (peer_key); 0: it is no pipe or socket. And
	 * CHILD: the process that is waited for, in wallsample's pid namespace; 0: any of several,
	 * or not known. wait_classify sets both to 0; the caller may set them.
	 */
	uint64_t end;
	pid_t child_pid;
	uint32_t fds; /* POLL, SELECT: number of descriptors; 0: unknown, or above 1024 */
	/* FILE: address of the path that the system call was given; 0: the call has no path, or is
	 * not in uninterruptible sleep. An empty path, and a path that is not readable, stand for
	 * the file behind `fd`. */
	uint64_t path;
	pid_t child; /* CHILD: pid in the target's namespace; <= 0: see waitpid(2) */
	struct file_lock_request lock; /* FILE_LOCK */
	/* SYSTEM_SEMAPHORE, MESSAGE_*: id of the set or queue. SYSTEM_SEMAPHORE: number in the set;
	 * -1: of several, or not known. */
	int system_id, semaphore;
	/* Nanoseconds until the time-out; UINT64_MAX: no time-out, or not known. For a relative
	 * time-out this is its full length, an upper bound of the time left. */
	uint64_t left_ns;
};

/* The sources from which wait_classify and wait_owner read. */
struct wait_source {
	struct memory memory; /* memory of the target */
	/* Converts a tid of the target's pid namespace to the tid in wallsample's. Returns 0 if the
	 * target has no live thread with this id. */
	pid_t (*thread)(void *context, pid_t inner);
	/*
	 * For a lock that processes share: converts such a tid, which no thread of the target has,
	 * to that of a thread of another process. Returns 0 if no process has a living thread with
	 * this id; -1 if that is not known. May be NULL, which means: not known.
	 */
	pid_t (*foreign)(void *context, pid_t inner);
	/* Returns the number of threads that were last seen in a futex call on the address; 0:
	 * unknown. */
	size_t (*blocked)(void *context, uint64_t address);
	/*
	 * runtime_lock returns true when the futex word at the address `word` is part of a lock of
	 * a language runtime, and stores the address of the lock. runtime_owner returns the id of
	 * the thread that owns the lock; 0: none. Both functions may be NULL.
	 */
	bool (*runtime_lock)(void *context, uint64_t word, uint64_t *lock);
	pid_t (*runtime_owner)(void *context, uint64_t lock);
	/*
	 * runtime_parked returns true when the thread that sleeps on the futex word waits in a
	 * queue of a language runtime, and stores the address of the lock for which it waits, and
	 * of the word that names the lock's owner (0: none). parked_owner returns the id of the
	 * thread that this word names; 0: none. Both functions may be NULL.
	 */
	bool (*runtime_parked)(void *context, uint64_t word, uint64_t *lock, uint64_t *owner);
	pid_t (*parked_owner)(void *context, uint64_t owner);
	void *context; /* first argument of the functions above */
};

/*
 * Classifies the wait of a thread in this system call, in some microseconds. A read or write of a
 * descriptor has the kind DESCRIPTOR, which wait_kind_of_descriptor refines.
 *
 * In uninterruptible sleep the kind is FILE or DESCRIPTOR for calls that use a path or a
 * descriptor, VFORK for vfork and clone, FAULT outside of a system call, CHILD for wait4 and
 * waitid, else OTHER.
 */
void wait_classify(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);

/* Returns the kind of the wait; refines DESCRIPTOR by the kind of the descriptor. */
enum wait_kind wait_kind_of_descriptor(const struct wait *wait, enum descriptor_kind descriptor);

/* Reads the current owner of wait->object: one read of memory, up to four for a stdio lock; for a
 * GIL calls runtime_owner. HOLDER_NONE: no owner, unknown layout or unreadable memory. */
void wait_owner(const struct wait_source *source, const struct wait *wait, struct wait_owner *out);

/*
 * Refines a kind that memory alone does not determine, by the names of the functions in the call
 * chain of the waiting thread. FUTEX and LOCK become the kind of the lock whose function is in the
 * innermost 8 frames: ONCE for pthread_once, ALLOCATOR for malloc. SEMAPHORE becomes FUTEX when the
 * leaf is syscall(), which the C library's semaphores do not call. `function` has `count` names,
 * leaf first; NULL: no name. Returns the kind, which may be unchanged.
 */
enum wait_kind wait_kind_by_name(enum wait_kind kind, const char *const *function, size_t count);

/* Returns the address of the futex word on which a call of futex(2) or futex_wait(2) sleeps; 0 for
 * a futex operation that does not sleep and for other calls, futex_waitv included. */
uint64_t wait_futex_word(const struct wait_call *call);

#endif
