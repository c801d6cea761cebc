/* SPDX-License-Identifier: MIT */
/*
 * process_set.h - decides which processes belong to a target set, at the start and during a run.
 *
 * A process belongs to the set if it is given by its id, or its name matches, or it is in one of
 * the control groups (cgroups(7)) or containers, or (`descendants`) it descends from a process that
 * belongs; unless its name matches an exclude glob. Descendants of an excluded process belong if
 * they are not excluded themselves. A name matches a glob if the command name (comm) or the base
 * name of the first word of the command line does, as in find.h; its first 255 bytes are compared.
 *
 * Kernel threads and zombies never belong. wallsample belongs only if its id is given, its
 * ancestors likewise, and its helper processes never. Processes that /proc does not show (other
 * users' with hidepid, those outside of wallsample's PID namespace) are not found. Nothing is
 * stopped; only /proc and cgroupfs are read.
 *
 * What process_set_look() finds, if it is called at least every 100 ms. "The next look" is the
 * first call after the event. The budget (below) may postpone all of this.
 *
 *   event                                                found by
 *   --------------------------------------------------   ----------------------------------------
 *   fork of a member                                     the next look
 *   start of a process whose name or cgroup matches      the next look
 *   exec, change of comm, or move into a cgroup, in      the first look that is 5, 15, 35, 75, 155,
 *     the first second after the start of a process      255, 355 … ms after the process was found
 *   later move into a cgroup                             a look within 1 s; within 10 s if the
 *                                                        cgroup is not mounted
 *   later exec, change of comm or of the command line    a look within 10 s
 *   fork of a member by a process that ended before      the next look, if a member, or a process
 *     the look (the new process is an orphan)            that was one, leads its session or process
 *                                                        group; else never
 *   start and end of a process between two looks         never: it is counted in ids_ended
 *   exec of a member by which it no longer belongs,      as above; process_set_next_left() returns
 *     its move out of a cgroup                           it. A descendant stays one
 *
 * All processes of a session descend from its leader. A process group may have others: two programs
 * of a pipeline are in one. So a process in the group of a member is taken as a descendant only if
 * it is an orphan: its parent is in another group, and is not that of the leader, unless the leader
 * started a second or more before. An orphan that the other program of a pipeline has left behind
 * is taken as one, too. A child made with CLONE_PARENT belongs only by these rules.
 *
 * Costs were measured in a virtual machine where a system call takes 0.2 us. A look costs 1.1 us if
 * no thread was created on the machine and nothing is due. Otherwise it costs 3 us, and 0.5 us for
 * each new id of a thread or of a process that has ended; 25 us for each new process, half of it
 * for two lookups in /proc; and 15 us each time that a process is examined again, which happens up
 * to 14 times in its first second if there are names or cgroups. A look ends after 1 ms of CPU
 * time, and all looks use at most 1% of a CPU, averaged over a second. If more than 4,096 new ids
 * are waiting, /proc is listed in place of them: 10 to 20 us for each process of the machine. The
 * listings every 10 s, of sets with names or cgroups, use 0.25 ms of CPU time per look.
 */
#ifndef WALLSAMPLE_PROCESS_PROCESS_SET_H
#define WALLSAMPLE_PROCESS_PROCESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"

/* Texts, borrowed by the functions that get the list. */
struct process_set_texts {
	const char *const *text;
	size_t count;
};

/* What belongs to a set: processes that fulfil at least one of the conditions. All bytes zero:
 * nothing. */
struct process_set_config {
	const pid_t *pids; /* ids of processes, each of which must exist */
	size_t pid_count;
	/* path of the program that the first of them will execute; NULL: it executes one already */
	const char *command;
	struct process_set_texts names; /* globs (fnmatch(3)): all processes with such names */
	/*
	 * Control groups, with the groups below them. A path of /proc/PID/cgroup, such as
	 * "/system.slice/nginx.service", means the group of this path in each hierarchy. A path
	 * below the mount point of a hierarchy, such as "/sys/fs/cgroup/…", means that group alone.
	 */
	struct process_set_texts cgroups;
	/*
	 * Container ids, or their first 4 or more hexadecimal digits: 64 digits that are a
	 * component of the path of a control group, between a prefix and ".scope", as Docker,
	 * Podman, containerd, CRI-O and Kubernetes name the groups of containers. A process in a
	 * container that runs in another container belongs to both.
	 */
	struct process_set_texts containers;
	struct process_set_texts excluded; /* globs of names, also for processes given by id */
	bool descendants;                  /* descendants of members belong, too */
	/* No error if nothing matches a name, a cgroup does not exist, a cgroup or container has no
	 * process yet, or no container has an id of 64 digits. */
	bool may_start_empty;
};

