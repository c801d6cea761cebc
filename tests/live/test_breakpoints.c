/* SPDX-License-Identifier: MIT */
/*
 * test_breakpoints.c - every run of a function is counted, once, and the program does not learn of
 * it: whatever it does meanwhile.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/tracer_count.h"

/* Counters of targets/counted.c. */
enum { COUNTED, OTHER, DONE, WRONG, HANDLED, NOT_OURS, ADDRESS = 8, OTHER_ADDRESS };

#define TICK_NS (2 * NS_PER_MS)

struct counter {
	struct target target;
	struct process *process;
	struct tracer *tracer;
	uint64_t before[2];
};

static void
open_tracer(struct counter *counter)
{
	struct error err;

	if (process_open(counter->target.pid, &counter->process, &err) != 0 ||
	    tracer_create(counter->process, &counter->tracer, &err) != 0)
		harness_die("%s", err.text);
}

/* What the target has counted, without its children. */
static uint64_t
truth(const struct counter *counter, unsigned which)
{
	return counter->target.counter[which] -
	       (which == COUNTED ? counter->target.counter[NOT_OURS] : 0);
}

static void
begin(struct counter *counter, const char *mode)
{
	uint64_t address[2];
	struct error err;

	target_start(&counter->target, "counted", mode, NULL);
	address[0] = counter->target.counter[ADDRESS];
	address[1] = counter->target.counter[OTHER_ADDRESS];
	open_tracer(counter);
	if (tracer_count(counter->tracer, address, 2, &err) != 0)
		harness_die("%s", err.text);
	counter->before[0] = truth(counter, COUNTED);
	counter->before[1] = truth(counter, OTHER);
}

/* Are all threads of it stopped: by job control (T), or as tracees (t)? */
static bool
all_in_state(pid_t pid, char state)
{
	pid_t tids[64];
	const size_t count = inspect_threads(pid, tids, ARRAY_SIZE(tids));

	for (size_t i = 0; i < count; i++)
		if (inspect_state(pid, tids[i]) != state)
			return false;
	return true;
}

/* Serves until the target has done `times` pieces of work, or is gone. */
static void
serve_until_done(struct counter *counter, uint64_t times)
{
	while (counter->target.counter[DONE] < times &&
	       tracer_count_state(counter->tracer) == COUNT_RUNNING)
		tracer_sleep_until(counter->tracer, clock_now_ns() + TICK_NS);
}

static void
close_tracer(struct counter *counter)
{
	tracer_free(counter->tracer);
	process_free(counter->process);
}

/* It runs the function a thousand times and more after we have left it. */
static void
check_lives(struct target *target)
{
	const uint64_t done = target->counter[DONE];

	CHECK(inspect_is_free(target->pid), "the target is not left alone");
	target_tell(target);
	while (target->counter[DONE] == done && inspect_state(target->pid, target->pid) != 'Z')
		sched_yield();
	CHECK(target->counter[DONE] == done + 1, "the target has died");
}

static void
finish(struct counter *counter)
{
	int status = target_finish(&counter->target, NULL);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the target's wait status is 0x%x",
	      (unsigned)status);
}

static void
check_counts(const struct counter *counter)
{
	uint64_t total[TRACER_COUNT_MOST];

	tracer_counts(counter->tracer, total);
	for (unsigned i = 0; i < 2; i++)
		CHECK(total[i] == truth(counter, i) - counter->before[i],
		      "function %u was run %llu times, counted were %llu", i,
		      (unsigned long long)(truth(counter, i) - counter->before[i]),
		      (unsigned long long)total[i]);
	CHECK(total[2] == 0 && total[3] == 0, "something else was counted");
}

