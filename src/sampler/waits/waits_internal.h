/* SPDX-License-Identifier: MIT */
/*
 * waits_internal.h - consumers of observations: what sleeping threads wait for and which thread
 * holds it, how many threads wait for one futex at once, and deadlocks.
 */
#ifndef WALLSAMPLE_SAMPLER_WAITS_WAITS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WAITS_WAITS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/table.h"
#include "wallsample/process/process.h"
#include "wallsample/profile/profile.h"
#include "wallsample/thread/state.h"
#include "wallsample/wait/descriptor.h"
#include "wallsample/wait/wait.h"

struct run;
struct sampled_process;
struct sampled_thread;
struct waits;

/* --- thread_wait.c, thread_wait_object.c ----------------------------------------------------- */

/* The threads that wait for one futex at once. */
struct crowds {
	struct table words;  /* futex word -> number of threads that were observed waiting for it */
	struct table larger; /* (wait of the profile, futex word) whose waiters are to be counted */
	uint64_t next_ns;    /* when they are counted next, CLOCK_MONOTONIC */
};

/* The wait of one thread. */
struct thread_wait {
	uint64_t word; /* address of the futex at the last observation; 0: none */
	uint32_t id;   /* number of the wait in the profile; 0: the thread does not wait */
	struct wait what;
	int tries;        /* number of attempts to classify the wait in this sleep */
	pid_t holder;     /* holder of the object at the last reading; 0: none */
	bool holder_read; /* the holder was read: `blamed` is valid */
	struct profile_blame blamed;
};

/* Time of a waiter in this tick, to be attributed to the holder. */
struct blamed {
	pid_t tid;     /* the waiter */
	uint32_t wait; /* number of the wait in the profile */
	struct wait what;
	int64_t samples, ns;
};

/* A descriptor whose frame has no readable name yet. */
struct object {
	uint32_t frame;
	int fd;
	char *id; /* owned */
};

/* The waits of one process. */
struct waits {
	/* Borrowed. */
	struct run *run;
	struct sampled_process *process;

	struct wait_source source;
	struct crowds crowds;
	struct descriptors *descriptors;
	struct object *object; /* descriptors that are to be described */
	size_t object_count, object_capacity;
	struct table known;   /* (address or hash of a name, kind of wait): objects with a frame */
	uint64_t describe_ns; /* the next description is not before this moment */
	/* The present tick. */
	struct blamed *blamed;
	size_t blamed_count, blamed_capacity;
	struct table owners; /* (object, kind) -> index of owner */
	struct wait_owner *owner;
	size_t owner_count, owner_capacity;
};

/* Creates the waits of a process; to be freed with waits_free. Both arguments are borrowed. */
struct waits *waits_create(struct run *run, struct sampled_process *process);
void waits_free(struct waits *waits);

/* Returns the futex word that a thread in this call sleeps on; 0: none. */
uint64_t waits_word(const struct syscall_info *info);
/*
 * Returns the frame of the object of the wait, or FRAME_NONE. Refines wait->kind if the object is a
 * descriptor.
 */
uint32_t waits_object(struct waits *waits, const struct sampled_thread *thread, struct wait *wait);
/* Records that the thread was observed in this call. */
void waits_enter(struct waits *waits, struct sampled_thread *thread,
		 const struct syscall_info *info);
/* Records that the thread has left the call of the last waits_enter. */
void waits_leave(struct waits *waits, struct sampled_thread *thread);
/* Sets thread->wait of a thread that sleeps in this call. */
void waits_classify(struct waits *waits, struct sampled_thread *thread, enum run_state state,
		    const struct syscall_info *info);
/* For a thread that still sleeps: classifies its wait again if the kind of lock is not known. */
void waits_try_again(struct waits *waits, struct sampled_thread *thread);
/* Attributes time of the thread's wait to the lock holder that waits_tick will read. */
void waits_blame(struct waits *waits, const struct sampled_thread *thread, int64_t samples,
		 int64_t ns);
/* Attributes time of a sleep that has ended to the last lock holder that was read, because the lock
 * may have another holder now. */
void waits_blame_last(struct waits *waits, const struct sampled_thread *thread, int64_t samples,
		      int64_t ns);
/* True if few objects have waiters, so that their holders are observed at every tick. */
bool waits_has_few_holders(const struct waits *waits);
/* Returns the owner of the object of the wait. It is read once per object until
 * waits_forget_owners, and valid until the next call. */
const struct wait_owner *waits_owner(struct waits *waits, const struct wait *wait);
void waits_forget_owners(struct waits *waits);
/* Attributes waiters' time to holders, when all threads of the tick are observed. */
void waits_tick(struct waits *waits);
/* Gives descriptors readable names: one, or with `all` as many as half a second allows. Must not be
 * called while a thread is stopped. */
void waits_describe(struct waits *waits, bool all);

/* --- deadlock.c ------------------------------------------------------------------------------ */

/* A thread in a ring of waiters, as a search found it. */
struct ring_thread {
	pid_t tid;
	uint64_t object;   /* address of the lock */
	uint64_t switches; /* times scheduled in; 0: the thread may run meanwhile */
};

/* Deadlocks among the threads of all processes. */
struct deadlocks {
	struct run *run; /* borrowed */

	uint64_t next_ns; /* the next search is not before tick.time_ns reaches this moment */
	/* Threads of all rings of the last search, in ascending order of their ids; owned. */
	struct ring_thread *seen;
	size_t seen_count, seen_capacity;
	uint32_t unsure; /* rings of the last search that the search before it did not find */
	uint32_t awake;  /* holders of the last search that were awake and may be about to wait for
			  * an interpreter lock */
};

/* Searches when next_ns has come and all threads of the tick are observed. A ring that two
 * successive searches found, and whose threads have not run in between, goes to the profile. */
void deadlocks_tick(struct deadlocks *deadlocks);
/* At the end of the run, searches up to 5 times, 20 ms apart, until all rings are certain. */
void deadlocks_last(struct deadlocks *deadlocks);

#endif
