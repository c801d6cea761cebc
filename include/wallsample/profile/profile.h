/* SPDX-License-Identifier: MIT */
/*
 * profile.h - the result of sampling: threads, and the sums of their samples and of the ticks.
 *
 * Samples of the same thread, stack, state, system call, wait, GIL state and carrier are summed up
 * in one entry. A profile takes memory for entries that differ, not for time: ten minutes of a
 * thousand sleeping threads take no more than ten seconds.
 *
 * Texts, frames, stacks, threads, waits and entries have ids 0, 1, 2, ... that never change. A
 * pointer to one of them is valid until another of the same kind is added.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_H
#define WALLSAMPLE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/profile/profile_frame.h"
#include "wallsample/profile/profile_wait.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/thread/state.h"

#define THREAD_NONE UINT32_MAX

/*
 * A thread, or a task that a runtime schedules on threads (green_task.h). The samples of a thread
 * that runs a task are samples of the task.
 */
struct profile_thread {
	pid_t tid;           /* 0 for a task, and for a sum of several threads */
	uint64_t start_time; /* distinguishes threads with the same tid */
	/* id of a text: the thread's last name; for a task, the noun of its runtime */
	uint32_t name;
	/* The members below are used for tasks only. */
	bool is_task;
	bool system;         /* the task belongs to the runtime */
	uint64_t task_id;    /* 0 for a sum of tasks that began with the same function */
	uint32_t entry;      /* frame of the task's first function, or FRAME_NONE */
	uint32_t created_at; /* frame that created the task, or FRAME_NONE */
	uint64_t creator;    /* task_id of the task that created it; 0: not known */
	/*
	 * Time in ns that the task had waited at its last sample, as its runtime estimates; 0: not
	 * known. A recording does not store it.
	 */
	uint64_t waiting_ns;
};

/*
 * X(NAME, title, word): the weights of a sample. Let dt be the span of its tick, r the number of
 * runnable threads, and p the number of these on a CPU, which is the parallelism.
 *
 * WALL is dt in any state. Its sum is threads times time.
 * OVERHEAD is dt for a thread on a CPU, else 0. Its sum is the CPU time.
 * LATENCY is dt / r for a runnable thread, else 0. Its sum is the real time. If no thread is
 * runnable, the sampler charges dt to the wait that ends this time (sampler.h).
 *
 * Overhead divided by Latency of a function is the average parallelism while the function ran.
 */
#define WEIGHTS(X)                                                                                 \
	X(WALL, "Wall", "wall")                                                                    \
	X(OVERHEAD, "Overhead", "overhead")                                                        \
	X(LATENCY, "Latency", "latency")

enum weight {
#define X(name, title, word) WEIGHT_##name,
	WEIGHTS(X) WEIGHT_COUNT
#undef X
};

const char *weight_word(enum weight weight); /* returns the word of WEIGHTS: "wall" */

/* Adds the weights in `ns` to the weights in `to`. */
void weights_add(int64_t to[WEIGHT_COUNT], const int64_t ns[WEIGHT_COUNT]);

/*
 * One sample, or the sum of equal samples. Only the last two members are sums; the other members
 * are equal in all samples of the sum.
 */
struct profile_entry {
	uint32_t thread, stack;
	uint32_t carrier; /* for a task that a thread ran, 1 + id of the thread; else 0 */
	enum run_state state;
	/* system call in which the thread sleeps; or SYSCALL_NONE, SYSCALL_UNKNOWN */
	int32_t syscall;
	uint32_t wait; /* id of a wait; 0: none */
	enum gil gil;
	int64_t samples; /* number of samples: one thread at one tick is one */
	int64_t ns[WEIGHT_COUNT];
};

/* The sums of the ticks with the same number of threads on a CPU. */
struct profile_parallelism {
	uint64_t ticks, time_ns, cpu_ns; /* cpu_ns: time_ns times the parallelism */
	uint64_t alone_ns;               /* part of time_ns with at most one thread runnable */
	double time_squares;             /* sum of the squared spans of the ticks, for margin.h */
};

struct profile;

