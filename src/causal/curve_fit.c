/* SPDX-License-Identifier: MIT */
/* curve_fit.c - ratios of observed to expected values, and their standard deviations. */
#include "causal/curve_fit_internal.h"

#include <math.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/causal/causal_run.h"

/*
 * Number of neighbours of an experiment on each side: the experiments at speed-up 0 that are
 * nearest to it in time, before it and after it. More neighbours give less noise, but are further
 * away in time. With six on each side the variance of an experiment is ten times that of its
 * expected value, and drift is assumed to be linear over the time of these twelve experiments and
 * of those between them.
 */
#define SIDE 6
/* Half width of the kernel, as a multiple of the distance of the furthest neighbour. It is above 1,
 * so that the furthest neighbour has a weight above 0. */
#define REACH 1.2
/* Ridge penalty of the slope (Hoerl and Kennard 1970), for neighbours that lie close together in
 * time. With neighbours on both sides the slope hardly matters. */
#define RIDGE 0.01
/* Variance of the position of an experiment's end between two ticks or two events, in units of the
 * squared interval between them. The position is assumed to be uniformly distributed. */
#define CUT_VARIANCE (1.0 / 12)
/*
 * Estimated cost of a tick, and its standard deviation: the target's time that a tick takes beyond
 * the hold time that sampler_control.held reports. The CPU time of the stop itself, and the cold
 * caches after it, look like work of the program. In a virtual machine, programs that read the
 * clock in a loop lost 9 to 15 us per tick in this way, and programs of `make bench-causal` with
 * ticks of 0.5 ms lost 14 to 21 us. Two standard deviations below it is a machine without such a
 * cost.
 */
#define TICK_COST_NS (12.0 * (double)NS_PER_US)
#define TICK_DEVIATION_NS (6.0 * (double)NS_PER_US)
/*
 * Standard deviation of the error that ticks as long as a burst cause in a gain, as a multiple of
 * the gain: long ticks accelerate some bursts more than others (wallsample-theory(7), "Bursts and
 * ticks"). The error is taken to be proportional to the length of ticks up to a burst. With ticks
 * of a quarter of a burst, a half and a whole one the root mean squares of the errors are 1.0, 2.8
 * and 5.1 % of the gains in the simulation of functions whose curves bend (make bench-causal-
 * ticks); of all functions of `make bench-causal` with units of 3 ms the likelihood is highest at
 * 3.5 % for a whole burst. 4 % lies between the two. Ticks longer than a burst cause larger errors
 * in some programs and none in others: intervals are not widened further, but the report says that
 * gains may be wrong.
 */
#define BURST_DEVIATION 0.04
/* Largest part of the virtual time that the cost of ticks may be estimated to take. */
#define TICK_COST_MOST 0.5
/* Degrees of freedom with which the pooled dispersion of all cells enters the dispersion of each
 * cell. */
#define SHARED_FREEDOM 4

/* --- experiments into cells ---------------------------------------------------------------- */

/* Returns the index of the speed-up in the result, or speedup_count if the result does not have
 * it. */
static size_t
speedup_index(const struct causal_result *result, double speedup)
{
	size_t i = 0;

	while (i < result->speedup_count && fabs(result->speedup[i] - speedup) > 1e-6)
		i++;
	return i;
}

/* Returns the cell of an experiment, which is at_zero at speed-up 0. NULL: the experiment is not
 * used, because it is not WHOLE or not valid. */
static struct fit_cell *
cell_of(struct fit *fit, const struct causal_result *result, const struct causal_experiment *made)
{
	size_t index;

	if (made->end != CAUSAL_WHOLE || made->held_ns >= made->wall_ns ||
	    made->candidate >= result->candidate_count)
		return NULL;
	if (made->speedup <= 0)
		return &fit->at_zero;
	index = speedup_index(result, made->speedup);
	if (index == 0 || index >= result->speedup_count)
		return NULL;
	return &fit->cell[made->candidate * fit->speedup_count + index];
}

