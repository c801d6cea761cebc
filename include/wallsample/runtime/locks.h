/* SPDX-License-Identifier: MIT */
/* locks.h - finds the locks of language runtimes and their owners from the futexes on which threads
 * wait. */
#ifndef WALLSAMPLE_RUNTIME_LOCKS_H
#define WALLSAMPLE_RUNTIME_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct runtimes;

/*
 * If the futex at the address `word` is part of an interpreter lock, stores the address of the lock
 * and a name that distinguishes it from other interpreter locks of the process ("": there is no
 * other), and returns true. Returns false for any other futex.
 */
bool runtimes_find_lock(struct runtimes *runtimes, uint64_t word, uint64_t *lock,
			const char **name);
/* Returns the id, in wallsample's pid namespace, of the current holder of the lock; 0: there is
 * none, or it is not known. */
pid_t runtimes_lock_owner(struct runtimes *runtimes, uint64_t lock);
/*
 * If the futex at the address `word` is the semaphore of a thread in a runtime's queue of waiters,
 * and the thread waits there for a lock of the program, stores the address of the lock and returns
 * true. Stores in *owner the address of the word that names the lock's owner; 0: the lock does not
 * record its owner, or has none.
 */
bool runtimes_find_parked(struct runtimes *runtimes, uint64_t word, uint64_t *lock,
			  uint64_t *owner);
/* Returns the id, in wallsample's pid namespace, of the thread that the word at `owner` names; 0:
 * none, or it is not known. */
pid_t runtimes_parked_owner(struct runtimes *runtimes, uint64_t owner);

#endif
