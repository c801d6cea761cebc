/* SPDX-License-Identifier: MIT */
/* pace.c - decides when the next tick is due, and how often a sleeping thread is observed. */
#include "sampler/pace_internal.h"

#include <math.h>

/* Length of a window. At its end the cost of sampling is compared with the limit of
 * --max-overhead. */
#define WINDOW_NS (250 * NS_PER_MS)

/* Allowed CPU time accumulates at the share AIM of the limit of --max-overhead, up to the amount
 * that the limit allows in SAVINGS_S seconds. The run starts with that amount. As AIM + SAVINGS_S
 * is less than 1, the ticks of any second together cost less than the limit allows in a second,
 * plus the cost of one tick. */
#define AIM 0.93
#define SAVINGS_S 0.05

/* Longest time in seconds that later ticks pay for one tick: the first tick of a program with
 * thousands of threads costs more than is allowed in many seconds. */
#define DEBT_S 1.0

/*
 * The time for which threads may be stopped grows at AIM_STOPPED times the limit of --max-stopped,
 * and is at most what grows in STOPPED_SAVINGS_S. So in 10 s threads are stopped for at most 20 s
 * times the limit, unless the mean stop of a tick takes longer than 9 s times the limit: 90 ms at a
 * limit of 1 %.
 */
#define AIM_STOPPED 0.95
#define STOPPED_SAVINGS_S 1.0
/* Longest time in seconds for which no thread is stopped after a long stop. */
#define STOPPED_DEBT_S 10.0
/* Longest time in seconds by which a tick is delayed because of stops. When stops are forbidden for
 * longer than this, ticks are made nevertheless: they stop no thread, but read the states of all
 * threads and the stacks of sleeping ones. */
#define STOPPED_WAIT_S 0.05

/* Share of AIM that the ticks are to cost after the rate was lowered. The rest keeps the random
 * intervals random: with a share of 1 nearly every tick would be due before it may begin. */
#define LOWERED 0.95

/* CPU time in seconds that a stop takes from the target, including the switches from the stopped
 * thread to the sampler and back. */
#define STOP_COST_S 10e-6

/* If a tick has at most THIN_READS observations, running threads are not observed less often
 * (pace.thin is not raised): that would save little. THINNEST is the largest value of pace.thin. */
#define THIN_READS 16.0
#define THINNEST 64

/* If the cost is below this share of the limit, running threads that are not observed at each tick
 * are observed twice as often. That at most doubles the cost. */
#define THICKEN 0.4

/* The cost never lowers the rate below this number of ticks per second, even if it exceeds the
 * limit: with fewer ticks a profile is meaningless. The user may choose a lower rate. */
#define LOWEST_HZ 1.0

/*
 * Descriptors are named once in half a second, which may take 10 ms. Ticks pay for such work at the
 * rate of its running mean over BETWEEN_S seconds, and at least so fast that the last work is paid
 * in BETWEEN_PAID_S. They keep this share of what is allowed, however much that work uses.
 */
#define BETWEEN_S 2.0
#define BETWEEN_PAID_S 0.5
#define BETWEEN_LEAVES 0.25

/* Number of ticks over which the running mean of the cost of a tick extends; in the first
 * COST_TICKS ticks of a run it extends over two. */
#define COST_TICKS 16

/* Number of observations per second above which sleeping threads are observed less often. An
 * observation costs 1 to 1.5 us, so that this number takes less than 1 % of a CPU. */
#define READS_PER_SECOND 5000.0

/* Largest number of ticks between two observations of a sleeping thread, on average. */
#define LONGEST_PERIOD 256

/*
 * Of the ticks that are missing, or too many, each draw corrects 1/CATCH_UP. The number of ticks
 * of a run, however long, then varies with a standard deviation of sqrt(CATCH_UP / 2) = 4 ticks in
 * place of the square root of their number, and a single interval depends on the earlier ones by
 * 3 % only. At most BEHIND_MOST ticks are made up for: more are missing only if ticks take longer
 * than the mean interval.
 */
