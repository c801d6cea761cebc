/* SPDX-License-Identifier: MIT */
/* hold_occupy.c - takes the CPUs of the target while a tick that holds threads observes them and
 * requests its stops. */
#include "sampler/hold/hold_occupy_internal.h"

#include <math.h>
#include <stdlib.h>

#include "sampler/occupier_internal.h"
#include "sampler/priority_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/thread/state.h"
#include "wallsample/tracer/tracer.h"

/* CPUs are taken when the share of stops in system calls reaches CALL_HIGH, and no longer when it
 * falls below CALL_LOW. A function that follows a system call is found too seldom by at most about
 * this share of the ticks. */
#define CALL_HIGH 0.03
#define CALL_LOW 0.015
/* Number of stops before the share is used, and number of stops in its running mean. */
#define CALL_STOPS_LEAST 16
#define CALL_STOPS_MOST 256
/* While CPUs are taken, one tick in this number takes none, to measure that share. */
#define PROBE_PERIOD 64
/* A tick is ready when it can request its stops. No CPU is taken if ticks need this long or longer
 * on average. A tick that is ready more than HOLD_NS after the CPUs were to be taken finds that the
 * occupiers have given them up. */
#define READY_MOST_NS (400.0 * NS_PER_US)
/* CPUs are taken when the tick is due, or later if it is expected to need longer than this until it
 * is ready. */
#define LEAD_NS (100.0 * NS_PER_US)
/* At shorter intervals between ticks, CPUs are taken whatever the share of calls, if there is no
 * free CPU for the sampler. */
#define SHORT_INTERVAL_NS (2500 * NS_PER_US)
/* No CPU is free if the mean number of threads that ticks stop, plus this number, exceeds the
 * number of CPUs. It stands for the sampler, and for half a thread that a tick may have missed. */
#define BESIDE_THREADS 1.5
/* After its stop requests a tick plans the next occupation if the next tick is due later than this.
 * An earlier occupation could take a CPU from a thread that is about to stop. */
#define PLAN_LEAST_NS (300 * NS_PER_US)
/* Number of ticks in the running means of ready_ns, complete and running. */
#define MEMORY 16.0
/* If fewer than this share of the ticks got all CPUs in time, none is taken for the next
 * REST_TICKS. At a tick that does not get all of them, some threads wait and others run on: where
 * CPUs are taken for the sake of equal waits, most ticks have to get them. */
#define COMPLETE_LEAST 0.5
#define COMPLETE_LEAST_OFTEN 0.8
#define REST_TICKS 1000
/* After a tick that began this late none is taken for the next LATE_REST_TICKS: perhaps the thread
 * on the CPU to which the sampler was pinned could not be preempted. On a machine with nothing else
 * to do, 0 to 2 of 20,000 ticks are as late as this. */
#define LATE_NS NS_PER_MS
#define LATE_REST_TICKS 100

struct hold_occupy {
	struct occupation shared;
	struct occupier *item; /* NULL: the CPUs cannot be taken */
	size_t count;
	struct cpu_pin pin; /* to the CPU of the next tick, or of this one */
	bool often;         /* the interval between ticks is below SHORT_INTERVAL_NS */
	struct call_share calls;
	double ready_ns; /* mean time from the due time of a tick until it is ready */
	double complete; /* mean share of the planned ticks that got all CPUs */
	double running;  /* mean number of threads whose stops a tick requests */
	/* Number of ticks that requested a stop, and of those that got all CPUs. */
	uint64_t ticks, taken;
	uint64_t planned_ns;  /* due time of the tick for which CPUs are taken; 0: none is */
	unsigned since_probe; /* ticks since the last one that was to take no CPU */
	unsigned rest;        /* number of ticks for which no CPU is taken */
	/* Of the tick in progress. */
	uint64_t due_ns; /* when it was due */
	bool probes;     /* it takes no CPU */
};

void
call_share_add(struct call_share *calls, bool in_call)
{
	if (calls->count < CALL_STOPS_MOST)
		calls->count++;
	calls->share += ((double)in_call - calls->share) / calls->count;
	if (calls->count >= CALL_STOPS_LEAST)
		calls->high = calls->share >= (calls->high ? CALL_LOW : CALL_HIGH);
}

struct hold_occupy *
hold_occupy_create(const cpu_set_t *set, const struct priority *priority, double rate_hz)
{
	struct hold_occupy *occupy = xcalloc(1, sizeof(*occupy));

	occupy->shared.priority = priority;
	occupy->shared.realtime = priority->may_be_urgent;
	occupy->complete = 1;
	occupy->often = (double)NS_PER_SEC < SHORT_INTERVAL_NS * rate_hz;
	atomic_store(&occupy->shared.tick_cpu, -1);
	if (occupiers_may_take(set))
		occupy->item = occupiers_start(&occupy->shared, set, &occupy->count);
	return occupy;
}

void
hold_occupy_free(struct hold_occupy *occupy)
{
	if (occupy == NULL)
		return;
	cpu_unpin(&occupy->pin);
	if (occupy->item != NULL)
		occupiers_end(&occupy->shared, occupy->item, occupy->count);
	free(occupy);
}

/* --- between ticks ------------------------------------------------------------------------ */

/* Begins the round for the tick that is due at due_ns; 0: a round in which no CPU is taken. */
static void
begin_round(struct hold_occupy *occupy, uint64_t due_ns)
{
	const double lead = fmin(occupy->ready_ns, LEAD_NS);

	occupy->planned_ns = due_ns;
	atomic_store(&occupy->shared.tick_begun, false);
	occupation_begin(&occupy->shared,
			 due_ns != 0 ? due_ns + (uint64_t)(occupy->ready_ns - lead) : 0);
}