/*
 * Callbacks for everything that is added to a profile, in the order of the additions. The tick in
 * progress has the number profile_tick_count. The callbacks must not add to the profile.
 */
struct profile_recorder {
	void (*sample)(void *context, const struct profile_entry *sample);
	/* Adds latency to an entry whose samples were added before. */
	void (*charge)(void *context, const struct profile_entry *entry, int64_t latency_ns);
	void (*blame)(void *context, const struct profile_blame *blame); /* may be NULL */
	void (*tick)(void *context, uint64_t span_ns, uint32_t parallelism, uint32_t runnable,
		     uint32_t ready);
	void *context;
};

struct table;

/*
 * Return the index at which a caller's array of sums has the sum for this sample, or for this
 * blame. Samples belong to the same sum if their members except `samples` and `ns` are equal. The
 * sums are numbered 0, 1, 2, ... in the order in which they are first found. *added is set to true
 * if the sum is new. Several `entries` may share `doings`.
 */
uint32_t profile_find_entry(struct table *doings, struct table *entries,
			    const struct profile_entry *sample, bool *added);
uint32_t profile_find_blame(struct table *blames, const struct profile_blame *blame, bool *added);

struct profile *profile_create(void);
/*
 * Frees a profile, which may be NULL. Its marks and windows (profile_mark.h) must have been freed.
 */
void profile_free(struct profile *profile);

/* Sets the recorder, which is borrowed; NULL removes it. */
void profile_set_recorder(struct profile *profile, const struct profile_recorder *recorder);

/*
 * Returns the id of the thread with this tid and start time, and sets its name. A new thread is
 * added.
 */
uint32_t profile_add_thread(struct profile *profile, pid_t tid, uint64_t start_time,
			    const char *name);
/*
 * Returns the id of the task with the name, entry and task_id in `task`, whose structure in its
 * runtime has this address. The task is added if there is none.
 */
uint32_t profile_add_task(struct profile *profile, const struct profile_thread *task,
			  uint64_t address);
void profile_set_waiting(struct profile *profile, uint32_t task, uint64_t waiting_ns);
void profile_rename_thread(struct profile *profile, uint32_t thread, const char *name);

/*
 * Adds samples and returns the id of their entry. Samples and weights, and so the sums, may be
 * negative: a thread that is not read at each tick is credited for its last known state, which the
 * next read corrects (sampler.h).
 */
uint32_t profile_add(struct profile *profile, const struct profile_entry *sample);
/* Adds samples and wall time to an existing entry. */
void profile_add_again(struct profile *profile, uint32_t entry, int64_t samples, int64_t wall_ns);
/*
 * Adds latency to an existing entry. The sampler calls it when all threads of the tick are known.
 */
void profile_charge(struct profile *profile, uint32_t entry, int64_t latency_ns);

/*
 * Adds a tick with its span and the numbers of threads on a CPU and of runnable threads, which are
 * estimates (sampler.h). A number is 0 if no such thread is known.
 */
void profile_add_tick(struct profile *profile, uint64_t span_ns, uint32_t parallelism,
		      uint32_t runnable);
/* Sets the number of tasks that wait for a thread at the next tick to be added. */
void profile_set_ready(struct profile *profile, uint32_t ready);

size_t profile_thread_count(const struct profile *profile);
size_t profile_entry_count(const struct profile *profile);
uint64_t profile_tick_count(const struct profile *profile);
uint64_t profile_wall_ns(const struct profile *profile); /* sum of the spans of all ticks */
double profile_ready_ns(
	const struct profile *profile); /* integral of the number of ready tasks over time, in ns */
uint32_t profile_ready_most(
	const struct profile *profile); /* largest number of ready tasks at one tick */
/* One more than the highest parallelism of a tick; 0 before the first tick. */
size_t profile_parallelism_count(const struct profile *profile);
const struct profile_parallelism *profile_parallelism(const struct profile *profile,
						      size_t parallelism);
const struct profile_thread *profile_thread(const struct profile *profile, uint32_t id);
const struct profile_entry *profile_entry(const struct profile *profile, size_t index);

#endif