#define CATCH_UP 32.0
#define BEHIND_MOST (CATCH_UP / 2.0)

/*
 * Each tick leaves some time to later ticks to account for (pace_weigh): the time of SPARE_TICKS
 * mean intervals, but at most the share SPARE_PART of the time since pace_start. Then the weight of
 * a tick hardly varies, though the intervals do. If more or less time is left, each tick corrects
 * SPARE_MENDED of the difference.
 */
#define SPARE_TICKS 3.0
#define SPARE_PART (1.0 / 32.0)
#define SPARE_MENDED (1.0 / 8.0)

static double
mean_interval(const struct pace *pace)
{
	return (double)NS_PER_SEC / pace->now_hz;
}

static void
count_behind(struct pace *pace, double ticks)
{
	pace->behind = fmin(fmax(pace->behind + ticks, -BEHIND_MOST), BEHIND_MOST);
}

/*
 * Returns the interval to the next tick. With a control it is uniformly distributed
 * (sampler_control.spread); else without jitter it is always the mean; else it is exponentially
 * distributed, so that any moment is as likely as any other to have a tick. The mean of the
 * exponential distribution is smaller if ticks are missing, because earlier intervals were long or
 * ticks were due before they could begin, and larger if there were too many ticks.
 */
static uint64_t
draw_interval(struct pace *pace)
{
	const double mean = mean_interval(pace);
	double interval;

	if (pace->control != NULL)
		return (uint64_t)(mean * (1.0 + pace->control->spread *
							(2.0 * rng_uniform(pace->rng) - 1.0)));
	if (!pace->config->jitter)
		return (uint64_t)mean;
	interval = rng_exponential(pace->rng, mean * (1.0 - pace->behind / CATCH_UP));
	count_behind(pace, interval / mean - 1.0);
	return (uint64_t)interval;
}

void
pace_start(struct pace *pace, const struct sampler_config *config,
	   const struct sampler_control *control, struct rng *rng, const struct pace_clock *clock)
{
	*pace = (struct pace){
		.config = config,
		.control = control,
		.rng = rng,
		.now_hz = config->rate_hz,
		.lowest_hz = config->rate_hz,
		.max_share = config->max_overhead / 100.0,
		.max_stopped = config->max_stopped > 0 ? config->max_stopped / 100.0 : 1,
		.thin = 1,
		.thinnest = 1,
		/* The first window begins after the first tick, which copies every stack. */
		.window_ns = 0,
		.start_ns = clock->now_ns,
		.began_ns = clock->now_ns,
		.ended_ns = clock->now_ns,
		.tick_cpu_ns = clock->cpu_ns,
	};
	pace->saved_s = SAVINGS_S * pace->max_share;
	pace->may_stop_s = STOPPED_SAVINGS_S * AIM_STOPPED * pace->max_stopped;
	pace->due_ns = pace->began_ns + draw_interval(pace);
}

/* Sets now_hz and thin from the cost of the last window. `per_tick`: CPU seconds per tick; `reads`:
 * observations per tick. */
static void
adjust(struct pace *pace, double per_tick, double reads)
{
	const double all = AIM * pace->max_share;
	const double allowed = fmax(all - pace->between_share, BETWEEN_LEAVES * all);
	double share = per_tick * pace->config->rate_hz;

	pace->now_hz = pace->config->rate_hz;
	if (share > allowed && reads > THIN_READS && pace->thin < THINNEST) {
		for (; share > allowed && pace->thin < THINNEST; share /= 2.0)
			pace->thin *= 2;
	} else if (share > allowed) {
		pace->now_hz = fmin(pace->now_hz, fmax(LOWERED * allowed / per_tick, LOWEST_HZ));
	} else if (pace->thin > 1 && share < THICKEN / AIM * allowed) {
		pace->thin /= 2;
	}
	if (pace->now_hz < pace->lowest_hz)
		pace->lowest_hz = pace->now_hz;
	if (pace->thin > pace->thinnest)
		pace->thinnest = pace->thin;
}

