/* SPDX-License-Identifier: MIT */
/* target_internal.h - the processes that are sampled: finds and opens them. */
#ifndef WALLSAMPLE_CLI_TARGET_INTERNAL_H
#define WALLSAMPLE_CLI_TARGET_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"
#include "wallsample/cli/options.h"
#include "wallsample/jit/jit.h"
#include "wallsample/jit/jit_objects.h"
#include "wallsample/process/launch.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"
#include "wallsample/process/process_set.h"

/* --- target_members.c --------------------------------------------------- */

/* A process to sample. */
struct target_member {
	struct process *process; /* owned, as the others; those are set by target_open_code */
	struct maps *maps;
	struct jit *jit;
	struct jit_objects *jit_objects;
	bool left;   /* it is no longer sampled, because its name is excluded */
	bool closed; /* target_close has kept it */
};

struct target {
	pid_t pid;                     /* of the first process */
	struct target_member **member; /* the processes; owned; set by target_open */
	size_t count, capacity;
	size_t left_out;          /* number of processes that may not be sampled */
	struct process_set *set;  /* chooses the processes; NULL: they are those given by id */
	uint64_t looked_ns;       /* time of the last target_next */
	uint64_t began_ticks;     /* when the run began, in clock ticks since boot */
	struct launched launched; /* set if is_command: the process that wallsample started */
	bool is_command;          /* wallsample started the process, by "-- CMD" */
	bool is_running;          /* the command was executed: target_release does not kill it */
};

/* Adds a process, which is owned from now on. */
struct target_member *target_add(struct target *target, struct process *process);
/* Opens the mappings of a process, and the sources of names for its generated code. The last three
 * arguments are borrowed. */
void target_open_code(struct target_member *member, struct modules *modules,
		      struct jit_epochs *epochs, const struct log *log);
/* Frees the process with this index, which is not sampled yet. */
void target_drop(struct target *target, size_t index);
/* Frees a process that has ended, unless it is the first one or names of its code are needed. */
void target_close(struct target *target, const struct process *process);
/* Reads the last names of generated code (jit_refresh) of all processes. */
void target_refresh_code(const struct target *target);
void target_free_members(struct target *target);
/* Returns the first process. */
static inline struct process *
target_first(const struct target *target)
{
	return target->member[0]->process;
}

/* --- target_set.c ------------------------------------------------------- */

/* True if options choose processes by more than their ids, so that more may come. */
bool target_is_set(const struct options *options);
/* Opens process `pid`, checks that it may be sampled, and adds it. Returns 0 or an error. */
int target_open_one(struct target *target, pid_t pid, bool may_stop, struct error *err);
/* Finds the processes that options choose, and opens them, besides those that are open already.
 * Returns the first error if no process can be sampled. */
int target_open_set(struct target *target, const struct options *options, const struct log *log,
		    struct error *err);
/* To be called when the run begins. */
void target_begin_set(struct target *target);
/* Returns a process that is to be sampled from now on; NULL: there is none. Either it was added and
 * its code is not opened yet (maps is NULL), or it had left. *created: it was created after
 * target_begin_set. */
struct target_member *target_next(struct target *target, uint64_t now_ns, bool *created);
/* Returns a process that is no longer to be sampled, because it has taken an excluded name; NULL:
 * there is none. */
const struct process *target_next_left(struct target *target, uint64_t now_ns);
/* Stores the number and CPU time of the processes that are excluded by name. */
void target_read_excluded(const struct target *target, uint64_t *count, uint64_t *cpu_ns);
/* True if further processes may come. */
bool target_may_grow(const struct target *target);

/* --- target_choice.c ---------------------------------------------------- */

/* Returns ERROR_USAGE unless exactly one target is given, with options that fit it. */
int target_check_usage(const struct options *options, struct error *err);

/* Finds the first process, or forks a process that waits before it executes the command. Call
 * target_find before signals_install: the command inherits the signal dispositions. */
int target_find(struct target *target, const struct options *options, struct error *err);
/* Opens the processes, and checks that they may be sampled and, without --nonblocking, stopped.
 * Leaves out those that may not, with a message on the log; returns the error if none is left. */
int target_open(struct target *target, const struct options *options, const struct log *log,
		struct error *err);
/* Executes the command, if the target is one. Call it after target_open: a command that may not be
 * sampled never runs. */
int target_begin(struct target *target, struct error *err);
/* Returns true and stores the wait status if the target is a command that has ended, else false. */
bool target_reap(const struct target *target, int *status);
/* Appends "the command ended with exit status 7"; `status` is a wait status. */
void target_add_end(struct strbuf *sb, int status);
/* Sets the error for a command that ended before it was sampled; `status` is a wait status. */
int target_refuse_ended(int status, struct error *err);
/* Releases the target. Kills a forked process that has not executed its command yet. */
void target_release(struct target *target);
/* Returns ERROR_USAGE if --tid was given and the process has none of the listed threads, else 0. */
int target_check_tids(const struct target *target, const struct options *options,
		      struct error *err);

#endif
