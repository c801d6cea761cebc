/* SPDX-License-Identifier: MIT */
/* Holds what was measured against the bounds. */
#include "bench_judge.h"

#include <math.h>
#include <stdarg.h>

/* Below this no one can tell a loss from the machine's unrest, however often it is tried. */
#define LOSS_TOO_SMALL 0.002
/* With an error of the median above this, nothing is said about losses of a percent. */
#define ERROR_TOO_LARGE 0.01

void
judge(struct bench *bench, enum verdict verdict, const char *fmt, ...)
{
	static const char *const words[] = { "met", "missed", "unclear, too much noise" };
	va_list args;

	bench->met += verdict == MET;
	bench->missed += verdict == MISSED;
	bench->unclear += verdict == UNCLEAR;
	printf("  bound: ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(": %s\n", words[verdict]);
}

void
judge_at_most(struct bench *bench, double value, double bound, const char *what, const char *unit)
{
	if (value < 0) {
		printf("  %s: not known\n", what);
		return;
	}
	judge(bench, value < bound ? MET : MISSED, "%s %.1f %s, wanted below %g", what, value, unit,
	      bound);
}

void
judge_against_floor(struct bench *bench, const struct summary *ours, const struct summary *floor)
{
	double ours_loss = 1 - ours->median, floor_loss = 1 - floor->median;
	double over = ours_loss - 1.2 * floor_loss;
	double error = hypot(ours->error, 1.2 * floor->error);
	enum verdict verdict = error > ERROR_TOO_LARGE ? UNCLEAR : MET;

	if (ours->count == 0 || floor->count == 0)
		return;
	if (over > 0)
		verdict = over > 3 * error && over > LOSS_TOO_SMALL ? MISSED : UNCLEAR;
	judge(bench, verdict, "loss %.2f %% against the floor's %.2f %%, wanted at most 1.2 times",
	      100 * ours_loss, 100 * floor_loss);
}

void
judge_stops(struct bench *bench, const struct profile_run *run, const struct floor_stops *floor,
	    double median_us, double p99_us)
{
	const struct {
		const char *what;
		double ours, floor, bound;
	} rows[] = {
		{ "median", run->stop_median_us, floor->median_us, median_us },
		{ "p99", run->stop_p99_us, floor->p99_us, p99_us },
	};

	for (size_t i = 0; i < 2; i++) {
		enum verdict verdict = rows[i].ours < rows[i].bound ? MET : MISSED;

		if (verdict == MISSED && rows[i].floor >= rows[i].bound)
			verdict = UNCLEAR;
		if (rows[i].ours >= 0)
			judge(bench, verdict,
			      "%s time stopped %.1f us, wanted below %g, the floor has %.1f",
			      rows[i].what, rows[i].ours, rows[i].bound, rows[i].floor);
	}
}

void
judge_share(struct bench *bench, const struct summary *ours, double bound, const char *what)
{
	double over = ours->median - bound;
	enum verdict verdict = over >= 0 ? MET : MISSED;

	if (fabs(over) < (ours->error > ERROR_TOO_LARGE ? 5 : 2) * ours->error)
		verdict = UNCLEAR;
	if (ours->count > 0)
		judge(bench, verdict, "%.1f %% +- %.1f %s, wanted %g %%", 100 * ours->median,
		      100 * ours->error, what, 100 * bound);
}

void
judge_no_loss(struct bench *bench, const struct summary *ours)
{
	double loss = 1 - ours->median;
	bool none = loss < 2 * ours->error || loss < LOSS_TOO_SMALL;
	enum verdict verdict = none ? MET : MISSED;

	if (ours->error > ERROR_TOO_LARGE && loss < 5 * ours->error)
		verdict = UNCLEAR;
	if (ours->count > 0)
		judge(bench, verdict, "loss %.2f %% +- %.2f, wanted: not measurable",
		      100 * loss, 100 * ours->error);
}
