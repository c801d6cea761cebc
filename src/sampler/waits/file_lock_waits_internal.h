/* SPDX-License-Identifier: MIT */
/*
 * file_lock_waits_internal.h - the locks of files for which threads wait, and the processes that
 * hold them (file_lock.h).
 *
 * A thread of its own reads /proc/locks, up to 4 times a second, and so finds out which processes
 * can hold a lock (struct file_lock_finder). Which of them holds it at a tick is read from its
 * descriptor, in 12 us, for at most 1% of the time: then the last one that was found is used
 * for longer. A process is not looked at while all its threads wait for the lock.
 *
 * The kernel records the process that holds a lock, but not the thread. The holder is a thread if
 * only one thread of the process does not itself wait for the lock: a thread that waits for it
 * cannot release it. Otherwise, it is not guessed which one: the holder is the process.
 */
#ifndef WALLSAMPLE_SAMPLER_WAITS_FILE_LOCK_WAITS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WAITS_FILE_LOCK_WAITS_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/process/shared_memory.h"
#include "wallsample/wait/file_lock.h"
#include "wallsample/wait/wait.h"

struct run;
struct waits;

/* Most processes that are remembered as possible holders of a lock. */
#define FILE_LOCK_CANDIDATES 64

enum awaited_state {
	AWAITED_UNREAD, /* the holders are not read yet in the present waits */
	AWAITED_HELD,
	AWAITED_FREE,
	AWAITED_UNKNOWN, /* held, but no holder was found */
};

/* A lock, by file, type, range and mode, for which threads wait or have waited. */
struct awaited_lock {
	struct file_lock_query query;
	/* Descriptors with which processes have held the lock or waited for it; the oldest is
	 * replaced. */
	struct file_lock_holder candidate[FILE_LOCK_CANDIDATES];
	uint32_t candidates, oldest;
	/* As it was read last. */
	enum awaited_state state;
	struct file_lock_holder holder[FILE_LOCK_HOLDERS];
	uint32_t known; /* number of elements of holder[] */
	uint32_t count; /* number of locks that conflict */
	bool shared;
	bool outside;          /* a holder was in a process that is not sampled, or was not found */
	uint32_t free_answers; /* number of readings in a row that found it free */
	uint32_t checked_tick; /* last tick at which its holder was checked */
	bool awaited;          /* threads wait for it; only valid in file_locks_tick */
	/* The owner, if the only holder is the process owner_pid; as found at owner_tick. */
	struct wait_owner owner;
	pid_t owner_pid;
	uint32_t owner_tick;
};

/* A struct whose bytes are all zero is empty. */
struct file_lock_waits {
	struct file_lock_finder *finder; /* owned; NULL: nothing was asked yet */
	struct table ids;                /* (hash of a lock, inode) -> index in lock[] */
	struct awaited_lock *lock;       /* owned */
	size_t count, capacity;
	bool fails; /* there is no thread that reads /proc/locks */
	uint64_t next_ask_ns, next_check_ns;
};

void file_locks_release(struct file_lock_waits *locks);

/* Adds the name of the lock of a wait of the kind FILE_LOCK, such as "/var/x.db, bytes 120-129",
 * the same for all processes. Sets wait->object to the number of the lock, or 0 if there are 1,024
 * locks already. Returns false, and adds nothing, if the descriptor is closed. */
bool file_locks_add_object(struct waits *waits, struct wait *wait, struct strbuf *out);

/* Sets the owner of the lock of a wait of the kind FILE_LOCK: FOREIGN with the id of a thread, of
 * any process of the run; NONE, UNREAD or PROCESSES. */
void file_locks_owner(struct waits *waits, const struct wait *wait, struct wait_owner *out);

/* Returns the stack for an owner PROCESSES or UNREAD: the one frame "[held by NAME (PID)]", "[held
 * by a thread of NAME (PID)]", "[2 readers: NAME (PID), NAME (PID)]" or PROFILE_NO_HOLDER. */
uint32_t file_locks_stack(struct waits *waits, const struct wait *wait);

/* Exchanges questions and answers with the thread that reads /proc/locks. To be called once a tick,
 * before the owners are read; takes no time in a run without file locks. */
void file_locks_tick(struct run *run);

/* At the end of the run: waits up to 0.3 s for the holders that are not read yet, unless `stopped`,
 * and ends the thread that reads /proc/locks. No owner is UNREAD afterwards. */
void file_locks_finish(struct run *run, bool stopped);

#endif