double
causal_virtual_ns(const struct causal_experiment *experiment)
{
	const double with_ticks = (double)(experiment->wall_ns - experiment->held_ns);
	const double cost = (double)experiment->ticks * TICK_COST_NS;

	return with_ticks - fmin(cost, TICK_COST_MOST * with_ticks);
}

static void
fit_measure(const struct fit *fit, const struct causal_experiment *made, uint32_t point,
	    double *value, double *exposure)
{
	const struct causal_reading *reading = &made->reading[point];
	const double virtual_ns = causal_virtual_ns(made);

	if (fit->kind == CAUSAL_LATENCY) {
		/* The mean number in progress, times the virtual time. */
		*value = reading->in_progress_ns * virtual_ns /
			 (double)(made->wall_ns - made->held_ns);
		*exposure = reading->count;
	} else {
		*value = reading->count;
		*exposure = virtual_ns;
	}
}

/*
 * Returns the least variance of an experiment's count of events: that of the fractions of an event
 * which its two ends cut off. An end may lie anywhere between two events. But at the first
 * point an experiment begins and ends at ticks that have found progress (causal_run.h): if events
 * are rarer than ticks, an event precedes each end by at most a tick.
 */
static double
cut_variance(const struct causal_result *result, const struct causal_experiment *made,
	     uint32_t point)
{
	const bool at_events = point == 0 && made->ticks > 0 &&
			       made->wall_ns < CAUSAL_LONGEST * result->experiment_ns;
	const double per_tick = at_events ? made->reading[0].count / (double)made->ticks : 1;

	return 2 * CUT_VARIANCE * fmin(1, per_tick * per_tick);
}

static void
count_cells(struct fit *fit, const struct causal_result *result, uint32_t point)
{
	size_t first = 0;

	for (size_t i = 0; i < result->experiment_count; i++) {
		const struct causal_experiment *made = &result->experiment[i];
		struct fit_cell *cell = cell_of(fit, result, made);

		if (cell == NULL)
			continue;
		cell->count++;
		cell->events += made->reading[point].count;
		cell->cut += cut_variance(result, made, point);
		cell->progressed += made->reading[point].count > 0;
	}
	for (size_t c = 0; c < fit->cell_count; c++) {
		fit->cell[c].first = first;
		first += fit->cell[c].count;
		/* While fit_collect stores the experiments, it counts them again. */
		fit->cell[c].count = 0;
	}
	fit->run_count = first;
	fit->zero_count = fit->at_zero.count;
	fit->at_zero.count = 0;
}

static void
fit_collect(struct fit *fit, const struct causal_result *result, uint32_t point)
{
	for (size_t i = 0; i < result->experiment_count; i++) {
		const struct causal_experiment *made = &result->experiment[i];
		struct fit_cell *cell = cell_of(fit, result, made);
		const double at = (double)made->began_ns + (double)made->wall_ns / 2;
		double value, exposure;

		if (cell == NULL)
			continue;
		fit_measure(fit, made, point, &value, &exposure);
		cell->value += value;
		cell->ticks += (double)made->ticks;
		cell->virtual_ns += causal_virtual_ns(made);
		if (cell == &fit->at_zero) {
			fit->zero[cell->count++] = (struct fit_zero){ at, value, exposure };
			fit->zero_exposure += exposure;
			continue;
		}
		fit->run[cell->first + cell->count++] = (struct fit_run){
			.at = at,
			.value = value,
			.exposure = exposure,
			/* For now the number of earlier experiments at speed-up 0;
			 * find_neighbours() turns it into the first neighbour. */
			.first = fit->at_zero.count,
		};
	}
	fit->at_zero.expected = fit->at_zero.value;
	fit->at_zero.ratio = 1;
	fit->at_zero.known = fit->at_zero.progressed >= CAUSAL_EXPERIMENTS_LEAST;
}

/* --- expected values: local linear regression ------------------------------------------------ */

