/* SPDX-License-Identifier: MIT */
/* report_causal_doubts.c - what makes the results of experiments less certain. */
#include "wallsample/causal/bursts.h"
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

/* Late ticks are reported if they are at least this share of all ticks. */
#define LATE_SHARE_LEAST 0.01

/*
 * With bursts below this length, gains of code that holds a contended lock are predicted too low.
 * Two threads that held a lock for 1 to 2 ms at a time: gains of 57 to 61 % were predicted as 39 to
 * 51 %, and of 78 to 100 % as 44 %; with 3 ms, 92 % as 81 to 83 % (make bench-causal,
 * bench-causal-real).
 */
#define SHORT_FOR_LOCK_NS (2500 * NS_PER_US)

static uint64_t
ticks_of(const struct causal_result *result)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < result->experiment_count; i++)
		ticks += result->experiment[i].ticks;
	return ticks;
}

static size_t
count_ended(const struct causal_result *result, enum causal_end end)
{
	size_t count = 0;

	for (size_t i = 0; i < result->experiment_count; i++)
		count += result->experiment[i].end == end;
	return count;
}

static void
add_cpus(const struct causal_result *result, struct page *page)
{
	if (result->cpus > 0 && result->runnable > result->cpus)
		page_add(page,
			 "On average %.1f threads could run, on %s: while some are held, those "
			 "that waited for a CPU get it sooner. On more CPUs the gains may differ.",
			 result->runnable, quantity_things(result->cpus, "CPU", "CPUs").text);
}

static void
add_late_ticks(const struct causal_result *result, struct page *page)
{
	const uint64_t ticks = ticks_of(result);

	if (ticks > 0 && (double)result->late_ticks >= LATE_SHARE_LEAST * (double)ticks)
		page_add(page,
			 "%s of %s (%s) came more than half a tick (of %s) late: the machine was "
			 "busy. A longer --tick helps.",
			 quantity_count(result->late_ticks).text,
			 quantity_things(ticks, "tick", "ticks").text,
			 quantity_share((double)result->late_ticks, (double)ticks).text,
			 quantity_time((int64_t)result->tick_ns).text);
}

static void
add_late_holds(const struct causal_result *result, struct page *page)
{
	if (result->unheld > 0)
		page_add(page,
			 "%s a thread that was to be held waited for a CPU, or had just waited for "
			 "one that other processes used: it was held later or not at all.",
			 quantity_things(result->unheld, "time", "times").text);
}

static void
add_stalled(const struct causal_result *result, struct page *page)
{
	const size_t stalled = count_ended(result, CAUSAL_STALLED);

	if (stalled > 0)
		page_add(page,
			 "%s given up, because there was no progress while threads were held; no "
			 "gain is computed from them.",
			 quantity_things(stalled, "experiment was", "experiments were").text);
}

static void
add_target_gone(const struct causal_result *result, struct page *page)
{
	if (result->target_gone)
		page_add(page, "The process ended, or executed another program, before the "
			       "experiments were over.");
}

/* Ticks that are longer than bursts accelerate some bursts and not others. Intervals contain this
 * error only up to ticks as long as a burst, and not the error of code that holds a lock. */
static void
add_bursts(const struct causal_result *result, struct page *page)
{
	const uint64_t burst_ns = result->burst_ns;

	if (burst_ns == 0)
		return;
	if (burst_ns < bursts_least_ns(result->tick_ns))
		page_add(page,
			 "A tenth of the CPU time or more is in bursts (CPU use between two "
			 "sleeps) of %s or less, shorter than a tick (%s): gains of functions "
			 "that other threads wait for may lie outside their intervals.",
			 quantity_time((int64_t)burst_ns).text,
			 quantity_time((int64_t)result->tick_ns).text);
	else if (burst_ns < SHORT_FOR_LOCK_NS)
		page_add(page,
			 "A tenth of the CPU time or more is in bursts (CPU use between two "
			 "sleeps) of %s or less: gains of code that holds a contended lock tend "
			 "to be too low, at worst less than half of the real gain.",
			 quantity_time((int64_t)burst_ns).text);
}

void
report_causal_doubts_write(const struct causal_result *result, struct page *page)
{
	static void (*const add[])(const struct causal_result *, struct page *) = {
		add_cpus, add_bursts, add_late_ticks, add_late_holds, add_stalled, add_target_gone,
	};
	bool doubted = false;

	for (size_t i = 0; i < ARRAY_SIZE(add); i++) {
		add[i](result, page);
		if (page->text.length == 0)
			continue;
		if (!doubted)
			page->ops->heading(page, "What makes this less certain");
		doubted = true;
		page_end(page, page->ops->paragraph);
	}
}
