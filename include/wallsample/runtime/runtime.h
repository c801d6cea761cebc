/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - the language runtimes in the target: the frames of their functions, and the lock that
 * their threads share (locks.h has functions for all locks of runtimes).
 *
 * Each language has one kind of runtime (language.h). Its structures are read from the target's
 * memory, which is not trusted. A runtime that cannot be read is omitted, as are interpreters of
 * other languages: one sentence gives the reason, and their threads have only native frames.
 *
 * A thread's frames are read in two steps. While the thread is stopped or sleeps they are captured,
 * without decoding, which takes microseconds. When the thread runs again they are named and merged
 * with its native call chain.
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

/* The value of runtimes_config.wanted for all rows of languages[] (language.h). */
#define RUNTIMES_ALL UINT32_MAX

struct runtimes_config {
	const struct process *process; /* all pointers are borrowed */
	struct maps *maps;
	struct memory memory; /* memory of the target */
	/*
	 * Reads `count` pages of MEMORY_PAGE bytes into `to`, contiguously. Returns the number of
	 * leading pages that were read. If it is NULL, pages are read one by one.
	 */
	size_t (*read_pages)(void *context, const uint64_t *page, size_t count, void *to);
	/*
	 * Reads up to MEMORY_PIECES_MOST pieces of memory in one call into `to`, contiguously.
	 * Returns the number of leading pieces that were read. If it is NULL, pieces are read one
	 * by one.
	 */
	size_t (*read_pieces)(void *context, const struct memory_piece *piece, size_t count,
			      void *to);
	/*
	 * Returns a bit set of the pages that are in memory or, with `swapped`, in swap; parameters
	 * and result are those of resident_pages (wallsample/tracer/resident.h). NULL: all pages
	 * count as in memory.
	 */
	uint32_t (*resident)(void *context, uint64_t address, bool swapped);
	/* Converts a thread id of the target's pid namespace to wallsample's; 0: no live thread. */
	pid_t (*thread)(void *context, pid_t inner);
	/*
	 * `leave` is called before work that may take long, such as searching a file, and `back`
	 * after it. Between the two calls the caller must release each thread that stops because of
	 * an earlier stop request. Both may be NULL.
	 */
	void (*leave)(void *context);
	void (*back)(void *context);
	/*
	 * Called between `leave` and `back`: returns true if no thread of the target is stopped or
	 * asked to stop, so that any file may be read, also by libraries. With `wait`, waits for
	 * that, for 100 ms at most. NULL: files may always be read.
	 */
	bool (*may_read)(void *context, bool wait);
	void *context;                    /* first argument of the functions above */
	uint32_t wanted;                  /* bit n: row n of languages[] is wanted */
	const struct runtime_kind *extra; /* an additional kind, for tests; may be NULL */
	bool async;                       /* functions of async_tasks.h will be called */
	const struct log *log;            /* may be NULL */
};

/* Makes the runtimes of a process, which the caller frees. Never fails. */
struct runtimes *runtimes_create(const struct runtimes_config *config);
void runtimes_free(struct runtimes *runtimes);

/*
 * Must be called once a tick, while no thread is stopped but those that stop late. Searches for
 * runtimes when mappings have changed, and for new threads of the runtimes. Each runtime reads long
 * lists of threads within a budget of 1% of the time, so that a new one of 10,000 threads may be
 * found late. `now_ns`: CLOCK_MONOTONIC.
 */
void runtimes_tick(struct runtimes *runtimes, uint64_t now_ns);
/* Forgets which pages are in memory; to be called before captures that precede runtimes_tick. */
void runtimes_begin_tick(struct runtimes *runtimes);
/* Number of calls of runtimes_tick that suffice to search the mappings of a large program. */
#define RUNTIME_LOOKS 16
/*
 * Returns a thread that a runtime has discovered, each thread once; 0: no more. The caller must
 * capture the thread again even if it has not run, because earlier captures did not know the
 * thread's runtime.
 */
pid_t runtimes_next_new(struct runtimes *runtimes);

