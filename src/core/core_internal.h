/* SPDX-License-Identifier: MIT */
/*
 * core_internal.h - the contents of a core file, and the waits of its threads.
 */
#ifndef WALLSAMPLE_CORE_CORE_INTERNAL_H
#define WALLSAMPLE_CORE_CORE_INTERNAL_H

#include <elf.h>

#include "wallsample/core/core.h"
#include "wallsample/base/memory.h"
#include "wallsample/base/table.h"
#include "wallsample/process/maps.h"
#include "wallsample/profile/profile.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/wait/wait.h"

/* Size in bytes of the buffer for small reads of the core file (struct core_window). */
#define CORE_WINDOW ((size_t)4096)

struct core_window {
	uint64_t offset; /* offset of the buffered bytes in the core file */
	size_t size;     /* number of buffered bytes */
	uint8_t bytes[CORE_WINDOW];
};

/* A range of addresses: a PT_LOAD segment, or a mapped part of a file (an entry of NT_FILE). */
struct core_span {
	uint64_t start, end; /* [start, end) */
	/* Offset of the byte at `start`: for a segment in the core file, for a mapped part in the
	 * mapped file. */
	uint64_t offset;
	uint64_t there;  /* of a segment: number of bytes from `start` on that the core file has */
	bool executable; /* the segment is executable */
	uint32_t path;   /* of a mapped part: index of the file's path in core.paths */
};

struct core_spans {
	struct core_span *span; /* ascending and without overlap, after core_spans_sort */
	size_t count, capacity;
};

struct core_thread_place {
	pid_t tid;
	uint64_t general; /* offset of the registers in the core file */
	/* Offset in the core file of the thread pointer in the note NT_ARM_TLS. 0: the thread has
	 * no such note (on x86-64 the thread pointer, fs_base, is one of the registers). */
	uint64_t tls;
};

struct core {
	int fd;
	uint64_t size;
	uint64_t written_ns, missing; /* results of core_written_ns() and core_missing() */
	struct core_window *window;
	struct core_spans segments; /* memory of the process */
	struct core_spans ranges;   /* mapped parts of files */
	struct strings *paths;
	struct core_thread_place *thread;
	size_t thread_count, thread_capacity;
	struct process *process;
	struct core_end end;
	uint64_t page_size;  /* bytes; page size of the machine that wrote the core */
	uint64_t vdso;       /* address of the vdso; 0 when not known */
	uint64_t entry;      /* entry point of the executable; 0 when not known */
	uint64_t notes_left; /* number of notes that may still be read */
	/* NT_SIGINFO, NT_FILE, NT_AUXV: a note of this type was read; a second one is ignored. */
	bool has_end, has_files, has_auxv;
	bool is_kernel; /* the file is a dump of a kernel */
	bool is_cut;    /* the file lacks a part of the segment table or of the notes */
};

/* --- core_memory.c --------------------------------------------------------- */

/* Reads `size` bytes of the core file; false if it does not have all of them. */
bool core_read_file(const struct core *core, uint64_t offset, void *to, size_t size);

/* Adds the memory of a PT_LOAD segment. */
void core_add_segment(struct core *core, const Elf64_Phdr *header);
/* Returns the segment that contains the address, or NULL. */
const struct core_span *core_segment_at(const struct core *core, uint64_t address);

void core_spans_add(struct core_spans *spans, struct core_span span);
/* Sorts the spans by address, and removes each span that overlaps an earlier one. */
void core_spans_sort(struct core_spans *spans);
/* Returns the first span that ends behind the address, or NULL. */
const struct core_span *core_spans_find(const struct core_spans *spans, uint64_t address);

/* --- threads (core.c) ------------------------------------------------------ */

struct core_thread {
	pid_t tid;
	struct regs regs;
	/* Number of the call that the thread was in or was returning from; SYSCALL_NONE: no call;
	 * SYSCALL_UNKNOWN: always on aarch64. */
	long syscall;
	/* the thread slept in the call until the end of the process; always false on aarch64, where
	 * this is not known */
	bool asleep;
	uint64_t args[6]; /* arguments of the call; without meaning if there is no call */
	uint64_t tls;     /* the thread pointer (fs_base, tpidr_el0); 0 when not known */
};

/* Reads the registers of a thread; false if the file does not have them, because it is
 * truncated. */
bool core_thread_read(const struct core *core, size_t index, struct core_thread *out);

/* Returns a reader of the process's memory, which fails for memory that the core does not have. The
 * core is borrowed. */
struct memory core_memory(const struct core *core);

/* --- core_notes.c ---------------------------------------------------------- */

/* Reads the notes of one PT_NOTE segment of the core file, and stores their contents in *core. */
void core_take_notes(struct core *core, const Elf64_Phdr *header);
/* Completes the description of the process. To be called after the last note was read. */
void core_finish_notes(struct core *core);

/* --- core_waits.c: waits and locks of all threads at the end of the process. All waits are of the
 * same moment; therefore threads that wait for each other in a ring are a deadlock. */

/* A thread, and the system call that it was in when the process ended. */
struct core_waiter {
	pid_t tid;
	/* call.number: SYSCALL_NONE: there was no call; SYSCALL_UNKNOWN: not known */
	struct wait_call call;
	/* the thread no longer slept in the call and was about to return; or, on aarch64, this is
	 * not known */
	bool leaving;
	/* address of the futex word on which the thread slept; 0: it slept on none */
	uint64_t word;
	struct wait what;
	uint32_t wait;          /* id of the wait in the profile; 0 when there is none */
	uint32_t thread, stack; /* ids in the profile */
};

/* The waits of all threads. Several threads of a hostile core may have one id: a search by an id
 * finds the first thread that has it. */
struct core_waits {
	struct core_waiter *waiter; /* one waiter for each thread, in the order of the core file */
	size_t count;
	/* thread id -> index in waiter[]; futex word -> number of waiters */
	struct table by_tid, words;
	struct wait_source source;
	struct runtimes *runtimes; /* borrowed; NULL when no runtimes are wanted */
};

/* Takes ownership of the array `waiter`, in which the caller has filled in `tid` and `call`.
 * `memory` is that of the process. */
void core_waits_init(struct core_waits *waits, struct core_waiter *waiter, size_t count,
		     struct memory memory);
void core_waits_release(struct core_waits *waits);
/* Returns the thread id `inner` if the core has a thread with this id, else 0. */
pid_t core_waits_thread(void *waits, pid_t inner);
/* Sets the runtimes whose locks are recognised. `runtimes` is borrowed. */
void core_waits_set_runtimes(struct core_waits *waits, struct runtimes *runtimes);
/* Finds out what each waiter waits for, fills in its `what` and `wait`, and adds the waits to the
 * profile. */
void core_waits_classify(struct core_waits *waits, const struct maps *maps,
			 struct profile *profile);
/* Adds blame (which thread holds what others wait for) and deadlocks to the profile. The caller has
 * filled in `thread` and `stack` of each waiter. */
void core_waits_blame(struct core_waits *waits, struct profile *profile);

#endif
