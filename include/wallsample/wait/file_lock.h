/* SPDX-License-Identifier: MIT */
/*
 * file_lock.h - locks of files: flock(2), and fcntl(2) with F_SETLKW (lockf(3) included) or
 * F_OFD_SETLKW. Parses the kernel's lists of locks, and finds the processes that hold a lock for
 * which a thread waits.
 *
 * A lock of flock(2) belongs to an open file description, which processes share after fork(2), and
 * covers the whole file. A lock of F_SETLKW belongs to a process, one of F_OFD_SETLKW to an open
 * file description; both cover a range of bytes and conflict with each other, but not with those of
 * flock(2).
 */
#ifndef WALLSAMPLE_WAIT_FILE_LOCK_H
#define WALLSAMPLE_WAIT_FILE_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum file_lock_type { FILE_LOCK_FLOCK, FILE_LOCK_POSIX, FILE_LOCK_OFD };

/* The lock that a system call requests, from its arguments. */
struct file_lock_request {
	enum file_lock_type type;
	bool exclusive; /* LOCK_EX, F_WRLCK; false: LOCK_SH, F_RDLCK */
	/* The members below are those of the call's struct flock. False for FLOCK, and if that
	 * struct is not readable. */
	bool has_range;
	int whence;            /* SEEK_SET, SEEK_CUR or SEEK_END */
	int64_t start, length; /* bytes; length 0: to the end of the file */
};

/* Last byte of a lock that extends to the end of the file, however the file grows: OFFSET_MAX of
 * the kernel, which /proc/locks shows as "EOF". */
#define FILE_LOCK_END ((uint64_t)INT64_MAX)

/* A lock that is held or waited for. */
struct file_lock {
	enum file_lock_type type;
	bool exclusive;
	bool waits; /* the lock is waited for */
	/* POSIX: the process; FLOCK: the process that has called flock(2), which may have ended. 0:
	 * not known, as for OFD. In wallsample's pid namespace. */
	pid_t pid;
	uint64_t dev, inode;  /* of the file, as the kernel shows them in /proc/locks */
	uint64_t first, last; /* bytes [first, last] */
};

/*
 * Parses a line of /proc/locks, or the text behind "lock:" in a line of /proc/PID/fdinfo/N, such as
 * "1: POSIX  ADVISORY  WRITE 812 08:01:1234 0 EOF"; "->" behind the colon: the lock is waited for.
 * Reads up to the end of the line. Returns false for another form, and for leases.
 */
bool file_lock_parse(const char *line, struct file_lock *lock);

/*
 * Stores the range of the request in lock->first and last. `position` and `size`: offset of the
 * open file description and size of the file, for SEEK_CUR and SEEK_END. Without has_range, and
 * if the range is not valid, it is the whole file.
 */
void file_lock_set_range(const struct file_lock_request *request, int64_t position, int64_t size,
			 struct file_lock *lock);

/* True if a lock `held` of the same file keeps `wanted` waiting, unless both have one owner. */
bool file_locks_conflict(const struct file_lock *held, const struct file_lock *wanted);

/* --- file_lock_find.c: processes that hold a lock --------------------------------------------- */

/* A lock that a thread waits for. */
struct file_lock_query {
	uint32_t id; /* number by which the caller knows the lock */
	/* pid: a process that waits for it; dev and inode: those of stat(2) or, if they differ on
	 * this file system, those of /proc/locks as far as they are known. */
	struct file_lock wanted;
	uint64_t stat_inode; /* of stat(2) */
};

/*
 * Makes the query for a lock that a thread of the process requests with the descriptor `fd`; the
 * caller sets its id. Takes 15 us. Returns false if the descriptor is closed or may not be read.
 */
bool file_lock_query_of(pid_t pid, int fd, const struct file_lock_request *request,
			struct file_lock_query *query);

struct file_lock_holder {
	pid_t pid; /* in wallsample's pid namespace */
	int fd;    /* a descriptor of the process with which it holds the lock; -1: not known */
};

