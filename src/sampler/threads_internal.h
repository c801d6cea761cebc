/* SPDX-License-Identifier: MIT */
/*
 * threads_internal.h - the sampled processes, their threads, the records of threads in the profile,
 * the choice of threads to observe, and struct run, which connects them.
 */
#ifndef WALLSAMPLE_SAMPLER_THREADS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_THREADS_INTERNAL_H

#include "sampler/pace_internal.h"
#include "sampler/processes_internal.h"
#include "sampler/values_internal.h"
#include "wallsample/process/loadavg.h"
#include "wallsample/sampler/sampler.h"

/* The threads of all processes, in ascending order of their ids. */
struct thread_list {
	struct sampled_thread **thread;
	size_t count;
	bool relist; /* the next tick must list the threads of some processes again */
	/*
	 * Threads may have been created, also if the number of threads is unchanged: a thread that
	 * ends while another begins is otherwise noticed only when it is observed.
	 */
	struct loadavg loadavg;
	unsigned created;              /* number of listings that are needed to find them */
	struct cpu_budget list_budget; /* for these listings */
	/* Threads that the last listing did not find. The caller of threads_refresh attributes
	 * their remaining time and frees them. */
	struct sampled_thread **removed;
	size_t removed_count, removed_capacity;
	/* where the counters of threads are read */
	enum sched_source sched_source;
	/* largest number of threads whose descriptors on /proc stay open */
	size_t fd_budget;
	size_t fd_users; /* number of threads whose descriptors stay open */
	size_t excluded; /* number of threads that are excluded by name */
	uint64_t seen;   /* number of threads that have ever been added to the list */
	/* Buffers of threads_refresh. */
	struct listed_thread *listed;
	size_t listed_capacity;
	pid_t *tids;
	size_t tid_capacity;
};

/* The records of threads in the profile. */
struct thread_records {
	/* (number of an interned name, process) -> record that threads of this name share */
	struct table shared;
	size_t green_tasks; /* number of records that are green tasks */
};

/* What all stages and consumers (pipeline_internal.h) share: configuration, processes, threads, the
 * tick, statistics. Data that only one stage or consumer uses are in a struct of its own
 * instead. */
struct run {
	struct sampler_config config;
	struct sampler_context context;
	struct profile *profile; /* borrowed: gets the samples */
	struct tracer *tracer;   /* NULL: no thread is ever stopped */
	bool holds;              /* context.control may keep threads stopped between ticks */
	struct tick tick;
	struct process_list processes;
	struct thread_list threads;
	/* number of threads whose requested stop has not happened yet (late.c) */
	size_t late_count;
	struct thread_records records;
	struct rng rng;
	struct pace pace;
	struct run_stats stats;
	struct crowds crowds;
	struct shared_waits shared;
	struct file_lock_waits file_locks;
	struct occupy *occupy; /* owned; NULL: CPUs are not occupied */
	/* Owned; occupies CPUs in runs that hold threads, or NULL. */
	struct hold_occupy *hold_occupy;
	uint64_t occupied_ns[2]; /* stop_request.occupied_ns of this tick */
	bool searches;    /* ticks search for running threads that are not due (look_seeks) */
	uint64_t seen_ns; /* time of the last absence_look, at which wallsample ran; 0: none yet */
};

/* Captures and releases late threads that have stopped by now. To be called between steps that take
 * 50 us or more. */
static inline void
late_serve(const struct run *run)
{
	if (run->late_count > 0)
		tracer_poll(run->tracer);
}

/* --- threads.c -------------------------------------------------------------------------- */

/* Replaces thread->sched by counters that were just read. */
void thread_set_counters(const struct run *run, struct sampled_thread *thread,
			 const struct sched *sched);
/* Copies `last`, the latest counters of the thread, to thread->earlier if they were read (at
 * `read_ns`) before this tick. To be called before the counters are replaced: if wallsample turns
 * out to have been stopped within the tick, absence.c needs those from before the stop. */
void thread_keep_counters(const struct run *run, struct sampled_thread *thread,
			  const struct sched *last, uint64_t read_ns);
/* True if the thread has not run since thread->sched was read. False if it has run or its counters
 * cannot be read. */
bool thread_is_unmoved(struct sampled_thread *thread);
/*
 * Reads the system call of a thread whose counters are *sched into *call. Observations of
 * threads use it in place of watch_read_syscall: it sets call->running also if the thread has not
 * run since its last stop (stop_switches). After the release of a thread, /proc shows it asleep
 * where it was stopped until its CPU handles the wake-up (TASK_WAKING in the kernel). On a virtual
 * machine that takes 0.2 to 3 ms if the host has taken the CPU away.
 */
enum watch_end thread_read_call(struct sampled_thread *thread, const struct sched *sched,
				struct syscall_info *call);
/* The state of a sleeping thread is read only if it has waited for CPUs for at least this time, in
 * waits that have ended, in this window or the last one (thread_is_woken). */
