/* SPDX-License-Identifier: MIT */
/* processes_internal.h - the processes of the target: which there are, their CPU time, and the CPUs
 * that they may use. */
#ifndef WALLSAMPLE_SAMPLER_PROCESSES_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PROCESSES_INTERNAL_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/process/kernel_counters.h"
#include "wallsample/profile/run_stats.h"

struct hold;
struct run;
struct sampled_process;
struct sampler_process;

struct process_list {
	struct sampled_process **item;
	size_t count, capacity;
	size_t turn; /* index of the process that processes_cpu_soon reads next */
	/* Of the processes that have been removed: their CPU time, and the texts that
	 * processes_describe has made of them. */
	uint64_t ended_cpu_ns;
	/* CPU time for which processes that have been removed had waited, and that of processes
	 * that have been removed and whose parents are or were among the processes. */
	uint64_t ended_children_ns, ended_sampled_ns;
	size_t name_turn; /* index of the process whose name is read next */
	struct counters ended_work;
	char ended_runtimes[RUNTIMES_TEXT_SIZE], ended_unread[UNREAD_TEXT_SIZE];
};

/* Adds a process: run->processes and run->profile have it from now on. Returns it. The arguments,
 * and the pointers in *process, are borrowed. */
struct sampled_process *processes_add(struct run *run, struct hold *hold,
				      const struct sampler_process *process);
/* Removes and frees the processes that are gone, none of whose threads may be in the list of
 * threads any more; one process stays. Calls sampler_context.process_ended for each. */
void processes_remove_gone(struct run *run);
/* Removes and frees all processes. */
void processes_release(struct run *run);

/* The CPU time of the processes counts from this call on. */
void processes_begin_cpu(struct process_list *processes);
/* Returns the CPU time that the process has used while it was sampled; of a process that has
 * exited, as it was read last. */
uint64_t process_cpu(struct sampled_process *process);
/* Sets `gone` of a process that has exited, after a last reading of its CPU time and that of its
 * children, which is possible until its parent has waited for it. */
void process_end(struct sampled_process *process);
/* Returns the sum of process_cpu() over all processes, those included that were removed. It never
 * falls. */
uint64_t processes_cpu(struct process_list *processes);

/* As processes_cpu, but reads the CPU time of a few processes only, in turn: the sum lags, and of
 * many processes it grows in steps. For each tick. */
uint64_t processes_cpu_soon(struct process_list *processes);

/* Returns the CPU time of children of the processes that were never among them, as far as their
 * parents have waited for them (wait(2)): in clock ticks, 10 ms, and at least 0. */
uint64_t processes_unsampled_ns(struct process_list *processes);

/* Adds to *sum what the process has done while it was sampled; throttled_ns becomes the larger of
 * both. */
void process_work_add(const struct sampled_process *process, struct counters *sum);

/* Sets the CPUs that the first threads of the processes may use. Returns false if that cannot be
 * read of a process. */
bool processes_allowed(const struct process_list *processes, cpu_set_t *set);
/* Returns the number of CPUs that the processes may use at once. */
unsigned processes_allowed_cpus(const struct process_list *processes);

/* Describes the language runtimes of all processes in run->stats, equal ones once. */
void processes_describe(struct run *run);

/* Stores the present name and command line of a process in the profile. */
void process_read_name(struct run *run, const struct sampled_process *process);
/* Stores the present names and command lines of processes in the profile; of many processes, those
 * of some in turn. To be called about once a second, and at the end of the run. */
void processes_read_names(struct run *run);

#endif
