/* SPDX-License-Identifier: MIT */
/*
 * profile.h - the result of sampling: threads, and the sums of their samples and of the ticks.
 *
 * Samples of the same thread, stack, state, system call, wait, GIL state and carrier (the thread
 * that ran a task) are summed up in one entry. The memory of a profile grows with the number of
 * different entries, not with time: a thousand sleeping threads need as much memory after ten
 * minutes as after ten seconds.
 *
 * Texts, frames, stacks, processes, threads, waits and entries have ids 0, 1, 2, ... that never
 * change. A pointer to a text is valid until profile_free, a pointer to another of these objects
 * until the next object of its kind is added. In this header "task" means a green task
 * (green_task.h).
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_H
#define WALLSAMPLE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/profile/profile_frame.h"
#include "wallsample/profile/profile_thread.h"
#include "wallsample/profile/profile_wait.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/thread/state.h"

/*
 * X(NAME, title, word): the weights of a sample. `title` is for readers, `word` for options and
 * formats. Let dt be the span of the sample's tick (the time for which the tick accounts, see
 * sampler.h), and r the number of runnable threads at that tick. The parallelism is the number of
 * threads that are on a CPU.
 *
 * WALL is dt in any state. Its sum is the number of threads times the elapsed time.
 * CPU is dt for a thread on a CPU, else 0. Its sum is the CPU time. Corrections
 * (profile_correct) make it that of the kernel's count, and WALL of each state accordingly.
 * LATENCY is dt / r for a runnable thread, else 0. Its sum is the elapsed time: if no thread is
 * runnable, dt is added to the thread whose wait ends first (PROFILE_GAP in profile_frame.h).
 *
 * CPU divided by Latency of a function is the average parallelism while the function ran.
 */
#define WEIGHTS(X)                                                                                 \
	X(WALL, "Wall", "wall")                                                                    \
	X(CPU, "CPU", "cpu")                                                                       \
	X(LATENCY, "Latency", "latency")

enum weight {
#define X(name, title, word) WEIGHT_##name,
	WEIGHTS(X) WEIGHT_COUNT
#undef X
};

const char *weight_word(enum weight weight); /* returns its `word` in WEIGHTS: "wall" */

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
	/* system call in which the thread sleeps; if it has waited for a CPU since it was woken
	 * from a known sleep, the call in which it slept; or SYSCALL_NONE, SYSCALL_UNKNOWN */
	int32_t syscall;
	uint32_t wait; /* id of a wait; 0: none */
	enum gil gil;
	int64_t samples; /* number of samples: one thread at one tick is one */
	int64_t ns[WEIGHT_COUNT];
};

/* The sums of the ticks with the same number of threads on a CPU. */
struct profile_parallelism {
	uint64_t ticks, time_ns, cpu_ns; /* cpu_ns: time_ns times the parallelism */
	uint64_t sampled_ns; /* sum of the spans of the ticks; time_ns, unless calibrated */
	uint64_t alone_ns;   /* part of time_ns with at most one thread runnable */
	double time_squares; /* sum of the squared spans of the ticks, for margin.h */
};

struct profile;

struct table;

/*
 * Each returns the index at which a caller's array of sums has the sum for this sample or blame.
 * *added becomes true if that sum is new, else false; new sums get the indices 0, 1, 2, ... Samples
 * or blame belong to the same sum if all their members except `samples` and `ns` are equal.
 *
 * The caller owns the tables, which begin empty. `doings` numbers the combinations of state, system
 * call, wait, GIL state and carrier; `entries` maps the thread, the stack and the number of the
 * combination to the index; `blames` maps blame to the index. Several arrays of sums, with
 * `entries` of their own, may use the same `doings`.
 */
uint32_t profile_find_entry(struct table *doings, struct table *entries,
			    const struct profile_entry *sample, bool *added);
uint32_t profile_find_blame(struct table *blames, const struct profile_blame *blame, bool *added);

struct profile *profile_create(void);
/* Frees a profile, or NULL. Its marks and windows (profile_mark.h) must have been freed. */
void profile_free(struct profile *profile);

/*
 * Adds samples and returns the id of their entry. Samples and weights may be negative, and so may
 * the sums. For example, a thread that is not observed at each tick has run since its last
 * observation: the new sample gets the mean interval between observations as its weight, and the
 * entry of the last observation gets the elapsed time minus this interval, which may be negative
 * (sampler.h). `samples`, which counts ticks, is divided in the same way as the time.
 */
uint32_t profile_add(struct profile *profile, const struct profile_entry *sample);
/* Adds samples and wall time to an existing entry. */
void profile_add_again(struct profile *profile, uint32_t entry, int64_t samples, int64_t wall_ns);
/*
 * Adds a correction of weights that were added before: an entry without samples, whose weights may
 * be negative. They belong to the ticks [first_tick, first_tick + ticks).
 */
void profile_correct(struct profile *profile, const struct profile_entry *correction,
		     uint64_t first_tick, uint64_t ticks);
/* Adds latency, which depends on all threads of a tick, to an existing entry. */
void profile_charge(struct profile *profile, uint32_t entry, int64_t latency_ns);

/*
 * Adds a tick: its span, and estimates (sampler.h) of the numbers of threads on a CPU and of
 * runnable threads. An estimate is 0 if no thread was found in that state.
 */
void profile_add_tick(struct profile *profile, uint64_t span_ns, uint32_t parallelism,
		      uint32_t runnable);
/* Sets, for the next tick only, the number of tasks that wait for a thread to run them; else 0. */
void profile_set_ready(struct profile *profile, uint32_t ready);

/*
 * Changes the times of the rows of profile_parallelism so that their CPU times sum up to the
 * CPU of all entries, which the kernel has counted (run_stats.calibrated). Of all
 * distributions with this mean, the result is the one nearest to that of the ticks (least relative
 * entropy: each time is multiplied by a power of one number). May be called again after additions.
 */
void profile_calibrate_parallelism(struct profile *profile);

size_t profile_entry_count(const struct profile *profile);
uint64_t profile_tick_count(const struct profile *profile);
uint64_t profile_wall_ns(const struct profile *profile);   /* sum of the spans of all ticks */
int64_t profile_latency_ns(const struct profile *profile); /* sum of the latency of all entries */
/* Return the integral of the number of ready tasks (profile_set_ready) over time, in ns, and the
 * maximum of this number. */
double profile_ready_ns(const struct profile *profile);
uint32_t profile_ready_most(const struct profile *profile);
/* One more than the highest parallelism of a tick; 0 before the first tick. */
size_t profile_parallelism_count(const struct profile *profile);
const struct profile_parallelism *profile_parallelism(const struct profile *profile,
						      size_t parallelism);
const struct profile_entry *profile_entry(const struct profile *profile, size_t index);

#endif
