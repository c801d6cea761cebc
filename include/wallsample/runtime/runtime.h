/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - the language runtimes in the target: the frames of their functions, and the lock
 * that their threads share.
 *
 * Each kind of runtime is a row of the table in runtimes.c (runtime_kind.h is its contract). What
 * one is made of is read from the target's memory, which is hostile: a runtime that cannot be
 * read is left out with one line that says why, and its threads have native frames alone.
 *
 * A thread's frames are read in two steps. While it stands still or sleeps they are captured, in
 * the form in which memory has them: microseconds, and nothing is decoded. When it runs again
 * they are merged with its native call chain: which frames, by what name and line, and where
 * in the chain they belong.
 */
#ifndef WALLSAMPLE_RUNTIME_RUNTIME_H
#define WALLSAMPLE_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/memory.h"
#include "wallsample/thread/state.h"
#include "wallsample/wait/wait.h"

struct runtimes;
struct runtime_capture;
struct runtime_kind;

/* Bits of the rows of languages[] (language.h). */
#define RUNTIMES_ALL UINT32_MAX

struct runtimes_config {
	const struct process *process; /* borrowed, as all that follows */
	struct maps *maps;
	struct memory memory;          /* of the target */
	/*
	 * Reads so many pages of MEMORY_PAGE bytes into `to`, one behind the other, and returns
	 * how many of the first ones it has read; NULL: memory is read page by page.
	 */
	size_t (*read_pages)(void *context, const uint64_t *page, size_t count, void *to);
	/*
	 * Reads pieces of memory in one call, one behind the other into `to`, and returns how many
	 * of the first ones it has read; at most MEMORY_PIECES_MOST. NULL: one by one.
	 */
	size_t (*read_pieces)(void *context, const struct memory_piece *piece, size_t count,
			      void *to);
	/*
	 * Which pages may be read without waiting, as resident_pages says it; NULL: all.
	 */
	uint32_t (*resident)(void *context, uint64_t address, bool swapped);
	/* The living thread that the target's memory calls `inner`, in our namespace; 0: none. */
	pid_t (*thread)(void *context, pid_t inner);
	/*
	 * Called around what may take long, as to look through a file: who was asked to stop, and
	 * has not yet, is not to stand still meanwhile. May be NULL.
	 */
	void (*leave)(void *context);
	void (*back)(void *context);
	void *context;                 /* of the last six */
	uint32_t wanted;               /* bit n: row n of languages[] */
	const struct runtime_kind *extra; /* one that is not in the table, for tests; or NULL */
	bool tasks;                    /* those will be asked for: see async_tasks.h */
	const struct log *log;         /* or NULL */
};

/* Never fails: a process without a runtime has none. */
struct runtimes *runtimes_create(const struct runtimes_config *config);
void runtimes_free(struct runtimes *runtimes);

/*
 * To be called once a tick, while no thread stands still: looks for runtimes when mappings have
 * changed, and for the threads that they know now (at most a hundredth of the time goes into
 * that: of a thousand threads a new one is known a little later).
 */
void runtimes_tick(struct runtimes *runtimes, uint64_t now_ns);
/* So many ticks suffice at the beginning to look through what a large program has mapped. */
#define RUNTIME_LOOKS 16
/* The next of the threads that have become known since; 0: no more. They are to be captured anew,
 * though they sleep. */
pid_t runtimes_next_new(struct runtimes *runtimes);

/* Is there one whose threads have frames? While there is none, nothing below costs anything. */
bool runtimes_any(const struct runtimes *runtimes);
/* "NAME 3.11.7", one for all with the same text; index from 0 on; NULL: no more. */
const char *runtimes_describe(const struct runtimes *runtimes, size_t index);
/* All of them, with "; " between, as many as fit. */
void runtimes_describe_all(const struct runtimes *runtimes, char *to, size_t size);

/* What was read of one thread; not to be used any more when the runtimes are freed. */
struct runtime_capture *runtime_capture_create(struct runtimes *runtimes);
void runtime_capture_free(struct runtime_capture *capture);

/*
 * Reads what there is of the thread, which stands still (`held`); or sleeps, then the caller checks
 * afterwards that it has not run. Of a thread that no runtime knows the capture is
 * empty. While it is held nothing is read but what is in memory, and a bounded amount. `sp`: its
 * stack pointer; 0: not known.
 */
void runtime_capture_take(struct runtime_capture *capture, pid_t tid, uint64_t sp, bool held);
/* What it has of an earlier thread is forgotten: nothing was captured. */
void runtime_capture_clear(struct runtime_capture *capture);

/* A function of the target's program at a line. Texts live as long as the runtimes. */
struct runtime_place {
	const char *function; /* "C.method" */
	const char *file;     /* as the runtime has it; "": not known */
	uint32_t line;        /* 0: not known */
	bool marker;          /* no function: it says that something could not be read */
};

/* A frame between those of the native chain: it stands inside of chain->frame[before], and outside
 * of those before that; before == chain->count: outside of all. */
struct runtime_frame {
	size_t before;
	uint32_t place;
};

/*
 * The frames of the capture, innermost first, and where in the chain they belong; *frames is valid
 * until the next call. Those whose place in the chain cannot be told are outside of all,
 * with a marker.
 */
size_t runtime_capture_merge(struct runtime_capture *capture, const struct chain *chain,
			     const struct runtime_frame **frames);
const struct runtime_place *runtimes_place(const struct runtimes *runtimes, uint32_t place);

/*
 * What the thread had to do with its interpreter's lock when it was captured. `number` and `args`:
 * the system call it was in, SYSCALL_NONE: none.
 */
enum gil runtime_capture_gil(const struct runtime_capture *capture, long number,
			     const uint64_t args[6]);

/*
 * Is the futex at this address part of an interpreter's lock? Then *lock is the address of the
 * lock, and *name what to tell it from others of the process by; "": there is but one.
 */
bool runtimes_find_lock(struct runtimes *runtimes, uint64_t word, uint64_t *lock,
			const char **name);
/* Who has the lock now: the thread in our pid namespace; 0: nobody, or not known. */
pid_t runtimes_lock_owner(struct runtimes *runtimes, uint64_t lock);

#endif
