/* SPDX-License-Identifier: MIT */
/* causal_run.c - runs the experiments, one after the other. */
#include "wallsample/causal/causal_run.h"

#include <stdlib.h>
#include <string.h>

#include "causal/causal_internal.h"
#include "wallsample/causal/bursts.h"
#include "wallsample/sampler/sampler_control.h"

/*
 * A stall: progress waits for the work of held threads. Above speed-up 0, progress may be slower
 * than at speed-up 0; a stall is assumed when no event of the first point has occurred for longer
 * than both STALL_NS and STALL_EVENTS times the mean time between events at speed-up 0.
 */
#define STALL_EVENTS 10
#define STALL_NS (250 * NS_PER_MS)
/* If no experiment at speed-up 0 had an event, a stall is assumed after this time without an
 * event. */
#define STALL_UNKNOWN_NS (2 * NS_PER_SEC)

/*
 * Length of the settling time, as a multiple of the requested length of an experiment. A settling
 * time precedes each experiment and is not counted: after a change of the speed-up queues fill or
 * drain until the program is in a steady state again. (Without a settling time a gain of 67 points
 * was off by 15 points, with a queue of four items and experiments of one second.)
 */
#define SETTLE_PART 0.5
/*
 * Where events are rare, queues need more time. So a settling time also lasts until the first point
 * has SETTLE_ENOUGH events. Once it has lasted SETTLE_UNITS times bursts_unit_ns(), half a second
 * with long bursts, and the requested length of an experiment, SETTLE_LEAST events suffice; in any
 * case it ends after CAUSAL_LONGEST times SETTLE_PART times that length. (With queues of four items
 * between threads whose work takes 30 ms, gains of 67 % were predicted as 75 to 84 % after settling
 * times of 0.25 to 0.4 s.)
 */
#define SETTLE_ENOUGH 30
#define SETTLE_UNITS 100
#define SETTLE_LEAST 4

/* Largest share of held time in a WHOLE experiment. */
#define HELD_MOST 0.98

/* A gap is a time without a tick that is longer than this multiple of bursts_unit_ns(), 100 ms with
 * long bursts: for example, a report is written, or the program is stopped. No thread is held in a
 * gap. */
#define GAP_UNITS 20

struct causal_run {
	struct causal_result *result;
	struct progress *progress;
	struct match match;
	struct plan plan;
	struct sampler_control control;
	uint64_t
		counted[PROGRESS_COUNTED_MOST]; /* addresses of code whose executions are counted */

	uint64_t began_ns, last_ns; /* when the first and the last tick were made */
	uint64_t held_ns; /* held time of all finished experiments, without their settling times */
	uint64_t settled_held_ns; /* held time of the settling times of all experiments */
	uint64_t event_ns; /* when the last tick that found progress of the first point was made */
	struct progress_value
		/* Values of the points when the first experiment began. */
		first[CAUSAL_POINTS_MOST];
	struct progress_value value[CAUSAL_POINTS_MOST]; /* values of the points at the last tick */
	uint64_t runnable; /* sum over all ticks of the number of runnable threads */
	uint64_t ticks;
	uint64_t unheld; /* see causal_result.unheld */
	uint64_t late;   /* number of late ticks of all finished experiments */
	/* Sums over the WHOLE experiments at speed-up 0: events of the first point, and
	 * duration. */
	uint64_t base_events, base_ns;
	bool gap;  /* a gap preceded the last tick */
	bool lost; /* progress is no longer readable */

	/* The current experiment. */
	struct causal_experiment now;
	uint64_t now_began_ns;
	bool settling; /* the settling time (SETTLE_PART) has not ended: nothing is counted yet */
	double part; /* share of the time to the next tick for which threads are held, in [0, 1] */
	struct in_progress in_progress;
	uint64_t now_late; /* number of late ticks of the current experiment */
	/* Values of the points at the end of the settling time. */
	struct progress_value begin[CAUSAL_POINTS_MOST];
	/* The next experiment. */
	struct plan_item next;
	bool planned; /* `next` is valid */
};

static uint64_t
events_of(const struct progress_value *from, const struct progress_value *to)
{
	return to->count - from->count;
}

/* --- experiments ---------------------------------------------------------------------------- */

/* Begins to count the current experiment at now_ns, and zeroes its sums. */
static void
begin_counting(struct causal_run *run, uint64_t now_ns)
{
	run->settled_held_ns += run->settling ? run->now.held_ns : 0;
	run->now = (struct causal_experiment){
		.candidate = run->now.candidate,
		.speedup = run->now.speedup,
		.began_ns = now_ns - run->began_ns,
	};
	run->now_began_ns = now_ns;
	run->now_late = 0;
	run->in_progress = (struct in_progress){ 0 };
	run->settling = false;
	memcpy(run->begin, run->value, sizeof(run->begin));
}

