/* SPDX-License-Identifier: MIT */
/*
 * go_internal.h - what the files of Go share.
 * go.c          the Go runtimes of a process: found, lost, described
 * go_threads.c  which threads they know
 * go_task.c     all goroutines, without a stop
 * go_capture.c  the goroutine of a thread that stands still or sleeps
 * go_words.c    why they wait, and which of them are the runtime's own
 * go_find.c, go_file.c, go_version.c, go_scan.c, go_fit.c, go_layout.c, go_dwarf.c
 *               where things are, by version
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_INTERNAL_H

#include "runtime/go/go_find_internal.h"
#include "runtime/go/go_sources_internal.h"
#include "runtime/runtime_kind_internal.h"
#include "wallsample/elf/pclntab.h"

/* A list in memory may be a ring. */
#define GO_THREADS_MOST 100000

/* What is copied of a goroutine's own stack, while its thread is on another. */
#define GO_STACK_BYTES ((size_t)16 << 10)

/* A thread (runtime.m), as Go knows it. */
struct go_thread {
	uint64_t address;
	uint64_t inner;       /* its number, as Go has it; 0: it has not begun */
	pid_t tid;            /* in our namespace; 0: not known */
	uint32_t tries;       /* lists in which it was not known */
	struct pages_memo memo;
};

struct go_threads {
	struct go_thread *thread;
	size_t count, capacity;
	struct table by_address, by_tid; /* -> index */
};

#define GO_REASONS_MOST 128
#define GO_REASON_TEXT 64

/* One Go runtime in the process. */
struct go_runtime {
	struct instance base;
	struct go_home home;

	struct go_threads threads, before;
	unsigned late;        /* threads looked at since the last tick, besides the list */

	uint64_t *slot;       /* addresses of goroutines; they never move */
	uint64_t array;       /* of those, in memory */
	size_t slot_count, slot_capacity, settled_count;
	uint8_t *bytes;       /* of goroutines, for one batch */

	char reason[GO_REASONS_MOST][GO_REASON_TEXT]; /* "": no such */
	bool reasons_read;
	struct table own;     /* functions that goroutines began with -> are they the runtime's? */
	struct pclntab *table; /* names of functions; NULL: there are none */
	bool table_sought;
};

/* --- go_threads.c ------------------------------------------------------------------------ */

void go_threads_list(struct go_runtime *go, uint64_t now_ns);
void go_threads_release(struct go_runtime *go);
/* NULL: none has this tid. */
struct go_thread *go_threads_find(struct go_runtime *go, pid_t tid);
/* The thread whose structure is there; 0: not known. One that has come since the list was made is
 * read. */
pid_t go_threads_tid(struct go_runtime *go, uint64_t address);

/* --- go_task.c --------------------------------------------------------------------------- */

size_t go_tasks_slots(struct go_runtime *go);
/* By an exec of the same file there may be others, in the same place. */
void go_tasks_forget(struct go_runtime *go);
void go_tasks_look(struct go_runtime *go, const uint32_t *slot, size_t count,
		   struct green_task *out);
/*
 * From the bytes of a goroutine, which may change while they are read, all but tid and system.
 * False: it is none. In *m the thread that has it. A goroutine that waits, and is a thread's, runs:
 * the collector's do so, and what has its stack scanned; what waits for something was let go.
 */
bool go_task_fill(struct go_runtime *go, const uint8_t *bytes, uint64_t address, uint64_t now_ns,
		  struct green_task *task, uint64_t *m);

/* --- go_capture.c ------------------------------------------------------------------------ */

struct go_captured {
	struct go_runtime *of; /* NULL: it is no thread of Go's, or cannot be read */
	struct green_task task; /* GREEN_TASK_NONE: it runs no goroutine */
	size_t stack_size;
	uint8_t stack[GO_STACK_BYTES];
};

void go_capture(struct go_runtime *go, pid_t tid, uint64_t sp, struct go_captured *captured);

/* --- go_words.c -------------------------------------------------------------------------- */

/* Reads them, if that has not been done. */
void go_words_read_reasons(struct go_runtime *go);
/* Did a goroutine that began with this function begin for the runtime itself? */
bool go_words_is_own(struct go_runtime *go, uint64_t entry);
void go_words_release(struct go_runtime *go);

/* Where nanotime and walltime keep the frame pointer of their caller: so far below where that
 * goes on; 0: it is not looked for (go_vdso_*.c). */
extern const uint64_t go_vdso_frame_pointer;

#endif