enum file_lock_state {
	FILE_LOCK_HELD,
	FILE_LOCK_FREE,
	FILE_LOCK_UNREADABLE, /* the descriptor is not known, or may not be read */
};

/* Checks whether a process holds a lock that conflicts with the wanted one through this descriptor.
 * FREE: it does not, or has closed the descriptor, or has ended. Takes 12 us: two calls on
 * /proc/PID. */
enum file_lock_state file_lock_check(const struct file_lock_query *query,
				     const struct file_lock_holder *holder);

/*
 * Returns a descriptor of the process with which it holds a lock that conflicts with the wanted
 * one; -1: there is none; -2: its descriptors may not be read. Reads at most 4,096 descriptors, in
 * 2 us each.
 */
int file_lock_descriptor(const struct file_lock_query *query, pid_t pid);

/* --- file_lock_finder.c: a thread that reads /proc/locks -------------------------------------- */

/*
 * The kernel needs 6 to 14 ms to open /proc/locks, mostly asleep: it waits until all CPUs know that
 * the list is read (percpu_down_write() in locks_start() of fs/locks.c; measured on Linux 6.18).
 * Therefore a thread of its own reads it: only while threads of the target wait for locks of files,
 * at most 4 times a second and for at most 0.5% of the time. What it reads is up to a quarter of a
 * second old, which file_lock_check() makes up for.
 *
 * /proc/locks does not name the owner of a lock of F_OFD_SETLKW, nor that of one of flock(2) after
 * the process that called it has closed its descriptor or ended. The thread then looks for the lock
 * among the descriptors of the processes that it is given, and then of all processes, also for at
 * most 0.5% of the time.
 */
struct file_lock_finder;

#define FILE_LOCK_QUERIES 64   /* most locks whose holders are sought at one time */
#define FILE_LOCK_HOLDERS 4    /* most holders of a lock that are known */
#define FILE_LOCK_PROCESSES 64 /* most processes that are searched first */

struct file_lock_answer {
	struct file_lock_query query;
	/* Number of locks that conflict with the wanted one; 0: it was free. */
	uint32_t count;
	bool shared; /* they are shared locks, of readers */
	/* Their holders, as far as they were found: different processes. */
	struct file_lock_holder holder[FILE_LOCK_HOLDERS];
	uint32_t known;
};

/* Creates a finder, whose thread starts when it is first asked. The caller frees it, which waits
 * until the thread has ended: usually for less than 20 ms. */
struct file_lock_finder *file_lock_finder_create(void);
void file_lock_finder_free(struct file_lock_finder *finder); /* accepts NULL */

/*
 * Asks for the holders of these locks, in place of those of the last call, until the next call.
 * Copies at most FILE_LOCK_QUERIES queries and FILE_LOCK_PROCESSES ids. Has no effect while the
 * thread copies its own data, unless the call `waits` for that, usually for some microseconds.
 * Returns false if there will be no answer, because the thread cannot be started.
 */
bool file_lock_finder_ask(struct file_lock_finder *finder, bool waits,
			  const struct file_lock_query *query, size_t count, const pid_t *process,
			  size_t processes);
/*
 * Stores the answers of the thread's last reading in `answer`, of FILE_LOCK_QUERIES elements, if
 * there was one since the last call that returned true. Sets *count. Returns false, and stores
 * nothing, if there was none. `wait_ns`: longest time to wait for a reading.
 */
bool file_lock_finder_take(struct file_lock_finder *finder, uint64_t wait_ns,
			   struct file_lock_answer *answer, size_t *count);

/*
 * Answers a query from the text of /proc/locks alone, without looking at descriptors: `fd` of each
 * holder is -1. `query` is copied, with the device that the text has for the file. A part of what
 * the thread does.
 */
void file_lock_answer_from(const char *text, const struct file_lock_query *query,
			   struct file_lock_answer *answer);

#endif
