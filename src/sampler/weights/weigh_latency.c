/* SPDX-License-Identifier: MIT */
/*
 * weigh_latency.c - adds planned corrections to the profile, with the latency that belongs to them.
 *
 * Latency is elapsed time, divided among the threads that were runnable at each tick. A stack whose
 * time is corrected by a factor has its latency corrected by the same factor. The sum over all
 * stacks must stay the elapsed time: what runnable stacks get more or less is taken from or given
 * to the time in which no thread was runnable. How much time had a runnable thread is bounded by
 * the kernel's counts: at least as long as one thread was runnable, or all CPUs were busy; at most
 * the sum over all threads.
 */
#include <math.h>
#include <stdlib.h>

#include "sampler/threads_internal.h"
#include "sampler/weights/weights_internal.h"

/* Sums over the plan. */
struct sums {
	double charged;  /* latency that was charged to runnable stacks, in ns */
	double runnable; /* latency of the calibrated weights */
	double weight;   /* calibrated weights that had samples: sum of their estimates */
};

static void
correct(struct calibration *calibration, const struct planned *item, int64_t latency_ns)
{
	struct profile_entry entry = item->entry;

	entry.samples = 0;
	entry.ns[WEIGHT_WALL] = item->ns;
	entry.ns[WEIGHT_CPU] = entry.state == RUN_RUNNING ? item->ns : 0;
	entry.ns[WEIGHT_LATENCY] = latency_ns;
	if (item->ns == 0 && latency_ns == 0)
		return;
	profile_correct(calibration->run->profile, &entry, item->first_tick,
			item->end_tick - item->first_tick);
}

/* True if the item's latency is part of the elapsed time of this window. */
static bool
has_latency(const struct planned *item)
{
	return run_state_runnable(item->entry.state) && !item->moved;
}

/* Latency that one nanosecond of runnable time has on average. */
static double
mean_latency(const struct plan *plan, double charged, double gaps)
{
	const double all = charged + gaps;

	if (plan->runnable_ns <= 0)
		return 0;
	return fmin(1, fmin(all, (double)plan->runnable_ns) / (double)plan->runnable_ns);
}

/* Sets the latency of items that have borrowed time, and sums up that of all. */
static struct sums
sum_plan(struct plan *plan, double gaps)
{
	struct sums sums = { 0 };
	double mean;

	for (size_t i = 0; i < plan->count; i++)
		if (has_latency(&plan->item[i]))
			sums.charged += (double)plan->item[i].latency_ns;
	mean = mean_latency(plan, sums.charged, gaps);
	for (size_t i = 0; i < plan->count; i++) {
		struct planned *item = &plan->item[i];

		if (!has_latency(item))
			continue;
		if (item->borrowed)
			item->latency = (double)item->ns * mean;
		sums.runnable += item->latency;
	}
	return sums;
}

/* Returns the time of the window in which a thread was runnable. */
static double
time_runnable(const struct calibration *calibration, const struct sums *sums, double all)
{
	const struct plan *plan = &calibration->plan;
	const double cpus = calibration->run->stats.cpus > 0 ? calibration->run->stats.cpus : 1;
	const double most = fmin(all, (double)plan->runnable_ns);
	const double least = fmin(most, fmax((double)plan->most_ns, (double)plan->cpu_ns / cpus));

	return fmax(least, fmin(most, sums->runnable));
}

/* Returns an entry for time without a runnable thread, if there was no sample of such time yet. */
static struct profile_entry
first_gap(const struct calibration *calibration)
{
	struct profile *profile = calibration->run->profile;

	return (struct profile_entry){
		.thread = calibration->plan.item[0].entry.thread,
		.carrier = calibration->plan.item[0].entry.carrier,
		.state = RUN_UNKNOWN,
		.syscall = SYSCALL_NONE,
		.gil = GIL_UNKNOWN,
		.stack = stack_of_text(profile, PROFILE_UNSAMPLED_BLOCKED,
				       stack_of_text(profile, PROFILE_GAP, STACK_NONE)),
	};
}

