/* SPDX-License-Identifier: MIT */
/*
 * weights_internal.h - calibration: makes weights of samples agree with the kernel's accounting.
 *
 * The kernel counts for each thread the time on a CPU and the time waiting for a CPU (schedstat).
 * So over a window of about a second the time of a thread in each class of states is known. The
 * samples of the thread in that window only divide it among stacks (post-stratification).
 *
 * During a window the sampler adds samples with their estimated weights (sampler.h). At the end of
 * the window each sum is corrected: profile_correct adds the difference between the known and the
 * estimated time. Corrections of a thread add up to zero, so that its wall time is unchanged. What
 * the kernel has counted but the window cannot contain (the window is shorter than elapsed time,
 * because each tick leaves some time to later ticks) is carried to the next window.
 *
 * The thread's latest samples of a class divide its time, or those of threads of its kind (same
 * name and outermost functions), if the window has too few; CPU time also if it has few, all rough,
 * and a latest sample is exact. Time that no sample describes gets a named frame.
 *
 * No calibration: without schedstat, for dumps (sampler_config.exact), and when threads are held
 * between ticks, because held time is not time of the program.
 */
#ifndef WALLSAMPLE_SAMPLER_WEIGHTS_WEIGHTS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WEIGHTS_WEIGHTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/table.h"
#include "wallsample/profile/profile.h"
#include "wallsample/thread/state.h"
#include "wallsample/thread/stolen.h"

/* How far the CPU time in schedstat of a running thread may be behind: one scheduler tick at 250 Hz
 * (CONFIG_HZ, the most common value). */
#define SCHED_TICK_NS ((int64_t)(4 * NS_PER_MS))

struct charging;
struct run;
struct sampled_thread;
/* Classes of states whose time the kernel's counters give. */
enum weight_class {
	CLASS_CPU,     /* RUN_RUNNING */
	CLASS_QUEUE,   /* RUN_QUEUED */
	CLASS_BLOCKED, /* any other state */
	WEIGHT_CLASSES
};

/* --- donors.c: latest samples, which divide the time of windows without samples ------------- */
#define DONORS_MOST 64

struct donor {
	uint32_t entry;           /* of the profile */
	float weight, importance; /* weight: estimated wall time in ns, times the importance */
	float credit; /* part of the divided time that the donor has to get; donors_next */
	bool unfit;   /* set before each call of donors_next, which skips the donor */
};

/* The latest samples of one class. A zeroed struct is empty. */
struct donors {
	struct donor donor[DONORS_MOST];
	uint32_t count, next;
};

/* `ns`, `part`: as in struct window_cell; no effect unless both are above 0. */
void donors_add(struct donors *donors, uint32_t entry, double ns, double part);
/* Returns the entry of the donor that gets the next of equal parts of a time; there must be a fit
 * one. In the long run each fit donor gets parts in proportion to its weight. */
uint32_t donors_next(struct donors *donors);

/* --- window.c: the samples of one thread in the present window  ----------------------------- */
/* Sum of the samples of one entry. */
struct window_cell {
	uint32_t entry;
	int64_t ns;         /* estimated wall time; may be negative (sampler.h) */
	double part;        /* `ns` times the importance of the samples (values_internal.h) */
	double squares;     /* sum of the squared additions to `part` that had samples */
	uint32_t additions; /* their number */
	int64_t samples;    /* as struct profile_entry */
	int64_t latency_ns; /* charged latency */
};

/* Time of one class that has no sample and no donor so far: it is in a named frame. */
struct unplaced {
	int64_t ns, latency_ns;        /* the time, and the latency that its frame got for it */
	uint64_t first_tick, end_tick; /* the windows in which it was spent */
};

/* Windows of one thread; to be initialised with window_init. */
struct thread_window {
	struct window_cell *cell;
	size_t count, capacity;
	/* Latest samples by class; owned; NULL: none. Of CLASS_BLOCKED only the entry of the last
	 * sample is kept, in `blocked`, which is UINT32_MAX before the first. */
	struct donors *donors[CLASS_BLOCKED];
	uint32_t blocked;
	struct sched counted; /* the kernel's counters up to which time was calibrated */
	bool weighed;         /* a window of the thread was calibrated */
	bool backwards;       /* the last reading was below `counted` */
	bool waits;           /* it waited for CPUs for WAITS_LEAST_NS in the last window */
	double importance;    /* of the next samples that are added */
	/* For CLASS_CPU and CLASS_QUEUE: time that the kernel has counted and no window contains;
	 * negative: a window has more than the kernel has counted so far. */
	int64_t carried[WEIGHT_CLASSES];
	struct unplaced unplaced[WEIGHT_CLASSES];
	int64_t stopped_ns; /* time in this window in which stops kept the thread from executing */
	uint64_t moved_ns;  /* a wait for a CPU that is in progress began after this moment */
};

