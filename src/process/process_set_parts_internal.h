/* SPDX-License-Identifier: MIT */
/*
 * process_set_parts_internal.h - parts of a target set (process_set.h): what is known of processes,
 * new ids, what is examined again, listings of /proc.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_SET_PARTS_INTERNAL_H
#define WALLSAMPLE_PROCESS_PROCESS_SET_PARTS_INTERNAL_H

#include "process/process_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/process/loadavg.h"
#include "wallsample/process/process_set.h"

/* --- process_set_known.c: processes that have been examined ---------------------------------- */

enum known_kind {
	KNOWN_STRANGER, /* does not belong; known while it may change in its first second */
	KNOWN_MEMBER,
	KNOWN_EXCLUDED, /* would belong, but its name matches an exclude glob */
	KNOWN_OWN,      /* an ancestor of wallsample, and a descendant of a process that belongs */
	KNOWN_REMOVED,  /* was of one of the three kinds above, and has ended or been removed */
	KNOWN_DROPPED,  /* the entry has no meaning, and is freed some time */
};

struct known {
	pid_t pid;
	pid_t parent;         /* when it was examined first */
	uint64_t start_time;  /* field 22 of stat */
	uint64_t fingerprint; /* of what the rules depend on; 0: the rules have to be applied */
	enum known_kind kind;
	bool settled;     /* was given by id or is a descendant, which does not change */
	bool reported;    /* process_set_next_new() has returned it, and next_left has not */
	uint64_t checked; /* number of the look in which it was last seen to have its id */
	uint64_t ended;   /* KNOWN_REMOVED: number of processes that were removed before it */
	/* KNOWN_EXCLUDED: CPU time in clock ticks, when it was excluded and at the last reading */
	uint64_t first_ticks, last_ticks;
};

/* At most one entry for each id. All bytes zero: empty. */
struct known_list {
	struct known *item;
	size_t count, capacity;
	struct table index; /* (pid, 0) -> index in `item` */
	size_t crowded;     /* count at which entries without meaning are freed */
	size_t members;
	uint64_t ended;
	/* Of excluded processes whose entries are freed. */
	uint64_t excluded, excluded_ticks;
};

/* Returns the entry of the id, which may be that of an earlier process, or NULL. Valid until the
 * next known_add(). */
struct known *known_find(const struct known_list *list, pid_t pid);
/* Returns the new entry of a process, a stranger; it replaces that of an earlier process with this
 * id. */
struct known *known_add(struct known_list *list, pid_t pid, uint64_t start_time);
/* Changes the kind of an entry. A process that is removed is known as long as it is among the 4,096
 * that were removed last. */
void known_set_kind(struct known_list *list, struct known *known, enum known_kind kind);
/* Returns true if descendants of the process belong, if the set has descendants. */
bool known_has_descendants(const struct known *known);
void known_release(struct known_list *list);

/* --- process_set_ids.c: ids that were handed out --------------------------------------------- */

/* After the largest id the kernel continues with this one: RESERVED_PIDS of kernel/pid.c. */
#define NEW_IDS_FIRST 300

/* The ids from `next` to `newest` have not been examined; none: `waiting` is false. */
struct new_ids {
	struct loadavg loadavg;
	bool known; /* `newest` has been read once */
	bool waiting;
	pid_t next, newest;
	pid_t limit; /* ids are below it, if `newest` < `next` */
};

/* Reads the newest id of the machine. Returns false if the kernel does not say it. */
bool new_ids_read(struct new_ids *ids);
/* Adds the ids up to `newest` to those that wait. `limit`: ids are below it. */
void new_ids_extend(struct new_ids *ids, pid_t newest, pid_t limit);
/* Returns the number of ids that wait. */
size_t new_ids_count(const struct new_ids *ids);
/* Removes the oldest id that waits, and returns it; 0: there is none. */
pid_t new_ids_next(struct new_ids *ids);
void new_ids_release(struct new_ids *ids);

/* What the kernel knows of an id, without a read of /proc, in 0.2 to 0.7 us. */
enum id_state {
	ID_UNUSED,  /* no process or thread has it, or is visible by it yet */
	ID_THREAD,  /* a thread that is not the first one of its process */
	ID_PROCESS, /* a process; it may be a zombie */
};
enum id_state new_ids_state(pid_t id);

/* --- process_set_later.c: what is examined again --------------------------------------------- */

/* Number of delays between examinations: 5, 10, 20, 40, 80 and 100 ms. The last one is repeated. */
#define LATER_STEPS 6
/* Sum of the delays. */
#define LATER_ALL_NS (255 * NS_PER_MS)

struct later {
	pid_t pid;
	uint64_t start_time; /* 0: an id without a process */
	uint64_t first_ns;   /* when it was examined first */
	uint64_t due_ns;
	unsigned step; /* index of the delay that ends at due_ns */
};

struct later_queue {
	struct later *item; /* a ring; its items are in the order of due_ns */
	size_t first, count;
	size_t capacity; /* 0 or a power of two */
};

/* All bytes zero: empty. */
struct later_list {
	struct later_queue step[LATER_STEPS];
	size_t count;
};

/* Adds what was examined now, for the first time. Returns false if the list is full. */
bool later_add(struct later_list *list, pid_t pid, uint64_t start_time, uint64_t now_ns);
/* Adds an item that later_next() has returned, for the next delay. */
void later_repeat(struct later_list *list, const struct later *item, uint64_t now_ns);
/* Removes an item that is due, and stores it. Returns false if none is due. */
bool later_next(struct later_list *list, uint64_t now_ns, struct later *item);
/* Returns true if an item is due. */
bool later_is_due(const struct later_list *list, uint64_t now_ns);
void later_release(struct later_list *list);

/* --- find.c: names --------------------------------------------------------------------------- */

/* Size of the buffer for a word: a file name (NAME_MAX) and its terminating zero. */
#define FIND_WORD_SIZE 256

/* Stores the base name of the first word of a command line, cut to the size of the buffer. `name`:
 * the file of the command line below `dirfd`. Returns false if there is none. */
bool find_first_word(int dirfd, const char *name, char word[FIND_WORD_SIZE]);

/* --- proc_listing.c: a listing of /proc in small steps --------------------------------------- */

struct proc_listing {
	int fd; /* /proc; -1: it cannot be opened */
	size_t at, filled;
	uint8_t bytes[1024]; /* of getdents64(2) */
};

void proc_listing_init(struct proc_listing *listing);
void proc_listing_rewind(struct proc_listing *listing);
/* Returns the id of the next process, in ascending order, or 0 at the end. */
pid_t proc_listing_next(struct proc_listing *listing);
void proc_listing_release(struct proc_listing *listing);

#endif