/* At the end of a window, adapts the cost of ticks to the limit: if the limit is too low for the
 * wanted rate and many threads run, each of them is observed at fewer ticks; with few threads there
 * are fewer ticks. */
static void
limit_cost(struct pace *pace, uint64_t now, const struct run_stats *stats)
{
	const uint64_t reads = stats->looks + stats->green_looks;
	const double ticks = (double)(stats->ticks - pace->window_ticks);
	const double length = (double)(now - pace->window_ns) / (double)NS_PER_SEC;

	if (pace->window_ns != 0 && now - pace->window_ns < WINDOW_NS)
		return;
	if (pace->window_ns != 0)
		pace->between_share += (pace->window_between_s / length - pace->between_share) *
				       fmin(length / BETWEEN_S, 1);
	if (pace->window_ns != 0 && ticks > 0)
		adjust(pace, pace->window_used_s / ticks,
		       (double)(reads - pace->window_reads) / ticks);
	pace->window_ns = now;
	pace->window_used_s = pace->window_between_s = 0;
	pace->window_ticks = stats->ticks;
	pace->window_reads = reads;
}

/*
 * Books what the last tick has cost, `used_ns` of CPU time and its stops, and the work before it.
 * Returns the earliest
 * time at which the next tick may begin so that the limit holds, which is the time when the CPU
 * time of a mean tick is saved; at most 1 / LOWEST_HZ after `now`.
 */
static uint64_t
pay_tick(struct pace *pace, uint64_t now, uint64_t used_ns, const struct run_stats *stats)
{
	const double most = SAVINGS_S * pace->max_share, rate = AIM * pace->max_share;
	const double elapsed = (double)(now - pace->ended_ns) / (double)NS_PER_SEC;
	const double used = (double)used_ns / (double)NS_PER_SEC +
			    (double)(stats->stopped - pace->stops) * STOP_COST_S;
	const double between = (double)pace->between_ns / (double)NS_PER_SEC;
	double paid, wait;

	pace->unpaid_s = fmin(pace->unpaid_s + between, DEBT_S * rate);
	paid = fmax(pace->between_share, pace->unpaid_s / BETWEEN_PAID_S);
	paid = fmin(paid, (1 - BETWEEN_LEAVES) * rate) * elapsed;
	paid = fmin(paid, pace->unpaid_s);
	pace->unpaid_s -= paid;
	pace->saved_s = fmin(pace->saved_s + rate * elapsed - paid, most) - used;
	pace->saved_s = fmax(pace->saved_s, -DEBT_S * rate);
	pace->window_used_s += used;
	pace->window_between_s += between;
	/* the first tick costs more than later ones */
	if (stats->ticks > 1)
		pace->tick_s += (used - pace->tick_s) /
				(stats->ticks > COST_TICKS ? COST_TICKS : 2);
	wait = (fmin(pace->tick_s, most) - pace->saved_s) / rate;
	wait = fmin(fmax(wait, 0), 1.0 / LOWEST_HZ);
	return now + (uint64_t)(wait * (double)NS_PER_SEC);
}

/*
 * Subtracts the mean stop of the last tick, which has stopped each thread once at most, from
 * may_stop_s. Returns the time of the next tick: the earliest time at which threads may be stopped,
 * but at most STOPPED_WAIT_S after `now`. In the latter case the tick stops no thread
 * (pace_may_stop).
 */
