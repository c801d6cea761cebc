/* SPDX-License-Identifier: MIT */
/* Takes a target's throughput with tools and without, in turns. */
#include "bench_measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

void
series_add(struct series *series, double value)
{
	if (series->count < MEASURE_MOST_TURNS)
		series->value[series->count++] = value;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median_of(double *values, size_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

struct summary
series_summary(const struct series *series)
{
	struct summary summary = { .count = series->count };
	double value[MEASURE_MOST_TURNS];
	size_t count = series->count;

	if (count == 0)
		return summary;
	memcpy(value, series->value, count * sizeof(*value));
	summary.median = median_of(value, count);
	summary.low = value[0];
	summary.high = value[count - 1];
	for (size_t i = 0; i < count; i++)
		value[i] = fabs(value[i] - summary.median);
	/*
	 * 1.4826 makes the median deviation a standard deviation, 1.2533 that of a
	 * mean one of a median (both for normal noise).
	 */
	summary.error = 1.4826 * 1.2533 * median_of(value, count) / sqrt((double)count);
	return summary;
}

void
measure_sleep(double seconds)
{
	struct timespec left = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		continue;
}

double
measure_rate(const struct target *target, double seconds)
{
	uint64_t units = board_total(target->board), begin = bench_now_ns();

	measure_sleep(seconds);
	units = board_total(target->board) - units;
	return (double)units / ((double)(bench_now_ns() - begin) / 1e9);
}

/* The last line of what a tool said: where errors stand. */
static const char *
last_line(char *text)
{
	size_t length = strlen(text);
	const char *newline;

	while (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
	newline = strrchr(text, '\n');
	return newline != NULL ? newline + 1 : text;
}

/* One turn with a tool: the rate, or a negative number when the tool did not last. */
static double
turn_with(const struct measure *measure, const struct target *target, struct arm *arm)
{
	double seconds = measure->settle_seconds + measure->turn_seconds;
	struct words words = arm->words;
	struct tool_end end;
	struct tool tool;
	char duration[32];
	double rate;
	bool lasted;

	/* A little longer than it is looked at, so that its end is not in the picture. */
	snprintf(duration, sizeof(duration), "%.*f", arm->duration != NULL ? 0 : 2,
		 arm->duration != NULL ? ceil(seconds + 0.15) : seconds + 0.15);
	words_add(&words, arm->duration != NULL ? arm->duration : "-d");
	words_add(&words, duration);
	tool_start(&tool, &words, false);
	measure_sleep(measure->settle_seconds);
	rate = measure_rate(target, measure->turn_seconds);
	lasted = tool_is_running(&tool);
	tool_wait(&tool, 30, &end);
	if (end.timed_out || !WIFEXITED(end.status) || WEXITSTATUS(end.status) > 1)
		lasted = false;
	if (!lasted && arm->failed++ == 0)
		printf("  %s failed: %s\n", arm->name,
		       end.err[0] != '\0' ? last_line(end.err) : "it ended before its turn did");
	tool_end_release(&end);
	return lasted ? rate : -1;
}

void
measure_arms(const struct measure *measure, const struct target *target, struct arm *arms,
	     size_t count, struct series *rest)
{
	double before = measure_rate(target, measure->turn_seconds);

	for (unsigned turn = 0; turn < measure->turns; turn++) {
		for (size_t i = 0; i < count; i++) {
			double with = turn_with(measure, target, &arms[i]);
			double after = measure_rate(target, measure->turn_seconds);

			if (with >= 0 && before + after > 0)
				series_add(&arms[i].ratio, with / ((before + after) / 2));
			if (rest != NULL && before > 0)
				series_add(rest, after / before);
			before = after;
		}
	}
}
