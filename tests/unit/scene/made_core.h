/* SPDX-License-Identifier: MIT */
/*
 * made_core.h - core files made piece by piece, for tests that know what is in them.
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
	Elf64_Ehdr header; /* may be changed before made_core_open */
	Elf64_Phdr *segment;
	uint8_t **bytes;   /* of each segment */
	size_t segment_count, segment_capacity, bytes_capacity;
	uint8_t *notes;
	size_t notes_size, notes_capacity;
	size_t cut;        /* so many bytes of the file's end are left out */
};

struct made_file {
	uint64_t start, end, offset;
	const char *path;
};

void made_core_init(struct made_core *made);
void made_core_release(struct made_core *made);

void made_core_note(struct made_core *made, const char *owner, uint32_t type, const void *bytes,
		    size_t size);
/* NT_PRSTATUS; `registers` may be NULL. */
void made_core_thread(struct made_core *made, pid_t tid, int signal,
		      const struct user_regs_struct *registers);
void made_core_process(struct made_core *made, pid_t pid, const char *name, const char *words);
void made_core_files(struct made_core *made, const struct made_file *file, size_t count);
/* NT_SIGINFO; `address` also stands where a sender would. */
void made_core_signal(struct made_core *made, int signal, int code, uint64_t address);
/* PT_LOAD: `there` bytes of it (may be 0) are in the core. */
void made_core_memory(struct made_core *made, uint64_t address, uint64_t size, uint32_t flags,
		      const void *bytes, size_t there);

/* Writes it into a file without a name. The path leads to it as long as the test runs. */
const char *made_core_write(struct made_core *made);
/* Of that file. Fails the test when it does not open. */
struct core *made_core_open(struct made_core *made);

/* A file without a name that has these bytes. */
const char *made_bytes_write(const void *bytes, size_t size);

#endif
