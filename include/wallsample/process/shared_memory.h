/* SPDX-License-Identifier: MIT */
/*
 * shared_memory.h - the object behind an address in shared memory: a file, a System V segment or
 * anonymous memory, and the offset in it. An object in shared memory, such as a lock, is the same
 * object for all processes whose mappings lead to the same offset of the same file, whatever its
 * address is in each of them.
 *
 * Costs, measured on Linux 6.18: with PROCMAP_QUERY (Linux 6.11) 0.9 us for a call of shared_place,
 * however many mappings the process has. On older kernels /proc/PID/maps is read, which takes
 * 0.1 ms for 300 mappings (PostgreSQL) and 2.7 ms for 10,000; until the next read a call takes
 * 0.1 us.
 */
#ifndef WALLSAMPLE_PROCESS_SHARED_MEMORY_H
#define WALLSAMPLE_PROCESS_SHARED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

enum shared_kind {
	SHARED_FILE,      /* a file or device, also of POSIX shared memory (shm_open, sem_open) */
	SHARED_SYSTEM_V,  /* a segment of shmget(2) */
	SHARED_MEMFD,     /* memory of memfd_create(2) */
	SHARED_ANONYMOUS, /* MAP_SHARED without a file: processes share it by fork(2) */
};

/*
 * What is mapped. Two objects are the same if all members are equal. A file that replaces another
 * at the same path has another inode.
 *
 * Two files in different subvolumes of btrfs may have the same device and inode in /proc/PID/maps.
 */
struct shared_object {
	enum shared_kind kind;
	uint64_t dev, inode; /* as in /proc/PID/maps; SYSTEM_V: the inode is the shmid */
	uint64_t ipc; /* SYSTEM_V: inode of the process's IPC namespace, or 0: unknown; else 0 */
};

struct shared_place {
	struct shared_object object;
	uint64_t offset; /* offset of the address in the object, in bytes */
	/* As in /proc/PID/maps, such as "/dev/shm/jobs (deleted)"; "" if it is not known. Valid
	 * until the next call of shared_place or shared_memory_free. */
	const char *path;
};

/* The shared memory of one process, with what was read of /proc/PID/maps. */
struct shared_memory;

/* `process` is borrowed until shared_memory_free. Reads nothing yet. */
struct shared_memory *shared_memory_create(const struct process *process);
void shared_memory_free(struct shared_memory *memory); /* accepts NULL */

/*
 * Stores the place of an address of the process. Returns false if the address is in a private
 * mapping or in none, or if its mapping is not known. `now_ns`: the time of clock_now_ns().
 *
 * With PROCMAP_QUERY the answer is that of the moment. Without it the mappings of the last read are
 * used: they are read again when that was at least 1 s ago or, if none of them contains the
 * address, at least 10 ms ago; and in both cases at least 100 times its own duration ago. At most
 * 16 MiB of text are read, and at most 8,192 shared mappings and 1 MiB of paths are kept.
 */
bool shared_place(struct shared_memory *memory, uint64_t address, uint64_t now_ns,
		  struct shared_place *place);

/*
 * As shared_place, for the word of a futex call: returns true if threads of other processes can
 * wait for the same futex. `is_private`: the call has FUTEX_PRIVATE_FLAG. With the flag the result
 * is false: the kernel identifies the word by its address in the process, also in shared memory.
 * Without the flag the memory decides: in private memory, too, a word is identified by its address
 * (get_futex_key() in kernel/futex/core.c). The exception is a page of a file in a private mapping
 * that is read-only, in which no lock can be.
 */
bool shared_place_of_futex(struct shared_memory *memory, uint64_t word, bool is_private,
			   uint64_t now_ns, struct shared_place *place);

/* Returns false if process `pid` has not mapped the object, by the text of /proc/PID/maps. Returns
 * true also if that text cannot be read. Takes as long as a read of /proc/PID/maps (above). */
bool shared_object_may_be_mapped(pid_t pid, const struct shared_object *object);

/* --- shared_names.c: names that are equal in all processes ------------------------------------ */

/* The names of the objects of a run. */
struct shared_names;

struct shared_names *shared_names_create(void);
void shared_names_free(struct shared_names *names); /* accepts NULL */

/*
 * Adds the text for a place, not escaped, in 0.2 us. The first time for an object it takes more:
 * for a semaphore that glibc has created, the name is looked for in wallsample's /dev/shm.
 * Examples:
 *
 *     0x1a40 in /dev/shm/jobs               a file
 *     /jobs                                 the semaphore of sem_open("/jobs"), glibc
 *     0x80 in shared memory 32769 (System V)
 *     0x80 in memfd jobs
 *     0x80 in anonymous shared memory
 *
 * The text is the same for all processes: that of an object whose path changes later, because its
 * file is deleted, stays as it was. If another object already has that text, as with two areas of
 * anonymous memory, the device and inode are added: "(inode 1034 of device 0:1)". At most 4,096
 * objects are distinguished in this way.
 */
void shared_names_add(struct shared_names *names, const struct shared_place *place,
		      struct strbuf *out);
/* As shared_names_add, but adds the name of the object alone: "/dev/shm/jobs". For a file, also one
 * that is not mapped: `object` has its device and inode, `path` is a link in /proc/PID/fd. */
void shared_names_add_object(struct shared_names *names, const struct shared_object *object,
			     const char *path, struct strbuf *out);

#endif
