/* SPDX-License-Identifier: MIT */
/*
 * python_parked.c - finds the lock for which a thread waits in CPython's parking lot, the queue of
 * the waiters of PyMutex (threading.Lock of 3.14 and later, and locks inside of the interpreter of
 * 3.13 and later).
 *
 * Each waiter sleeps on a semaphore in its own struct wait_entry (Python/parking_lot.c), which lies
 * on its stack: park_arg, addr, sema, node, is_unparking. `addr` is the key of the queue: the
 * address of the PyMutex.
 */
#include "runtime/python/python_parked_internal.h"
#include "wallsample/base/bytes.h"

#define FIRST_MINOR 13 /* the first 3.x with a parking lot */

/* Offsets in struct wait_entry, relative to the semaphore, a sem_t of 32 bytes. */
#define ENTRY_ADDR (-8)
#define ENTRY_NEXT 32
#define ENTRY_PREV 40
#define ENTRY_SIZE (ENTRY_PREV + 8 - ENTRY_ADDR)
#define NODE_PREV 8 /* offset in struct llist_node of `prev`, which follows `next` */

/* Bits of a PyMutex (Include/internal/pycore_lock.h): the others are 0. */
#define MUTEX_LOCKED 1u
#define MUTEX_PARKED 2u

/* Offset from the PyMutex of an RLock to `thread`, the pthread_t of its owner (struct
 * _PyRecursiveMutex). */
#define RECURSIVE_THREAD 8

static bool
has_u64(const struct memory *memory, uint64_t address, uint64_t wanted)
{
	uint64_t value;

	return memory_read(memory, address, &value, sizeof(value)) && value == wanted;
}

pid_t
python_parked_owner(const struct cpython *cpython, uint64_t address)
{
	const struct python_threads *threads = &cpython->threads;
	uint64_t pthread;

	if (!memory_read(&cpython->base.tools->memory, address, &pthread, sizeof(pthread)) ||
	    pthread == 0)
		return 0;
	for (size_t i = 0; i < threads->count; i++)
		if (threads->thread[i].pthread == pthread)
			return threads->thread[i].tid;
	return 0;
}

bool
python_parked_find(const struct cpython *cpython, uint64_t word, uint64_t *lock, uint64_t *owner)
{
	const struct memory *memory = &cpython->base.tools->memory;
	uint8_t bytes[ENTRY_SIZE], bits;
	uint64_t next, prev;

	if (python_minor(cpython->place.layout.version) < FIRST_MINOR || word % 8 != 0 ||
	    word > UINT64_MAX - ENTRY_SIZE ||
	    !memory_read(memory, word + (uint64_t)ENTRY_ADDR, bytes, sizeof(bytes)))
		return false;
	*lock = bytes_u64(bytes);
	next = bytes_u64(bytes + ENTRY_NEXT - ENTRY_ADDR);
	prev = bytes_u64(bytes + ENTRY_PREV - ENTRY_ADDR);
	/* The neighbours in the list refer to this entry. */
	if (next % 8 != 0 || next > UINT64_MAX - ENTRY_SIZE ||
	    !has_u64(memory, next + NODE_PREV, word + ENTRY_NEXT) ||
	    !has_u64(memory, prev, word + ENTRY_NEXT) ||
	    !memory_read(memory, *lock, &bits, sizeof(bits)) ||
	    (bits & ~MUTEX_PARKED) != MUTEX_LOCKED)
		return false;
	*owner = *lock % 8 == 0 && *lock < UINT64_MAX - RECURSIVE_THREAD ?
			 *lock + RECURSIVE_THREAD :
			 0;
	if (*owner != 0 && python_parked_owner(cpython, *owner) == 0)
		*owner = 0;
	return true;
}
