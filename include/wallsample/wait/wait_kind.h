/* SPDX-License-Identifier: MIT */
/* wait_kind.h - the kinds of waits of a blocked thread, and their texts and properties. */
#ifndef WALLSAMPLE_WAIT_WAIT_KIND_H
#define WALLSAMPLE_WAIT_WAIT_KIND_H

#include <stdbool.h>

#include "wallsample/base/base.h"

/*
 * Kinds of waits: X(NAME, text). NONE: the thread does not wait. OTHER: only the system call is
 * known; in uninterruptible sleep the object is its name, with the kernel function.
 */
#define WAIT_KINDS(X)                                                                              \
	X(NONE, "")                                                                                \
	/* locks: the object is the address of the lock */                                         \
	X(MUTEX, "mutex")                                                                          \
	X(MUTEX_RECURSIVE, "recursive mutex")                                                      \
	X(MUTEX_ERRORCHECK, "error-checking mutex")                                                \
	X(MUTEX_ROBUST, "robust mutex")                                                            \
	X(MUTEX_PI, "priority-inheriting mutex")                                                   \
	X(RWLOCK_READ, "rwlock, to read")                                                          \
	X(RWLOCK_WRITE, "rwlock, to write")                                                        \
	X(STDIO, "stdio lock")                                                                     \
	X(ALLOCATOR, "allocator lock")                                                             \
	X(LOCK, "lock") /* internal lock of the C library, which does not record its owner */      \
	X(ONCE, "once")                                                                            \
	X(GIL, "GIL") /* lock of an interpreter */                                                 \
	/* other objects in memory */                                                              \
	X(CONDITION, "condition variable")                                                         \
	X(SEMAPHORE, "semaphore")                                                                  \
	X(BARRIER, "barrier")                                                                      \
	X(JOIN, "end of thread") /* the owner is the thread that is to end */                      \
	X(FUTEX, "futex")                                                                          \
	/* the object is one descriptor */                                                         \
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
	/* POLL, SELECT: any number of descriptors; others: that of the epoll or ring */           \
	X(POLL, "poll")                                                                            \
	X(SELECT, "select")                                                                        \
	X(EPOLL, "epoll")                                                                          \
	X(IO_URING, "io_uring")                                                                    \
	/* neither an address nor a descriptor, except that CHILD may have a pidfd */              \
	X(SLEEP, "time to pass")                                                                   \
	X(CHILD, "child")                                                                          \
	X(VFORK, "a child's exec or exit")                                                         \
	X(SIGNAL, "signal")                                                                        \
	X(FAULT, "page fault")                                                                     \
	X(STOPPED, "continuation") /* stopped by a job-control signal or a tracer */               \
	/* a green task waits; the object is the reason as text */                                 \
	X(GREEN, "task")                                                                           \
	X(DATABASE, "database lock") /* of a server's own; the object: see server_event.h */       \
	/* objects of the kernel */                                                                \
	X(FILE_LOCK, "file lock") /* of flock(2) or fcntl(2) */                                    \
	X(SYSTEM_SEMAPHORE, "System V semaphore")                                                  \
	X(MESSAGE_RECEIVE, "message queue, to receive") /* of System V */                          \
	X(MESSAGE_SEND, "message queue, to send")                                                  \
	X(OTHER, "system call")

enum wait_kind {
#define X(name, text) WAIT_##name,
	WAIT_KINDS(X) WAIT_KIND_COUNT
#undef X
};

/* Returns the text of the kind in WAIT_KINDS, a static string. */
const char *wait_kind_text(enum wait_kind kind);
/* True for a wait for a socket: SOCKET_READ, SOCKET_WRITE, ACCEPT and CONNECT. */
bool wait_kind_is_socket(enum wait_kind kind);
/* True for a wait for the other end of a connection, or for a child process. */
bool wait_kind_is_peer(enum wait_kind kind);
/* True for a wait for any of several descriptors: POLL, SELECT, EPOLL and IO_URING. */
bool wait_kind_is_events(enum wait_kind kind);
/* True for the text of a connection to another process that the process has made, such as "tcp to
 * 10.0.0.7:443". False for one that it has accepted: "tcp 10.0.0.1:80 from …". */
bool wait_object_is_made(const char *text);
/* True for the text of a socket of a pair, which has no address, such as "unix to nginx (812)": it
 * usually connects a process with the one that started it. */
bool wait_object_is_pair(const char *text);
/* True for the text of an epoll whose first descriptor is a connection that the process has made,
 * and not of a pair: "epoll of 3: tcp to 10.0.0.7:443, …". */
bool wait_object_leads_with_made(const char *text);
/* True for a socket or pipe whose other end is in the same process: "unix to itself". */
bool wait_object_is_own(const char *text);
/* The object of a row of waits for all descriptors that are not identified. */
#define WAIT_OBJECT_UNKNOWN "[not identified]"
/* True for a text that does not identify a descriptor: "", "socket:[1234]", "tcp socket", and
 * WAIT_OBJECT_UNKNOWN. */
bool wait_object_is_bare(const char *text);
/* Returns the id of the first process that the text of an object names, as in "epoll of 3: tcp to
 * 127.0.0.1:7222, orders (13588), …"; 0: none. */
uint64_t wait_object_process(const char *text);
/* Returns the kind of the row that waits of this kind have in tables of waits. Readers and writers
 * of an rwlock wait for the same lock: their row is WAIT_RWLOCK_READ. */
enum wait_kind wait_kind_of_row(enum wait_kind kind);
/*
 * Adds `text` and the object, which is not escaped. `text` is wait_kind_text(kind), or a text for
 * several kinds, such as "rwlock". Examples: "mutex table_lock", "rwlock cache (to read)", "socket
 * receive: tcp to 10.0.0.7:443". If the object is "", adds only `text`. If the kind is GREEN, or
 * the object is a descriptor whose description begins with `text`, adds only the object.
 */
void wait_kind_add(enum wait_kind kind, const char *text, const char *object, struct strbuf *out);
/* Returns true when the object of the kind is an address in the target's memory. */
bool wait_kind_in_memory(enum wait_kind kind);
/* Returns true when the object of the kind can have an owner: a thread or process that ends the
 * wait by releasing the lock or, for JOIN, by exiting. */
bool wait_kind_has_owner(enum wait_kind kind);
/* Returns true if the waiting time is attributed to a holder: the owner, or for SYSTEM_SEMAPHORE
 * the process that has operated on it last, which need not be the one that ends the wait. */
bool wait_kind_is_blamed(enum wait_kind kind);
/* Returns true for a lock of the program or of its C library, a lock of a file, or a database lock;
 * false for an interpreter's lock. */
bool wait_kind_is_lock(enum wait_kind kind);

/* --- database locks, in database_lock.c ------------------------------------------------------- */

/* Number of innermost functions of a stack that are searched. */
#define DATABASE_LOCK_FRAMES 10

struct database_lock {
	const char *query; /* for the server: lists the waits */
	bool has_holder;   /* the holder is in the result */
	/* text in the titles of processes that may hold the lock while they do nothing, because
	 * their transaction is open; NULL: none */
	const char *suspect;
};

/*
 * A database server keeps locks of rows and tables in a table of its own: a thread that waits for
 * one waits in a poll or for a condition variable.
 *
 * Returns the lock that a thread waits for, a static object; NULL if the thread waits for no such
 * lock. `function`: names of the `count` innermost functions of the thread, the innermost first;
 * NULL: no name.
 */
const struct database_lock *database_lock_find(const char *const *function, size_t count);

#endif
