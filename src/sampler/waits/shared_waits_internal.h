/* SPDX-License-Identifier: MIT */
/*
 * shared_waits_internal.h - objects in memory that processes share, such as locks, and the threads
 * of other processes that hold them.
 */
#ifndef WALLSAMPLE_SAMPLER_WAITS_SHARED_WAITS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WAITS_SHARED_WAITS_INTERNAL_H

#include "sampler/waits/peers_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/process/process.h"
#include "wallsample/process/shared_memory.h"
#include "wallsample/wait/server_event.h"
#include "wallsample/wait/wait.h"

struct run;
struct waits;

/* A thread of any process whose id is in a lock. */
struct holder_thread {
	uint64_t until_ns; /* the members below are read again then, CLOCK_MONOTONIC */
	pid_t tid; /* in wallsample's pid namespace; 0: there is no living thread; -1: not known */
	pid_t pid; /* its process; 0 unless tid > 0 */
	char comm[PROCESS_COMM_SIZE];
};

/* What the waits of all processes of a run have in common. A struct whose bytes are all zero is
 * empty. */
struct shared_waits {
	struct endpoints *endpoints; /* owned; NULL: there is no process yet */
	/* earliest moment of the next waits_describe, CLOCK_MONOTONIC */
	uint64_t describe_ns;
	size_t describe_turn;             /* index of the process that is next then */
	struct peers peers;               /* released by waits_release_common */
	struct server_programs *programs; /* owned; NULL: none was sought yet */
	struct shared_names *names; /* owned; NULL: no object in shared memory was named yet */
	/* (process id, hash of an object in shared memory) -> second of CLOCK_MONOTONIC up to which
	 * the answer is used, times 2, plus 1 if the process may have mapped the object */
	struct table mapped;
	struct table named; /* set of the hashes of texts such as "[held by NAME (PID)]" */
	/* (thread id, number of its pid namespace; 0: wallsample's) -> index in thread[] */
	struct table threads;
	struct holder_thread *thread;
	size_t thread_capacity;
};

void shared_waits_release(struct shared_waits *shared);

/* Adds the name of the wait's object, which is equal for all processes of the run. Returns false if
 * the object is not in shared memory. */
bool shared_add_object(struct waits *waits, const struct wait *wait, struct strbuf *out);

/* The function `foreign` of struct wait_source. `context`: a struct waits. */
pid_t shared_find_thread(void *context, pid_t inner);

/*
 * Checks the owner of the wait's object, as wait_owner has read it. The id in a lock may be that of
 * a thread that ended long ago, for example in a file that was mapped before the last boot, or an
 * id in another pid namespace: sets the tid of a FOREIGN owner to 0 unless its process has mapped
 * the object, too. Takes 1 us; in addition once a second for each such thread 40 us, and once in
 * 10 seconds for each process and object as long as shared_object_may_be_mapped.
 */
void shared_check_owner(struct waits *waits, const struct wait *wait, struct wait_owner *owner);

/* Returns true if `tid` of the owner is the id of a living thread, of any process. */
static inline bool
owner_is_thread(const struct wait_owner *owner)
{
	return owner->holder == HOLDER_THREAD ||
	       (owner->holder == HOLDER_FOREIGN && owner->tid > 0);
}

/* Adds "NAME (PID)", the process of a thread of any process. Returns false, and adds nothing, if
 * the thread has ended. The answer may be a second old. */
bool shared_add_process(struct run *run, pid_t tid, struct strbuf *out);
/* Returns the stack of one frame with this text, which names holders of locks; STACK_NONE if 1,024
 * texts have such a frame. */
uint32_t shared_stack_of_text(struct run *run, const char *text);
/* Returns the stack of one frame with the text `before` and the name of the thread's process, such
 * as "[held by NAME (PID)]" for PROFILE_HELD_BY; STACK_NONE as above, or if it has ended. */
uint32_t shared_stack_of_process(struct run *run, pid_t tid, const char *before);

#endif
