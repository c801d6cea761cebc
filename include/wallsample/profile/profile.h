/* SPDX-License-Identifier: MIT */
/*
 * profile.h - what was sampled: interned frames and stacks, threads, weights.
 *
 * The profile only grows with what is new: samples of the same thread, stack,
 * state, system call, wait and part in an interpreter's lock are summed, so that ten minutes of a
 * thousand sleeping threads take no more memory than ten seconds.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_H
#define WALLSAMPLE_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/runtime/gil.h"
#include "wallsample/profile/profile_frame.h"
#include "wallsample/profile/profile_wait.h"
#include "wallsample/thread/state.h"

#define THREAD_NONE UINT32_MAX

/*
 * Who does something: a thread, or a task that a runtime schedules on threads (task.h). While a
 * thread runs a task its samples are the task's.
 */
struct profile_thread {
	pid_t tid;           /* 0: a task, or what many share */
	uint64_t start_time; /* tells two threads with the same id apart */
	uint32_t name;       /* number of its text: the last name; of a task its runtime's noun */
	/* The rest is of a task. */
	bool is_task;
	bool system;         /* the runtime's own */
	uint64_t task_id;    /* 0: of many that began with the same function */
	uint32_t entry;      /* frames, or FRAME_NONE: that function, */
	uint32_t created_at; /* and the place that made it */
	uint64_t creator;    /* the task_id of the task that did; 0: not known */
	/* At its last sample it had waited for so long, about, as its runtime says; 0: not known.
	 * A recording does not have it. */
	uint64_t waiting_ns;
};

/*
 * X(NAME, title, word): what a sample can weigh. Let its tick span dt, with r threads runnable,
 * p of them on a CPU, which is the parallelism.
 *
 * WALL      dt, whatever the thread did: sums to threads times time
 * OVERHEAD  dt, of a thread on a CPU: sums to the CPU time used
 * LATENCY   dt / r, of a runnable thread: sums to the time that has passed. While nobody is
 *           runnable it goes to the wait that ended it: see sampler.h
 *
 * Overhead over Latency of a function is the average parallelism while it ran.
 */
#define WEIGHTS(X)                                                             \
	X(WALL, "Wall", "wall")                                                \
	X(OVERHEAD, "Overhead", "overhead")                                    \
	X(LATENCY, "Latency", "latency")

enum weight {
#define X(name, title, word) WEIGHT_##name,
	WEIGHTS(X)
#undef X
	WEIGHT_COUNT
};

const char *weight_word(enum weight weight); /* "wall" */

/* Samples of one thread with the same stack, state, system call, wait, part in a GIL, carrier. */
struct profile_entry {
	uint32_t thread, stack;
	/* One more than the number of the thread that ran the task; 0: it is no task's sample, or
	 * no thread did. */
	uint32_t carrier;
	enum run_state state;
	int32_t syscall;    /* number it sleeps in; SYSCALL_NONE, SYSCALL_UNKNOWN */
	uint32_t wait;      /* 0: none */
	enum gil gil;
	int64_t samples;    /* thread-ticks it stands for */
	int64_t ns[WEIGHT_COUNT];
};

/* The ticks at which so many threads were on a CPU. */
struct profile_parallelism {
	uint64_t ticks, time_ns, cpu_ns; /* cpu_ns: time_ns times the parallelism */
	uint64_t alone_ns;   /* of time_ns, with at most one thread runnable */
	double time_squares; /* sum of the squares of the ticks' spans: see margin.h */
};

struct profile;

/*
 * Who is told of all that reaches the profile, in the order in which it does: the tick in
 * progress has the number profile_tick_count. Nothing may be added from within.
 */
struct profile_recorder {
	void (*sample)(void *context, const struct profile_entry *sample);
	/* Real time of a sample that has been told. */
	void (*charge)(void *context, const struct profile_entry *entry, int64_t latency_ns);
	void (*blame)(void *context, const struct profile_blame *blame);
	void (*tick)(void *context, uint64_t span_ns, uint32_t parallelism, uint32_t runnable,
		     uint32_t ready);
	void *context;
};

struct profile *profile_create(void);
void profile_free(struct profile *profile);

/* Borrowed until another takes its place; NULL: nobody is told. */
void profile_set_recorder(struct profile *profile, const struct profile_recorder *recorder);

uint32_t profile_add_thread(struct profile *profile, pid_t tid, uint64_t start_time,
			    const char *name);
/* The task of this noun and number that has its structure at `address`. */
uint32_t profile_add_task(struct profile *profile, const struct profile_thread *task,
			  uint64_t address);
void profile_set_waiting(struct profile *profile, uint32_t task, uint64_t waiting_ns);
void profile_rename_thread(struct profile *profile, uint32_t thread, const char *name);
/*
 * Adds samples. The numbers may be negative: a thread that is looked at less often
 * than once a tick is credited for what it was last seen doing and corrected at
 * the next look (see sampler.h). Returns the index of the entry.
 */
uint32_t profile_add(struct profile *profile, const struct profile_entry *sample);
/* The same once more for an entry that there is. */
void profile_add_again(struct profile *profile, uint32_t entry, int64_t samples, int64_t wall_ns);
/* Adds real time to an entry, once the tick is known as a whole. */
void profile_charge(struct profile *profile, uint32_t entry, int64_t latency_ns);

/*
 * A tick: its span, how many threads were on a CPU, and how many were runnable (estimates, see
 * sampler.h; 0: nobody is known to have been).
 */
void profile_add_tick(struct profile *profile, uint64_t span_ns, uint32_t parallelism,
		      uint32_t runnable);
/* At the next tick to be added so many tasks wait for a thread to run on. */
void profile_set_ready(struct profile *profile, uint32_t ready);

size_t profile_thread_count(const struct profile *profile);
size_t profile_entry_count(const struct profile *profile);
uint64_t profile_tick_count(const struct profile *profile);
uint64_t profile_wall_ns(const struct profile *profile); /* sum of the ticks' spans */
double profile_ready_ns(const struct profile *profile);    /* such tasks times time */
uint32_t profile_ready_most(const struct profile *profile); /* at one tick */
/* One more than the highest parallelism there was; 0 before the first tick. */
size_t profile_parallelism_count(const struct profile *profile);
const struct profile_parallelism *profile_parallelism(const struct profile *profile,
						      size_t parallelism);
const struct profile_thread *profile_thread(const struct profile *profile, uint32_t id);
const struct profile_entry *profile_entry(const struct profile *profile, size_t index);

#endif