#define WAITS_LEAST_NS ((int64_t)(5 * NS_PER_MS))

/*
 * True if a thread that was asleep at its last observation, and has not been scheduled in since,
 * has been woken and waits for a CPU. The counters do not show this, because the kernel counts
 * a wait when it ends. Reads the thread's state, 1.5 us, only if it has waited for CPUs lately
 * (WAITS_LEAST_NS) or was woken at its last observation; false for other threads, in runs that hold
 * threads, and for dumps.
 */
bool thread_is_woken(const struct run *run, struct sampled_thread *thread);
/* The next tick lists the threads of the process again. */
void threads_relist(struct run *run, struct sampled_process *process);
/* Lists the threads of the processes that are marked by threads_relist; with `all`, of every
 * process. Adds new threads, and moves those that have exited to threads.removed. */
void threads_refresh(struct run *run, bool all);
/* Returns the index of the thread in thread_list.thread; RINGS_NONE (rings.h, which uses these
 * indices) if it is not in the list. */
uint32_t threads_index(const struct thread_list *threads, pid_t tid);
/* Returns the thread; NULL if it is not in the list. */
struct sampled_thread *threads_find(const struct thread_list *threads, pid_t tid);
/* Closes the descriptors of a thread that is no longer in the list, and frees the thread. */
void thread_free(struct thread_list *threads, struct sampled_thread *thread);
void threads_release(struct thread_list *threads);
/* Reads the thread's name again. Returns true if it has changed. */
bool thread_read_name(struct sampled_thread *thread);
/* Counts an observation that has found the thread to have run. At the 2nd, 4th, 8th, ... of these
 * the thread's name is read. Returns true if the name has changed; `selected` and `excluded` then
 * follow the new name. */
bool threads_count_capture(struct run *run, struct sampled_thread *thread);
/* Returns the number of the system call of `info`; for restart_syscall(2) that of the restarted
 * call, which is found from the last observation, the code that made the call, or the arguments;
 * SYSCALL_UNKNOWN if it is not found. */
long thread_syscall(const struct sampled_thread *thread, const struct syscall_info *info);

/* Reads the CPU time and the name of an excluded thread that is due at this tick. If the new name
 * is not excluded, the next tick observes the thread as a new one. */
void excluded_observe(struct run *run, struct sampled_thread *thread);
/* Adds to run_stats.excluded the CPU time that an excluded thread has used since the last call or,
 * at the first call, since it became excluded; of a thread created in this run, all CPU time. */
void excluded_read_cpu(struct run *run, struct sampled_thread *thread);

/* --- thread_records.c: threads of the profile ------------------------------------------- */

/* Returns the thread's record in the profile, after adding it if there is none. When 10000 threads
 * have records of their own, further threads of the same name share a record. */
uint32_t thread_record(struct run *run, struct sampled_thread *thread);
/* Returns the record to which samples of the thread belong: that of the green task that the thread
 * ran, or the thread's own. Sets *carrier to 1 + the number of the thread's own record if the
 * result is that of a green task, otherwise to 0. */
uint32_t thread_record_of_sample(struct run *run, struct sampled_thread *thread, uint32_t *carrier);
/* Stores the thread's changed name in its record, unless threads share the record. */
void thread_record_rename(struct run *run, const struct sampled_thread *thread);
/* In dumps, stores in the record of each thread that was asleep in its last sample for how long it
 * has been asleep (sleep_clock_read()). No thread may be stopped. */
void thread_records_set_sleeps(struct run *run);

/* --- select.c --------------------------------------------------------------------------- */

/*
 * Fills `out`, which has room for all threads, with observations of the threads that are due at
 * this tick, or, with `all`, of every thread that has not exited; leaves out those that looks_take
 * has put first (first_tick). An excluded thread is observed only while it is held or its stop is
 * late; otherwise, when it is due, its CPU time and name are read. The order is that of the list,
 * starting at a random thread and wrapping around. Sets thread, samples, weight_ns and selected of
 * the observations, and tick.skipped and tick.excluded. Returns the number of observations.
 */
size_t select_threads(struct run *run, bool all, struct observation *out);
/* As select_threads, but at most `most` observations and without excluded threads, and the tick is
 * not changed: for looks (look_internal.h). */
size_t select_due(struct run *run, bool all, struct observation *out, size_t most);
/* Returns an observation of the thread in this tick whose weight is the time since its last
 * observation. */
struct observation select_observation(const struct tick *tick, struct sampled_thread *thread);
/* Sets the number of the tick that will observe the thread next, drawn at random, for a thread that
 * was observed at this tick. */
void select_schedule(struct run *run, struct sampled_thread *thread);
/* As select_schedule, but the thread counts as newly observed from this tick on: a new observation
 * was stored, or the thread is held, or its stop is late. Sets seen, asleep and
 * since_tick; clears woken. `asleep`: the thread sleeps, and its observation is valid until it
 * runs. */
void select_settle(struct run *run, struct sampled_thread *thread, bool asleep);

#endif
