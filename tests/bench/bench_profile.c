/* SPDX-License-Identifier: MIT */
/* Runs wallsample, watches it from outside and reads what its report says. */
#include "bench_profile.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench_measure.h"

double
find_number(const char *text, const char *pattern, double unit)
{
	double value = PROFILE_UNKNOWN;
	regmatch_t match[2];
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE) != 0)
		return value;
	if (regexec(&regex, text, 2, match, 0) == 0 && match[1].rm_so >= 0)
		value = strtod(text + match[1].rm_so, NULL) * unit;
	regfree(&regex);
	return value;
}

/* The time behind `label` among the stops of the report, in us: "8.1us", "1.5ms". */
static double
find_stop_us(const char *text, const char *label)
{
	static const struct { const char *unit; double us; } units[] = {
		{ "ns", 1e-3 }, { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		char pattern[160];
		double value;

		snprintf(pattern, sizeof(pattern), "Stops [^;]*%s ([0-9.]+)%s[,;]", label,
			 units[i].unit);
		value = find_number(text, pattern, units[i].us);
		if (value >= 0)
			return value;
	}
	return PROFILE_UNKNOWN;
}

/* The report wraps long lines: here each run of blanks becomes one space. */
static void
join_lines(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		bool blank = *from == ' ' || *from == '\n';

		if (!blank)
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
}

static void
read_report(struct tool_end *end, struct profile_run *run)
{
	char *cost;

	join_lines(end->out);
	cost = strstr(end->out, "Cost and quality of sampling");
	if (cost == NULL)
		cost = end->out;
	run->rate = find_number(cost, "([0-9.,]+) Hz reached", 1);
	run->own_cpu = find_number(cost, "Own cost <?([0-9.]+)% of one CPU", 1);
	run->stop_median_us = find_stop_us(cost, "median");
	run->stop_p99_us = find_stop_us(cost, "p99");
	run->unwind_ns = find_number(end->err, "unwind: .*, ([0-9.]+) us a frame", 1000);
}

void
profile_run(const struct words *words, double seconds, struct profile_run *run)
{
	double settle = seconds > 2 ? 1 : seconds / 4, early, late;
	struct words all = *words;
	struct tool_end end;
	struct tool tool;
	char duration[32];
	uint64_t begin;

	memset(run, 0, sizeof(*run));
	snprintf(duration, sizeof(duration), "%.2f", seconds);
	words_add(&all, "-v");
	words_add(&all, "-d");
	words_add(&all, duration);
	tool_start(&tool, &all, false);
	measure_sleep(settle);
	early = tool_cpu_seconds(&tool);
	begin = bench_now_ns();
	if (seconds / 4 > settle)
		measure_sleep(seconds / 4 - settle);
	run->early_kib = (double)tool_memory_kib(&tool);
	measure_sleep(seconds * 3 / 4 - 0.2);
	run->late_kib = (double)tool_memory_kib(&tool);
	late = tool_cpu_seconds(&tool);
	run->cpu_steady = 100 * (late - early) / ((double)(bench_now_ns() - begin) / 1e9);
	tool_wait(&tool, 60, &end);
	run->finished = !end.timed_out && WIFEXITED(end.status) && WEXITSTATUS(end.status) <= 1;
	run->cpu = 100 * end.cpu_seconds / end.seconds;
	run->peak_kib = (double)end.peak_kib;
	read_report(&end, run);
	if (!run->finished)
		printf("  wallsample failed: %s\n", end.err[0] != '\0' ? end.err : "silently");
	tool_end_release(&end);
}
