/* SPDX-License-Identifier: MIT */
/*
 * wait.h - what a blocked thread waits for, and who keeps it waiting: told from its system call,
 * its arguments and the target's memory, while it sleeps and without a stop.
 *
 * Memory is hostile: it may change while it is read, or be garbage. What does not fit together is
 * no mutex: the kind falls back to WAIT_FUTEX, and that to the name of the system call.
 */
#ifndef WALLSAMPLE_WAIT_WAIT_H
#define WALLSAMPLE_WAIT_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/wait/descriptor.h"
#include "wallsample/tracer/memory.h"
#include "wallsample/thread/state.h"

/*
 * X(NAME, text): what is waited for. NONE is of a thread that does not wait, OTHER of one of which
 * nothing but the system call is known.
 */
#define WAIT_KINDS(X)                                                          \
	X(NONE, "")                                                            \
	/* locks: the object is an address, and most have an owner */          \
	X(MUTEX, "mutex")                                                      \
	X(MUTEX_RECURSIVE, "recursive mutex")                                  \
	X(MUTEX_ERRORCHECK, "error-checking mutex")                            \
	X(MUTEX_ROBUST, "robust mutex")                                        \
	X(MUTEX_PI, "priority-inheriting mutex")                               \
	X(RWLOCK_READ, "rwlock, to read")                                      \
	X(RWLOCK_WRITE, "rwlock, to write")                                    \
	X(STDIO, "stdio lock")                                                 \
	X(ALLOCATOR, "allocator lock")                                         \
	X(LOCK, "lock") /* of the C library's own kind, which has no owner */  \
	X(ONCE, "once")                                                        \
	X(GIL, "GIL")  /* the lock of an interpreter, of all its threads */    \
	/* others in memory */                                                 \
	X(CONDITION, "condition variable")                                     \
	X(SEMAPHORE, "semaphore")                                              \
	X(BARRIER, "barrier")                                                  \
	X(JOIN, "end of thread") /* the owner is that thread */                \
	X(FUTEX, "futex")                                                      \
	/* of a descriptor */                                                  \
	X(FILE, "file")                                                        \
	X(PIPE_READ, "pipe read")                                              \
	X(PIPE_WRITE, "pipe write")                                            \
	X(TERMINAL, "terminal")                                                \
	X(SOCKET_READ, "socket receive")                                       \
	X(SOCKET_WRITE, "socket send")                                         \
	X(ACCEPT, "socket accept")                                             \
	X(CONNECT, "socket connect")                                           \
	X(EVENTFD, "eventfd")                                                  \
	X(TIMERFD, "timerfd")                                                  \
	X(SIGNALFD, "signalfd")                                                \
	X(INOTIFY, "inotify")                                                  \
	X(DEVICE, "device")                                                    \
	X(DESCRIPTOR, "descriptor") /* one of another kind */                  \
	/* of several at once */                                               \
	X(POLL, "poll")                                                        \
	X(SELECT, "select")                                                    \
	X(EPOLL, "epoll")                                                      \
	X(IO_URING, "io_uring")                                                \
	/* of no object */                                                     \
	X(SLEEP, "time to pass")                                               \
	X(CHILD, "child")                                                      \
	X(SIGNAL, "signal")                                                    \
	X(FAULT, "page fault")                                                 \
	X(DISK, "disk")     /* in a system call, uninterruptible */            \
	X(STOPPED, "continuation") /* stopped by a job-control signal */       \
	X(TASK, "task") /* of a task, for what its runtime says: that is the object */ \
	X(OTHER, "system call")

enum wait_kind {
#define X(name, text) WAIT_##name,
	WAIT_KINDS(X)
#undef X
	WAIT_KIND_COUNT
};

const char *wait_kind_text(enum wait_kind kind);
/*
 * Adds the kind, by this text, and the object, foreign bytes as they are: "mutex table_lock",
 * "rwlock cache (to read)", "socket receive: tcp to 10.0.0.7:443". "" for an object: none.
 */
void wait_kind_add(enum wait_kind kind, const char *text, const char *object, struct strbuf *out);
/* Is the object an address of the target's memory? */
bool wait_kind_in_memory(enum wait_kind kind);
/* Does a thread that is done with it let another go on: can there be an owner? */
bool wait_kind_has_owner(enum wait_kind kind);