static void
find_neighbours(struct fit *fit, struct fit_run *run)
{
	const size_t before = run->first;
	const size_t end = before + SIDE < fit->zero_count ? before + SIDE : fit->zero_count;
	double reach = 0;

	run->first = before > SIDE ? before - SIDE : 0;
	run->count = end - run->first;
	run->near = fit->near_count;
	fit->near_count += run->count;
	for (size_t i = 0; i < run->count; i++)
		reach = fmax(reach, fabs(fit->zero[run->first + i].at - run->at));
	reach = reach > 0 ? REACH * reach : 1;
	for (size_t i = 0; i < run->count; i++) {
		const struct fit_zero *zero = &fit->zero[run->first + i];
		const double when = (zero->at - run->at) / reach;
		const double weight = 1 - fabs(when);

		fit->near[run->near + i] = (struct fit_near){
			.value = weight * zero->value,
			.exposure = weight * zero->exposure,
			.when = when,
		};
	}
}

/* Weighted sums over the neighbours of an experiment. exposure, first, second: sums of
 * exposure * when^k for k = 0, 1, 2. value, value_first: sums of value * when^k for k = 0, 1.
 * determinant: that of the normal equations. */
struct moments {
	double exposure, first, second;
	double value, value_first;
	double determinant;
};

/* Sums over the neighbours of `run`; `times` has the meaning that it has for fit_expected(). */
static struct moments
sum_moments(const struct fit *fit, const struct fit_run *run, const double *times)
{
	struct moments sum = { 0 };

	for (size_t i = 0; i < run->count; i++) {
		const struct fit_near *near = &fit->near[run->near + i];
		const double n = times != NULL ? times[run->first + i] : 1;
		const double exposure = n * near->exposure;

		sum.exposure += exposure;
		sum.first += exposure * near->when;
		sum.second += exposure * near->when * near->when;
		sum.value += n * near->value;
		sum.value_first += n * near->value * near->when;
	}
	sum.second += RIDGE * sum.exposure;
	/* By the Cauchy-Schwarz inequality the determinant is at least RIDGE * sum.exposure^2: it
	 * is above 0 if sum.exposure is. */
	sum.determinant = sum.exposure * sum.second - sum.first * sum.first;
	return sum;
}

double
fit_expected(const struct fit *fit, const struct fit_run *run, const double *times)
{
	const struct moments sum = sum_moments(fit, run, times);
	double level;

	if (sum.exposure <= 0)
		return times != NULL ? run->expected : 0;
	level = (sum.second * sum.value - sum.first * sum.value_first) / sum.determinant;
	return run->exposure * (level > 0 ? level : sum.value / sum.exposure);
}

/* --- dispersion ------------------------------------------------------------------------------ */

/* Returns the lower bound that cut_variance() sets for the dispersion of a cell. */
static double
least_noise(const struct fit_cell *cell)
{
	if (cell->events <= 0)
		return 0;
	return cell->expected * cell->cut / (cell->events * cell->events);
}

/*
 * Returns the standard deviation of a cell's values as a multiple of that at speed-up 0. A rate
 * scatters in proportion to its ratio, and so does a time that becomes longer; a time that becomes
 * shorter scatters as much as at speed-up 0.
 */
static double
scatter_of(const struct fit *fit, const struct fit_cell *cell)
{
	return fit->kind == CAUSAL_LATENCY ? fmax(1, cell->ratio) : cell->ratio;
}

/* Sets `expected` and `known` of a cell and, if it is known, its ratio, and its dispersion as its
 * own experiments show it. */
static void
cell_noise(struct fit *fit, struct fit_cell *cell)
{
	double squares = 0;

	for (size_t i = 0; i < cell->count; i++) {
		struct fit_run *run = &fit->run[cell->first + i];

		run->expected = fit_expected(fit, run, NULL);
		cell->expected += run->expected;
	}
	cell->known = cell->progressed >= CAUSAL_EXPERIMENTS_LEAST && fit->at_zero.known &&
		      cell->expected > 0 && (cell->value > 0 || fit->kind == CAUSAL_LATENCY);
	if (!cell->known)
		return;
	cell->ratio = cell->value / cell->expected;
	for (size_t i = 0; i < cell->count; i++) {
		const struct fit_run *run = &fit->run[cell->first + i];
		const double off = (run->value - cell->ratio * run->expected) /
				   scatter_of(fit, cell);

		squares += off * off;
	}
	cell->freedom = (double)cell->count - 1;
	cell->noise = squares * (double)cell->count / cell->freedom / cell->expected;
}

