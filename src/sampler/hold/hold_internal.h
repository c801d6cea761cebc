/* SPDX-License-Identifier: MIT */
/*
 * hold_internal.h - a consumer of observations: keeps threads stopped from one tick to the next as
 * struct sampler_control decides (virtual speed-ups).
 *
 * A tick that holds stops all running threads, unwinds them, calls control->decide, resumes the
 * threads that `decide` chose, and resumes the others ("held" threads) after the share of the tick
 * that `decide` returned. The time for which held threads were stopped is the hold time;
 * control->held accumulates it.
 *
 * Resuming takes 20 to 100 us a tick: a stopped thread has to get a CPU, which may be idle or in
 * use by the sampler. By that time a held thread is stopped longer, and a resumed one runs shorter.
 * hold_late.c estimates this resume delay from the CPU times of a few threads (schedstat; without
 * it the delay is not known and all means are 0).
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/sampler/sampler_control.h"

struct priority;
struct run;
struct sampled_thread;
struct stop_request;

/* --- resume delays: hold_late.c ------------------------------------------------------------- */

/* Role of a thread that a tick had stopped. */
enum hold_role {
	HOLD_NONE,    /* its counters were not read */
	HOLD_HELD,    /* stopped after the decision, too */
	HOLD_RESUMED, /* resumed right after the decision */
	HOLD_ROLES    /* number of roles */
};

/* A thread's counters while a tick kept it stopped. */
struct hold_mark {
	enum hold_role role;
	uint32_t tick;             /* number of that tick */
	uint64_t cpu_ns, switches; /* members of struct sched */
	bool waits;                /* the last observation found the thread asleep on a futex */
};

/* Most stopped threads, and most resumed threads, whose CPU times are read at a tick: each read
 * takes a microsecond in which all threads are stopped. */
#define HOLD_MARKS 4

/* Times of one thread from a tick's decision to the thread's stop at the next tick. */
struct hold_run {
	double between_ns; /* time between the two readings of its CPU time */
	double stopped_ns; /* part of between_ns in which it was stopped while the last tick decided
			    * and this one stopped all threads */
	double held_ns;    /* part of between_ns in which it was held */
	double cpu_ns;     /* CPU time that it used in between_ns */
	uint64_t switches; /* times that it was scheduled in */
};

/*
 * Sets *delay_ns to the time for which the thread was stopped minus the hold time that was counted.
 * Returns false if that cannot be known: the thread has slept, or other threads used the CPUs.
 * `tick_ns`: the mean time between ticks.
 */
bool hold_resume_delay(const struct hold_run *run, double tick_ns, double *delay_ns);

struct hold_delays {
	uint64_t read_ns, last_read_ns; /* when CPU times were read at this tick and the last */
	/* The threads that the last tick resumed; none if there are more than HOLD_MARKS. */
	pid_t resumed[HOLD_MARKS];
	size_t resumed_count;
	/* Results of hold_resume_delay at this tick, by role. */
	struct {
		double sum_ns;
		size_t count;
	} role[HOLD_ROLES];
};

/* --- holds: hold.c ------------------------------------------------------------------------- */

struct hold {
	/* Borrowed. */
	struct run *run;
	struct priority *priority;

	/* Threads that this tick stopped, and late ones that were held when they stopped. */
	struct stopped_thread *stopped;
	size_t count, capacity;
	size_t before;       /* threads held since an earlier tick, which are not in `stopped` */
	size_t spared;       /* running threads that this tick does not stop: see hold_spares */
	bool on;             /* hold time is counted, from from_ns until until_ns */
	uint64_t from_ns;    /* mean moment at which the last decision resumed threads */
	uint64_t until_ns;   /* end of the hold; UINT64_MAX: when the next tick has decided */
	uint64_t asked_ns;   /* when this tick began to stop threads */
	uint64_t due_ns;     /* when this tick was due; 0: there was none before */
	uint64_t decided_ns; /* duration of the decision, up to from_ns */
	double lag_ns;       /* running mean of asked_ns - due_ns */
	double part;         /* share of the last tick for which threads were to be held */
	double counted_ns;   /* hold time that was counted for the last tick */
	double debt_ns;      /* hold time missing so far; negative: hold time in excess */
	size_t others;       /* number of threads held after the last decision */
	struct hold_delays delays;
};

void hold_release(struct hold *hold);

/*
 * Returns the debt after a tick of `length_ns` that should have held threads for `part` of it, and
 * held them for `held_ns`. The result is in [-most_ns, most_ns].
 */
double hold_debt(double debt_ns, double part, double length_ns, double held_ns, double most_ns);

/* True if this tick must not stop the thread, because a recent stop ended the thread's turn on a
 * shared CPU (SPARE_NS). */
bool hold_spares(const struct run *run, const struct sampled_thread *thread);
/* Counts the threads that are held. Must be called right before the tick stops threads. */
void hold_begin(struct hold *hold);
/* Called for each stop, late or not, when its stack is unwound: adds the thread, if it is still
 * stopped, to those about which hold_decide decides. */
void hold_observe(struct hold *hold, const struct stop_request *request,
		  struct sampled_thread *thread);
/* Called when all stopped threads are unwound: calls control->decide, resumes the threads that it
 * chose, and sets the moment at which the others are resumed. */
void hold_decide(struct hold *hold);
/* Returns the moment at which held threads are to be resumed; UINT64_MAX if none are held. */
uint64_t hold_due(const struct hold *hold);
/* Resumes all held threads if hold_due has come. */
void hold_serve(struct hold *hold, uint64_t now_ns);
/* Resumes all held threads now. */
void hold_end(struct hold *hold);

/*
 * hold_pause and hold_resume must enclose any work during the run that may take long: no thread of
 * the target stays stopped in between. They nest. Both may be called without control or tracer.
 */
void hold_pause(struct hold *hold);
void hold_resume(struct hold *hold);

/* --- hold_late.c ---------------------------------------------------------------------------- */

/* Computes the resume delays of threads that the last tick stopped. All threads must be stopped. */
void hold_measure_delays(struct hold *hold);
/* Returns the mean resume delay of threads of the role, in ns; 0: not known. */
double hold_mean_delay(const struct hold *hold, enum hold_role role);
/*
 * Returns how much of the last hold, whose time is counted_ns, had an effect: the longest CPU time
 * of a resumed thread since then, if each resumed thread now sleeps on a futex, presumably one that
 * a held thread will wake; otherwise counted_ns.
 */
double hold_effective(const struct hold *hold, double counted_ns);
/* After the decision, records the roles and counters of the stopped threads. `holds`: threads that
 * `decide` did not choose stay held; otherwise all are resumed. */
void hold_mark_threads(struct hold *hold, bool holds);

#endif
