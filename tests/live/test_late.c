/* SPDX-License-Identifier: MIT */
/*
 * test_late.c - a thread that was asked to stop and sleeps where nobody can stop it goes on as
 * soon as it wakes, even if wallsample is busy with something else by then.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define THREADS 16u

/* How often the gate is closed until a thread is caught; one in three is enough. */
#define CLOSES_MOST 300

static void
pause_ms(long ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000};

	nanosleep(&time, NULL);
}

/* A thread that is seized by `tracer` and in a sleep that nothing interrupts; 0: none. */
static pid_t
find_caught(const struct target *target, pid_t tracer)
{
	pid_t tids[THREADS + 1];
	size_t count = inspect_threads(target->pid, tids, THREADS + 1);

	for (size_t i = 0; i < count; i++)
		if (inspect_status(target->pid, tids[i], "TracerPid") == tracer &&
		    inspect_state(target->pid, tids[i]) == 'D')
			return tids[i];
	return 0;
}

/*
 * The gate is closed until a thread was asked just before it went to sleep there: most are
 * not, and are seen asleep at the next tick, and let alone. False when none ever was.
 */
static bool
close_gate_on_one(struct target *target, pid_t tracer)
{
	for (int i = 0; i < CLOSES_MOST; i++) {
		target_tell(target);
		pause_ms(10); /* all are asleep, and ticks have passed */
		if (find_caught(target, tracer) != 0)
			return true;
		target_tell(target);
		pause_ms(5);
	}
	return false;
}

static void
check_let_go(struct target *target, const struct run *run)
{
	while (!inspect_is_in_call(run->pid, SYS_write))
		pause_ms(1);
	CHECK(find_caught(target, run->pid) != 0, "the thread has left its sleep too early");
	target_tell(target);
	for (unsigned i = 0; i < THREADS; i++)
		target_wait_progress(target, i);
	CHECK(inspect_is_in_call(run->pid, SYS_write), "wallsample waits for its reader no more");
	CHECK(inspect_is_free(target->pid), "a thread is held");
}

/* The signal brings a report that nobody takes. */
static void
wakes_during_report(const char *name, int number)
{
	char program[] = "wallsample", p[] = "-p", r[] = "-r", rate[] = "1000", f[] = "-f",
	     folded[] = "folded", overhead[] = "--max-overhead", stopped[] = "--max-stopped",
	     most[] = "100", pid[16];
	char *words[] = {program, p, pid, r, rate, f,
			 folded, overhead, most, stopped, most, NULL};
	struct target target;
	struct run run;
	int ends[2];

	harness_case("a thread wakes during the report at %s", name);
	target_start(&target, "gated", "16", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_make_full_pipe(ends);
	run_start_to(&run, words, ends[1]);
	close(ends[1]);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	if (close_gate_on_one(&target, run.pid)) {
		kill(run.pid, number);
		check_let_go(&target, &run);
	} else {
		harness_skip("no thread was asked to stop just before it slept");
	}
	kill(run.pid, SIGTERM);
	close(ends[0]);
	run_finish(&run);
	run_release(&run);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(60);
	wakes_during_report("SIGUSR1", SIGUSR1);
	wakes_during_report("SIGTERM", SIGTERM);
	return harness_end();
}