/* One piece of work of the mode is counted to the last run. */
static void
count_work(const char *name, const char *mode)
{
	struct counter counter;
	uint64_t ns, runs;

	harness_case("%s", name);
	begin(&counter, mode);
	ns = clock_now_ns();
	target_tell(&counter.target);
	serve_until_done(&counter, 1);
	ns = clock_now_ns() - ns;
	runs = truth(&counter, COUNTED) + truth(&counter, OTHER);
	check_counts(&counter);
	CHECK(runs >= 20, "only %llu runs", (unsigned long long)runs);
	printf("  %llu runs in %.2f s: %.1f us each; %llu signals passed, %llu handled\n",
	       (unsigned long long)runs, (double)ns / 1e9, (double)ns / 1e3 / (double)runs,
	       (unsigned long long)tracer_stats(counter.tracer)->signals_passed,
	       (unsigned long long)counter.target.counter[HANDLED]);
	CHECK(counter.target.counter[WRONG] == 0, "%llu things went wrong",
	      (unsigned long long)counter.target.counter[WRONG]);
	if (strcmp(mode, "trap") == 0)
		CHECK(counter.target.counter[HANDLED] == 400, "%llu SIGTRAPs were handled",
		      (unsigned long long)counter.target.counter[HANDLED]);
	close_tracer(&counter);
	if (strcmp(mode, "no status") == 0)
		CHECK(counter.target.counter[HANDLED] == 0, "%llu SIGTRAPs were delivered",
		      (unsigned long long)counter.target.counter[HANDLED]);
	if (strcmp(mode, "busy") != 0)
		check_lives(&counter.target);
	finish(&counter);
}

/*
 * The tracer sees to it that all of its threads take notice. Each of them may stand at a breakpoint
 * for a moment, but then goes on, and they run: not for some ticks on end.
 */
static void
serve_until_stopped(struct counter *counter)
{
	int still = 0;

	while (still < 10) {
		const uint64_t runs = counter->target.counter[COUNTED];

		tracer_sleep_until(counter->tracer, clock_now_ns() + TICK_NS);
		still = counter->target.counter[COUNTED] == runs &&
			all_in_state(counter->target.pid, 't') ? still + 1 : 0;
	}
}

/* Job control stops the target, and lets it go on, in the middle of its work. */
static void
stopped_target(int signo)
{
	struct counter counter;

	harness_case("the target is stopped by signal %d", signo);
	begin(&counter, "busy");
	target_tell(&counter.target);
	for (int i = 0; i < 5; i++) {
		const uint64_t runs = counter.target.counter[COUNTED];

		while (counter.target.counter[COUNTED] < runs + 500)
			tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		kill(counter.target.pid, signo);
		serve_until_stopped(&counter);
		const uint64_t stopped = counter.target.counter[COUNTED];
		for (int k = 0; k < 5; k++)
			tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		CHECK(counter.target.counter[COUNTED] == stopped, "it runs while it is stopped");
		kill(counter.target.pid, SIGCONT);
	}
	serve_until_done(&counter, 1);
	check_counts(&counter);
	close_tracer(&counter);
	CHECK(inspect_is_free(counter.target.pid), "the target is not left alone");
	finish(&counter);
}

/* We leave it while it is stopped: it stays so, and goes on well. */
static void
left_stopped(void)
{
	struct counter counter;

	harness_case("left while it is stopped");
	for (int i = 0; i < 20; i++) {
		begin(&counter, "busy");
		target_tell(&counter.target);
		while (counter.target.counter[COUNTED] < 200)
			tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		kill(counter.target.pid, SIGSTOP);
		close_tracer(&counter);
		while (!all_in_state(counter.target.pid, 'T'))
			sched_yield();
		CHECK(inspect_status(counter.target.pid, counter.target.pid, "TracerPid") == 0,
		      "it is traced");
		kill(counter.target.pid, SIGCONT);
		while (counter.target.counter[DONE] == 0 &&
		       inspect_state(counter.target.pid, counter.target.pid) != 'Z')
			sched_yield();
		CHECK(counter.target.counter[COUNTED] == 100000, "it has died");
		finish(&counter);
	}
}

static void
killed_target(void)
{
	struct counter counter;
	int status = 0;

	harness_case("the target is killed");
	for (int i = 0; i < 10; i++) {
		begin(&counter, "busy");
		target_tell(&counter.target);
		while (counter.target.counter[COUNTED] < 500)
			tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		kill(counter.target.pid, SIGKILL);
		while (!tracer_exit_status(counter.tracer, &status))
			tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "wait status 0x%x",
		      (unsigned)status);
		CHECK(tracer_count_state(counter.tracer) == COUNT_GONE, "state %d",
		      (int)tracer_count_state(counter.tracer));
		close_tracer(&counter);
		/* The tracer has collected it. */
		close(counter.target.in);
		close(counter.target.out);
	}
}