/* True if ticks are frequent, and the sampler takes its CPU from a thread of the target. */
static bool
is_crowded(const struct hold_occupy *occupy)
{
	return occupy->often && occupy->running + BESIDE_THREADS > (double)occupy->count;
}

static bool
is_wanted(const struct hold_occupy *occupy)
{
	return occupy->item != NULL && (is_crowded(occupy) || occupy->calls.high) &&
	       occupy->rest == 0 && occupy->since_probe + 1 < PROBE_PERIOD &&
	       occupy->ready_ns < READY_MOST_NS;
}

void
hold_occupy_plan(struct hold_occupy *occupy, uint64_t due_ns)
{
	int cpu;

	if (occupy == NULL || !is_wanted(occupy))
		return;
	if (occupy->planned_ns != due_ns)
		begin_round(occupy, due_ns);
	cpu = sched_getcpu();
	atomic_store(&occupy->shared.tick_cpu, cpu);
	cpu_pin(&occupy->pin, cpu);
	/* An occupier that is armed for an earlier round arms itself for this one when it wakes.
	 * That of the tick's CPU must not wake. */
	for (size_t i = 0; i < occupy->count; i++) {
		struct occupier *item = &occupy->item[i];

		if ((atomic_load(&item->armed) != 0) == (item->cpu == cpu))
			occupier_signal(item);
	}
}

void
hold_occupy_cancel(struct hold_occupy *occupy)
{
	if (occupy == NULL)
		return;
	if (occupy->planned_ns != 0)
		begin_round(occupy, 0);
	cpu_unpin(&occupy->pin);
}

/* --- ticks -------------------------------------------------------------------------------- */

void
hold_occupy_tick(struct hold_occupy *occupy, uint64_t due_ns)
{
	if (occupy == NULL)
		return;
	occupy->due_ns = due_ns;
	if (occupy->planned_ns != 0 && clock_now_ns() > due_ns + LATE_NS) {
		occupy->rest = LATE_REST_TICKS;
		hold_occupy_cancel(occupy);
	}
	/* A tick may begin before it is due: the last one. */
	if (occupy->planned_ns != due_ns || clock_now_ns() < due_ns || !occupy->pin.pinned)
		hold_occupy_cancel(occupy);
	if (occupy->planned_ns != 0)
		atomic_store(&occupy->shared.tick_begun, true);
}

static void
add_to_mean(double *mean, double value)
{
	*mean += (value - *mean) / MEMORY;
}

/* Waits until all CPUs are taken. Returns the moment at which the last one was; 0: not in time. */
static uint64_t
wait_for_cpus(const struct hold_occupy *occupy)
{
	const uint64_t at_ns = atomic_load(&occupy->shared.at_ns);
	uint64_t since_ns;

	do
		since_ns = occupiers_arrived(&occupy->shared, occupy->item, occupy->count);
	while (since_ns == 0 && clock_now_ns() < at_ns + ARRIVE_NS);
	/* After HOLD_NS the occupiers have given the CPUs up. */
	return clock_now_ns() < at_ns + HOLD_NS ? since_ns : 0;
}

uint64_t
hold_occupy_await(struct hold_occupy *occupy, size_t running)
{
	const uint64_t now = clock_now_ns();
	uint64_t since_ns = 0;

	if (occupy == NULL)
		return 0;
	if (now > occupy->due_ns)
		add_to_mean(&occupy->ready_ns,
			    fmin((double)(now - occupy->due_ns), 2 * READY_MOST_NS));
	add_to_mean(&occupy->running, (double)running);
	occupy->ticks += running > 0;
	occupy->probes = occupy->planned_ns == 0;
	if (occupy->planned_ns != 0 && running > 0) {
		since_ns = wait_for_cpus(occupy);
		add_to_mean(&occupy->complete, since_ns != 0);
		occupy->taken += since_ns != 0;
	}
	return since_ns;
}

void
hold_occupy_end(struct hold_occupy *occupy, uint64_t next_due_ns)
{
	if (occupy == NULL)
		return;
	occupy->since_probe = occupy->probes ? 0 : occupy->since_probe + 1;
	if (occupy->rest > 0) {
		occupy->rest--;
	} else if (occupy->complete <
		   (occupy->calls.high ? COMPLETE_LEAST : COMPLETE_LEAST_OFTEN)) {
		occupy->rest = REST_TICKS;
		occupy->complete = 1;
	}
	if (occupy->planned_ns != 0)
		begin_round(occupy,
			    is_wanted(occupy) && next_due_ns > clock_now_ns() + PLAN_LEAST_NS ?
				    next_due_ns :
				    0);
	cpu_unpin(&occupy->pin);
}

void
hold_occupy_count(struct hold_occupy *occupy, const struct stop_request *request)
{
	/* A thread that slept, or waited for a CPU after a sleep, is in a call at any stop. Only
	 * stops of running threads show how often an interrupt arrives during a call. */
	if (occupy != NULL && occupy->probes && request->end == STOP_CAPTURED &&
	    request->at_tick == TICK_RUNNING && !request->fell_asleep && !request->group_stopped)
		call_share_add(&occupy->calls, request->syscall != SYSCALL_NONE);
}

double
hold_occupy_missed(const struct hold_occupy *occupy)
{
	return occupy != NULL && occupy->calls.high && 2 * occupy->taken < occupy->ticks ?
		       occupy->calls.share :
		       0;
}
