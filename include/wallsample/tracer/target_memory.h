/* SPDX-License-Identifier: MIT */
/*
 * target_memory.h - reads the memory of the target while threads of it are stopped or asked to
 * stop, so that no stopped thread has to wait for a page.
 *
 * Only pages that are in memory are read (resident.h). But a page can be removed between that check
 * and the read, and a file system in user space (FUSE) need not answer for the page: then the read
 * never ends, and not even SIGKILL ends it. So if the process belongs to another user that has such
 * a file system mounted, a second process makes the reads (slow_reader.c), and wallsample waits for
 * it 5 ms at most. (A read takes some 30 us then, and on a busy machine sometimes more than 5 ms.)
 * Other reads that wait for a page end at a signal: the supervisor (supervisor.h) sends it after
 * 0.6 s.
 */
#ifndef WALLSAMPLE_TRACER_TARGET_MEMORY_H
#define WALLSAMPLE_TRACER_TARGET_MEMORY_H

#include "wallsample/tracer/process_memory.h"
#include "wallsample/tracer/resident.h"

struct slow_reader;

struct target_memory {
	const struct process *process; /* borrowed */
	struct resident resident;
	int mounts;               /* /proc/PID/mountinfo; -1: not open */
	bool looked;              /* the mounts were read */
	struct slow_reader *slow; /* NULL: the reads need no other process */
};

void target_memory_init(struct target_memory *memory, const struct process *process);
void target_memory_release(struct target_memory *memory);
/* Looks for a new program (exec), and for mounts. To be called periodically, while no thread is
 * stopped or asked to stop: it may start a process, with the priority of the caller. */
void target_memory_renew(struct target_memory *memory);

/*
 * Reads up to `size` bytes from `address` on, up to the first page that is not in memory. `tid`:
 * see memory_read_process(). Returns the number of bytes; 0 also when the read took too long.
 */
size_t target_memory_read(const struct target_memory *memory, pid_t tid, uint64_t address, void *to,
			  size_t size);

/*
 * Copies up to `size` bytes of a stack from `address` on. Functions with large local arrays leave
 * pages that they have never used, so a page that is not in memory does not end the copy: its
 * bytes become SNAPSHOT_ABSENT_BYTE (snapshot.h). The copy ends at the first page in memory that
 * cannot be read. Returns the number of bytes; 0 when none of the pages is in memory.
 */
size_t target_memory_copy_stack(const struct target_memory *memory, pid_t tid, uint64_t address,
				void *to, size_t size);

/* Reads pieces as memory_read_pieces() does. The caller has made sure that their pages are in
 * memory. */
size_t target_memory_read_pieces(const struct target_memory *memory, pid_t tid,
				 const struct memory_piece *piece, size_t count, void *to);

#endif
