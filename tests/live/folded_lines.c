/* SPDX-License-Identifier: MIT */
/*
 * folded_lines.c - folded output as a table, and patterns of stacks.
 */
#include "folded.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- parsing -------------------------------------------------------------------- */

/* "name-123" -> 123; -1 when it is not of that form. */
static pid_t
tid_of_thread(const char *thread)
{
	const char *dash = strrchr(thread, '-');
	char *end;

	if (dash == NULL || dash[1] < '0' || dash[1] > '9')
		return -1;
	long tid = strtol(dash + 1, &end, 10);
	return *end == '\0' && tid < 1 << 30 ? (pid_t)tid : -1;
}

static bool
split_frames(struct folded_line *line, char *text)
{
	size_t frames = 1;

	for (const char *at = text; *at != '\0'; at++)
		frames += *at == ';';
	char **all = calloc(frames, sizeof(*all));
	if (all == NULL)
		harness_die("no memory");
	for (size_t i = 0; i < frames; i++) {
		all[i] = text;
		text += strcspn(text, ";");
		if (*text != '\0')
			*text++ = '\0';
	}
	line->thread = all[0];
	line->tid = tid_of_thread(all[0]);
	line->frame = all; /* the thread is moved out of the way, to the end */
	memmove(all, all + 1, (frames - 1) * sizeof(*all));
	line->depth = frames - 1;
	if (line->depth == 0 || line->tid < 0)
		return false;
	for (size_t i = 0; i < line->depth; i++)
		if (line->frame[i][0] == '\0')
			return false;
	return true;
}

static bool
parse_line(struct folded_line *line, char *text)
{
	char *space = strrchr(text, ' ');
	char *end;

	if (space == NULL || space[1] < '0' || space[1] > '9')
		return false;
	line->weight_us = strtoull(space + 1, &end, 10);
	*space = '\0';
	return *end == '\0' && split_frames(line, text);
}

bool
folded_parse(struct folded *folded, const char *text, char *why, size_t size)
{
	size_t lines = 0;

	memset(folded, 0, sizeof(*folded));
	for (const char *at = text; *at != '\0'; at++)
		lines += *at == '\n';
	folded->text = strdup(text);
	folded->line = calloc(lines + 1, sizeof(*folded->line));
	if (folded->text == NULL || folded->line == NULL)
		harness_die("no memory");
	for (char *at = folded->text; *at != '\0';) {
		char *end = strchr(at, '\n');
		if (end == NULL) {
			snprintf(why, size, "the last line has no end: %s", at);
			return false;
		}
		*end = '\0';
		if (!parse_line(&folded->line[folded->count++], at)) {
			snprintf(why, size, "line %zu is not 'thread-tid;frame;... weight'",
				 folded->count);
			return false;
		}
		at = end + 1;
	}
	return true;
}

void
folded_release(struct folded *folded)
{
	for (size_t i = 0; i < folded->count; i++)
		free(folded->line[i].frame);
	free(folded->line);
	free(folded->text);
	memset(folded, 0, sizeof(*folded));
}

/* --- patterns ---------------------------------------------------------------------- */

static bool
frame_matches(const char *frame, const char *token, size_t length)
{
	if (length > 0 && token[length - 1] == '*')
		return strncmp(frame, token, length - 1) == 0;
	return strlen(frame) == length && memcmp(frame, token, length) == 0;
}

/* Does the rest of the pattern match from frame `at` on? */
static bool
matches_from(const struct folded_line *line, size_t at, const char *pattern)
{
	while (*pattern != '\0') {
		const size_t length = strcspn(pattern, ";$");
		const char *rest = pattern + length + (pattern[length] == ';');

		if (length == 3 && memcmp(pattern, "...", 3) == 0) {
			for (; at <= line->depth; at++)
				if (matches_from(line, at, rest))
					return true;
			return false;
		}
		if (length == 0) /* "$" */
			return at == line->depth;
		if (at == line->depth || !frame_matches(line->frame[at], pattern, length))
			return false;
		at++;
		pattern = rest;
	}
	return true;
}

bool
folded_line_matches(const struct folded_line *line, const char *pattern)
{
	if (pattern[0] == '^')
		return matches_from(line, 0, pattern + 1);
	for (size_t at = 0; at < line->depth; at++)
		if (matches_from(line, at, pattern))
			return true;
	return false;
}

/* --- sums ------------------------------------------------------------------------- */

uint64_t
folded_weight(const struct folded *folded, pid_t tid, const char *pattern)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < folded->count; i++) {
		const struct folded_line *line = &folded->line[i];
		if ((tid == 0 || line->tid == tid) &&
		    (pattern == NULL || folded_line_matches(line, pattern)))
			sum += line->weight_us;
	}
	return sum;
}