/* Updates the kinds of coz: points, which are known once the program has executed the points. */
static void
update_kinds(struct causal_run *run)
{
	for (size_t i = 0; i < run->result->point_count; i++) {
		const char *name, *spec;

		progress_point(run->progress, i, &name, &spec, &run->result->point[i].kind);
	}
}

static void
begin_experiment(struct causal_run *run, uint64_t now_ns)
{
	const struct plan_item item = run->next;

	update_kinds(run);
	run->now.candidate = item.candidate;
	run->now.speedup = run->result->speedup[item.speedup];
	begin_counting(run, now_ns);
	run->settling = true;
	run->event_ns = now_ns;
	run->planned = false;
}

static void
end_experiment(struct causal_run *run, uint64_t now_ns, enum causal_end end)
{
	struct causal_experiment *to = causal_result_add_experiment(run->result);

	*to = run->now;
	to->wall_ns = now_ns - run->now_began_ns;
	to->end = end;
	for (size_t i = 0; i < run->result->point_count; i++) {
		struct causal_reading *reading = &to->reading[i];

		reading->count = (double)events_of(&run->begin[i], &run->value[i]);
		if (to->held_ns < to->wall_ns)
			reading->in_progress_ns = in_progress_sum(&run->in_progress, i,
								  (double)(to->wall_ns -
									   to->held_ns));
	}
	/* An experiment with too little virtual time gives no estimate. */
	if (end == CAUSAL_WHOLE && (double)to->held_ns > HELD_MOST * (double)to->wall_ns)
		to->end = CAUSAL_CUT;
	run->held_ns += to->held_ns;
	run->now.held_ns = 0;
	run->late += run->now_late;
	run->now_late = 0;
	run->settling = false;
	if (to->end == CAUSAL_WHOLE && to->speedup == 0) {
		run->base_events += events_of(&run->begin[0], &run->value[0]);
		run->base_ns += to->wall_ns;
	}
}

/* True when the experiment is above speed-up 0 and progress seems to wait for the work of held
 * threads (STALL_EVENTS). */
static bool
is_stalled(const struct causal_run *run, uint64_t now_ns)
{
	const uint64_t none_ns = now_ns - run->event_ns;
	double usual;

	if (run->now.speedup <= 0)
		return false;
	if (run->base_events == 0)
		return none_ns > STALL_UNKNOWN_NS;
	usual = (double)run->base_ns / (double)run->base_events;
	return none_ns > STALL_NS && (double)none_ns > STALL_EVENTS * usual;
}

/* True when the share of held time since the profile began stays within max_hold even if threads
 * are held for another `more_ns`. */
static bool
may_hold(const struct causal_run *run, uint64_t now_ns, uint64_t more_ns)
{
	const uint64_t wall_ns = run->result->profile_ns + now_ns + more_ns - run->began_ns;
	const uint64_t held_ns = run->held_ns + run->settled_held_ns + run->now.held_ns + more_ns;

	return (double)held_ns <= run->result->max_hold * (double)wall_ns;
}

/*
 * True when the experiment has lasted `wanted_ns`, the first point had at least `events` events,
 * and this tick has found progress of that point; or, regardless of progress, when it has lasted
 * CAUSAL_LONGEST times `wanted_ns`.
 */
static bool
has_lasted(const struct causal_run *run, uint64_t now_ns, uint64_t wanted_ns, uint64_t events)
{
	const uint64_t elapsed_ns = now_ns - run->now_began_ns;

	return elapsed_ns >= CAUSAL_LONGEST * wanted_ns ||
	       (elapsed_ns >= wanted_ns && run->event_ns == now_ns &&
		events_of(&run->begin[0], &run->value[0]) >= events);
}

static uint64_t
unit_of(const struct causal_run *run)
{
	return bursts_unit_ns(run->result->burst_ns, run->result->tick_ns);
}

/* True when the settling time of the current experiment is over. */
static bool
has_settled(const struct causal_run *run, uint64_t now_ns)
{
	const uint64_t wanted_ns = run->result->experiment_ns;
	const uint64_t part_ns = (uint64_t)(SETTLE_PART * (double)wanted_ns);
	const uint64_t units_ns = SETTLE_UNITS * unit_of(run);
	const uint64_t longer_ns = wanted_ns > units_ns ? wanted_ns : units_ns;

	return has_lasted(run, now_ns, part_ns, SETTLE_ENOUGH) ||
	       (now_ns - run->now_began_ns >= longer_ns &&
		has_lasted(run, now_ns, part_ns, SETTLE_LEAST));
}

