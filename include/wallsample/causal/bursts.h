/* SPDX-License-Identifier: MIT */
/*
 * bursts.h - the bursts of a process, and the time between ticks that experiments need for them.
 *
 * A burst is the time for which a thread uses a CPU between two sleeps. Threads influence each
 * other where they sleep and wake each other. A virtual speed-up is therefore right only if each
 * burst is accelerated, which takes one or two ticks in a burst. With longer ticks some bursts are
 * accelerated and others are not, and the mean of these gains is not the gain of a program in which
 * all bursts are faster (wallsample-theory(7)).
 */
#ifndef WALLSAMPLE_CAUSAL_BURSTS_H
#define WALLSAMPLE_CAUSAL_BURSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/process/process.h"

/*
 * The mean time between ticks that bursts_tick_ns() returns: the shortest one; the longest one for
 * up to two running threads, which is also used for programs without short bursts; and the longest
 * of all, which is used for programs that wait for CPUs. A function may be shorter than a burst:
 * with ticks of 5 ms, gains of 100 and 300 of a function of 2 ms in a thread that never sleeps were
 * predicted as 82 to 92 and 268 to 291 (nine runs), and with ticks of 2 ms as 99 and 308. Ticks
 * shorter than the shortest one do more harm than having few of them in a burst: with bursts of 1
 * ms, the gains of the program `mail`, which are 33, 100 and 300, were predicted as 31 to 33, 94 to
 * 108 and 292 to 309 with ticks of 1 ms, and as 20 to 32, 76 to 104 and 206 to 328 with ticks of
 * 0.5 ms. Predictions for `locked` were 5 to 19 points too low with ticks of 1 ms, and 15 too low
 * to 10 too high with ticks of 0.5 ms (two runs of `make bench-causal BENCH_ARGS='--unit 1 --turns
 * 0 -d 25s --word=--tick=1ms'`).
 */
#define BURSTS_TICK_LEAST_NS (1 * NS_PER_MS)
#define BURSTS_TICK_MOST_NS (2 * NS_PER_MS)
#define BURSTS_TICK_DELAYED_NS (5 * NS_PER_MS)

/* A burst, or several that followed each other so closely that only their mean is known. */
struct burst {
	uint64_t cpu_ns;    /* CPU time of all of them */
	uint64_t length_ns; /* CPU time of one */
};

struct burst_summary {
	/* Length of the bursts, in whole microseconds: a tenth of the CPU time of the process is in
	 * bursts of this length or shorter. 0: not known, or it does not matter, because one thread
	 * used at least 90 % of the CPU time. */
	uint64_t burst_ns;
	double parallelism; /* CPU time of all threads per elapsed time */
	double delayed;     /* bursts_delayed_share() of the part BURSTS_QUIET_NS */
};

/*
 * Durations of the two parts of bursts_measure(). Waits for CPUs are measured in the second part,
 * which reads no counters in between: reading those of two threads once a millisecond takes 3 to 10
 * % of a CPU, and one of the threads may wait for that CPU.
 */
#define BURSTS_READ_NS (300 * NS_PER_MS)
#define BURSTS_QUIET_NS (200 * NS_PER_MS)

/*
 * Measures the bursts of the process without stopping any thread. First reads the counters of its
 * threads for BURSTS_READ_NS, about once a millisecond, or less often if there are many threads.
 * Then sleeps for BURSTS_QUIET_NS, and sets `delayed` from the counters before and after. Threads
 * that begin meanwhile are not measured.
 */
struct burst_summary bursts_measure(const struct process *process);

/* Returns the length in ns for which a tenth of the CPU time is in bursts of this length or
 * shorter; 0 if there is no CPU time. Sorts the array. */
uint64_t bursts_typical(struct burst *burst, size_t count);

/* Returns the share of the time in which threads could run that they waited for a CPU, in [0, 1].
 * They used `cpu_ns` of CPU time and waited for `delay_ns`. */
double bursts_delayed_share(uint64_t cpu_ns, uint64_t delay_ns);
/* True if the threads waited for CPUs too often for short ticks to be of use. */
bool bursts_delayed(const struct burst_summary *summary);
/*
 * Returns the mean time between ticks, in ns: BURSTS_TICK_DELAYED_NS if bursts_delayed() is true.
 * Otherwise half a burst, at most BURSTS_TICK_MOST_NS, and at least BURSTS_TICK_LEAST_NS. It is
 * longer, up to BURSTS_TICK_DELAYED_NS, if more than two threads run at once, because a tick stops
 * all of them.
 */
uint64_t bursts_tick_ns(const struct burst_summary *summary);
/*
 * Returns the time in ns of which experiments and settling times are a multiple: half a burst, at
 * most BURSTS_TICK_DELAYED_NS, but never less than a tick. Where bursts are long, or their length
 * is not known (0), queues need more time to fill or drain than the same multiple of a tick.
 */
uint64_t bursts_unit_ns(uint64_t burst_ns, uint64_t tick_ns);
/* Returns the shortest burst, in ns, for which ticks with this mean distance suffice. */
uint64_t bursts_least_ns(uint64_t tick_ns);

#endif