/* Corrects the latency of the gaps of the window, which sum up to `gaps`, to `wanted`. */
static void
correct_gaps(struct calibration *calibration, double gaps, double wanted)
{
	struct charging *charging = calibration->charging;
	struct profile *profile = calibration->run->profile;
	struct planned item = {
		.first_tick = calibration->first_tick,
		.end_tick = profile_tick_count(profile),
	};

	for (size_t i = 0; i < charging->gap_count; i++) {
		item.entry = *profile_entry(profile, charging->gap[i].entry);
		correct(calibration, &item,
			gaps > 0 ? llround((wanted / gaps - 1) * (double)charging->gap[i].ns) : 0);
	}
	if (charging->gap_count > 0) {
		calibration->gap = charging->gap[charging->gap_count - 1].entry;
		return;
	}
	if (wanted < 1 || calibration->plan.count == 0)
		return;
	item.entry = calibration->gap != UINT32_MAX ? *profile_entry(profile, calibration->gap) :
						      first_gap(calibration);
	correct(calibration, &item, llround(wanted));
}

static void
carry_out(struct calibration *calibration, double scale)
{
	const struct plan *plan = &calibration->plan;

	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *item = &plan->item[i];
		int64_t latency = item->moved ? item->latency_ns : 0;

		if (has_latency(item) && scale >= 0)
			latency = llround(item->latency * scale) - item->latency_ns;
		if (item->unplaced != NULL)
			item->unplaced->latency_ns += latency;
		correct(calibration, item, latency);
	}
}

/* Returns the latency that is charged, but not yet in the profile. */
static double
pending(const struct calibration *calibration)
{
	const struct charging *charging = calibration->charging;
	const struct run *run = calibration->run;
	double ns = (double)charging->gap_ns + charging->hidden.uncharged_ns;

	for (size_t i = 0; run->late_count > 0 && i < run->threads.count; i++)
		if (run->threads.thread[i]->late != NULL)
			ns += run->threads.thread[i]->late->charge.latency_ns;
	return ns;
}

/* Carries out the plan of a whole window. The latency of the profile becomes the elapsed time less
 * what is pending, even if some was dropped, as that of a late thread that turned out to sleep. */
static void
carry_out_window(struct calibration *calibration)
{
	struct charging *charging = calibration->charging;
	const struct profile *profile = calibration->run->profile;
	const double upto = (double)profile_wall_ns(profile) - pending(calibration);
	double gaps = 0, all, busy;
	struct sums sums;

	for (size_t i = 0; i < charging->gap_count; i++)
		gaps += (double)charging->gap[i].ns;
	sums = sum_plan(&calibration->plan, gaps);
	/* The rest of the profile's latency is that of earlier windows and of ended threads. */
	all = fmax(upto - ((double)profile_latency_ns(profile) - sums.charged - gaps), 0);
	busy = sums.runnable > 0 ? time_runnable(calibration, &sums, all) : 0;
	if (gaps <= 0 && sums.runnable > 0 && all - busy < all / 100)
		busy = all;
	carry_out(calibration, sums.runnable > 0 ? busy / sums.runnable : 1);
	correct_gaps(calibration, gaps, all - busy);
}

/* Carries out the plan of a thread that has ended. */
static void
carry_out_thread(struct calibration *calibration)
{
	(void)sum_plan(&calibration->plan, 0); /* sets the latency of borrowed time */
	carry_out(calibration, 1);
}

void
weights_carry_out(struct calibration *calibration, bool whole)
{
	const struct sampler_context *context = &calibration->run->context;
	struct plan *plan = &calibration->plan;

	if (context->selected != NULL || context->excluded != NULL)
		/* Without some threads the sum of latencies is not the elapsed time. */
		carry_out(calibration, -1);
	else if (whole)
		carry_out_window(calibration);
	else
		carry_out_thread(calibration);
	plan->count = 0;
	if (!whole)
		return;
	calibration->charging->gap_count = 0;
	plan->cpu_ns = plan->runnable_ns = plan->most_ns = 0;
}
