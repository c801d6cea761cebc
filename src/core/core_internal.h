/* SPDX-License-Identifier: MIT */
/*
 * core_internal.h - what the files that read cores share.
 * core.c        opens one, and says what it is
 * core_memory.c where which bytes of memory are
 * core_notes.c  threads, files and the end of the process, from the notes
 * core_maps.c   modules and mappings
 */
#ifndef WALLSAMPLE_CORE_CORE_INTERNAL_H
#define WALLSAMPLE_CORE_CORE_INTERNAL_H

#include <elf.h>

#include "wallsample/core/core.h"
#include "wallsample/base/table.h"

/* Small pieces, as notes are made of, are read through this much of the file. */
#define CORE_WINDOW ((size_t)4096)

struct core_window {
	uint64_t offset;
	size_t size; /* bytes that are there */
	uint8_t bytes[CORE_WINDOW];
};

/* A piece of memory: a PT_LOAD. */
struct core_segment {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the core file, of the byte at `start` */
	uint64_t there;      /* so many bytes of it are in the file */
	bool executable;
};

/* A piece of a mapped file: an entry of NT_FILE. */
struct core_range {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in that file */
	uint32_t path;       /* among `paths` */
};

struct core_thread_place {
	pid_t tid;
	uint64_t general; /* offset in the core file of the registers */
	uint64_t tls;     /* likewise; 0: none */
};

struct core {
	int fd;
	uint64_t size;
	uint64_t written_ns, missing;
	struct core_window *window;
	struct core_segment *segment; /* ascending, without overlap */
	size_t segment_count, segment_capacity;
	struct core_range *range;     /* likewise */
	size_t range_count, range_capacity;
	struct strings *paths;
	struct core_thread_place *thread;
	size_t thread_count, thread_capacity;
	struct process *process;
	struct core_end end;
	uint64_t page_size;  /* of the machine that it was made on */
	uint64_t vdso;       /* where it lies; 0: not known */
	uint64_t entry;      /* where the executable begins to run; 0: not known */
	uint64_t notes_left; /* how many more notes are looked at */
	bool has_end, has_files, has_auxv; /* the first note of a kind counts */
	bool is_kernel;      /* the memory is a kernel's */
	bool is_cut;         /* segments or notes are not all in the file */
};

/* Bytes of the core file; false when not all are there. */
bool core_read_file(const struct core *core, uint64_t offset, void *to, size_t size);

/* --- core_memory.c --------------------------------------------------------- */

void core_add_segment(struct core *core, const Elf64_Phdr *header);
/* All have been added: puts them in order. */
void core_settle_segments(struct core *core);
/* The segment that holds the address, or NULL. */
const struct core_segment *core_segment_at(const struct core *core, uint64_t address);

/* --- core_notes.c ---------------------------------------------------------- */

/* Takes in the notes of one PT_NOTE, as far as they make sense. */
void core_take_notes(struct core *core, const Elf64_Phdr *header);
/* All have been taken: puts the list of files in order. */
void core_settle_notes(struct core *core);

#endif