/* --- one tick ------------------------------------------------------------------------------- */

/* Reads the points, and adds the time since the last tick to the sums in run->in_progress. False:
 * progress is no longer readable. */
static bool
read_progress(struct causal_run *run, uint64_t now_ns, const struct tick_snapshot *snapshot)
{
	const struct in_progress_time time = {
		.passed = (double)(now_ns - run->last_ns),
		.part = run->part,
		.stopped = (double)snapshot->stopped_ns,
		.standing = (double)snapshot->standing_ns,
		.idle = (double)snapshot->idle_ns,
	};
	struct progress_value value[CAUSAL_POINTS_MOST];

	if (!progress_read(run->progress, value)) {
		run->lost = true;
		return false;
	}
	for (size_t i = 0; run->ticks > 0 && i < run->result->point_count; i++)
		in_progress_add(&run->in_progress, i, &time, (double)run->value[i].in_progress,
				(double)value[i].in_progress);
	if (run->ticks > 0)
		in_progress_pass(&run->in_progress, &time);
	if (run->ticks > 0 && value[0].count != run->value[0].count)
		run->event_ns = now_ns;
	memcpy(run->value, value, sizeof(run->value));
	return true;
}

/* Counts the tick; returns true when it is late: more than half of tick_ns after the longest
 * planned interval. */
static bool
count_tick(struct causal_run *run, uint64_t now_ns, size_t running)
{
	const uint64_t tick_ns = run->result->tick_ns;
	const double longest = (1.0 + CAUSAL_SPREAD) * (double)tick_ns;
	const bool late = run->ticks > 0 &&
			  (double)(now_ns - run->last_ns) > longest + 0.5 * (double)tick_ns;

	run->gap = run->ticks > 0 && now_ns - run->last_ns > GAP_UNITS * unit_of(run);
	run->ticks++;
	run->runnable += running;
	run->last_ns = now_ns;
	return late;
}

/* If the current experiment is long enough or has failed, ends it, begins the next one, and returns
 * true. Otherwise returns false. */
static bool
change_experiment(struct causal_run *run, uint64_t now_ns)
{
	const uint64_t wanted_ns = run->result->experiment_ns;
	enum causal_end end = CAUSAL_WHOLE;

	if (is_stalled(run, now_ns))
		end = CAUSAL_STALLED;
	else if (run->gap || (run->now.speedup > 0 && !may_hold(run, now_ns, 0)))
		end = CAUSAL_CUT;
	if (end == CAUSAL_WHOLE && run->settling) {
		if (has_settled(run, now_ns))
			begin_counting(run, now_ns);
		return false;
	}
	if (end == CAUSAL_WHOLE && !has_lasted(run, now_ns, wanted_ns, CAUSAL_EVENTS_LEAST))
		return false;
	end_experiment(run, now_ns, end);
	/* The next experiment is at speed-up 0 if none is planned yet, or if the experiment that
	 * has ended was not WHOLE: after a stall, for example, the program must recover. */
	if (!run->planned || end != CAUSAL_WHOLE)
		run->next.speedup = 0;
	begin_experiment(run, now_ns);
	return true;
}

/* Marks the threads that execute the candidate, so that they are resumed at once; returns their
 * number. */
static size_t
experiment_choose(struct causal_run *run, const struct tick_snapshot *snapshot)
{
	const uint64_t bit = UINT64_C(1) << run->now.candidate;
	size_t chosen = 0;

	for (size_t i = 0; i < snapshot->count; i++) {
		struct stopped_thread *stopped = &snapshot->stopped[i];

		stopped->resume = (match_stack(&run->match, stopped->stack) & bit) != 0;
		chosen += stopped->resume;
	}
	return chosen;
}

/* Processes a tick: reads the progress, and ends the current experiment if that is due. Returns the
 * share, in [0, 1], of the time to the next tick for which all threads that do not execute the
 * candidate are held. */