/* The new program runs the same function, without breakpoints. */
static void
exec_ends_it(void)
{
	struct counter counter;
	uint64_t total[TRACER_COUNT_MOST];
	char line[32];

	harness_case("exec");
	begin(&counter, "exec");
	target_tell(&counter.target);
	while (tracer_count_state(counter.tracer) == COUNT_RUNNING)
		tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
	CHECK(tracer_count_state(counter.tracer) == COUNT_EXEC, "state %d",
	      (int)tracer_count_state(counter.tracer));
	tracer_counts(counter.tracer, total);
	CHECK(total[0] >= 10, "only %llu runs", (unsigned long long)total[0]);
	while (inspect_state(counter.target.pid, counter.target.pid) == 't')
		tracer_poll(counter.tracer);
	if (!target_read_line(&counter.target, line, sizeof(line)))
		CHECK(false, "the new program has not begun");
	check_lives(&counter.target);
	close_tracer(&counter);
	check_lives(&counter.target);
	finish(&counter);
}

/* Breakpoints are taken off and put on again, all the time. */
static void
leave_and_return(const char *mode)
{
	struct counter counter;
	uint64_t total[TRACER_COUNT_MOST];
	uint64_t told = 0, ran = 0;

	harness_case("left and returned to, %s", mode);
	begin(&counter, mode);
	/* On a busy machine it takes more rounds until the target has run that often while the
	 * breakpoints were set. */
	for (int i = 0; (i < 100 || ran < 100) &&
			tracer_count_state(counter.tracer) == COUNT_RUNNING; i++) {
		const uint64_t before = counter.target.counter[COUNTED];

		if (counter.target.counter[DONE] == told) {
			target_tell(&counter.target);
			told++;
		}
		tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS / 2);
		ran += counter.target.counter[COUNTED] - before;
		tracer_pause(counter.tracer);
		CHECK(inspect_is_free(counter.target.pid), "the target is not left alone");
		tracer_resume(counter.tracer);
	}
	/* A thread that has reached the breakpoint may wait for a CPU before it counts itself. */
	serve_until_done(&counter, told);
	tracer_counts(counter.tracer, total);
	CHECK(total[0] <= counter.target.counter[COUNTED], "more were counted than there were");
	CHECK(total[0] >= 20, "only %llu were counted", (unsigned long long)total[0]);
	CHECK(counter.target.counter[WRONG] == 0, "%llu things went wrong",
	      (unsigned long long)counter.target.counter[WRONG]);
	close_tracer(&counter);
	finish(&counter);
}

/* Waits of all kinds, whose threads are stopped to set breakpoints, clear them, and look. */
static void
unharmed(const char *program)
{
	struct counter counter;
	const uint64_t nowhere = 4096;
	struct error err;
	char *text, *rest, *line;

	harness_case("%s, seized and left 100 times", program);
	target_start(&counter.target, program, NULL);
	open_tracer(&counter);
	for (int i = 0; i < 100; i++) {
		if (i == 0 && tracer_count(counter.tracer, &nowhere, 1, &err) != 0)
			harness_die("%s", err.text);
		tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		tracer_pause(counter.tracer);
		tracer_resume(counter.tracer);
	}
	close_tracer(&counter);
	CHECK(inspect_is_free(counter.target.pid), "the target is not left alone");
	target_finish(&counter.target, &text);
	for (rest = text; (line = strsep(&rest, "\n")) != NULL && strcmp(line, "end") != 0;) {
		if (strstr(line, " absent") != NULL)
			continue;
		CHECK(target_number(line, "eintr") == 0 && target_number(line, "other") == 0, "%s",
		      line);
	}
	CHECK(line != NULL, "the target has not said everything");
	free(text);
}