static uint64_t
pay_stops(struct pace *pace, uint64_t now, const struct run_stats *stats)
{
	const double rate = AIM_STOPPED * pace->max_stopped;
	const double elapsed = (double)(now - pace->ended_ns) / (double)NS_PER_SEC;
	const uint64_t count = stats->stop_ns.count - pace->stop_count;
	const uint64_t sum = stats->stop_ns.sum - pace->stop_sum;

	pace->may_stop_s = fmin(pace->may_stop_s + rate * elapsed, rate * STOPPED_SAVINGS_S);
	if (count > 0)
		pace->may_stop_s -= (double)sum / (double)count / (double)NS_PER_SEC;
	pace->may_stop_s = fmax(pace->may_stop_s, -STOPPED_DEBT_S * rate);
	pace->stop_count = stats->stop_ns.count;
	pace->stop_sum = stats->stop_ns.sum;
	return now + (uint64_t)(fmin(fmax(-pace->may_stop_s / rate, 0), STOPPED_WAIT_S) *
				(double)NS_PER_SEC);
}

bool
pace_may_stop(const struct pace *pace, uint64_t now)
{
	const double elapsed = (double)(now - pace->ended_ns) / (double)NS_PER_SEC;

	return pace->max_stopped >= 1.0 ||
	       pace->may_stop_s + AIM_STOPPED * pace->max_stopped * elapsed >= 0;
}

/* If the next tick is due before `allowed_ns`, the earliest time that a limit allows, delays it
 * until then and increments *delayed. */
static void
delay_tick(struct pace *pace, uint64_t allowed_ns, uint64_t *delayed)
{
	double hz = (double)NS_PER_SEC / (double)(allowed_ns - pace->began_ns + 1);

	if (pace->due_ns >= allowed_ns)
		return;
	++*delayed;
	pace->due_ns = allowed_ns;
	/* The tick itself may have taken long. */
	hz = fmax(hz, fmin(LOWEST_HZ, pace->config->rate_hz));
	if (hz < pace->lowest_hz)
		pace->lowest_hz = hz;
}

void
pace_begin(struct pace *pace, const struct pace_clock *clock)
{
	pace->began_ns = clock->now_ns;
	pace->between_ns = clock->cpu_ns - pace->tick_cpu_ns;
	pace->due_ns += draw_interval(pace);
}

uint64_t
pace_weigh(const struct pace *pace, uint64_t open_ns, bool last)
{
	const double mean = mean_interval(pace), open = (double)open_ns;
	const double all = SPARE_PART * (double)(pace->began_ns - pace->start_ns);
	const double spare = all < SPARE_TICKS * mean ? all : SPARE_TICKS * mean;
	const double weight = mean + SPARE_MENDED * (open - mean - spare);

	return !last && weight < open ? (uint64_t)weight : open_ns;
}

void
pace_end(struct pace *pace, const struct run_stats *stats, const struct pace_clock *clock)
{
	const uint64_t now = clock->now_ns;
	const uint64_t used = clock->cpu_ns - pace->tick_cpu_ns - pace->between_ns;
	/* After a tick the next one may begin when as much time has passed as the tick used CPU
	 * time. The first tick, which copies every stack, is an exception. */
	const uint64_t earliest = stats->ticks > 1 ? now + used : now;

	if (pace->due_ns < earliest) {
		count_behind(pace, (double)(earliest - pace->due_ns) / mean_interval(pace));
		pace->due_ns = earliest;
	}
	if (pace->max_share < 1.0) {
		delay_tick(pace, pay_tick(pace, now, used, stats), &pace->overhead_delays);
		limit_cost(pace, now, stats);
	}
	if (pace->max_stopped < 1.0)
		delay_tick(pace, pay_stops(pace, now, stats), &pace->stop_delays);
	pace->ended_ns = now;
	pace->tick_cpu_ns = clock->cpu_ns;
	pace->between_ns = 0;
	pace->stops = stats->stopped;
}

uint32_t
pace_longest_period(const struct pace *pace, size_t threads)
{
	double a_tick = READS_PER_SECOND / pace->config->rate_hz;
	uint32_t period = 1;

	while (period < LONGEST_PERIOD && (double)threads > a_tick * period)
		period *= 2;
	return period;
}
