/* SPDX-License-Identifier: MIT */
/*
 * waits_internal.h - what sleeping threads wait for, which threads hold the awaited objects, how
 * many threads wait at once.
 */
#ifndef WALLSAMPLE_SAMPLER_WAITS_WAITS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WAITS_WAITS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sampler/waits/file_lock_waits_internal.h"
#include "sampler/waits/shared_waits_internal.h"
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

/* --- thread_wait.c, thread_wait_object.c, lock_blame.c ---------------------------------------- */

/* The wait of one thread. */
struct thread_wait {
	/* Address of the futex at the last observation, LAYOUT_PARKED: of the lock; 0: none. */
	uint64_t word;
	uint32_t id; /* number of the wait in the profile; 0: the thread does not wait */
	struct wait what;
	int tries; /* number of times that the wait was classified in this sleep */
	/* Thread that held the object at the last reading; 0: none, or it is not known. */
	pid_t holder;
	bool holder_read; /* the holder was read in this sleep, and `blamed` is set */
	/* The holder, its stack and its state at the last reading; samples and ns are not used. */
	struct profile_blame blamed;
};

/* Time of a waiting thread at this tick, which waits_tick will attribute to the holder of the
 * object for which it waits. */
struct blamed {
	pid_t tid;     /* the waiter */
	uint32_t wait; /* number of the wait in the profile */
	struct wait what;
	int64_t samples, ns;
};

/* A descriptor that a thread waits for, whose frame in the profile has no readable name yet. */
struct object {
	uint32_t frame;
	int fd;
	char *id; /* text of its link in /proc; owned */
};

/* The waits of one process. */
struct waits {
	/* Borrowed. */
	struct run *run;
	struct sampled_process *process;

	struct wait_source source;
	struct table words; /* futex word -> number of threads last observed waiting for it */
	struct shared_memory *memory; /* owned; NULL: no object was looked up yet */
	uint64_t pid_namespace;       /* of the target, if it is not wallsample's; 0: not read */
	struct server_process server; /* the locks that a database server names */
	bool ipc_read;                /* ipc_namespace is set */
	uint64_t ipc_namespace;       /* system_v_namespace of the process */
	struct descriptors *descriptors;
	struct peer_ends peers; /* other ends of its pipes and connections */
	struct object *object;  /* descriptors that waits_describe has to name */
	size_t object_count, object_capacity;
	/* Set of the objects that have a frame of their own. Keys: (address, WAIT_LOCK) for an
	 * object in memory, (hash of the name, WAIT_KIND_COUNT) for any other object. */
	struct table known;
	struct blamed *blamed; /* for the present tick */
	size_t blamed_count, blamed_capacity;
	/* (address of the object, kind of wait) -> index in owner[] */
	struct table owners;
	struct wait_owner *owner;
	size_t owner_count, owner_capacity;
};

/* Creates the waits of a process; to be freed with waits_free. Both arguments are borrowed. */
struct waits *waits_create(struct run *run, struct sampled_process *process);
void waits_free(struct waits *waits);
/* Frees what the waits of all processes have in common: run->crowds, shared and file_locks. */
void waits_release_common(struct run *run);

/* Returns the futex word that a thread in this call sleeps on; 0: none. */
uint64_t waits_word(const struct syscall_info *info);
/*
 * Returns the frame that names the object of the wait, or FRAME_NONE if there is none, or the
 * object is not known. `call` is the call of which wait_classify has made `wait`. Refines
 * wait->kind if the object is a descriptor.
 */
uint32_t waits_object(struct waits *waits, const struct sampled_thread *thread,
		      const struct wait_call *call, struct wait *wait);
/* Returns the frame that names wait->fd; FRAME_NONE: it is closed. Refines the kind DESCRIPTOR.
 * `thread`: the waiting thread, or NULL. */
uint32_t waits_descriptor(struct waits *waits, const struct sampled_thread *thread,
			  struct wait *wait);
/* Records that the thread was observed in this system call: the futex word for which it waits. */
void waits_enter(struct waits *waits, struct sampled_thread *thread,
		 const struct syscall_info *info);
/* Records that the thread has left the system call of the last waits_enter. */
void waits_leave(struct waits *waits, struct sampled_thread *thread);
/* Sets thread->wait of a thread that was observed in this system call, in the state `state`. */
void waits_classify(struct waits *waits, struct sampled_thread *thread, enum run_state state,
		    const struct syscall_info *info);
/* For a thread that still sleeps: classifies its wait again, up to 3 times in all, if only a futex,
 * or a lock of unknown kind, was recognised. */
void waits_try_again(struct waits *waits, struct sampled_thread *thread);
/* Stores this time of the thread's wait; waits_tick will attribute it to the holder of the object.
 * No effect on waits whose object has no owner, unless they may be for another process. */
void waits_blame(struct waits *waits, const struct sampled_thread *thread, int64_t samples,
		 int64_t ns);
/* Attributes time of a sleep that has ended to the holder that was read last during the sleep,
 * because the object may have another holder now. If no holder was read, does as waits_blame. */
void waits_blame_last(struct waits *waits, const struct sampled_thread *thread, int64_t samples,
		      int64_t ns);
/* True if at most 32 locks, or other objects with an owner, had waiters at the last tick: their
 * holders are then observed at every tick. */
bool waits_has_few_holders(const struct waits *waits);
/* Returns the owner of the object of the wait, valid until the next call. Each object is read once
 * until waits_forget_owners is called. */
const struct wait_owner *waits_owner(struct waits *waits, const struct wait *wait);
void waits_forget_owners(struct waits *waits);
/* Reads the holders of the locks again, and attributes stored time of waits_blame to them. */
void waits_blame_holders(struct waits *waits);
/* Attributes the time of waiters at this tick to lock holders and awaited processes, and empties
 * `blamed`. To be called when all threads of the tick are observed. */
void waits_tick(struct waits *waits);
/* Gives frames of descriptors of all processes readable names. With `all`: as many as half a second
 * allows. Otherwise for a millisecond beyond the first one, and none before shared->describe_ns.
 * Must not be called while a thread is stopped. */
void waits_describe(struct run *run, bool all);

/* --- crowds.c -------------------------------------------------------------------------------- */

/* A crowd is the set of threads, of all processes, that wait for objects of one kind and name. A
 * struct whose bytes are all zero is empty. */
struct crowds {
	/* (kind, number of the name) -> number of threads. Each count empties both tables first,
	 * which keep their memory. */
	struct table seen;    /* threads that waited at their last observations */
	struct table waiting; /* threads that wait at the moment of the count */
	/* earliest moment of the next count, CLOCK_MONOTONIC */
	uint64_t next_ns;
};

/*
 * Raises profile_wait.most of each wait to the number of threads of its crowd that wait at one
 * moment. Threads are observed at different moments: of three threads that take turns with a lock
 * all three may be observed waiting. Therefore those that have slept from their observation until
 * now are counted. To be called when all threads of the tick are observed; takes at most 0.5 % of
 * the time.
 */
void crowds_tick(struct run *run);
void crowds_release(struct crowds *crowds);

#endif
