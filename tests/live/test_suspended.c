/* SPDX-License-Identifier: MIT */
/*
 * test_suspended.c - a wallsample that is stopped, suspended or traced leaves no thread of the
 * target stopped, continues sampling when it is continued, and reports how long it did not run.
 *
 * test_suspended [TIMES]: number of stops of each case.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folded.h"
#include "wallsample/base/base.h"
#include "wallsample/profile/run_stats.h"

/* More threads than CPUs: nearly always one that was asked to stop waits for a CPU. */
#define SPINNERS 8u
#define PARKED 4u
#define TIMES 30

static int times = TIMES;
/* The longest time from a stop of wallsample until every thread of the target was seen to run. */
static uint64_t longest_ns;

static void
random_moment(unsigned *seed)
{
	const struct timespec time = {.tv_nsec = rand_r(seed) % 50000000};

	nanosleep(&time, NULL);
}

static void
start_target(struct target *target)
{
	target_start(target, "crowd", "8", "0", "4", NULL);
}

/* Ends the target; none of its calls may have returned early. */
static void
finish_target(struct target *target)
{
	CHECK(inspect_is_free(target->pid), "a thread of the target is traced or stopped");
	CHECK(target->counter[63] == 0, "%llu blocking reads returned early",
	      (unsigned long long)target->counter[63]);
	target_finish(target, NULL);
}

static void
start_run(struct run *run, const struct target *target, const char *option, const char *value)
{
	run_start(run, target->pid, option, value, NULL);
	if (!run_wait_sampling(run))
		harness_die("wallsample has ended by itself: %s", run->err);
}

/* Waits until all spinners have moved on, which a thread that is stopped or is to stop does not. */
static void
wait_all_run(const struct target *target, uint64_t since_ns)
{
	for (unsigned i = 0; i < SPINNERS; i++)
		target_wait_progress(target, i);
	if (harness_now_ns() - since_ns > longest_ns)
		longest_ns = harness_now_ns() - since_ns;
}

static void
note_longest(void)
{
	printf("longest time until all threads ran: %.0f ms\n", (double)longest_ns / 1e6);
}

/* SIGSTOP at random moments, and SIGCONT when wallsample has released all threads and has stopped
 * again. */
static void
stop_often(const struct run *run, const struct target *target)
{
	unsigned seed = (unsigned)harness_now_ns();

	harness_note("seed %u", seed);
	longest_ns = 0;
	for (int i = 0; i < times; i++) {
		random_moment(&seed);
		const uint64_t now = harness_now_ns();

		kill(run->pid, SIGSTOP);
		wait_all_run(target, now);
		/* Continued by the supervisor, it may stop again only now. */
		while (inspect_state(run->pid, run->pid) != 'T')
			;
		kill(run->pid, SIGCONT);
	}
	random_moment(&seed);
	note_longest();
}

static void
stopped(const char *option, const char *value)
{
	struct target target;
	struct folded folded;
	struct run run;

	harness_case("SIGSTOP %d times, %s %s", times, option, value != NULL ? value : "");
	start_target(&target);
	start_run(&run, &target, option, value);
	stop_often(&run, &target);
	kill(run.pid, SIGINT);
	run_finish(&run);
	folded_of_run(&folded, &run);
	folded_release(&folded);
	finish_target(&target);
}

static void
own_group(void)
{
	setpgid(0, 0);
}

/* Ctrl-Z: when the shell sees that wallsample has stopped, no thread is stopped or is to stop. */
static void
suspended(void)
{
	const unsigned begin = (unsigned)harness_now_ns();
	struct target target;
	unsigned seed = begin;
	char program[] = "wallsample", p[] = "-p", pid[16], v[] = "-v", r[] = "-r", rate[] = "1000";
	char *words[] = {program, p, pid, v, r, rate, NULL};
	struct run run;
	int status;

	harness_case("Ctrl-Z %d times", times);
	start_target(&target);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_start_words(&run, words, own_group);
	if (!run_wait_sampling(&run))
		harness_die("wallsample has ended by itself: %s", run.err);
	for (int i = 0; i < times; i++) {
		random_moment(&seed);
		harness_note("seed %u, stop %d", begin, i);
		kill(-run.pid, SIGTSTP);
		if (waitpid(run.pid, &status, WUNTRACED) != run.pid || !WIFSTOPPED(status))
			harness_die("wallsample has ended by itself");
		CHECK(WSTOPSIG(status) == SIGTSTP, "stopped by signal %d", WSTOPSIG(status));
		CHECK(inspect_is_free(target.pid), "after Ctrl-Z");
		harness_note("seed %u, progress after stop %d", begin, i);
		wait_all_run(&target, harness_now_ns());
		kill(-run.pid, SIGCONT);
	}
	harness_note("seed %u, end", begin);
	kill(run.pid, SIGINT);
	run_finish(&run);
	run_succeeded(&run);
	run_release(&run);
	finish_target(&target);
}