/*
 * Searches for the thread in the runtimes' lists of threads, if they do not know it: it may have
 * started since runtimes_tick. To be called before a capture of a thread that has run since its
 * last capture, while it is not stopped. If a sleeping thread is not found, it belongs to no
 * runtime, or the budget for searches, another 1% of the time, is used up. In the second case
 * runtimes_next_new returns the thread later.
 */
void runtimes_seek(struct runtimes *runtimes, pid_t tid);

/*
 * Returns true if the process had a readable runtime at the last runtimes_tick. If not, captures
 * are empty, and need not be taken.
 */
bool runtimes_any(const struct runtimes *runtimes);
/* Returns description number `index`, from 0 on, of the runtimes that were found, including those
 * that have ended, such as "NAME 3.11.7"; NULL: no more. Equal descriptions are returned once. */
const char *runtimes_describe(const struct runtimes *runtimes, size_t index);
/* Writes all descriptions, separated by "; "; those that do not fit into `size` are omitted. */
void runtimes_describe_all(const struct runtimes *runtimes, char *to, size_t size);
/* Writes in the same way the sentences about runtimes that were found but are not read, such as
 * "NAME functions are not shown: the NAME in FILE cannot be read: …". The log has them, too. */
void runtimes_unread_all(const struct runtimes *runtimes, char *to, size_t size);

/* Makes a buffer for the capture of one thread. It can be used for one capture after another, also
 * of different threads. The caller frees it before it frees the runtimes. */
struct runtime_capture *runtime_capture_create(struct runtimes *runtimes);
void runtime_capture_free(struct runtime_capture *capture);

/*
 * Captures the thread, which must be stopped (`held`) or asleep; if it is asleep, the caller checks
 * afterwards that it has not run. The capture has no frames and no green task if no runtime knows
 * the thread. With `held` only pages that are in memory are read, and only a bounded number of
 * them. `sp`: stack pointer of the thread; 0: not known.
 */
void runtime_capture_take(struct runtime_capture *capture, pid_t tid, uint64_t sp, bool held);
/* Empties the capture. */
void runtime_capture_clear(struct runtime_capture *capture);

/* A function of the target's program at a line. Texts live as long as the runtimes. */
struct runtime_place {
	const char *function; /* qualified name, such as "C.method" */
	const char *file;     /* path as the runtime has it; "": not known */
	uint32_t line;        /* 0: not known */
	bool marker;          /* `function` is no name: it says that frames could not be read */
};

/* A frame to insert into the native call chain. */
struct runtime_frame {
	size_t before;  /* chain->frame[before] is its native caller; chain->count: it has none */
	uint32_t place; /* number of the place, for runtimes_place */
};

/*
 * Ends the chain at the first function of the coroutine that the thread executes on its stack, if
 * any: frames further out belong to other coroutines. The chain is then whole, and
 * runtime_capture_merge, which must follow, adds a text as outermost frame. `capture` may be NULL.
 */
void runtime_capture_trim(struct runtime_capture *capture, struct chain *chain);

/*
 * Stores the captured frames, leaf first, with their positions in the chain. Returns their number.
 * *frames is valid until the next call. Frames whose position is not known are placed outside of
 * all native frames, together with a frame whose place is a marker.
 */
size_t runtime_capture_merge(struct runtime_capture *capture, const struct chain *chain,
			     const struct runtime_frame **frames);
/*
 * Returns why the stack ended that the latest runtime_capture_merge has made of the capture and the
 * chain: CHAIN_DEPTH if the chain is whole, but the captured frames were more than a limit, so that
 * the outermost of them are missing; otherwise chain->end. `capture` may be NULL.
 */
enum chain_end runtime_capture_end(const struct runtime_capture *capture,
				   const struct chain *chain);
const struct runtime_place *runtimes_place(const struct runtimes *runtimes, uint32_t place);

/*
 * Returns the state of the captured thread with respect to its interpreter lock. `number` and
 * `args`: the system call in which it was captured; `number` SYSCALL_NONE: none.
 */
enum gil runtime_capture_gil(const struct runtime_capture *capture, long number,
			     const uint64_t args[6]);

#endif
