/* SPDX-License-Identifier: MIT */
/*
 * sampler_control.h - virtual speed-ups (causal.h): while some code runs, the other threads are
 * stopped for a part of the time, which has the effect of making that code faster. A controller
 * (src/causal) decides at each tick which threads are resumed at once, and for how long the others
 * stay stopped.
 *
 * With a controller each tick stops all running threads and keeps them stopped until their stacks
 * are known and `decide` has returned. A thread is "held" while it stays stopped after that. "Hold
 * time" is the time for which threads stay stopped so that others run. It is counted even if there
 * was no thread to hold, so that ticks with and without held threads can be compared. All times are
 * in ns.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_CONTROL_H
#define WALLSAMPLE_SAMPLER_SAMPLER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread that ran and is stopped now. */
struct stopped_thread {
	pid_t tid;
	uint32_t stack; /* number of its stack in the profile */
	/* Set by `decide`: the thread is resumed at once. false, the initial value: it is held. */
	bool resume;
};

/* The target at a tick, when all running threads are stopped and unwound. */
struct tick_snapshot {
	struct stopped_thread *stopped;
	size_t count;
	size_t held; /* number of further threads that are held since an earlier tick */
	/* Number of threads that run and are not in `stopped`: they did not stop in time, or were
	 * not stopped because a stop up to 3 ms ago ended their turn on a CPU that they share. */
	size_t missed;
	/* time from the first stop request of this tick, or from the moment at which it had taken
	 * the CPUs of the target, to the call of `decide` */
	uint64_t standing_ns;
	/* Time for which the previous tick kept threads stopped after its standing_ns had ended:
	 * duration of `decide` and of the requests to resume, plus the mean time until a resumed
	 * thread ran. */
	uint64_t stopped_ns;
	/* Estimated part of the last hold time in which the hold had no effect, because each
	 * resumed thread waited for a held thread. 0 if not known. */
	uint64_t idle_ns;
};

struct sampler_control {
	/*
	 * Sets `resume` of each stopped thread. Returns the part of the time to the next tick, from
	 * 0 to 1, for which the threads without `resume` are held. 0: all threads are resumed now,
	 * those held since an earlier tick included. 1: they are held until the next tick has
	 * called `decide`. All running threads except the `missed` ones are stopped during the
	 * call, which must therefore take microseconds only.
	 */
	double (*decide)(void *context, const struct tick_snapshot *snapshot);
	/*
	 * Adds more_ns, which may be negative, to the hold time. Called (1) after `decide`, with
	 * the time that `decide` and resuming took; (2) after a `decide` that returned more than 0,
	 * when its hold ends, with the duration of the hold; (3) at the next tick before `decide`,
	 * with the time that threads took to run after they were resumed, if that is known. Calls
	 * (1) and (2) do not depend on whether any thread was held.
	 */
	void (*held)(void *context, int64_t more_ns);
	void *context;
	/* Code addresses whose executions are counted by breakpoints (tracer_count.h): a borrowed
	 * array of `addresses` elements, at most TRACER_COUNT_MOST. If there are any, `counted` is
	 * called before each call of `decide`, with the number of executions of address[n] since
	 * sampler_create in total[n], and with `count` equal to `addresses`. */
	const uint64_t *address;
	size_t addresses;
	void (*counted)(void *context, const uint64_t *total, size_t count);
	/* Intervals between ticks are uniformly distributed from mean * (1 - spread) to mean * (1 +
	 * spread), where mean is the interval of sampler_config.rate_hz. */
	double spread;
};

#endif