/* Starts a run that stops itself within its 40th tick, when it has read the counters of some
 * threads, and waits for that. */
static void
start_stopping_run(struct run *run, const struct target *target)
{
	char library[PATH_MAX];

	snprintf(library, sizeof(library), "%s/tests/live/bin/stop_in_tick.so", getenv("BUILD"));
	setenv("LD_PRELOAD", library, 1);
	setenv("STOP_AT_READ", "526", 1); /* of 13 threads: 40 ticks and 6 threads */
	start_run(run, target, "-r", "200");
	unsetenv("LD_PRELOAD");
	unsetenv("STOP_AT_READ");
	while (inspect_state(run->pid, run->pid) != 'T')
		if (!run_wait_sampling(run))
			harness_die("wallsample has ended by itself: %s", run->err);
}

/* A pause of wallsample, between ticks or (`in_tick`) within one, is in the profile. */
static void
accounted(bool in_tick)
{
	const struct timespec begin = {.tv_nsec = 300000000}, pause = {.tv_sec = 4};
	const char *const frame = sample_failure_text(FAILURE_ABSENT);
	struct sched_time before[SPINNERS], after[SPINNERS];
	pid_t tids[SPINNERS + PARKED + 1];
	uint64_t began_ns, stopped_ns;
	struct target target;
	struct folded folded;
	struct run run;
	size_t count;

	harness_case("a pause of four seconds%s", in_tick ? " within a tick" : "");
	start_target(&target);
	if (in_tick)
		start_stopping_run(&run, &target);
	else
		start_run(&run, &target, "-r", "200");
	count = inspect_threads(target.pid, tids, ARRAY_SIZE(tids));
	CHECK(count == SPINNERS + PARKED + 1, "%zu threads", count);
	if (!in_tick)
		nanosleep(&begin, NULL);
	began_ns = harness_now_ns();
	kill(run.pid, SIGSTOP);
	for (unsigned i = 0; i < SPINNERS; i++)
		before[i] = inspect_sched_time(target.pid, tids[i + 1]);
	nanosleep(&pause, NULL);
	for (unsigned i = 0; i < SPINNERS; i++)
		after[i] = inspect_sched_time(target.pid, tids[i + 1]);
	stopped_ns = harness_now_ns() - began_ns;
	kill(run.pid, SIGCONT);
	for (unsigned i = 0; i < SPINNERS; i++)
		target_wait_progress(&target, i);
	kill(run.pid, SIGINT);
	run_finish(&run);
	folded_of_run(&folded, &run);
	for (unsigned i = 0; i < SPINNERS; i++) {
		const double share = (double)folded_weight(&folded, tids[i + 1], frame) * 1e3 /
				     (double)stopped_ns;

		/* If a stop is late at the pause, the supervisor lets wallsample run once more
		 * until it has happened: up to 0.2 s, and as long as the thread waits for a CPU,
		 * are ordinary delays. And calibration shares corrections between the pause and
		 * the samples of the second before it. */
		CHECK(share > 0.6, "thread %u: %.0f %% of the pause are in the frame", i,
		      100 * share);
		CHECK(after[i].ran_ns > before[i].ran_ns, "thread %u did not run", i);
	}
	for (unsigned i = 0; i < PARKED; i++)
		CHECK(folded_weight(&folded, tids[SPINNERS + 1 + i], frame) == 0,
		      "a thread that slept all the time counts as not sampled");
	folded_release(&folded);
	finish_target(&target);
}

