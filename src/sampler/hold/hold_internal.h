/* SPDX-License-Identifier: MIT */
/*
 * hold_internal.h - keeps threads stopped ("held") between two ticks, for virtual speed-ups
 * (sampler_control.h).
 *
 * In a run with a struct sampler_control (`control`) each tick stops the running threads, unwinds
 * them, calls control->decide, and resumes the threads that `decide` chose. The others are held
 * until the share of the time to the next tick that `decide` returned has passed. The hold time
 * (sampler_control.h) is counted whether or not a thread was there to hold. It is reported to
 * control->held in parts: the duration of each hold, the time that `decide` and resuming took, and
 * the resume delays, which are explained next.
 *
 * After the sampler has resumed the threads of a tick, 20 to 100 us pass until they run: each has
 * to get a CPU, which may have to wake from idle or be released by the sampler. This resume delay
 * makes a held thread stop for longer, and a resumed one run for shorter, than counted. hold_late.c
 * estimates the delay from the CPU times of a few threads. Without /proc/PID/schedstat these times
 * are not known, and the delay counts as 0.
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sampler/hold/hold_spare_internal.h"
#include "wallsample/sampler/sampler_control.h"

struct priority;
struct run;
struct sampled_thread;
struct stop_request;

/* --- resume delays: hold_late.c ------------------------------------------------------------- */

/* What a tick did with a thread that it had stopped. */
enum hold_role {
	HOLD_NONE,    /* not recorded: the thread's counters were not read at this tick */
	HOLD_HELD,    /* kept stopped after control->decide */
	HOLD_RESUMED, /* resumed right after control->decide */
	HOLD_ROLES    /* number of roles */
};

/*
 * A thread's counters, and what the tick that read them then did with the thread. The tick has
 * stopped the thread, and reads them right before or right after control->decide. For a thread that
 * is still held at the next tick, the counters remain as they are, because it has not run; `role`
 * and `tick` become those of the next tick.
 */
struct hold_mark {
	enum hold_role role;
	uint32_t tick;             /* number of the tick */
	uint64_t cpu_ns, switches; /* as in struct sched (thread/state.h) */
	bool waits;                /* the last observation found the thread waiting for a futex */
};

/* Most threads whose CPU times are read at a tick: this number of the threads that it has stopped,
 * and this number of those that it resumes. Each read takes a microsecond in which all threads are
 * stopped. */
#define HOLD_MARKS 4

/* Times of one thread from the reading of its CPU time at the last tick to that at this tick. Both
 * count as made right before control->decide. */
struct hold_run {
	double between_ns; /* time between the two readings of its CPU time */
	/* Part of between_ns in which the thread was stopped: while the last tick called
	 * control->decide and resumed threads, and since this tick began to stop threads. */
	double stopped_ns;
	double held_ns;    /* part of between_ns in which it was held */
	double cpu_ns;     /* CPU time that it used in between_ns */
	uint64_t switches; /* times that it was scheduled in */
};

/*
 * Sets *delay_ns to the resume delay: the part of between_ns in which the thread neither ran nor is
 * known to have been stopped or held. Returns false if the value is not a resume delay: its
 * absolute value is too large, or the thread was scheduled in too often, because it slept or other
 * threads used the CPUs.
 * `tick_ns`: the mean time between ticks.
 */
bool hold_resume_delay(const struct hold_run *run, double tick_ns, double *delay_ns);

struct hold_delays {
	/* when CPU times were read at this tick, and at the last tick */
	uint64_t read_ns, last_read_ns;
	/* The threads that the last control->decide chose to resume. None if there are more than
	 * HOLD_MARKS of them, if `decide` returned 0, or if CPU times cannot be read. */
	pid_t resumed[HOLD_MARKS];
	size_t resumed_count;
	/* Sum and number of the resume delays found at this tick, by enum hold_role of the thread
	 * at the last tick. */
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

