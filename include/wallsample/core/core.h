/* SPDX-License-Identifier: MIT */
/*
 * core.h - an ELF core file: the threads, the mappings and the memory of a process that is no more.
 *
 * The kernel writes them, and gdb's gcore. What is in one is hostile like the process that it is
 * of: every offset is checked, every list is bounded, and files that it names are opened only as
 * modules_add_dumped does. It is read with pread, never mapped, and may be larger than memory.
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
	int signal;       /* 0: it did not; the core was taken of one that lived on */
	pid_t tid;        /* of the thread that the signal was for */
	bool has_address; /* the signal is about memory or code at `address` */
	uint64_t address;
	pid_t sender;     /* which other process sent it; 0: none, or it is not known */
};

/*
 * Opens it and reads what it lists. ERROR_SYSTEM when the file cannot be had, ERROR_FORMAT when it
 * is no core file of a process on this architecture, with a sentence that says what it is. One
 * that is truncated is taken as it is: see core_missing.
 */
int core_open(const char *path, struct core **out, struct error *err);
void core_free(struct core *core);

/*
 * Who it was: pid, comm and cmdline as far as the core tells (the kernel keeps 80 bytes of the
 * latter); without descriptors.
 */
const struct process *core_process(const struct core *core);
const struct core_end *core_end(const struct core *core);
/* When the file was last written to, CLOCK_REALTIME. */
uint64_t core_written_ns(const struct core *core);
/* How many bytes of memory the file lists and does not have, because it was cut short. */
uint64_t core_missing(const struct core *core);

/* Threads, in the order of the file: the first is the one that the signal was for. At least one. */
size_t core_thread_count(const struct core *core);
pid_t core_thread_id(const struct core *core, size_t index);

/* What the core has of a thread's registers. */
enum core_register_set {
	CORE_GENERAL, /* struct user_regs_struct */
	CORE_TLS,     /* where an architecture keeps that apart: aarch64 */
};

/* Copies at most `room` bytes of the set; returns how many, 0 when there is none. */
size_t core_thread_registers(const struct core *core, size_t index, enum core_register_set set,
			     void *to, size_t room);

/* Copies all `size` bytes of memory, or returns false: not all of them are in the core. */
bool core_read(const struct core *core, uint64_t address, void *to, size_t size);
/*
 * Copies from `address` on, at most `size` bytes and not beyond the piece of memory that it lies
 * in, which for a stack is the stack. Returns how many.
 */
size_t core_read_piece(const struct core *core, uint64_t address, void *to, size_t size);

/* Where the files that it names are. */
struct core_files {
	const char *exe;   /* which the user says the executable is; or NULL */
	const char *symfs; /* a directory where files are looked for first; or NULL */
};

/*
 * The mappings that can be executed, with a module for each file: those of the core's list that
 * were mapped so, the vdso, and memory without a file. `modules` is borrowed for the life of the
 * maps, and so is the core. Files that are not used are named in one line for each reason.
 */
struct maps *core_maps(const struct core *core, struct modules *modules,
		       const struct core_files *files, const struct log *log);

#endif
