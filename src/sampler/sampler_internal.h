/* SPDX-License-Identifier: MIT */
/*
 * sampler_internal.h - the driver: sampler.c runs ticks from the beginning to the end of a run,
 * tick.c runs one tick, with tick_read.c. Only these files use struct sampler; a stage or consumer
 * (pipeline_internal.h) gets struct run, and a struct of its own if it keeps other data.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_INTERNAL_H
#define WALLSAMPLE_SAMPLER_SAMPLER_INTERNAL_H

#include "sampler/hold/hold_internal.h"
#include "sampler/pipeline_internal.h"
#include "sampler/priority_internal.h"
#include "sampler/waits/deadlock_internal.h"

/* Part of an absence in which a thread was runnable, and the entry of the profile that has it. */
struct absent_part {
	struct sampled_thread *thread;
	uint32_t entry;
	uint64_t ns;
};

/* absence.c: times of half a second or more in which wallsample itself did not run. A zeroed struct
 * is empty; absence_release frees its contents. */
struct absence {
	uint64_t cpu_ns; /* CPU time of wallsample (pace_read_clock) shortly before run.seen_ns */
	struct absent_part *item;
	size_t count, capacity;
	uint64_t unselected_ns; /* CPU time of threads without samples */
};

/* work.c: the kernel's counters of the target. */
struct work {
	uint64_t read_ns;          /* time of the last reading of counters */
	size_t turn;               /* index of the process that was read last */
	struct programs *programs; /* all processes of the machine then; owned; or NULL */
};

/* file_wait.c: waits for files of the target. */
struct file_wait {
	struct hold *hold; /* borrowed */
	bool left;         /* a wait has begun, and has called hold_pause */
};

struct sampler {
	struct run run;
	struct priority priority;
	/* The structs of stages and consumers that exist once per run; struct sampled_process has
	 * those that exist once per process. */
	struct unwinding unwinding;
	struct charging charging;
	struct calibration calibration;
	struct hold hold;
	struct deadlocks deadlocks;
	struct looks looks;
	struct absence absence;
	struct file_wait file_wait;
	/* Buffer for the observations of a tick. */
	struct observation *observation;
	size_t observation_capacity;
	struct work work;
	cpu_set_t cpus;            /* those that are occupied at ticks, if any are */
	uint64_t own_cpu_began_ns; /* CPU time of wallsample when the run began */
	bool runs;                 /* sampler_run has begun and not yet returned */
};

/* Runs one tick; `last`: no other follows. Returns false if the target has exited. */
bool tick_run(struct sampler *sampler, bool last);
/* Completes the samples of late threads (late.c) that have stopped; with `give_up`, of all late
 * threads. */
void tick_collect_late(struct sampler *sampler, bool give_up);

/* --- work.c ------------------------------------------------------------------------------ */

/* Reads the counters of the processes at the beginning of a run. */
void work_start(struct work *work, const struct process_list *processes);
/* Reads what is to be compared with the end of the run, before its clock starts. */
void work_prepare(struct work *work, struct run *run);
/* Stores in run->stats.work what the processes have done since; of many processes, some are read in
 * turn, unless `all` is true. work_tick() does so once a second, because the counters of a process
 * that has exited cannot be read. */
void work_update(struct work *work, struct run *run, uint64_t now_ns, bool all);
void work_tick(struct work *work, struct run *run, uint64_t now_ns);
/* To be called after the last tick, before the sampler is freed: describes in run->stats.others
 * which programs used the CPUs meanwhile, and frees what work_start has allocated. */
void work_end(struct work *work, struct run *run);

/* --- absence.c -------------------------------------------------------------------------- */

/*
 * To be called between ticks, at least every 100 ms, and before each tick. If wallsample did not
 * run since the last call (ABSENCE_LEAST_NS), adds that time to the profile: threads that have run
 * meanwhile get the named frame of FAILURE_ABSENT, in the states that the kernel's counters show.
 */
void absence_look(struct sampler *sampler);
/* Ignores the time since the last call of absence_look, in which wallsample wrote output. */
void absence_skip(struct sampler *sampler);
/* Releases all threads, however long that takes, and calls hooks->on_suspend. Returns without that
 * call if *hooks->stop is set meanwhile. */
void absence_take(struct sampler *sampler, const struct sampler_hooks *hooks);
void absence_release(struct absence *absence);

/* --- file_wait.c ------------------------------------------------------------------------- */

/* From now on until file_wait_end, no thread of the target stays stopped while wallsample waits for
 * a file of the target. `stop`: see struct sampler_hooks. */
void file_wait_begin(struct file_wait *wait, const volatile sig_atomic_t *stop);
void file_wait_end(const struct file_wait *wait, const volatile sig_atomic_t *stop);

/* --- tick_read.c ------------------------------------------------------------------------ */

/* Reads the state of all processes. After an exec reads the new mappings and forgets the green
 * tasks. Marks processes (threads_relist) that have exited, that have called exec, or whose number
 * of threads has changed. Returns false if all have exited. */
bool tick_read_processes(struct sampler *sampler);
/* True if a process of the target is alive. */
bool tick_is_alive(struct sampler *sampler);
/* Adds the processes that sampler_context.next_process returns. */
void tick_find_processes(struct sampler *sampler, uint64_t now);
/* Reads the code that a process has generated before its first tick. */
void tick_read_first_code(const struct sampled_process *process);
/* Lists the threads of marked processes again (threads_relist); with `all`, of every process.
 * Threads and processes that have exited are removed, and their remaining time is attributed. */
void tick_list_threads(struct sampler *sampler, bool all);
/* Lists the threads again if they may have changed. Other processes create threads as well: a
 * listing for a thread that may not be one of the target is limited to 1% of a CPU. */
void tick_list_changed_threads(struct sampler *sampler, uint64_t now);
/* Reads mappings and names of code of all processes. Returns true if all threads are to be observed
 * at this tick. */
bool tick_read_code(struct run *run, uint64_t now);
/* Reads the processes of observations of threads that have run, unless tick_read_processes has, and
 * their mappings, code and runtimes. To be called before these threads are unwound. */
void tick_read_stirred(struct sampler *sampler, struct observation *observation, size_t count);
/* Forgets which pages of the processes are in memory. To be called before captures that precede
 * tick_read_runtimes. */
void tick_begin_runtimes(struct run *run);
/* Reads the language runtimes of all processes. A thread that a runtime has newly discovered is
 * captured again even if it has slept since its last observation. */
void tick_read_runtimes(struct sampler *sampler, uint64_t now);
/* Removes and frees all threads, and attributes their remaining time. */
void tick_remove_threads(struct sampler *sampler);

#endif
