/* SPDX-License-Identifier: MIT */
/*
 * go_internal.h - threads and goroutines of a Go runtime.
 * go.c          the instances of Go, and the contract of a runtime
 * go_threads.c  the threads that each runtime lists
 * go_task.c     all goroutines, read without a stop
 * go_capture.c  the goroutine of a thread that is stopped or sleeps
 * go_words.c    reasons to wait, and which goroutines belong to the runtime itself
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_INTERNAL_H

#include "runtime/go/go_find_internal.h"
#include "wallsample/elf/pclntab.h"

/* Bound of the list of threads in memory, which may be circular. */
#define GO_THREADS_MOST 100000

/* Bytes that are copied of a goroutine's own stack while its thread uses another one. */
#define GO_STACK_BYTES ((size_t)16 << 10)

/* A thread (runtime.m) in Go's list. */
struct go_thread {
	uint64_t address;
	uint64_t inner; /* its tid in the target's pid namespace; 0: it has not begun */
	pid_t tid;      /* in our pid namespace; 0: not known */
	uint32_t tries; /* lists in which the tid was not known */
	struct pages_memo memo;
};

struct go_threads {
	struct go_thread *thread;
	size_t count, capacity;
	struct table by_address, by_tid; /* -> index */
};

#define GO_REASONS_MOST 128
#define GO_REASON_TEXT 64

struct go_runtime {
	struct instance base;
	struct go_home home;

	struct go_threads threads, before;
	unsigned late; /* threads read since the last tick in addition to the list */

	uint64_t *slot; /* addresses of goroutines, which never move */
	uint64_t array; /* address of the array in the target that `slot` was read from */
	size_t slot_count, slot_capacity, settled_count;
	uint8_t *bytes; /* of goroutines, for one batch */

	char reason[GO_REASONS_MOST][GO_REASON_TEXT]; /* "": no such reason */
	bool reasons_read;
	struct table own;      /* entry function of goroutines -> is it the runtime's own? */
	struct pclntab *table; /* names of functions; NULL: there are none */
	bool table_sought;
};

/* --- go_threads.c ------------------------------------------------------------------------ */

/* Reads the list of threads if it may have changed; takes at most 1% of the time. */
void go_threads_list(struct go_runtime *go, uint64_t now_ns);
void go_threads_release(struct go_runtime *go);
/* NULL: no thread has this tid. */
struct go_thread *go_threads_find(struct go_runtime *go, pid_t tid);
/* The tid of the thread whose structure is at the address; 0: not known. A thread that began after
 * the list was read is read now. */
pid_t go_threads_tid(struct go_runtime *go, uint64_t address);

/* --- go_task.c --------------------------------------------------------------------------- */

/* Reads the addresses of all goroutines; returns their count. */
size_t go_tasks_slots(struct go_runtime *go);
/* Forgets the addresses: after an exec of the same file others may be in the same place. */
void go_tasks_forget(struct go_runtime *go);
void go_tasks_look(struct go_runtime *go, const uint32_t *slot, size_t count,
		   struct green_task *out);
/*
 * Fills all of *task but tid and system from the bytes of a goroutine, which may change while they
 * are read; *m is the address of its thread. False: not a goroutine. A goroutine that waits and
 * has a thread is running: those of the garbage collector do so, and those whose stack it scans.
 * A goroutine that waits for something has no thread.
 */
bool go_task_fill(struct go_runtime *go, const uint8_t *bytes, uint64_t address, uint64_t now_ns,
		  struct green_task *task, uint64_t *m);

/* --- go_capture.c ------------------------------------------------------------------------ */

struct go_captured {
	struct go_runtime *of;  /* NULL: not a thread of Go, or not readable */
	struct green_task task; /* GREEN_TASK_NONE: the thread runs no goroutine */
	size_t stack_size;
	uint8_t stack[GO_STACK_BYTES];
};

void go_capture(struct go_runtime *go, pid_t tid, uint64_t sp, struct go_captured *captured);

/* --- go_words.c -------------------------------------------------------------------------- */

/* Reads the reasons to wait, once. */
void go_words_read_reasons(struct go_runtime *go);
/* Did the runtime itself begin the goroutines with this entry function? */
bool go_words_is_own(struct go_runtime *go, uint64_t entry);
void go_words_release(struct go_runtime *go);

/*
 * go_vdso_*.c: nanotime and walltime save the frame pointer of their caller this number of bytes
 * below the caller's stack pointer; 0: it is not read.
 */
extern const uint64_t go_vdso_frame_pointer;

extern const struct runtime_kind runtime_go;

#endif
