/* SPDX-License-Identifier: MIT */
/*
 * go_internal.h - threads and goroutines of a Go runtime.
 * go.c          the instances of Go, the functions of struct runtime_kind, and the goroutine of a
 *               thread that is stopped or sleeps
 * go_threads.c  the threads that each runtime lists
 * go_task.c     all goroutines, read without a stop
 * go_poll.c     the descriptor for which a goroutine waits
 * go_words.c    reasons to wait, and which goroutines belong to the runtime itself
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_INTERNAL_H

#include "runtime/go/go_find_internal.h"
#include "wallsample/elf/pclntab.h"

/* Most threads that are read from a list in the target's memory: the list may be circular. */
#define GO_THREADS_MOST 100000

/* Most bytes that are copied of a goroutine's own stack while its thread uses another one. */
#define GO_STACK_BYTES ((size_t)16 << 10)

/* A thread (runtime.m) in Go's list. */
struct go_thread {
	uint64_t address;
	uint64_t inner;         /* tid in the target's pid namespace; 0: the thread has not begun */
	pid_t tid;              /* tid in wallsample's pid namespace; 0: not known */
	uint32_t tries;         /* number of readings of the list at which the tid was not known */
	struct pages_memo memo; /* pages from which the latest capture of the thread has read */
};

struct go_threads {
	struct go_thread *thread;
	size_t count, capacity;
	struct table by_address, by_tid; /* address, tid -> index in thread[] */
};

/* Most reasons to wait whose texts are read, and size of the buffer for one text. */
#define GO_REASONS_MOST 128
#define GO_REASON_TEXT 64

struct go_runtime {
	struct instance base;
	struct go_home home;

	struct go_threads threads; /* the list of threads at its latest reading */
	struct go_threads before;  /* the list of threads at the reading before that */
	/* number of structures of threads that go_threads_tid has tried to read since the last
	 * tick */
	unsigned late;

	uint64_t *slot; /* addresses of the goroutines' structures, which never move */
	uint64_t array; /* address in the target of the array of which slot[] is a copy */
	size_t slot_count, slot_capacity;
	/* number of elements of slot[] that two readings have confirmed to be unchanged */
	size_t settled_count;
	uint8_t *bytes; /* buffer for the structures of one batch of goroutines */

	/* texts of reasons to wait, by the number that a goroutine's structure has; "": there is no
	 * such reason, or its text was not read */
	char reason[GO_REASONS_MOST][GO_REASON_TEXT];
	bool reasons_read; /* reason[] was read; it is read only once */
	/*
	 * address of an entry function -> 1 if goroutines that begin with it belong to the runtime
	 * itself, else 0
	 */
	struct table own;
	struct pclntab *table; /* names of functions; NULL: none, or not sought yet */
	bool table_sought;     /* the module was searched for `table` */
};

/* --- go_threads.c ------------------------------------------------------------------------ */

/* Reads the list of threads if it may have changed; takes at most 1% of the time. */
void go_threads_list(struct go_runtime *go, uint64_t now_ns);
void go_threads_release(struct go_runtime *go);
/* Returns the thread with this tid, or NULL. */
struct go_thread *go_threads_find(struct go_runtime *go, pid_t tid);
/*
 * Returns the tid, in wallsample's pid namespace, of the thread whose structure is at the address;
 * 0: not known. If go->threads does not have the thread, or not its tid, its structure is read now;
 * go_threads.c bounds the number of these readings in one tick.
 */
pid_t go_threads_tid(struct go_runtime *go, uint64_t address);

/* --- go_task.c --------------------------------------------------------------------------- */

/* Reads the addresses of all goroutines that are not in go->slot[] yet. Returns the number of
 * elements of go->slot[], at most GREEN_TASK_SLOTS_MOST; 0 if the list is not readable. */
size_t go_tasks_slots(struct go_runtime *go);
/* Discards the addresses of goroutines, which after an exec of the same file may belong to other
 * goroutines. */
void go_tasks_forget(struct go_runtime *go);
/*
 * Reads the goroutines whose indices in go->slot[] are slot[0 … count - 1], in ascending order,
 * into out[0 … count - 1]. If a structure is not readable or has no goroutine, the state is
 * GREEN_TASK_NONE.
 */
void go_tasks_look(struct go_runtime *go, const uint32_t *slot, size_t count,
		   struct green_task *out);
/*
 * Fills all members of *task except tid and system from the bytes of a goroutine's structure, which
 * may have changed while they were read. Stores the address of its thread in *m; 0: it has none.
 * Returns false when the status in the bytes is unknown, or says that the structure has no
 * goroutine (dead or not begun). A goroutine with the status "waiting" that has a thread counts as
 * running: goroutines of the garbage collector have this status while they run, and so have
 * goroutines whose stack the garbage collector scans. A goroutine that waits for an event has no
 * thread.
 */
bool go_task_fill(struct go_runtime *go, const uint8_t *bytes, uint64_t address, uint64_t now_ns,
		  struct green_task *task, uint64_t *m);

/* Outermost frame of threads without a goroutine and of goroutines of the runtime itself. */
#define GO_ROOT "[Go runtime]"

/* --- go_poll.c --------------------------------------------------------------------------- */

/* Text of the reason to wait of goroutines that wait until a descriptor is ready. */
#define GO_REASON_POLLER "IO wait"

/* Implements runtimes_green_task_descriptor for a goroutine with that reason. -1 before Go 1.21. */
int go_poll_descriptor(struct go_runtime *go, const struct green_task *task, const uint8_t *stack,
		       size_t size, bool *writes);

/* --- go.c -------------------------------------------------------------------------------- */

struct go_captured {
	/* runtime of the thread; NULL: the thread is not one of Go, or could not be read */
	struct go_runtime *of;
	/* the goroutine; its state is GREEN_TASK_NONE if the thread runs none */
	struct green_task task;
	size_t stack_size; /* valid bytes of `stack`, from task.sp on */
	uint8_t stack[GO_STACK_BYTES];
};

/*
 * Captures the goroutine that the thread runs. `sp`: stack pointer of the thread; 0: not known.
 * Sets captured->of to NULL when the thread does not belong to `go`, or is not readable.
 */
void go_capture(struct go_runtime *go, pid_t tid, uint64_t sp, struct go_captured *captured);

/* --- go_words.c -------------------------------------------------------------------------- */

/* Reads the texts of the reasons to wait from the target's memory into go->reason[], once: later
 * calls do nothing. */
void go_words_read_reasons(struct go_runtime *go);
/* Returns true when goroutines with this entry function belong to the runtime itself. Returns false
 * while all threads are kept stopped (tools->held) if the answer is not in go->own. */
bool go_words_is_own(struct go_runtime *go, uint64_t entry);
void go_words_release(struct go_runtime *go);

/*
 * Defined in go_vdso_ARCH.c. The functions nanotime and walltime, which call the vdso, save their
 * caller's frame pointer this number of bytes below their caller's stack pointer; 0: it is not
 * read.
 */
extern const uint64_t go_vdso_frame_pointer;

extern const struct runtime_kind runtime_go;

#endif
