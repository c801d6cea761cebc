/* SPDX-License-Identifier: MIT */
/*
 * core_internal.h - the contents of a core file, and the waits of its threads.
 * core.c        opens a core file and checks its header
 * core_memory.c its bytes, and the memory of the process among them
 * core_notes.c  threads, files and the end of the process
 * core_maps.c   modules and mappings
 * core_waits.c  waits and deadlocks
 */
#ifndef WALLSAMPLE_CORE_CORE_INTERNAL_H
#define WALLSAMPLE_CORE_CORE_INTERNAL_H

#include <elf.h>

#include "wallsample/core/core.h"
#include "wallsample/base/table.h"
#include "wallsample/process/maps.h"
#include "wallsample/profile/profile.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/wait/wait.h"

/* Small reads, such as those of notes, go through a window of this size. */
#define CORE_WINDOW ((size_t)4096)

struct core_window {
	uint64_t offset;
	size_t size; /* valid bytes */
	uint8_t bytes[CORE_WINDOW];
};

/* A PT_LOAD segment of memory. */
struct core_segment {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the core file, of the byte at `start` */
	uint64_t there;      /* bytes from `start` on that the file has */
	bool executable;
};

/* A mapped part of a file: an entry of NT_FILE. */
struct core_range {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the mapped file */
	uint32_t path;       /* its text in `paths` */
};

struct core_thread_place {
	pid_t tid;
	uint64_t general; /* offset of the registers in the core file */
	uint64_t tls;     /* offset of the thread pointer; 0: none */
};

struct core {
	int fd;
	uint64_t size;
	uint64_t written_ns, missing;
	struct core_window *window;
	struct core_segment *segment; /* ascending, without overlap */
	size_t segment_count, segment_capacity;
	struct core_range *range; /* likewise */
	size_t range_count, range_capacity;
	struct strings *paths;
	struct core_thread_place *thread;
	size_t thread_count, thread_capacity;
	struct process *process;
	struct core_end end;
	uint64_t page_size;                /* of the machine that wrote the core */
	uint64_t vdso;                     /* its address; 0: not known */
	uint64_t entry;                    /* entry point of the executable; 0: not known */
	uint64_t notes_left;               /* notes that may still be read */
	bool has_end, has_files, has_auxv; /* a second note of the kind is ignored */
	bool is_kernel;                    /* a dump of a kernel */
	bool is_cut; /* the file lacks a part of the segment table or of the notes */
};

/* --- core_memory.c --------------------------------------------------------- */

/* Reads `size` bytes of the core file; false if it does not have all of them. */
bool core_read_file(const struct core *core, uint64_t offset, void *to, size_t size);

void core_add_segment(struct core *core, const Elf64_Phdr *header);
/* Sorts the segments, after the last one was added. */
void core_settle_segments(struct core *core);
/* The segment that holds the address, or NULL. */
const struct core_segment *core_segment_at(const struct core *core, uint64_t address);

/* --- core_notes.c ---------------------------------------------------------- */

/* Reads the notes of one PT_NOTE segment. */
void core_take_notes(struct core *core, const Elf64_Phdr *header);
/* Sorts the ranges of files, after the last note was read. */
void core_settle_notes(struct core *core);

/* --- core_waits.c: all waits are of one moment, so that a ring of them is a deadlock --------- */

/* A thread, and the system call it was in. */
struct core_waiter {
	pid_t tid;
	struct wait_call call; /* its number is SYSCALL_NONE if the thread was in none */
	bool leaving;          /* it did not sleep any more, but was about to return */
	uint64_t word;         /* address of the futex, or 0 */
	struct wait what;
	uint32_t wait;          /* id in the profile; 0: none */
	uint32_t thread, stack; /* ids in the profile */
};

/* Several threads of a hostile core may have one id: the first of them is found by it. */
struct core_waits {
	struct core_waiter *waiter; /* one for each thread, in the order of the core */
	size_t count;
	struct table by_tid, words; /* thread id -> index; futex word -> number of waiters */
	struct wait_source source;
	struct runtimes *runtimes; /* borrowed, or NULL */
};

/* Takes ownership of `waiter`, whose tid and call are filled in. */
void core_waits_init(struct core_waits *waits, struct core_waiter *waiter, size_t count,
		     struct memory memory);
void core_waits_release(struct core_waits *waits);
/* Returns the id if the core has such a thread, else 0. */
pid_t core_waits_thread(void *waits, pid_t inner);
/* Makes waits for locks of these runtimes known. Borrowed. */
void core_waits_set_runtimes(struct core_waits *waits, struct runtimes *runtimes);
/* Fills in `what` and `wait` of each waiter. */
void core_waits_classify(struct core_waits *waits, const struct maps *maps,
			 struct profile *profile);
/* Adds blame and deadlocks to the profile, when thread and stack of each waiter are filled in. */
void core_waits_blame(struct core_waits *waits, struct profile *profile);

#endif
