/* SPDX-License-Identifier: MIT */
/*
 * made_core.h - makes core files with known contents.
 */
#ifndef WALLSAMPLE_MADE_CORE_H
#define WALLSAMPLE_MADE_CORE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <sys/types.h>
#include <sys/user.h>

#include "wallsample/core/core.h"

struct made_core {
	Elf64_Ehdr header; /* tests may change it before made_core_open() */
	Elf64_Phdr *segment;
	uint8_t **bytes;   /* contents of each segment */
	size_t segment_count, segment_capacity, bytes_capacity;
	uint8_t *notes;
	size_t notes_size, notes_capacity;
	size_t cut; /* number of bytes to remove from the end of the file */
};

struct made_file {
	uint64_t start, end, offset;
	const char *path;
};

void made_core_init(struct made_core *made);
void made_core_release(struct made_core *made);

void made_core_note(struct made_core *made, const char *owner, uint32_t type, const void *bytes,
		    size_t size);
/* Adds the note NT_PRSTATUS of a thread; `registers` may be NULL. */
void made_core_thread(struct made_core *made, pid_t tid, int signal,
		      const struct user_regs_struct *registers);
void made_core_process(struct made_core *made, pid_t pid, const char *name, const char *words);
void made_core_files(struct made_core *made, const struct made_file *file, size_t count);
/* Adds the note NT_SIGINFO. `address` is in si_addr, which shares its bytes with a sender's pid. */
void made_core_signal(struct made_core *made, int signal, int code, uint64_t address);
/* Adds a PT_LOAD segment, of which the first `there` bytes (maybe 0) are in the file. */
void made_core_memory(struct made_core *made, uint64_t address, uint64_t size, uint32_t flags,
		      const void *bytes, size_t there);

/* Writes the core into an anonymous file. Returns its path, which is valid until the test exits. */
const char *made_core_write(struct made_core *made);
/* Writes the core and opens it; fails the test when that is not possible. */
struct core *made_core_open(struct made_core *made);

/* Writes an anonymous file with these bytes; returns its path. */
const char *made_bytes_write(const void *bytes, size_t size);

#endif
