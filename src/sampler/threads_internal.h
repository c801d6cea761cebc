/* SPDX-License-Identifier: MIT */
/*
 * threads_internal.h - the sampled processes, their threads, the records of threads in the profile,
 * the choice of threads to observe, and struct run, which connects them.
 */
#ifndef WALLSAMPLE_SAMPLER_THREADS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_THREADS_INTERNAL_H

#include "sampler/pace_internal.h"
#include "sampler/values_internal.h"
#include "wallsample/sampler/sampler.h"

/* The threads of all processes, in ascending order of their ids. */
struct thread_list {
	struct sampled_thread **thread;
	size_t count;
	bool relist; /* the next tick must list threads again */
	/* Threads that the last listing did not find; the caller attributes their remaining time
	 * and frees them. */
	struct sampled_thread **removed;
	size_t removed_count, removed_capacity;
	enum sched_source sched_source;
	size_t fd_budget; /* largest number of threads whose descriptors stay open */
	size_t fd_users;  /* threads whose descriptors stay open */
	size_t excluded;  /* threads that are excluded by name */
	uint64_t seen;    /* threads that were in the list since the run began */
	/* Buffers of the listing. */
	struct listed_thread *listed;
	size_t listed_capacity;
	pid_t *tids;
	size_t tid_capacity;
};

/* The records of threads in the profile. */
struct thread_records {
	struct table shared; /* interned name -> record that threads of this name share */
	size_t green_tasks;  /* number of records that are green tasks */
};

/* What all stages and consumers of a run share: configuration, processes, threads, the tick,
 * statistics. Data that only one stage or consumer uses are not here, but in its own context. */
struct run {
	struct sampler_config config;
	struct sampler_context context;
	struct profile *profile; /* borrowed: gets the samples */
	struct tracer *tracer;   /* NULL: no thread is ever stopped */
	bool holds; /* running threads are held between ticks, as context.control decides */
	struct tick tick;
	struct process_list processes;
	struct thread_list threads;
	size_t late_count; /* threads whose stop is late */
	struct thread_records records;
	struct rng rng;
	struct pace pace;
	struct run_stats stats;
};

/* Releases late threads that have stopped by now. Called between steps that take 50 us or more. */
static inline void
late_serve(const struct run *run)
{
	if (run->late_count > 0)
		tracer_poll(run->tracer);
}

/* --- sampled_process.c ------------------------------------------------------------------ */

/*
 * Creates the sampled process for run->context.process; to be freed with sampled_process_free. Both
 * arguments are borrowed. The caller sets `waits` and `green`, then calls
 * sampled_process_begin_runtimes.
 */
struct sampled_process *sampled_process_create(struct run *run, struct hold *hold);
/* Creates the readers of language runtimes, if any are wanted. */
void sampled_process_begin_runtimes(struct sampled_process *process);
/* Frees the process and all that it owns, except `waits` and `green`. */
void sampled_process_free(struct sampled_process *process);
/* Reads `size` bytes of the memory of a process; `context` is its struct sampled_process. Returns
 * false if not all of them are readable. For use as the callback `read` of struct memory. */
bool sampled_process_read_memory(void *context, uint64_t address, void *to, size_t size);
/* Reads the first thread's stat file into *leader. Returns false if the process has exited. */
bool sampled_process_is_alive(struct sampled_process *process, struct task_stat *leader);
/* As sampled_process_is_alive; sets leader_state, thread_count and, after an exec, execed. */
bool sampled_process_read(struct sampled_process *process);
/* Returns wallsample's id of a living thread whose id in the target's namespace is `inner`; 0 if
 * there is none. `context` is a struct sampled_process. */
pid_t sampled_process_thread(void *context, pid_t inner);
/* Sets *cpu_ns to the CPU time of all processes. Returns false if it cannot be read. */
bool processes_read_cpu(const struct process_list *processes, uint64_t *cpu_ns);
/* Takes a buffer out of the pool of the thread's process, or creates one. capture_return puts it
 * back. */
struct capture_buffer *capture_acquire(struct sampled_thread *thread);
/* Puts observation->capture back into its pool, and sets it to NULL. */
void capture_return(struct observation *observation);

/* --- threads.c -------------------------------------------------------------------------- */

/* True if the thread has not run since thread->sched was read. False if it has run or its counters
 * cannot be read. */
bool thread_is_unmoved(struct sampled_thread *thread);
/* Lists the threads of all processes: creates new ones, and moves those that have exited to
 * threads.removed. */
void threads_refresh(struct run *run);
/* Returns the index of the thread in `thread`; RINGS_NONE if it is not in the list. */
uint32_t threads_index(const struct thread_list *threads, pid_t tid);
/* Returns the thread; NULL if it is not in the list. */
struct sampled_thread *threads_find(const struct thread_list *threads, pid_t tid);
/* Closes and frees a thread that is no longer in the list. */
void thread_free(struct thread_list *threads, struct sampled_thread *thread);
void threads_release(struct thread_list *threads);
/* Reads the thread's name again. Returns true if it has changed. */
bool thread_read_name(struct sampled_thread *thread);
/* Counts a capture that is about to be made; at the 2nd, 4th, 8th, ... it reads the thread's name.
 * Returns true if the name has changed; then `selected` and `excluded` follow the new name. */
bool threads_count_capture(struct run *run, struct sampled_thread *thread);
/* Returns the system call of `info`. For restart_syscall(2) it returns the restarted call, found
 * from the last observation, the code or the arguments. */
long thread_syscall(const struct sampled_thread *thread, const struct syscall_info *info);

/* Reads the CPU time and the name of an excluded thread that is due at this tick. If the name is
 * not excluded any more, the thread becomes due like a new one. */
void excluded_observe(struct run *run, struct sampled_thread *thread);
/* Reads the CPU time of an excluded thread. */
void excluded_read_cpu(struct run *run, struct sampled_thread *thread);

/* --- thread_records.c: threads of the profile ------------------------------------------- */

/* Returns the thread's own record, after adding it if there is none. */
uint32_t thread_record(struct run *run, struct sampled_thread *thread);
/* Returns the record to which samples of the thread belong: that of the green task that the thread
 * ran, or the thread's own. Sets *carrier as in struct profile_entry. */
uint32_t thread_record_of_sample(struct run *run, struct sampled_thread *thread, uint32_t *carrier);
/* Stores the thread's changed name in its record. */
void thread_record_rename(struct run *run, const struct sampled_thread *thread);

/* --- select.c --------------------------------------------------------------------------- */

/*
 * Fills `out`, which has room for all threads, with observations of the threads that are due at
 * this tick, or, with `all`, of every thread that has not exited. Excluded threads are left out,
 * except one that is held or whose stop is late. The order is that of the list, starting at a
 * random thread and wrapping around. Sets thread, samples and weight_ns of the observations.
 * Returns their number.
 */
size_t select_threads(struct run *run, bool all, struct observation *out);
/* Draws the tick of the next observation of a thread that was observed at this tick. */
void select_schedule(struct run *run, struct sampled_thread *thread);
/* As select_schedule, for a thread with a new stack. `asleep`: the thread sleeps at that stack,
 * which is valid until it runs. */
void select_settle(struct run *run, struct sampled_thread *thread, bool asleep);

#endif