static double
choose_part(struct causal_run *run, const struct tick_snapshot *snapshot)
{
	const uint64_t now_ns = clock_now_ns();
	size_t chosen;
	bool late;

	if (run->lost || !read_progress(run, now_ns, snapshot))
		return 0;
	if (run->ticks == 0) {
		run->began_ns = now_ns;
		memcpy(run->first, run->value, sizeof(run->first));
		begin_experiment(run, now_ns);
	}
	run->now.held_ns += snapshot->standing_ns;
	late = count_tick(run, now_ns, snapshot->count + snapshot->held + snapshot->missed);
	/* All threads are released, because a thread that the last experiment held may execute the
	 * candidate of the experiment that begins now. */
	if (change_experiment(run, now_ns))
		return 0;
	chosen = experiment_choose(run, snapshot);
	run->now.ticks++;
	run->now_late += late;
	run->now.chosen += chosen > 0;
	if (chosen > 0 && run->now.speedup > 0)
		run->unheld += snapshot->missed;
	return chosen > 0 ? run->now.speedup : 0;
}

static double
decide(void *context, const struct tick_snapshot *snapshot)
{
	struct causal_run *run = context;

	run->part = choose_part(run, snapshot);
	return run->part;
}

static void
held(void *context, int64_t more_ns)
{
	struct causal_run *run = context;
	const uint64_t held_ns = run->now.held_ns;

	run->now.held_ns = more_ns < 0 && held_ns < (uint64_t)-more_ns ?
				   0 :
				   held_ns + (uint64_t)more_ns;
}

static void
counted(void *context, const uint64_t *total, size_t count)
{
	struct causal_run *run = context;

	progress_set_counted(run->progress, total, count);
}

/* --- the run -------------------------------------------------------------------------------- */

struct causal_run *
causal_run_create(struct causal_result *result, struct progress *progress,
		  const struct profile *profile, struct symbols *symbols, uint64_t seed)
{
	struct causal_run *run = xcalloc(1, sizeof(*run));
	const struct progress_counted *code;
	size_t count = progress_counted(progress, &code);

	for (size_t i = 0; i < count; i++)
		run->counted[i] = code[i].address;
	run->result = result;
	run->progress = progress;
	run->match = (struct match){ .result = result, .profile = profile, .symbols = symbols };
	run->control = (struct sampler_control){
		.decide = decide,
		.held = held,
		.context = run,
		.address = run->counted,
		.addresses = count,
		.counted = counted,
		.spread = CAUSAL_SPREAD,
	};
	plan_init(&run->plan, result, seed != 0 ? seed : clock_now_ns());
	run->next = plan_next(&run->plan, true);
	run->planned = true;
	return run;
}

void
causal_run_free(struct causal_run *run)
{
	if (run == NULL)
		return;
	match_release(&run->match);
	plan_release(&run->plan);
	free(run);
}

const struct sampler_control *
causal_run_control(struct causal_run *run)
{
	return &run->control;
}

void
causal_run_tick(struct causal_run *run, bool held)
{
	if (held)
		return;
	match_name_queued(&run->match);
	if (!run->planned) {
		const uint64_t length = (uint64_t)((1 + SETTLE_PART) *
						   (double)run->result->experiment_ns);

		run->next = plan_next(&run->plan, may_hold(run, run->last_ns, length));
		run->planned = true;
	}
}

bool
causal_run_needs_time(const struct causal_run *run)
{
	return run->match.queue_count > 0 || !run->planned;
}

bool
causal_run_is_over(const struct causal_run *run)
{
	return run->lost || run->plan.over;
}

void
causal_run_status(const struct causal_run *run, struct causal_status *out)
{
	const size_t done = run->result->experiment_count;

	*out = (struct causal_status){
		.done = done,
		.wanted = run->plan.wanted > done ? run->plan.wanted : done,
		.speedup = run->now.speedup,
		.candidate = run->now.candidate,
		.elapsed_ns = run->last_ns - run->began_ns,
		.events = (double)events_of(&run->first[0], &run->value[0]),
	};
}

void
causal_run_sum_up(struct causal_run *run, const struct run_stats *stats)
{
	struct causal_result *result = run->result;

	update_kinds(run);
	result->wall_ns = run->last_ns - run->began_ns;
	result->held_ns = run->held_ns + run->settled_held_ns + run->now.held_ns;
	result->late_ticks = run->late + run->now_late;
	result->unheld = run->unheld;
	result->runnable = run->ticks > 0 ? (double)run->runnable / (double)run->ticks : 0;
	result->cpus = stats->cpus;
	result->stops = stats->stopped;
	result->own_cpu_ns = stats->own_cpu_ns;
	result->excluded = stats->excluded;
	result->target_gone = run->lost || stats->execed || stats->child_exited;
}

void
causal_run_finish(struct causal_run *run, const struct run_stats *stats)
{
	if (run->ticks > 0 && run->last_ns > run->now_began_ns && !run->settling)
		end_experiment(run, run->last_ns, CAUSAL_CUT);
	causal_run_sum_up(run, stats);
}
