/* SPDX-License-Identifier: MIT */
/*
 * process_set_internal.h - a target set (process_set.h) as its files share it, and the examination
 * of a process.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_SET_INTERNAL_H
#define WALLSAMPLE_PROCESS_PROCESS_SET_INTERNAL_H

#include "process/process_groups_internal.h"
#include "process/process_set_parts_internal.h"

/* Globs of names. */
struct name_rules {
	char **glob; /* owned */
	bool *met;   /* met[i]: a process has matched glob[i] */
	size_t count;
};

/* Ids of processes whose state as members has changed. */
struct id_queue {
	pid_t *id;
	size_t first, count, capacity; /* id[first … count - 1] */
};

struct process_set {
	struct name_rules names, excluded;
	struct group_rules groups;
	bool descendants;
	char **given; /* printable names of the processes that were given by id */
	pid_t *given_pids;
	size_t given_count;

	pid_t own;
	struct lineage lineage; /* of wallsample */
	long ticks_per_second;
	uint64_t start_ticks; /* when the set was created, in clock ticks since boot */

	uint64_t look; /* number of the present or last look, from 1; that of the creation is 1 */
	struct known_list known;
	struct id_queue joined, left;
	struct new_ids ids;
	struct later_list later;
	struct proc_listing listing;
	bool listing_runs;
	bool listing_wanted; /* another one is to begin as soon as possible */
	bool listing_urgent; /* the present one was wanted */
	bool has_late;       /* a process belongs now that had been examined before */
	uint64_t listing_due_ns, lists_due_ns;
	bool lists_run; /* the lists of the groups are being read */
	struct cpu_budget budget;
	struct process_set_stats stats;
};

/* --- process_set_examine.c ------------------------------------------------------------------- */

enum examine_reason {
	EXAMINE_NEW,   /* its id is the next of the new ids: it has no child yet */
	EXAMINE_AGAIN, /* all other cases */
};

/* Prepares what the examination of processes needs. */
void examine_init(struct process_set *set);
/*
 * Reads the files of a process, applies the rules if something has changed on which they depend,
 * and updates set->known, set->joined, set->left and set->later. Returns false if the process
 * cannot be read.
 */
bool examine_process(struct process_set *set, pid_t pid, enum examine_reason reason,
		     uint64_t now_ns);
/* Applies the rules again to processes whose parents, known now to belong, were not known to when
 * they were examined. */
void examine_strangers(struct process_set *set, uint64_t now_ns);
/* Returns true if processes are examined again in their first second, because what the rules depend
 * on may change. */
bool examine_repeats(const struct process_set *set);
/* Returns true if the entry is that of a process that still runs. */
bool examine_is_alive(struct process_set *set, struct known *known);

void id_queue_add(struct id_queue *queue, pid_t id);
/* Removes the oldest id and returns it; 0: there is none. */
pid_t id_queue_next(struct id_queue *queue);

#endif