/* Who keeps the thread waiting. */
enum wait_holder {
	HOLDER_NOBODY,  /* nobody just now, or nobody can be named */
	HOLDER_THREAD,  /* a thread of the process */
	HOLDER_GONE,    /* none of the process: it has exited, or had the lock at a fork */
	HOLDER_READERS, /* some readers of an rwlock, who are not written down */
	HOLDER_FOREIGN, /* of a lock that processes share: a thread of another one, as it seems */
	HOLDER_UNTOLD,  /* somebody, or perhaps nobody: such a lock does not say */
};

struct wait_owner {
	enum wait_holder holder;
	pid_t tid;      /* of THREAD in our pid namespace, of GONE as memory has it; else 0 */
	uint32_t readers;
};

/* In which call a thread is. */
struct wait_call {
	enum run_state state;
	long number;    /* true_syscall: never restart_syscall */
	uint64_t args[6];
	uint64_t sp;    /* of user space; 0: not known, and musl's condition variables not told */
};

/* Whose structure the object is: wait_owner must know. */
enum wait_layout {
	LAYOUT_NONE,  /* nobody's that we know */
	LAYOUT_GLIBC,
	LAYOUT_MUSL,
	LAYOUT_RUNTIME, /* a language runtime's: asked through struct wait_source */
};

struct wait {
	enum wait_kind kind;
	enum wait_layout layout;
	bool timed;      /* it ends by itself after a time */
	/*
	 * Where the lock begins; of JOIN, where the thread's tid is written; of a futex that
	 * nothing is known of, its word; 0: none, or not to be found (musl's CONDITION).
	 */
	uint64_t object;
	/* -1: none. Of POLL and SELECT it is the only descriptor that is waited for. */
	int fd;
	bool writes;     /* of DESCRIPTOR, or a POLL or SELECT for one: it is to be written to */
	uint32_t fds;    /* how many POLL and SELECT wait for; 0: not known, or above 1024 */
	pid_t child;     /* of CHILD: its pid as the target knows it; 0 or below as in waitpid(2) */
	/*
	 * What is left until `timed` is over, in ns from now; UINT64_MAX: not known. Of a call that
	 * is given a length of time it is that length, and what is left is no more.
	 */
	uint64_t left_ns;
};

/* What it is told from. */
struct wait_source {
	struct memory memory;
	/* The living thread that the target's memory calls `inner`, in our namespace; 0: none. */
	pid_t (*thread)(void *context, pid_t inner);
	/* How many threads were last seen in a futex call on the address; 0: not known. */
	size_t (*blocked)(void *context, uint64_t address);
	/*
	 * Is the word part of a lock of a language runtime? Then fills in *lock, its address.
	 * And who has that lock: a thread in our namespace; 0: nobody. Both may be NULL.
	 */
	bool (*runtime_lock)(void *context, uint64_t word, uint64_t *lock);
	pid_t (*runtime_owner)(void *context, uint64_t lock);
	void *context;
};

/*
 * What the thread in this call waits for. Takes some microseconds. What is read from and written
 * to is DESCRIPTOR, to be refined by wait_kind_of_descriptor.
 */
void wait_classify(const struct wait_source *source, const struct wait_call *call,
		   struct wait *out);

/* DESCRIPTOR -> what it is for a wait on this kind of descriptor; other kinds stay. */
enum wait_kind wait_kind_of_descriptor(const struct wait *wait, enum descriptor_kind descriptor);

/* Who keeps it waiting now: one read, or up to four for a stdio lock. */
void wait_owner(const struct wait_source *source, const struct wait *wait,
		struct wait_owner *out);

/*
 * What memory cannot tell: the kind of a wait that is FUTEX or LOCK, told by the function that
 * waits, such as pthread_once or malloc; and that what looks like a SEMAPHORE is none, but another
 * library's. `function`: plain names, innermost first. Returns another kind or the same.
 */
enum wait_kind wait_kind_by_name(enum wait_kind kind, const char *const *function, size_t count);

/* The word of the futex the call sleeps on; 0: it is in none. */
uint64_t wait_futex_word(const struct wait_call *call);

#endif
