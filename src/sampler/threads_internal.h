/* SPDX-License-Identifier: MIT */
/*
 * threads_internal.h - the sampled processes, their threads, the records of threads in the profile,
 * and the choice of threads to observe.
 */
#ifndef WALLSAMPLE_SAMPLER_THREADS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_THREADS_INTERNAL_H

#include "sampler/pace_internal.h"
#include "sampler/values_internal.h"
#include "wallsample/sampler/sampler.h"

/* --- sampled_process.c ------------------------------------------------------------------ */

struct sampled_process *sampled_process_create(const struct process *process,
					       const struct thread_list *threads);
/* Sets up the process; its members of `context` are borrowed. */
void sampled_process_begin(struct sampled_process *process, const struct sampler_context *context,
			   enum unwind_choice unwinder);
/* Creates the readers of language runtimes, if any are wanted. */
void sampled_process_begin_runtimes(struct sampled_process *process,
				    const struct sampler_context *context, uint32_t wanted);
void sampled_process_free(struct sampled_process *process);
/* Returns a reader of the process's memory; the process is borrowed. */
struct memory sampled_process_memory(struct sampled_process *process);
/* Reads the first thread's stat file into *leader. Returns false if the process has exited. */
bool sampled_process_is_alive(struct sampled_process *process, struct task_stat *leader);
/* The same; also sets leader_state, thread_count and, after an exec, execed. */
bool sampled_process_read(struct sampled_process *process);
/* Returns our id of a living thread whose id in the target's namespace is `inner`; 0: none. */
pid_t sampled_process_thread(struct sampled_process *process, pid_t inner);

/* --- threads.c -------------------------------------------------------------------------- */

/* The threads of all processes, in ascending order of their ids. */
struct thread_list {
	struct sampled_thread **thread;
	size_t count;
	bool relist; /* the next tick must list threads again */
	/* Threads that the last listing did not find; the caller attributes their remaining time
	 * and frees them. */
	struct sampled_thread **removed;
	size_t removed_count, removed_capacity;
	/* Set by the driver. */
	enum sched_source sched_source;
	size_t fd_budget;   /* threads whose descriptors stay open */
	size_t stack_limit; /* most bytes of stack to copy */
	bool (*selected)(void *context, pid_t tid, const char *name); /* NULL: all are */
	bool (*excluded)(void *context, pid_t tid, const char *name); /* NULL: none is */
	void *selected_context;
	const struct tick *tick;
	struct run_excluded *excluded_counts;
	uint64_t seen; /* threads since the run began */
	struct listed_thread *listed;
	size_t listed_capacity;
	pid_t *tids;
	size_t tid_capacity;
};

/* Lists the threads of all processes: creates new ones, and moves those that have exited to
 * `removed`. */
void threads_refresh(struct thread_list *threads, const struct process_list *processes);
/* Returns the index in `thread`; NOBODY: no such thread. */
uint32_t threads_index(const struct thread_list *threads, pid_t tid);
struct sampled_thread *threads_find(const struct thread_list *threads, pid_t tid);
void thread_free(struct sampled_thread *thread);
void threads_release(struct thread_list *threads);
/* Read the name of a thread again and return true if it has changed: threads_count_capture before
 * a capture, at the 2nd, 4th, 8th, ... only; threads_read_name always. */
bool threads_count_capture(struct thread_list *threads, struct sampled_thread *thread);
bool threads_read_name(struct thread_list *threads, struct sampled_thread *thread);
/* Returns the system call of `info`. For restart_syscall(2) it returns the restarted call, found
 * from the last observation, the code or the arguments. */
long thread_syscall(const struct sampled_thread *thread, const struct syscall_info *info);

/* --- capture_pool.c --------------------------------------------------------------------- */

/* Takes a buffer out of the pool of the thread's process, or creates one. */
struct capture_buffer *capture_acquire(struct sampled_thread *thread);
/* Returns observation->capture to its pool, and sets it to NULL. */
void capture_return(struct observation *observation);
void capture_free(struct capture_buffer *buffer);

/* --- thread_records.c: threads of the profile ------------------------------------------- */

struct thread_records {
	struct profile *profile; /* borrowed */
	struct table shared;     /* text of a name -> thread of the profile */
	size_t green_tasks;      /* records of the profile that are green tasks */
};

void thread_records_init(struct thread_records *records, struct profile *profile);
void thread_records_release(struct thread_records *records);
/* Returns the thread's own record, after adding it if there is none. */
uint32_t thread_record(struct thread_records *records, struct sampled_thread *thread);
/* Returns the record to which samples of the thread belong: that of the green task it ran, or its
 * own. Sets *carrier as in struct profile_entry. */
uint32_t thread_record_of_sample(struct thread_records *records, struct sampled_thread *thread,
				 uint32_t *carrier);
/* Stores the thread's changed name in its record. */
void thread_record_rename(struct thread_records *records, const struct sampled_thread *thread);

/* --- excluded.c ------------------------------------------------------------------------- */

struct selection;

/* Reads the CPU time and the name of an excluded thread that is due at this tick. If the name is
 * not excluded any more, the thread is due like a new one. */
void excluded_observe(struct thread_list *threads, struct sampled_thread *thread,
		      const struct selection *selection);
/* Reads the CPU time of all excluded threads at the end of the run. */
void excluded_finish(struct thread_list *threads);

/* --- select.c --------------------------------------------------------------------------- */

struct selection {
	const struct tick *tick; /* borrowed, as all pointers here */
	const struct pace *pace;
	const struct late_stops *late;
	struct thread_list *threads;
	struct thread_records *records;
	struct rng *rng;
	bool few_holders; /* every lock holder is observed at every tick: there are few */
	size_t skipped;   /* threads that this tick does not observe */
	size_t excluded;  /* those of them that are excluded */
};

/*
 * Fills `out`, which has room for all threads, with the threads that are due, beginning with a
 * random one; if `everyone`, with all that have not exited. Sets thread, samples and weight.
 * Returns the count.
 */
size_t select_threads(struct selection *selection, bool everyone, struct observation *out);
/* Draws the tick of the next observation of a thread that was observed at this tick. */
void select_schedule(struct selection *selection, struct sampled_thread *thread);
/* The same when its sample is complete. `asleep`: the stack is of a sleep. */
void select_settle(struct selection *selection, struct sampled_thread *thread, bool asleep);

#endif