/* A child of the process with this name; 0: there is none. */
static pid_t
child_named(pid_t parent, const char *name)
{
	char path[64], text[512];
	pid_t found = 0;
	FILE *file;
	int child;

	/* The supervisor is a child of another thread than the first. */
	snprintf(path, sizeof(path), "cat /proc/%d/task/*/children 2>/dev/null", (int)parent);
	file = popen(path, "r");
	while (file != NULL && fscanf(file, "%d", &child) == 1) {
		FILE *comm;

		snprintf(text, sizeof(text), "/proc/%d/comm", child);
		comm = fopen(text, "r");
		if (comm == NULL)
			continue;
		if (fscanf(comm, "%511s", text) == 1 && strcmp(text, name) == 0)
			found = child;
		fclose(comm);
	}
	if (file != NULL)
		pclose(file);
	return found;
}

/* Stops a process that we trace. False when it has ended, which is left to be waited for. */
static bool
interrupt(pid_t pid)
{
	siginfo_t info;

	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) != 0)
		harness_die("waitid failed");
	if (info.si_code == CLD_KILLED || info.si_code == CLD_EXITED)
		return false;
	return waitpid(pid, NULL, WSTOPPED | __WALL) == pid;
}

/* Interrupts wallsample until it has pending requests at that moment, and is killed. */
static void
interrupt_until_killed(struct run *run, const struct target *target)
{
	if (ptrace(PTRACE_SEIZE, run->pid, NULL, NULL) != 0)
		harness_die("it cannot be traced: %s", strerror(errno));
	while (interrupt(run->pid)) {
		wait_all_run(target, harness_now_ns());
		ptrace(PTRACE_CONT, run->pid, NULL, NULL);
	}
	run_finish(run);
	CHECK(WIFSIGNALED(run->status) && WTERMSIG(run->status) == SIGKILL, "wait status 0x%x",
	      (unsigned)run->status);
	CHECK(strstr(run->err, "did not react") != NULL, "it said: %s", run->err);
}

/* Traced as by a debugger: wallsample cannot react, and is killed if threads are stopped or are to
 * stop. The recording has what was sampled. */
static void
traced_recording(void)
{
	char folder[] = "/tmp/suspended.XXXXXX", path[64], pid[16];
	char program[] = "wallsample", record[] = "record", info[] = "info";
	char p[] = "-p", v[] = "-v", o[] = "-o";
	char *words[] = {program, record, p, pid, v, o, path, NULL};
	char *info_words[] = {program, info, path, NULL};
	const struct timespec pause = {.tv_sec = 1, .tv_nsec = 800000000};
	struct target target;
	struct run run;

	harness_case("a recording, traced by another");
	if (mkdtemp(folder) == NULL)
		harness_die("no folder");
	snprintf(path, sizeof(path), "%s/x.wsdb", folder);
	start_target(&target);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_start_words(&run, words, NULL);
	if (!run_wait_sampling(&run))
		harness_die("wallsample has ended by itself: %s", run.err);
	nanosleep(&pause, NULL);
	interrupt_until_killed(&run, &target);
	CHECK(strstr(run.err, "the recording") != NULL, "it said: %s", run.err);
	run_release(&run);
	run_start_words(&run, info_words, NULL);
	run_finish(&run);
	CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) <= 1, "info: status 0x%x: %s",
	      (unsigned)run.status, run.err);
	run_release(&run);
	unlink(path);
	rmdir(folder);
	finish_target(&target);
}

/* The same for a report: the keeper writes it. Its output is read up to the keeper's end. */
static void
traced_report(void)
{
	struct target target;
	struct run run;

	harness_case("a report, traced by another");
	start_target(&target);
	start_run(&run, &target, "-r", "200");
	while (child_named(run.pid, "ws-keeper") == 0)
		;
	interrupt_until_killed(&run, &target);
	CHECK(strstr(run.err, "the report has the samples of the first") != NULL, "it said: %s",
	      run.err);
	CHECK(strstr(run.out, ";spin_leaf ") != NULL, "the report: %.500s", run.out);
	run_release(&run);
	finish_target(&target);
}

/* Starts experiments on a target, and returns when there is a keeper, after a second of them. */
static void
start_experiments(struct run *run, struct target *target)
{
	char program[] = "wallsample", causal[] = "causal", p[] = "-p", pid[16];
	char profile[] = "--profile-time", time[] = "0.3", progress[] = "--progress";
	char point[] = "var:target_sink", *words[] = {program, causal, p, pid, profile, time,
						      progress, point, NULL};

	/* Its threads that wake up count, too, after the six that spin. */
	target_start(target, "crowd", "6", "2", "4", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target->pid);
	run_start_words(run, words, NULL);
	while (child_named(run->pid, "ws-keeper") == 0)
		;
}

