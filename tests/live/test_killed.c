/* SPDX-License-Identifier: MIT */
/*
 * test_killed.c - whatever ends wallsample, the target runs on, untraced.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folded.h"

/* Of "crowd 2 4 20", which most cases sample. */
#define SPINNERS 2u
#define HOT 4u
/* So many threads that wake every 20 ms that their stacks are copied while others are to stop. */
#define NAPPERS 40u
#define NAPPERS_TEXT "40"

/* Lets a random time pass, up to 50 ms: the moment is to be any, nothing is waited for. */
static void
random_moment(unsigned *seed)
{
	const struct timespec time = {.tv_nsec = rand_r(seed) % 50000000};

	nanosleep(&time, NULL);
}

static void
check_goes_on(const struct target *target)
{
	CHECK(inspect_is_free(target->pid), "the target is not left alone");
	for (unsigned i = 0; i < SPINNERS + HOT; i++)
		target_wait_progress(target, i);
}

/* All the checks of one end, and that the threads that sleep were not disturbed. */
static void
check_unharmed(const struct target *target)
{
	check_goes_on(target);
	CHECK(target->counter[62] == 0, "%llu EINTRs", (unsigned long long)target->counter[62]);
	CHECK(target->counter[63] == 0, "%llu parked reads came back",
	      (unsigned long long)target->counter[63]);
}

static void
check_nappers(const struct target *target)
{
	for (unsigned i = SPINNERS + HOT; i < SPINNERS + HOT + NAPPERS; i++)
		target_wait_progress(target, i);
}

/* A signal that ends sampling and not wallsample. */
static bool
is_polite(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

static void
end_once(struct target *target, int number, const char *option, unsigned *seed)
{
	struct run run;

	run_start(&run, target->pid, "-r", "1000", option, NULL);
	if (!run_wait_sampling(&run))
		CHECK(false, "wallsample has ended by itself: %s", run.err);
	random_moment(seed);
	kill(run.pid, number);
	run_finish(&run);
	if (is_polite(number))
		run_succeeded(&run);
	else /* sanitizers make an exit of SIGSEGV */
		CHECK(run.status != 0, "signal %d did not end it", number);
	run_release(&run);
	check_goes_on(target);
}

static void
many_ends(const char *name, int number, const char *option, int times)
{
	const unsigned begin = (unsigned)harness_now_ns();
	struct target target;
	unsigned seed = begin;

	harness_case("%s, %d times", name, times);
	harness_note("seed %u", begin);
	target_start(&target, "crowd", "2", "4", "20", NULL);
	for (int i = 0; i < times; i++)
		end_once(&target, number, option, &seed);
	/* EINTR cannot be repaired by a process that is dead: those count elsewhere. */
	if (is_polite(number))
		check_unharmed(&target);
	int status = target_finish(&target, NULL);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the target's wait status is 0x%x",
	      (unsigned)status);
}

/*
 * Stacks of sleeping threads are copied after the stop requests: wallsample is ended, or stopped
 * and continued, while threads are to stop or have stopped.
 */
static void
ends_among_nappers(const char *name, int number, const char *option, int times)
{
	const unsigned begin = (unsigned)harness_now_ns();
	struct target target;
	unsigned seed = begin;

	harness_case("%s among threads that sleep, %d times", name, times);
	harness_note("seed %u", begin);
	target_start(&target, "crowd", "2", "4", "20", NAPPERS_TEXT, NULL);
	for (int i = 0; i < times; i++) {
		struct run run;

		run_start(&run, target.pid, "-r", "400", "--max-overhead", "100", option, NULL);
		if (!run_wait_sampling(&run))
			CHECK(false, "wallsample has ended by itself: %s", run.err);
		random_moment(&seed);
		kill(run.pid, number);
		if (number == SIGSTOP) {
			random_moment(&seed);
			kill(run.pid, SIGCONT);
			random_moment(&seed);
			kill(run.pid, SIGTERM);
		}
		run_finish(&run);
		CHECK(number != SIGSTOP || WIFEXITED(run.status), "wait status 0x%x",
		      (unsigned)run.status);
		run_release(&run);
		check_goes_on(&target);
	}
	check_nappers(&target);
	if (number == SIGSTOP)
		check_unharmed(&target);
	target_finish(&target, NULL);
}

/* wallsample is ended, or stopped and continued, while its threads use the CPUs in a real-time
 * class. */
static void
ends_in_realtime(void)
{
	const struct sched_param first = {.sched_priority = 1}, none = {.sched_priority = 0};

	if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) {
		harness_note("a real-time class is not permitted here");
		return;
	}
	sched_setscheduler(0, SCHED_OTHER, &none);
	many_ends("SIGKILL in a real-time class", SIGKILL, "--realtime", 20);
	ends_among_nappers("SIGSTOP in a real-time class", SIGSTOP, "--realtime", 10);
}