/*
 * Shrinks the dispersion of each cell towards the pooled dispersion of all cells, weighted by
 * degrees of freedom: three experiments alone hardly give an estimate. For a LATENCY point the
 * dispersion at speed-up 0 is part of the pool: if no event was found in progress in any experiment
 * of a cell, all values of the cell are 0, and its own dispersion is 0, too.
 */
static void
pool_noise(struct fit *fit)
{
	const bool with_zero = fit->kind == CAUSAL_LATENCY && fit->at_zero.known;
	double freedom = with_zero ? fit->at_zero.freedom : 0;
	double sum = fit->at_zero.noise * freedom;

	for (size_t c = 0; c < fit->cell_count; c++) {
		sum += fit->cell[c].noise * fit->cell[c].freedom;
		freedom += fit->cell[c].freedom;
	}
	for (size_t c = 0; c < fit->cell_count; c++) {
		struct fit_cell *cell = &fit->cell[c];
		const double shared = fmin(SHARED_FREEDOM, freedom - cell->freedom);

		if (!cell->known)
			continue;
		cell->noise = (cell->noise * cell->freedom + sum / freedom * shared) /
			      (cell->freedom + shared);
		cell->freedom += shared;
		cell->noise = fmax(cell->noise, least_noise(cell));
	}
}

/* Estimates the dispersion at speed-up 0 from successive differences, in which drift nearly cancels
 * (J. von Neumann, Distribution of the Ratio of the Mean Square Successive Difference, 1941). */
static void
zero_noise(struct fit *fit)
{
	double sum = 0, pairs = 0;

	for (size_t i = 1; i < fit->zero_count; i++) {
		const struct fit_zero *a = &fit->zero[i - 1], *b = &fit->zero[i];
		const double difference = a->value / a->exposure - b->value / b->exposure;
		const double level = (a->value + b->value) / (a->exposure + b->exposure);

		if (a->exposure <= 0 || b->exposure <= 0 || level <= 0)
			continue;
		sum += difference * difference / (1 / a->exposure + 1 / b->exposure) / level;
		pairs++;
	}
	fit->at_zero.noise = fmax(pairs > 0 ? sum / pairs : 0, least_noise(&fit->at_zero));
	/* Two successive differences share an experiment: each difference gives two thirds of a
	 * degree of freedom. */
	fit->at_zero.freedom = fmax(1, pairs * 2 / 3);
}

void
fit_init(struct fit *fit, const struct causal_result *result, uint32_t point)
{
	memset(fit, 0, sizeof(*fit));
	fit->kind = result->point[point].kind;
	fit->speedup_count = result->speedup_count;
	if (result->burst_ns > 0)
		fit->bursts_per_tick = fmin(1, (double)result->tick_ns / (double)result->burst_ns);
	fit->cell_count = result->candidate_count * result->speedup_count;
	fit->cell = xcalloc(fit->cell_count + 1, sizeof(*fit->cell));
	count_cells(fit, result, point);
	fit->run = xcalloc(fit->run_count + 1, sizeof(*fit->run));
	fit->zero = xcalloc(fit->zero_count + 1, sizeof(*fit->zero));
	fit->near = xcalloc(fit->run_count * 2 * SIDE + 1, sizeof(*fit->near));
	fit_collect(fit, result, point);
	for (size_t i = 0; i < fit->run_count; i++)
		find_neighbours(fit, &fit->run[i]);
	zero_noise(fit);
	for (size_t c = 0; c < fit->cell_count; c++)
		cell_noise(fit, &fit->cell[c]);
	pool_noise(fit);
}