/* Begins the first window of a thread: its time counts from the thread's creation on. */
void window_init(struct thread_window *window);
void window_release(struct thread_window *window);
/* Adds samples that are in the entry `entry` of the profile. They do not become donors. */
void window_count(struct thread_window *window, uint32_t entry, int64_t samples, int64_t wall_ns);
/* As window_count, for samples in this state, which become donors. */
void window_add(struct thread_window *window, uint32_t entry, enum run_state state, int64_t samples,
		int64_t wall_ns);
/* Adds latency that was charged to an entry, if the window has a sample of it. */
void window_charge(struct thread_window *window, uint32_t entry, int64_t latency_ns);
/* Sorts the cells by entry and merges those of equal entries. */
void window_merge(struct thread_window *window);
enum weight_class weight_class_of(enum run_state state);

/* A correction that is planned: added to the profile when those of all threads are known. */
struct planned {
	struct profile_entry entry; /* its `ns` and `samples` are not used */
	int64_t ns;                 /* wall time to add; may be negative */
	int64_t latency_ns;         /* latency that was charged to the entry in this window */
	double latency;             /* latency of the calibrated weight, before scaling */
	bool borrowed;              /* the entry had no sample in the window: latency is not set */
	bool moved;                 /* time of earlier windows; latency_ns is added unscaled */
	struct unplaced *unplaced;  /* sums up the added latency; borrowed; NULL: nothing does */
	uint64_t first_tick, end_tick;
};

struct plan {
	struct planned *item;
	size_t count, capacity;
	int64_t runnable_ns, cpu_ns; /* known times of the window, of all threads */
	int64_t most_ns;             /* longest known runnable time of one thread */
};

struct calibration {
	struct run *run; /* borrowed, as charging */
	struct charging *charging;
	uint64_t began_ns;   /* tick.time_ns when the window began */
	uint64_t first_tick; /* number of the window's first tick, by profile_tick_count */
	/* Latest samples of kinds of threads: (text id of the name; hash of the outermost frames
	 * and the class) -> index of `kind`. */
	struct table kinds;
	struct donors *kind;
	size_t kind_capacity;
	struct plan plan;     /* buffer */
	uint32_t gap;         /* entry of the last gap; UINT32_MAX: none yet */
	struct stolen stolen; /* time that a hypervisor used CPUs of the machine */
};

/* --- borrow.c: the plan, and time without samples  ------------------------------------------ */

/* Plans to add `ns` of wall time to the entry in this window. Valid until the next call. */
struct planned *weights_plan(struct calibration *calibration, const struct profile_entry *entry,
			     int64_t ns);
/* Merges the samples of the thread's window; the runnable ones become donors for threads of its
 * kind. To be called for all threads before the first weights_borrow. */
void weights_lend(struct calibration *calibration, struct sampled_thread *thread);
/* Plans the division of `ns` of a class among donors. Returns false if there are none. */
bool weights_borrow(struct calibration *calibration, struct sampled_thread *thread,
		    enum weight_class class, int64_t ns);
/* True if the window's samples on a CPU (sums: `ns`, `part`) are few and rough, a donor exact. */
bool weights_has_better(struct calibration *calibration, struct sampled_thread *thread, int64_t ns,
			double part);
/* Plans time without samples: a wait for a CPU gets the last stack, other time a named frame. */
void weights_leave_unplaced(struct calibration *calibration, struct sampled_thread *thread,
			    enum weight_class class, int64_t ns);
/* Moves time of the thread from the named frames of earlier windows to donors that exist now. */
void weights_place(struct calibration *calibration, struct sampled_thread *thread);

/* --- weigh.c: the end of a window  ---------------------------------------------------------- */

/* `run` and `charging` are borrowed. The contents are to be freed with weights_release. */
void weights_init(struct calibration *calibration, struct run *run, struct charging *charging);
void weights_release(struct calibration *calibration);
/* To be called when the clock of the run starts: reads the counters of all threads. */
void weights_start(struct calibration *calibration);
/* True if the window ends with the tick in progress, which must therefore observe all threads. */
bool weights_due(const struct calibration *calibration);
/* Ends the window: adds corrections to the profile. `last`: the run ends. To be called when all
 * samples and charges of a tick are in the profile and the tick is counted (profile_add_tick). */
void weights_end_window(struct calibration *calibration, bool last);
/* Ends the window of a thread that leaves the list of threads. */
void weights_end_thread(struct calibration *calibration, struct sampled_thread *thread);

/* --- weigh_latency.c  ----------------------------------------------------------------------- */

/* Adds the corrections of the plan to the profile, with latency scaled so that its sum is
 * unchanged. `whole`: the plan has all threads of the window. Empties the plan. */
void weights_carry_out(struct calibration *calibration, bool whole);

#endif