/* The report is there after SIGINT and SIGTERM, and says that it was ended. */
static void
output_after(const char *name, int number)
{
	struct target target;
	struct folded folded;
	struct run run;
	unsigned seed = 1;

	harness_case("output after %s", name);
	target_start(&target, "crowd", "2", "4", "20", NULL);
	run_start(&run, target.pid, "-r", "500", NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	random_moment(&seed);
	kill(run.pid, number);
	run_finish(&run);
	folded_of_run(&folded, &run);
	folded_release(&folded);
	check_unharmed(&target);
	target_finish(&target, NULL);
}

/* USR1 writes what there is so far, and sampling goes on. */
static void
snapshots(void)
{
	struct target target;
	struct folded folded;
	struct run run;
	unsigned seed = 2;

	harness_case("output at SIGUSR1");
	target_start(&target, "crowd", "2", "4", "20", NULL);
	run_start(&run, target.pid, "-r", "500", NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	for (int i = 0; i < 10; i++) {
		random_moment(&seed);
		kill(run.pid, SIGUSR1);
	}
	random_moment(&seed);
	CHECK(waitpid(run.pid, NULL, WNOHANG) == 0, "SIGUSR1 has ended it");
	kill(run.pid, SIGTERM);
	run_finish(&run);
	run_succeeded(&run);
	/* Snapshot or end, each line is whole. */
	folded_of_run(&folded, &run);
	folded_release(&folded);
	check_unharmed(&target);
	target_finish(&target, NULL);
}

/*
 * The report at SIGUSR1 goes to somebody who does not read it. More threads are busy than
 * there are CPUs, so that at all times some were asked to stop and have not yet: not
 * one of them may stand still while wallsample waits in write(2).
 */
static void
output_not_taken(const char *option)
{
	char program[] = "wallsample", p[] = "-p", r[] = "-r", rate[] = "1000", pid[16], last[32];
	char *words[] = {program, p, pid, r, rate, last, NULL};
	const struct timespec moment = {.tv_nsec = 1000000};
	struct target target;

	harness_case("a report that nobody takes, %s", option);
	target_start(&target, "crowd", "6", "4", "20", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	snprintf(last, sizeof(last), "%s", option);
	for (int i = 0; i < 5; i++) {
		struct run run;
		int ends[2];

		run_make_full_pipe(ends);
		run_start_to(&run, words, ends[1]);
		close(ends[1]);
		CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
		kill(run.pid, SIGUSR1);
		while (!inspect_is_in_call(run.pid, SYS_write))
			nanosleep(&moment, NULL);
		CHECK(inspect_is_free(target.pid), "a thread is held");
		for (unsigned counter = 0; counter < 10; counter++)
			target_wait_progress(&target, counter);
		kill(run.pid, SIGTERM);
		close(ends[0]);
		run_finish(&run);
		run_release(&run);
	}
	check_unharmed(&target);
	target_finish(&target, NULL);
}

/* Nobody reads the output. */
static void
closed_output(void)
{
	char program[] = "wallsample", p[] = "-p", d[] = "-d", time[] = "300ms", f[] = "-f",
	     folded[] = "folded", pid[16];
	char *words[] = {program, p, pid, d, time, f, folded, NULL};
	struct target target;
	struct run run;
	int ends[2];

	harness_case("output into a closed pipe");
	target_start(&target, "crowd", "2", "4", "20", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	if (pipe2(ends, O_CLOEXEC) != 0)
		harness_die("no descriptors");
	close(ends[0]);
	run_start_to(&run, words, ends[1]);
	close(ends[1]);
	run_finish(&run);
	CHECK(WIFSIGNALED(run.status) ? WTERMSIG(run.status) == SIGPIPE
				      : WEXITSTATUS(run.status) == 2,
	      "wait status 0x%x: %s", (unsigned)run.status, run.err);
	run_release(&run);
	check_unharmed(&target);
	target_finish(&target, NULL);
}

/* Does the tracer have a thread of it at this moment? Its child, which asks whether it may, does
 * not count: that one ends by itself, and stops nobody. */
static bool
someone_is_held(pid_t pid, pid_t tracer)
{
	pid_t tids[64];
	const size_t count = inspect_threads(pid, tids, sizeof(tids) / sizeof(tids[0]));

	for (size_t i = 0; i < count; i++)
		if (inspect_status(pid, tids[i], "TracerPid") == tracer)
			return true;
	return false;
}

/*
 * A dump holds whatever runs until it has everybody, which takes a while where more threads run
 * than there are CPUs: it is killed right then. True when it was.
 */
static bool
kill_dump_while_held(const struct target *target, char *const words[])
{
	bool held = false, over = false;
	siginfo_t end = { .si_pid = 0 };
	struct run run;

	run_start_words(&run, words, NULL);
	while (!held && !over) {
		held = someone_is_held(target->pid, run.pid);
		over = waitid(P_PID, (id_t)run.pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		       end.si_pid != 0;
	}
	kill(run.pid, SIGKILL);
	run_finish(&run);
	run_release(&run);
	check_goes_on(target);
	return held;
}

static void
killed_dump(int times)
{
	char program[] = "wallsample", verb[] = "dump", p[] = "-p", pid[16];
	char *const words[] = {program, verb, p, pid, NULL};
	struct target target;
	int held = 0;

	harness_case("a dump killed %d times while it holds threads", times);
	target_start(&target, "crowd", "6", "4", "20", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	/* the alarm bounds it */
	while (held < times)
		held += kill_dump_while_held(&target, words);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(120);
	many_ends("SIGKILL", SIGKILL, "--no-jitter", 80);
	many_ends("SIGKILL while all threads are held", SIGKILL, "--stop-all", 20);
	killed_dump(10);
	ends_among_nappers("SIGKILL", SIGKILL, "--no-jitter", 40);
	ends_among_nappers("SIGSTOP", SIGSTOP, "--no-jitter", 20);
	ends_in_realtime();
	many_ends("SIGSEGV", SIGSEGV, "--no-jitter", 5);
	many_ends("SIGINT", SIGINT, "--no-jitter", 10);
	many_ends("SIGTERM", SIGTERM, "--stop-all", 10);
	output_after("SIGINT", SIGINT);
	output_after("SIGTERM", SIGTERM);
	snapshots();
	output_not_taken("--no-jitter");
	output_not_taken("--stop-all");
	closed_output();
	return harness_end();
}