/* All of its threads are looked at, and some held, while their runs are counted. */
static void
stops_meanwhile(bool hold)
{
	struct counter counter;
	struct stop_request request[8];
	struct watch watch[8];
	uint64_t captured = 0, held = 0;
	pid_t tids[8];

	harness_case("threads that are stopped %s", hold ? "and held" : "for a look");
	begin(&counter, "busy");
	target_tell(&counter.target);
	while (counter.target.counter[DONE] == 0) {
		const size_t count = inspect_threads(counter.target.pid, tids, ARRAY_SIZE(tids));

		memset(request, 0, sizeof(request));
		for (size_t i = 0; i < count; i++) {
			watch_init(&watch[i], tids[i], SCHED_FROM_SCHEDSTAT, false);
			request[i].process = counter.process;
			request[i].watch = &watch[i];
			request[i].stack_want = 4096;
			snapshot_init(&request[i].snapshot);
			watch_read_sched(&watch[i], counter.process, &request[i].before);
			tracer_ask(counter.tracer, &request[i]);
		}
		if (hold)
			tracer_collect_held(counter.tracer, 20 * NS_PER_MS);
		else
			tracer_collect(counter.tracer, 20 * NS_PER_MS, false, NULL, NULL);
		held += tracer_held_count(counter.tracer);
		tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		tracer_release_all_held(counter.tracer);
		tracer_sleep_until(counter.tracer, clock_now_ns() + TICK_NS);
		for (size_t i = 0; i < count; i++) {
			captured += request[i].end == STOP_CAPTURED;
			if (!hold && request[i].end == STOP_CAPTURED)
				CHECK(request[i].kept_ns > 0 &&
					      request[i].kept_ns <= request[i].stopped_ns,
				      "kept for %llu ns of %llu",
				      (unsigned long long)request[i].kept_ns,
				      (unsigned long long)request[i].stopped_ns);
			tracer_forget(counter.tracer, &request[i]);
			snapshot_release(&request[i].snapshot);
			watch_release(&watch[i]);
		}
	}
	check_counts(&counter);
	CHECK(captured > 100, "only %llu stops", (unsigned long long)captured);
	CHECK(!hold || held > 20, "only %llu were held", (unsigned long long)held);
	close_tracer(&counter);
	CHECK(inspect_is_free(counter.target.pid), "the target is not left alone");
	finish(&counter);
}

/* What cannot be had leaves the target as it was. */
static void
refusals(void)
{
	const uint64_t kernel = UINT64_C(0xffffffff81000000);
	struct counter counter;
	struct error err = { .kind = ERROR_NONE };

	harness_case("an address that cannot have a breakpoint");
	target_start(&counter.target, "counted", "workers", NULL);
	open_tracer(&counter);
	CHECK(tracer_count(counter.tracer, &kernel, 1, &err) < 0 && err.kind == ERROR_SYSTEM,
	      "it was taken");
	printf("  %s\n", err.text);
	CHECK(tracer_count_state(counter.tracer) == COUNT_OFF, "it counts");
	check_lives(&counter.target);
	close_tracer(&counter);
	check_lives(&counter.target);
	finish(&counter);
}

int
main(void)
{
	harness_begin(300);
	count_work("four threads, 100,000 runs", "busy");
	count_work("one thread", "after");
	count_work("threads that come and go", "churn");
	count_work("signal handlers that run it, too", "handler");
	count_work("children", "forks");
	count_work("SIGTRAP of the program's own", "trap");
#ifdef __x86_64__
	count_work("exceptions without a status", "no status");
#endif
	count_work("waits that a stop would cut short", "waits");
	stops_meanwhile(false);
	stops_meanwhile(true);
	stopped_target(SIGSTOP);
	stopped_target(SIGTSTP);
	left_stopped();
	killed_target();
	exec_ends_it();
	leave_and_return("busy");
	leave_and_return("churn");
	leave_and_return("handler");
	leave_and_return("waits");
#ifdef __x86_64__
	leave_and_return("no status");
#endif
	unharmed("calls_parked");
	unharmed("calls_restart");
	unharmed("calls_hot");
	refusals();
	return harness_end();
}
