/* SPDX-License-Identifier: MIT */
/*
 * core.h - an ELF core file: threads, mappings and memory of a process, written by the kernel or by
 * gdb's gcore.
 *
 * The contents are hostile: every offset is checked, every list is bounded, and files that a core
 * names are opened only by modules_add_dumped (module.h). The core file is read with pread(2),
 * never mapped, and may be larger than memory.
 */
#ifndef WALLSAMPLE_CORE_CORE_H
#define WALLSAMPLE_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

struct core;

/* How the process ended. */
struct core_end {
	int signal; /* 0 when no signal ended the process: gcore wrote the core of a live process */
	pid_t tid;  /* the thread that received the signal; 0 when `signal` is 0 */
	bool has_address; /* the signal reports a fault at `address` */
	uint64_t address; /* valid when has_address is true */
	/* Id of the other process that sent the signal; 0 when no other process did, or when this
	 * is not known. */
	pid_t sender;
};

/*
 * Opens a core file and reads its lists of segments, threads and mapped files. ERROR_SYSTEM: the
 * file cannot be read. ERROR_FORMAT: the file is no core file of a process of this architecture;
 * the text of the error names what the file is. A truncated file is accepted: see core_missing. The
 * caller frees the core.
 */
int core_open(const char *path, struct core **out, struct error *err);
void core_free(struct core *core);

/*
 * Return the process, and how it ended; both are borrowed from the core. The process has pid, comm
 * and cmdline as far as the core has them (the kernel stores 80 bytes of the command line), and no
 * open descriptors.
 */
struct process *core_process(const struct core *core);
const struct core_end *core_end(const struct core *core);
/* Returns the time of the last modification of the core file, in ns of CLOCK_REALTIME. */
uint64_t core_written_ns(const struct core *core);
/* Returns the number of bytes of memory that the file lists but does not have, because it is
 * truncated. */
uint64_t core_missing(const struct core *core);

/* Return the number of threads, at least 1, and the id of a thread. Threads are in the order of the
 * file; when a signal ended the process, the first one received the signal. */
size_t core_thread_count(const struct core *core);
pid_t core_thread_id(const struct core *core, size_t index);

/* Copies `size` bytes of the process's memory; false if the core does not have all of them. */
bool core_read(const struct core *core, uint64_t address, void *to, size_t size);
/*
 * Copies at most `size` bytes of memory from `address` up to the end of the segment that contains
 * `address`, or of the part of the segment that the file has. (The end of a stack is the end of a
 * segment.) Returns the number of bytes; 0 when the core does not have the first byte.
 */
size_t core_read_piece(const struct core *core, uint64_t address, void *to, size_t size);

/* Where core_maps searches, on this machine, the files that the process had mapped. */
struct core_files {
	const char *exe;   /* path of the executable; NULL: search the path that the core has */
	const char *symfs; /* directory below which paths of the core are tried first; NULL: none */
};

/*
 * Returns the executable mappings of the process, and adds their modules to `modules`: one for each
 * mapped file, one for the vdso, and one for all memory without a file. The core and `modules` are
 * borrowed until maps_free. Logs the files that cannot be used, one line for each reason. The
 * caller frees the maps.
 */
struct maps *core_maps(const struct core *core, struct modules *modules,
		       const struct core_files *files, const struct log *log);

#endif