static void
stopped_experiments(void)
{
	struct target target;
	struct run run;
	pid_t keeper, next;

	harness_case("SIGSTOP %d times, causal", times);
	start_experiments(&run, &target);
	stop_often(&run, &target);
	/* The experiments go on: a tick replaces the keeper. */
	while ((keeper = child_named(run.pid, "ws-keeper")) == 0)
		usleep(1000);
	while ((next = child_named(run.pid, "ws-keeper")) == 0 || next == keeper)
		;
	kill(run.pid, SIGINT);
	run_finish(&run);
	/* 1, 2: the time was too short to know a gain, or for a whole experiment */
	CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) <= 2, "wait status 0x%x: %s",
	      (unsigned)run.status, run.err);
	CHECK(strstr(run.out, "spin_leaf") != NULL, "the report: %.500s", run.out);
	run_release(&run);
	finish_target(&target);
}

/* Experiments are reported by the keeper, too. */
static void
traced_experiments(void)
{
	struct target target;
	struct run run;

	harness_case("experiments, traced by another");
	start_experiments(&run, &target);
	interrupt_until_killed(&run, &target);
	CHECK(strstr(run.err, "the report has the experiments of the first") != NULL,
	      "it said: %s", run.err);
	CHECK(strstr(run.out, "spin_leaf") != NULL, "the report: %.500s", run.out);
	run_release(&run);
	finish_target(&target);
}

/* A supervisor that is killed is started again. */
static void
bereft(void)
{
	struct target target;
	pid_t first, next;
	struct run run;

	harness_case("a killed supervisor");
	start_target(&target);
	start_run(&run, &target, "-r", "1000");
	while ((first = child_named(run.pid, "ws-supervisor")) == 0)
		;
	kill(first, SIGKILL);
	while ((next = child_named(run.pid, "ws-supervisor")) == 0 || next == first)
		;
	for (int i = 0; i < 5; i++) {
		const uint64_t now = harness_now_ns();

		kill(run.pid, SIGSTOP);
		wait_all_run(&target, now);
		while (inspect_state(run.pid, run.pid) != 'T')
			;
		kill(run.pid, SIGCONT);
	}
	kill(run.pid, SIGINT);
	run_finish(&run);
	run_succeeded(&run);
	run_release(&run);
	finish_target(&target);
}

static bool
write_file(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (file == NULL)
		return false;
	good = fputs(text, file) >= 0;
	return fclose(file) == 0 && good;
}

/* Makes a control group of v2 with this process in it; false if that is not permitted. */
static bool
make_group(char *folder, size_t size, pid_t pid)
{
	static const char *const mounts[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(folder, size, "%s/wallsample-test-%d", mounts[i], (int)getpid());
		if (mkdir(folder, 0755) != 0)
			continue;
		if (write_file(folder, "cgroup.freeze", "0") &&
		    write_file(folder, "cgroup.procs", text))
			return true;
		rmdir(folder);
	}
	return false;
}

/* Frozen by its control group, which the supervisor has left: killed if threads are to stop. */
static void
frozen(void)
{
	char folder[64];
	struct target target;
	struct run run;
	siginfo_t info;

	harness_case("frozen");
	start_target(&target);
	start_run(&run, &target, "-r", "1000");
	/* The supervisor leaves the groups when it starts: it is to be in another one, anyhow. */
	if (!make_group(folder, sizeof(folder), run.pid)) {
		harness_skip("no control group can be made");
		kill(run.pid, SIGINT);
	} else {
		do {
			write_file(folder, "cgroup.freeze", "1");
			wait_all_run(&target, harness_now_ns());
			write_file(folder, "cgroup.freeze", "0");
			info.si_pid = 0;
			waitid(P_PID, (id_t)run.pid, &info, WEXITED | WNOHANG | WNOWAIT);
		} while (info.si_pid == 0);
	}
	run_finish(&run);
	run_release(&run);
	rmdir(folder);
	finish_target(&target);
}

int
main(int count, char **words)
{
	if (count > 1)
		times = atoi(words[1]);
	harness_begin(600);
	suspended();
	stopped("--max-overhead", "1");
	stopped("-r", "1000");
	stopped("--stop-all", NULL);
	bereft();
	frozen();
	accounted(false);
	accounted(true);
	traced_recording();
	traced_report();
	traced_experiments();
	stopped_experiments();
	return harness_end();
}
