/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - the language runtimes in the target: the frames of their functions, and the lock
 * that their threads share.
 *
 * Each language has one kind of runtime (language.h). Its structures are read from the target's
 * memory, which is hostile: a runtime that cannot be read is left out with one line that says why,
 * and its threads have native frames alone.
 *
 * A thread's frames are read in two steps. While the thread is stopped or sleeps they are captured
 * as they are in memory: microseconds, without decoding. When the thread runs again they are named
 * and merged with its native call chain.
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
#include "wallsample/tracer/process_memory.h"
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
	struct memory memory; /* of the target */
	/*
	 * Reads `count` pages of MEMORY_PAGE bytes into `to`, contiguously. Returns the number of
	 * leading pages that were read. NULL: memory is read page by page.
	 */
	size_t (*read_pages)(void *context, const uint64_t *page, size_t count, void *to);
	/*
	 * Reads up to MEMORY_PIECES_MOST pieces of memory in one call into `to`, contiguously.
	 * Returns the number of leading pieces that were read. NULL: one by one.
	 */
	size_t (*read_pieces)(void *context, const struct memory_piece *piece, size_t count,
			      void *to);
	/*
	 * The pages that can be read without a page fault, as resident_pages; NULL: all.
	 */
	uint32_t (*resident)(void *context, uint64_t address, bool swapped);
	/* The live thread, in our pid namespace, whose id in the target's is `inner`; 0: none. */
	pid_t (*thread)(void *context, pid_t inner);
	/*
	 * Called before and after work that may take long, such as searching a file: a thread with
	 * an outstanding stop request must not stay stopped meanwhile. May be NULL.
	 */
	void (*leave)(void *context);
	void (*back)(void *context);
	void *context;                    /* of the last six */
	uint32_t wanted;                  /* bit n: row n of languages[] */
	const struct runtime_kind *extra; /* of a test, beside languages[]; or NULL */
	bool tasks;                       /* whether async_tasks.h will be used */
	const struct log *log;            /* or NULL */
};

/* Never fails. The caller frees the result. */
struct runtimes *runtimes_create(const struct runtimes_config *config);
void runtimes_free(struct runtimes *runtimes);

/*
 * Must be called once a tick, while no thread is stopped. Searches for runtimes when mappings have
 * changed, and for their new threads, which takes at most 1% of the time: with a thousand threads a
 * new one is found some ticks later.
 */
void runtimes_tick(struct runtimes *runtimes, uint64_t now_ns);
/* The number of first ticks that suffice to search the mappings of a large program. */
#define RUNTIME_LOOKS 16
/* Pops the next thread that a runtime has discovered since the last call; 0: none. The caller must
 * recapture it even if it has not run. */
pid_t runtimes_next_new(struct runtimes *runtimes);

/* Whether the process has a readable runtime. If not, the functions below cost nothing. */
bool runtimes_any(const struct runtimes *runtimes);
/* "NAME 3.11.7", one for all with the same text; index from 0 on; NULL: no more. */
const char *runtimes_describe(const struct runtimes *runtimes, size_t index);
/* Writes all descriptions, "; " between; those that do not fit are omitted. */
void runtimes_describe_all(const struct runtimes *runtimes, char *to, size_t size);

/* The capture of one thread, reusable. It must be freed before the runtimes. */
struct runtime_capture *runtime_capture_create(struct runtimes *runtimes);
void runtime_capture_free(struct runtime_capture *capture);

/*
 * Captures the thread, which is stopped (`held`), or sleeps: then the caller checks afterwards that
 * it has not run. The capture is empty if no runtime knows the thread. With `held` only resident
 * pages are read, and a bounded number. `sp`: its stack pointer; 0: not known.
 */
void runtime_capture_take(struct runtime_capture *capture, pid_t tid, uint64_t sp, bool held);
/* Empties the capture. */
void runtime_capture_clear(struct runtime_capture *capture);

/* A function of the target's program at a line. Texts live as long as the runtimes. */
struct runtime_place {
	const char *function; /* "C.method" */
	const char *file;     /* as the runtime has it; "": not known */
	uint32_t line;        /* 0: not known */
	bool marker;          /* not a function: the text says what could not be read */
};

/* A frame to insert into the native chain: chain->frame[before] is its caller; with
 * before == chain->count it is outside of all native frames. */
struct runtime_frame {
	size_t before;
	uint32_t place;
};

/*
 * Stores the captured frames, innermost first, with their positions in the chain; returns their
 * number. *frames is valid until the next call. Frames without a known position are outside of all
 * native frames, with a marker.
 */
size_t runtime_capture_merge(struct runtime_capture *capture, const struct chain *chain,
			     const struct runtime_frame **frames);
const struct runtime_place *runtimes_place(const struct runtimes *runtimes, uint32_t place);

/*
 * The thread's state with respect to its interpreter lock at the capture. `number` and `args`: the
 * system call it was in; SYSCALL_NONE: none.
 */
enum gil runtime_capture_gil(const struct runtime_capture *capture, long number,
			     const uint64_t args[6]);

/*
 * Whether the futex at the address `word` is part of an interpreter lock. If so, stores the address
 * of the lock, and a name that distinguishes it in the process; "": the process has only one.
 */
bool runtimes_find_lock(struct runtimes *runtimes, uint64_t word, uint64_t *lock,
			const char **name);
/* The current holder of the lock, in our pid namespace; 0: none, or not known. */
pid_t runtimes_lock_owner(struct runtimes *runtimes, uint64_t lock);

#endif
