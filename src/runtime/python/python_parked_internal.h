/* SPDX-License-Identifier: MIT */
/* python_parked_internal.h - waiters in CPython's parking lot, and owners of their locks. */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_PARKED_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_PARKED_INTERNAL_H

#include "runtime/python/python_internal.h"

/* Returns true if the futex word at `word` is the semaphore of a thread in the queue for a locked
 * PyMutex, and stores the address of the PyMutex. *owner: address of the word with the pthread_t of
 * its owner, if the PyMutex is that of an RLock which a thread owns; otherwise 0. */
bool python_parked_find(const struct cpython *cpython, uint64_t word, uint64_t *lock,
			uint64_t *owner);
/* Returns the tid of the thread whose pthread_t is at the address; 0: none. */
pid_t python_parked_owner(const struct cpython *cpython, uint64_t address);

#endif