bool
folded_has_frame(const struct folded *folded, pid_t tid, const char *part)
{
	for (size_t i = 0; i < folded->count; i++)
		for (size_t k = 0; folded->line[i].tid == tid && k < folded->line[i].depth; k++)
			if (strstr(folded->line[i].frame[k], part) != NULL)
				return true;
	return false;
}

static int
compare_weights(const void *a, const void *b)
{
	const struct folded_line *const *left = a, *const *right = b;

	if ((*left)->weight_us != (*right)->weight_us)
		return (*left)->weight_us < (*right)->weight_us ? 1 : -1;
	return 0;
}

static void
print_line(const struct folded_line *line)
{
	printf("  %10" PRIu64 " us %s", line->weight_us, line->thread);
	for (size_t i = 0; i < line->depth; i++) {
		if (i == 12 && line->depth > 32) {
			printf(";<%zu more>", line->depth - 24);
			i = line->depth - 12;
		}
		printf(";%s", line->frame[i]);
	}
	printf("\n");
}

void
folded_print(const struct folded *folded, pid_t tid, size_t limit)
{
	const struct folded_line **sorted = calloc(folded->count + 1, sizeof(const void *));
	size_t count = 0;

	if (sorted == NULL)
		harness_die("no memory");
	for (size_t i = 0; i < folded->count; i++)
		if (tid == 0 || folded->line[i].tid == tid)
			sorted[count++] = &folded->line[i];
	qsort(sorted, count, sizeof(*sorted), compare_weights);
	for (size_t i = 0; i < count && i < limit; i++)
		print_line(sorted[i]);
	if (count > limit)
		printf("  and %zu more stacks\n", count - limit);
	free(sorted);
}

/* --- runs -------------------------------------------------------------------------- */

/* "wallsample: 123 ticks, ..." is what -v says at the end. */
static uint64_t
ticks_said(const char *err)
{
	const char *at = strstr(err, " ticks, ");

	while (at != NULL && at > err && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* "wallsample: threads were stopped for 123 us, ..." */
static uint64_t
stopped_said(const char *err)
{
	static const char words[] = "threads were stopped for ";
	const char *at = strstr(err, words);

	return at != NULL ? strtoull(at + strlen(words), NULL, 10) : 0;
}

void
folded_of_run(struct folded *folded, struct run *run)
{
	char why[256];

	if (!run_succeeded(run))
		printf("%s", run->out);
	if (!folded_parse(folded, run->out, why, sizeof(why)))
		CHECK(false, "%s, in:\n%s", why, run->out);
	if (folded->count == 0)
		CHECK(false, "nothing was sampled; wallsample said: %s", run->err);
	folded->ticks = ticks_said(run->err);
	folded->stopped_us = stopped_said(run->err);
	folded->run_us = (run->ended_ns - run->began_ns) / 1000;
	run_release(run);
}

void
folded_sample(struct folded *folded, pid_t pid, ...)
{
	struct run run;
	va_list args;

	va_start(args, pid);
	run_start_list(&run, pid, args);
	va_end(args);
	run_finish(&run);
	folded_of_run(folded, &run);
}

bool
folded_line_is_late(const struct folded_line *line)
{
	return strcmp(line->frame[0], "[failed: not stopped in 20 ms]") == 0 ||
	       strcmp(line->frame[0], "[failed: still not stopped]") == 0;
}

bool
folded_is_short_sleep(const struct folded *folded, const struct folded_line *line)
{
	return strcmp(line->frame[0], "[blocked time without a sample]") == 0 &&
	       (double)line->weight_us < 0.03 * (double)folded_weight(folded, line->tid, NULL) +
						 (double)folded->stopped_us;
}

bool
folded_all_late(const struct folded *folded, pid_t tid)
{
	size_t late = 0;

	for (size_t i = 0; i < folded->count; i++) {
		if (folded->line[i].tid != tid)
			continue;
		if (!folded_line_is_late(&folded->line[i]))
			return false;
		late++;
	}
	return late > 0;
}

bool
folded_check_thread(const struct folded *folded, pid_t tid, const char *pattern)
{
	if (folded_all_late(folded, tid)) {
		printf("  thread %d got no CPU in time: nothing is known of '%s'\n", (int)tid,
		       pattern);
		return true;
	}
	bool all = CHECK(folded_weight(folded, tid, pattern) > 0,
			 "thread %d has no sample of '%s'", (int)tid, pattern);

	for (size_t i = 0; i < folded->count && all; i++) {
		const struct folded_line *line = &folded->line[i];
		if (line->tid == tid && !folded_line_matches(line, pattern) &&
		    !folded_line_is_late(line) && !folded_is_short_sleep(folded, line))
			all = CHECK(false, "thread %d has other stacks than '%s'", (int)tid,
				    pattern);
	}
	if (!all)
		folded_print(folded, tid, 12);
	return all;
}