struct process_set;

/*
 * Makes the set of the processes that belong now; process_set_next_new() returns them. Lists /proc
 * once or more, which takes about 10 us for each process of the machine. The caller frees *set.
 *
 * Returns 0, or sets *set to NULL and returns a negative error: an error of process_open() for an
 * id; ERROR_USAGE for an empty configuration and for a text that is no container id or has fewer
 * than 4 digits; ERROR_AMBIGUOUS if the digits are those of several containers; ERROR_NO_MATCH if
 * nothing matches a name, if a cgroup or container does not exist or has no process, or if all
 * processes are excluded.
 */
int process_set_create(const struct process_set_config *config, struct process_set **set,
		       struct error *err);
void process_set_free(struct process_set *set); /* accepts NULL */

/* Finds processes that belong now, and members that no longer do. `now_ns`: the current time. To be
 * called by the process that created the set, while no thread of the target is stopped: the kernel
 * may let a read of /proc wait for a lock. */
void process_set_look(struct process_set *set, uint64_t now_ns);

/*
 * The next two functions are to be called after each look, until they return 0.
 *
 * Returns the id of a process that has become a member since it was returned last, or 0 if there is
 * none. Stores its start time (field 22 of stat) in *start_time, unless NULL: the caller compares
 * it with that of the struct process it opens, because the process may have ended, and the id may
 * be that of another. If so, or if the process cannot be sampled, the caller calls
 * process_set_remove().
 */
pid_t process_set_next_new(struct process_set *set, uint64_t *start_time);

/* Returns, in the same form, a process that process_set_next_new() has returned and that is no
 * longer a member, although it runs. A process whose end has been noticed is not returned. */
pid_t process_set_next_left(struct process_set *set, uint64_t *start_time);

/* Removes a member that has ended, or is not to be sampled. It does not become a member again; its
 * descendants may. No effect if there is no member with this id and start time. */
void process_set_remove(struct process_set *set, pid_t pid, uint64_t start_time);

/* Returns the number of members. A member that has ended counts until it is removed. */
size_t process_set_count(const struct process_set *set);
/* Returns true if a process is a member. */
bool process_set_has(const struct process_set *set, pid_t pid, uint64_t start_time);

/* Returns true if a process would be a member if no exclude glob matched its name. */
bool process_set_excludes(const struct process_set *set, pid_t pid, uint64_t start_time);

/* Returns true if processes may still become members: always for names, cgroups and containers; for
 * descendants, while a member or an excluded process is left whose child would be one. If false and
 * there is no member, the run is over. */
bool process_set_may_grow(struct process_set *set);

/*
 * Appends the words for the head of a report, escaped for a terminal: "postgres (812) and its
 * descendants", "processes named nginx*", "cgroup /system.slice/nginx.service", "container
 * 3f2a5c7d9e01". Of processes that were given by id, it has the names at the creation of the set;
 * of more than three, the number.
 */
void process_set_describe(const struct process_set *set, struct strbuf *sb);

/* Stores the number of processes that an exclude glob has left out, and the CPU time that these
 * have used while they were left out: of those that have ended, up to the time when they were
 * examined last. Reads a file for each. */
void process_set_read_excluded(struct process_set *set, uint64_t *count, uint64_t *cpu_ns);

/* What the calls of process_set_look() have done. */
struct process_set_stats {
	uint64_t looks;
	/* Ids that were handed out to threads and processes of the whole machine since the set was
	 * created, and examined. */
	uint64_t ids;
	/* Those of them that had ended when they were examined, and 255 ms later were still not
	 * there (an id is handed out before /proc shows it): short threads and processes that may
	 * or may not have belonged. Ids that are skipped for a listing of /proc do not count. */
	uint64_t ids_ended;
	uint64_t examined;    /* readings of the files of a process */
	uint64_t listings;    /* complete listings of /proc */
	uint64_t postponed;   /* looks that left something due for a later one */
	uint64_t cpu_ns;      /* CPU time of the looks that had something to do */
	uint64_t cpu_most_ns; /* that of the longest look */
};

/* Returns these numbers; valid until process_set_free. */
const struct process_set_stats *process_set_stats(const struct process_set *set);

#endif