void
fit_release(struct fit *fit)
{
	free(fit->cell);
	free(fit->run);
	free(fit->zero);
	free(fit->near);
	memset(fit, 0, sizeof(*fit));
}

double
fit_gain(const struct fit *fit, double ratio)
{
	return fit->kind == CAUSAL_LATENCY ? 1 - ratio : ratio - 1;
}

/* --- standard deviations: delta method -------------------------------------------------------- */

/* Adds to pull[i] the derivative of (by * expected value of the run) with respect to the value of
 * zero[i]. */
static void
add_pull(const struct fit *fit, const struct fit_run *run, double by, double *pull)
{
	const struct fit_near *near = &fit->near[run->near];
	const struct moments sum = sum_moments(fit, run, NULL);

	if (sum.exposure <= 0)
		return;
	by *= run->exposure / sum.determinant;
	for (size_t i = 0; i < run->count; i++)
		pull[run->first + i] += by * (1 - fabs(near[i].when)) *
					(sum.second - sum.first * near[i].when);
}

double
fit_deviation(const struct fit *fit, uint32_t candidate, const double *weight, double *freedom)
{
	double *pull = xcalloc(fit->zero_count + 1, sizeof(*pull));
	double runs = 0, zeros = 0, spread = 0;

	for (size_t s = 0; s < fit->speedup_count; s++) {
		const struct fit_cell *cell = &fit->cell[candidate * fit->speedup_count + s];
		const double by = weight[s] * cell->ratio;
		const double scatter = weight[s] * scatter_of(fit, cell);
		double variance;

		if (!cell->known || weight[s] == 0)
			continue;
		variance = scatter * scatter * cell->noise / cell->expected;
		runs += variance;
		spread += variance * variance / cell->freedom;
		for (size_t i = 0; i < cell->count; i++)
			add_pull(fit, &fit->run[cell->first + i], by / cell->expected, pull);
	}
	for (size_t i = 0; i < fit->zero_count; i++)
		zeros += pull[i] * pull[i] * fit->at_zero.noise * fit->zero[i].value;
	free(pull);
	spread += zeros * zeros / fit->at_zero.freedom;
	*freedom = spread > 0 ? (runs + zeros) * (runs + zeros) / spread : 1;
	return sqrt(runs + zeros);
}

/* The error of virtual time per tick is equal at all speed-ups. So only the difference to speed-up
 * 0 in ticks per unit of virtual time matters. The errors that long ticks cause at several
 * speed-ups may have different signs, so their absolute values are added. */
double
fit_shared_deviation(const struct fit *fit, uint32_t candidate, const double *weight)
{
	const struct fit_cell *zero = &fit->at_zero;
	double cost = 0, gains = 0;

	for (size_t s = 0; s < fit->speedup_count; s++) {
		const struct fit_cell *cell = &fit->cell[candidate * fit->speedup_count + s];

		if (!cell->known || weight[s] == 0)
			continue;
		cost += weight[s] * cell->ratio *
			(cell->ticks / cell->virtual_ns - zero->ticks / zero->virtual_ns);
		gains += fabs(weight[s] * fit_gain(fit, cell->ratio));
	}
	return hypot(TICK_DEVIATION_NS * cost, BURST_DEVIATION * fit->bursts_per_tick * gains);
}

double
fit_student(double freedom)
{
	static const double few[] = { 12.706, 4.303, 3.182, 2.776, 2.571,
				      2.447,  2.365, 2.306, 2.262, 2.228 };
	const size_t whole = freedom > 1 && freedom < ARRAY_SIZE(few) ? (size_t)freedom : 1;

	if (freedom >= ARRAY_SIZE(few)) /* the asymptotic series: Abramowitz and Stegun, 26.7.5 */
		return 1.960 + 2.372 / freedom + 2.8 / (freedom * freedom);
	if (freedom <= 1)
		return few[0];
	return few[whole - 1] + (freedom - (double)whole) * (few[whole] - few[whole - 1]);
}
