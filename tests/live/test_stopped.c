/* SPDX-License-Identifier: MIT */
/*
 * test_stopped.c - SIGSTOP and SIGCONT mean what they mean without wallsample.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "folded.h"

#define COUNTERS 4 /* two spinners, two hot threads */

static void
read_counters(const struct target *target, uint64_t values[COUNTERS])
{
	for (unsigned i = 0; i < COUNTERS; i++)
		values[i] = target->counter[i];
}

/* Sends SIGSTOP; the kernel says when all threads have stopped. */
static void
stop(const struct target *target)
{
	int status = 0;

	kill(target->pid, SIGSTOP);
	if (waitpid(target->pid, &status, WUNTRACED) != target->pid)
		harness_die("the target has got lost");
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP, "wait status 0x%x",
	      (unsigned)status);
}

static void
cont(const struct target *target)
{
	int status = 0;

	kill(target->pid, SIGCONT);
	if (waitpid(target->pid, &status, WCONTINUED) != target->pid)
		harness_die("the target has got lost");
	CHECK(WIFCONTINUED(status), "wait status 0x%x", (unsigned)status);
	for (unsigned i = 0; i < COUNTERS; i++)
		target_wait_progress(target, i);
}

static void
check_stopped(const struct target *target)
{
	pid_t tids[64];
	const size_t count = inspect_threads(target->pid, tids, 64);

	for (size_t i = 0; i < count; i++) {
		const char state = inspect_state(target->pid, tids[i]);
		CHECK(state == 'T', "thread %d is in state %c, not stopped", (int)tids[i], state);
		CHECK(inspect_status(target->pid, tids[i], "TracerPid") == 0,
		      "thread %d is traced", (int)tids[i]);
	}
}

static void
check_stood_still(const struct target *target, const uint64_t before[COUNTERS])
{
	uint64_t after[COUNTERS];

	read_counters(target, after);
	for (unsigned i = 0; i < COUNTERS; i++)
		CHECK(before[i] == after[i], "counter %u moved by %llu while stopped", i,
		      (unsigned long long)(after[i] - before[i]));
}

/* Stopped before: stays so throughout, and the report says it. */
static void
stopped_before(const char *option)
{
	struct target target;
	struct folded folded;
	struct run run;
	uint64_t before[COUNTERS];
	char pid[16], last[32];
	char p[] = "-p", d[] = "-d", time[] = "500ms", wallsample[] = "wallsample";

	harness_case("stopped before, %s", option);
	target_start(&target, "crowd", "2", "2", "3", NULL);
	stop(&target);
	read_counters(&target, before);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "700ms", option, NULL);
	check_stood_still(&target, before);
	check_stopped(&target);
	folded_release(&folded);

	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	snprintf(last, sizeof(last), "%s", option);
	char *words[] = {wallsample, p, pid, d, time, last, NULL};
	run_start_words(&run, words, NULL);
	run_finish(&run);
	run_succeeded(&run);
	CHECK(strstr(run.out, "stopped") != NULL, "the report does not say 'stopped':\n%s",
	      run.out);
	run_release(&run);
	check_stood_still(&target, before);
	check_stopped(&target);
	cont(&target);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_finish(&target, NULL);
}

/* Stopped while it is sampled: stays so to the end of sampling and beyond. */
static void
stopped_during(void)
{
	struct target target;
	struct folded folded;
	struct run run;
	uint64_t before[COUNTERS];

	harness_case("stopped during sampling");
	target_start(&target, "crowd", "2", "2", "3", NULL);
	run_start(&run, target.pid, "-r", "500", "-d", "1500ms", NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	stop(&target);
	read_counters(&target, before);
	run_finish(&run);
	check_stood_still(&target, before);
	check_stopped(&target);
	folded_of_run(&folded, &run);
	folded_release(&folded);
	cont(&target);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_finish(&target, NULL);
}

/*
 * Many times, each at another moment of a tick. That epoll_wait ends with EINTR after SIGCONT
 * is the kernel's doing: see signal(7).
 */
static void
to_and_fro(void)
{
	struct target target;
	struct folded folded;
	struct run run;
	uint64_t before[COUNTERS];

	harness_case("stopped and continued a hundred times");
	target_start(&target, "crowd", "2", "2", "3", NULL);
	run_start(&run, target.pid, "-r", "1000", NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	for (int i = 0; i < 100; i++) {
		stop(&target);
		read_counters(&target, before);
		check_stood_still(&target, before);
		cont(&target);
	}
	kill(run.pid, SIGINT);
	run_finish(&run);
	folded_of_run(&folded, &run);
	folded_release(&folded);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	for (unsigned i = 0; i < COUNTERS; i++)
		target_wait_progress(&target, i);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(60);
	stopped_before("--no-jitter");
	stopped_before("--stop-all");
	stopped_before("--nonblocking");
	stopped_during();
	to_and_fro();
	return harness_end();
}