	/* Threads that this tick stopped and keeps stopped until hold_decide; and late threads
	 * (late.c) that stopped during the last hold and are held since. */
	struct stopped_thread *stopped;
	size_t count, capacity;
	/* number of threads held since an earlier tick, which are not in `stopped` */
	size_t before;
	/* number of running threads that this tick does not stop: see spare_has */
	size_t spared;
	/* hold time is being counted: it began at from_ns and ends at until_ns */
	bool on;
	/* mean moment at which threads were resumed after the last control->decide; if none was:
	 * the moment right after `decide` */
	uint64_t from_ns;
	/* end of the hold; UINT64_MAX: when the next tick has called control->decide */
	uint64_t until_ns;
	uint64_t asked_ns; /* when this tick began to stop threads */
	/* when the next tick is due (before hold_begin: this tick); 0: not known */
	uint64_t due_ns;
	uint64_t decided_ns; /* time from the last call of control->decide to from_ns */
	/* running mean: time from the moment at which a tick was due to its first stop */
	double lag_ns;
	double part;       /* what the last control->decide returned */
	double counted_ns; /* hold time that was counted for the last hold */
	/* time in ns by which all holds so far together were too short, within the limits of
	 * hold_debt; negative: too long */
	double debt_ns;
	size_t others; /* number of threads held after the last control->decide */
	struct hold_delays delays;
	struct spare spare;
};

/*
 * Returns the debt (hold.debt_ns) after a tick that should have held threads for the share `part`
 * of `length_ns` and held them for `held_ns`, if the debt before was `debt_ns`. The result is
 * limited to [-most_ns, most_ns].
 */
double hold_debt(double debt_ns, double part, double length_ns, double held_ns, double most_ns);

/* Records how many threads are held, and when the tick begins to stop threads: since_ns, when it
 * took the CPUs of the target (hold_occupy_await); 0: now. Must be called right before the tick
 * requests its stops. */
void hold_begin(struct hold *hold, uint64_t since_ns);
/* To be called for each stop, late or not, after the thread's stack was unwound. If the thread is
 * still stopped, adds it to those about which hold_decide decides. May spare it at the next ticks
 * (spare_observe). */
void hold_observe(struct hold *hold, const struct stop_request *request,
		  struct sampled_thread *thread);
/* To be called when all stopped threads are unwound: calls control->decide, resumes the threads
 * that it chose, and sets the moment at which the others are resumed. If `decide` returned 0,
 * resumes all threads. */
void hold_decide(struct hold *hold);
/* Returns the moment at which held threads are to be resumed, CLOCK_MONOTONIC; UINT64_MAX: not
 * before the next tick, or there is no hold. */
uint64_t hold_due(const struct hold *hold);
/* Resumes all held threads if the moment of hold_due has come. */
void hold_serve(struct hold *hold, uint64_t now_ns);
/* Resumes all held threads now, and counts the hold time. */
void hold_end(struct hold *hold);

/*
 * Must be called before (hold_pause) and after (hold_resume) any work during the run that may take
 * long: no thread of the target stays stopped between the two calls. Pairs of calls nest. Both
 * functions may be called in runs without a control or without a tracer.
 */
void hold_pause(struct hold *hold);
void hold_resume(struct hold *hold);

/* --- hold_late.c ---------------------------------------------------------------------------- */

/* Reads the CPU times of the first HOLD_MARKS threads in hold->stopped, and computes the resume
 * delays of those whose CPU times the last tick read, too. All threads must be stopped. */
void hold_measure_delays(struct hold *hold);
/* Returns the mean resume delay, in ns, of the threads that had this role at the last tick; 0: not
 * known. */
double hold_mean_delay(const struct hold *hold, enum hold_role role);
/*
 * Returns the part of the last hold, in ns, in which it had an effect. counted_ns: duration of that
 * hold. If each resumed thread now waits for a futex, presumably for a held thread to wake it, the
 * result is the longest CPU time that a resumed thread has used since it was resumed, at most
 * counted_ns. Otherwise, and if no thread was held, or hold_delays.resumed is empty, the result is
 * counted_ns.
 */
double hold_effective(const struct hold *hold, double counted_ns);
/* To be called after control->decide: records the roles and counters of the stopped threads.
 * `holds`: `decide` returned more than 0, and the threads that it did not choose stay held; false:
 * all threads are resumed. */
void hold_mark_threads(struct hold *hold, bool holds);

#endif
