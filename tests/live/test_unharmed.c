/* SPDX-License-Identifier: MIT */
/*
 * test_unharmed.c [SECONDS] - a thread that waits in a system call does not learn that it is
 * sampled: not one EINTR, not one early return. The calls are sampled for 10 seconds, or SECONDS.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "folded.h"

#define THREADS_MOST 128

struct waiting {
	struct target target;
	struct run run;
	pid_t tids[THREADS_MOST];
	long long switches[THREADS_MOST];
	size_t threads;
};

/* How often each thread has been switched away from so far. */
static void
remember(struct waiting *waiting)
{
	waiting->threads = inspect_threads(waiting->target.pid, waiting->tids, THREADS_MOST);
	for (size_t i = 0; i < waiting->threads; i++)
		waiting->switches[i] = inspect_switches(waiting->target.pid, waiting->tids[i]);
}

/*
 * A blocked thread that has not been woken once was not stopped. The first thread may still
 * have been on the way into the read that it waits in when it was looked at.
 */
static void
check_not_woken(const struct waiting *waiting)
{
	for (size_t i = 0; i < waiting->threads; i++) {
		const pid_t tid = waiting->tids[i];
		if (tid == waiting->target.pid)
			continue;
		const long long now = inspect_switches(waiting->target.pid, tid);
		CHECK(now == waiting->switches[i], "thread %d was woken %lld times", (int)tid,
		      now - waiting->switches[i]);
	}
}

/* "NAME entered N eintr N other N" for each call, and "end". */
static void
check_calls(char *text, bool once)
{
	char *rest = text, *line;
	size_t calls = 0;

	while ((line = strsep(&rest, "\n")) != NULL && strcmp(line, "end") != 0) {
		if (strstr(line, " absent") != NULL) {
			printf("  %s\n", line);
			continue;
		}
		const uint64_t entered = target_number(line, "entered");
		CHECK(target_number(line, "eintr") == 0, "%s", line);
		CHECK(target_number(line, "other") == 0, "%s", line);
		CHECK(entered > 0 && (!once || entered == 1), "%s", line);
		calls++;
	}
	CHECK(line != NULL, "the target has not said everything:\n%s", text);
	CHECK(calls >= 10, "only %zu calls", calls);
}

static void
start(struct waiting *waiting, const char *program, const char *rate, const char *time)
{
	target_start(&waiting->target, program, NULL);
	remember(waiting);
	run_start(&waiting->run, waiting->target.pid, "-r", rate, "-d", time, NULL);
}

static void
end(struct waiting *waiting, bool once)
{
	struct folded folded;
	char *text;

	run_finish(&waiting->run);
	harness_note("wallsample said: %s", waiting->run.err);
	folded_of_run(&folded, &waiting->run);
	folded_release(&folded);
	if (once)
		check_not_woken(waiting);
	CHECK(inspect_is_free(waiting->target.pid), "the target is not left alone");
	target_finish(&waiting->target, &text);
	check_calls(text, once);
	free(text);
}

/* At the same time, so that the waits are sampled while the machine is busy. */
static void
all_calls(const char *seconds)
{
	static struct waiting parked, restart, hot;

	harness_case("200 Hz for %s seconds", seconds);
	start(&parked, "calls_parked", "200", seconds);
	start(&restart, "calls_restart", "200", seconds);
	start(&hot, "calls_hot", "200", seconds);
	end(&parked, true);
	end(&restart, true);
	end(&hot, false);
}

static void
hot_calls(const char *name, const char *option)
{
	struct target target;
	struct folded folded;
	char *text;

	harness_case("%s", name);
	target_start(&target, "calls_hot", NULL);
	folded_sample(&folded, target.pid, "-r", "1000", "-d", "3", option, NULL);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_finish(&target, &text);
	check_calls(text, false);
	folded_release(&folded);
	free(text);
}

/* A signal with a handler ends epoll_pwait, sampled or not. */
static void
real_interrupts(void)
{
	struct target target;
	struct folded folded;
	char *text;

	harness_case("signals that have to end a call");
	target_start(&target, "interrupts", NULL);
	folded_sample(&folded, target.pid, "-r", "500", "-d", "3", NULL);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	int status = target_finish(&target, &text);
	harness_note("%s", text);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "wait status 0x%x", (unsigned)status);
	const uint64_t sent = target_number(text, "sent");
	CHECK(sent > 100, "only %llu signals were sent", (unsigned long long)sent);
	CHECK(target_number(text, "handled") == sent, "not every signal was handled");
	CHECK(target_number(text, "eintr") == sent, "not every signal ended its call");
	CHECK(target_number(text, "other") == 0, "calls came back without a signal");
	CHECK(target_number(text, "lost") == 0, "a signal was lost");
	folded_release(&folded);
	free(text);
}

/* Each expiry of a timer is told to the handler, or counted by the kernel as an overrun. */
static void
timer_signals(const char *option)
{
	static const char *const threads[] = {"ticking", "woken"};
	struct target target;
	struct folded folded;
	char *text;

	harness_case("timers of 200 Hz %s", option);
	target_start(&target, "timers", NULL);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "3", option, NULL);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_finish(&target, &text);
	harness_note("%s", text);
	for (size_t i = 0; i < 2; i++) {
		const char *line = strstr(text, threads[i]);
		const uint64_t expired = target_number(line, "expired");
		const uint64_t handled = target_number(line, "handled");
		/* The clock may have passed the next expiry before its interrupt has come. */
		CHECK(handled == expired || handled + 1 == expired,
		      "%s: expired %llu times, handled %llu", threads[i],
		      (unsigned long long)expired, (unsigned long long)handled);
		CHECK(expired > 500, "%s: only %llu", threads[i], (unsigned long long)expired);
	}
	folded_release(&folded);
	free(text);
}

int
main(int argc, char **argv)
{
	const char *seconds = argc > 1 ? argv[1] : "10";

	harness_begin(120 + (unsigned)atoi(seconds));
	all_calls(seconds);
	hot_calls("1,000 Hz, calls that end every millisecond", "--no-jitter");
	hot_calls("1,000 Hz, all threads stopped together", "--stop-all");
	real_interrupts();
	timer_signals("--no-jitter");
	timer_signals("--stop-all");
	return harness_end();
}
