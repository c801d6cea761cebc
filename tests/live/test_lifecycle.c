/* SPDX-License-Identifier: MIT */
/*
 * test_lifecycle.c - the target becomes another program, ends, is killed, loses its first
 * thread, or waits where no tracer can stop it, while it is sampled.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "folded.h"

/* The alarm of the test is the bound for hangs; this one is for waits that should be short. */
#define SLOW_US 15000000u

static void
check_not_slow(const struct folded *folded)
{
	CHECK(folded->run_us < SLOW_US, "it took %llu us", (unsigned long long)folded->run_us);
}

/*
 * The first thread sleeps until the other one calls exec. Then the other one has the id of the
 * first: the CPU time that it used before must not shorten the sleep. The two times may end
 * at different ticks, and ticks are long on a busy machine: they differ by at most 3 % and 5 ms.
 */
static bool
check_first_slept(const struct folded *folded, pid_t pid)
{
	const double slept = (double)folded_weight(folded, pid, "main;wait_for_ever;pause");
	double other = 0;

	for (size_t i = 0; i < folded->count; i++)
		if (folded->line[i].tid != pid && folded->line[i].tid != 0)
			other += (double)folded->line[i].weight_us;
	return CHECK(slept > 0 && fabs(slept - other) < 0.03 * other + 5000,
		     "the first thread has slept %.0f of %.0f us", slept, other);
}

/* At most 5 % of the 1.2 s of CPU time of the process is that of unknown threads, which has the id
 * 0. */
static bool
check_unknown(const struct folded *folded)
{
	double unknown = 0;

	for (size_t i = 0; i < folded->count; i++)
		if (folded->line[i].tid == 0)
			unknown += (double)folded->line[i].weight_us;
	return CHECK(unknown < 0.05 * 1.2e6, "%.0f us of CPU time belong to no thread", unknown);
}

/* Exec keeps the process and changes everything in it: both programs are in the output. */
static void
exec_by(const char *who, const char *option)
{
	struct target target;
	struct folded folded;
	struct run run;
	char line[64] = "";

	harness_case("exec by the %s, %s", who, option);
	target_start(&target, "exec_before", who, NULL);
	/* The tick that reads the new program may take 0.1 s, and the next one comes no sooner than
	 * after another 0.1 s. */
	run_start(&run, target.pid, "-r", "1000", "--max-overhead", "100", option, NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	target_tell(&target);
	/* The target ends by itself, and with it wallsample. */
	run_finish(&run);
	target_read_line(&target, line, sizeof(line));
	CHECK(strcmp(line, "became") == 0, "the target says '%s'", line);
	int status = target_finish(&target, NULL);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5, "the target's wait status is 0x%x",
	      (unsigned)status);
	folded_of_run(&folded, &run);
	const double before = (double)folded_weight(&folded, 0, "become;before_f0;before_leaf");
	const double after = (double)folded_weight(&folded, 0, "main;after_f0;after_leaf");
	const double denied = (double)folded_weight(&folded, 0, "[failed: not permitted]");
	/* 0.2 and 1 s of CPU time, but on a busy machine most stops may come too late. */
	bool good = CHECK(before > 0 && after > 0, "before %.0f us, after %.0f us", before,
			  after);
	good &= strcmp(who, "thread") == 0 ? check_first_slept(&folded, target.pid) :
					     check_unknown(&folded);
	/* A thread that is caught in its exec must not stay seized, which none may be twice. */
	if (harness_stolen() <= HARNESS_STOLEN_MOST)
		good &= CHECK(denied < 0.05e6, "%.0f us were not permitted", denied);
	if (!good)
		folded_print(&folded, 0, 12);
	folded_release(&folded);
}

/* The target ends or is killed in the middle. It stays a zombie until wallsample has
 * ended: its parent, this test, does not wait for it before. */
static void
ends(const char *name, int number, const char *option)
{
	struct target target;
	struct folded folded;
	struct run run;

	harness_case("target %s, %s", name, option);
	target_start(&target, "crowd", "2", "4", "20", NULL);
	run_start(&run, target.pid, "-r", "500", option, NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	for (unsigned i = 0; i < 200; i++) /* some hundred milliseconds of the target's life */
		target_wait_progress(&target, 2 + i % 4);
	if (number != 0)
		kill(target.pid, number);
	else
		target_tell_end(&target);
	run_finish(&run);
	folded_of_run(&folded, &run);
	check_not_slow(&folded);
	if (!CHECK(folded_weight(&folded, 0, "park_f0;park_f1;park_f2") > 0, "no parked thread"))
		folded_print(&folded, 0, 12);
	folded_release(&folded);
	int status = target_finish(&target, NULL);
	CHECK(number == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0
			  : WIFSIGNALED(status) && WTERMSIG(status) == number,
	      "the target's wait status is 0x%x", (unsigned)status);
}

/* The first thread has gone, the process has not. */
static void
leaderless(void)
{
	struct target target;
	struct folded folded;

	harness_case("first thread gone before");
	target_start(&target, "leaves", "now", NULL);
	CHECK(inspect_state(target.pid, target.pid) == 'Z', "the first thread is there");
	pid_t tid = inspect_thread_named(target.pid, "stays", 0);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "500ms", NULL);
	check_not_slow(&folded);
	if (folded.count > 0)
		folded_check_thread(&folded, tid, "stay_f0;stay_leaf$");
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_wait_progress(&target, 0);
	folded_release(&folded);
	target_finish(&target, NULL);
}

static void
leader_leaves(void)
{
	struct target target;
	struct folded folded;
	struct run run;
	char line[64] = "";

	harness_case("first thread goes during sampling");
	target_start(&target, "leaves", "later", NULL);
	pid_t tid = inspect_thread_named(target.pid, "stays", 0);
	run_start(&run, target.pid, "-r", "500", "-d", "1500ms", NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	target_tell(&target);
	target_read_line(&target, line, sizeof(line));
	CHECK(strcmp(line, "gone") == 0, "the target says '%s'", line);
	run_finish(&run);
	folded_of_run(&folded, &run);
	/* The others were sampled to the end. */
	CHECK(folded_weight(&folded, tid, NULL) > 1400000, "the other thread has %llu us",
	      (unsigned long long)folded_weight(&folded, tid, NULL));
	folded_check_thread(&folded, tid, "stay_f0;stay_leaf$");
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_wait_progress(&target, 0);
	folded_release(&folded);
	target_finish(&target, NULL);
}

/* A thread that waits in vfork for its child's exec or exit does not stop for anybody. */
static void
vfork_parent(const char *option)
{
	struct target target;
	struct folded folded;
	char *text;

	harness_case("vfork, %s", option);
	target_start(&target, "vforks", NULL);
	pid_t tid = inspect_thread_named(target.pid, "vforker", 0);
	CHECK(inspect_state(target.pid, tid) == 'D', "the thread does not wait in vfork");
	folded_sample(&folded, target.pid, "-r", "200", "-d", "1", option, NULL);
	check_not_slow(&folded);
	/* The C library keeps the return address in a register meanwhile. */
	folded_check_thread(&folded, tid, "vfork_f0;vfork_f1;...");
	target_finish(&target, &text);
	CHECK(target_number(text, "child") == 9, "the child ended with %s", text);
	folded_release(&folded);
	free(text);
}

/*
 * Behind a busy thread's stack lies memory whose pages only this thread provides: who touched
 * it while the thread is stopped would wait for ever, and the thread with him.
 */
static void
brink(const char *option)
{
	struct target target;
	struct folded folded;

	harness_case("a stack at the brink, %s", option);
	target_start(&target, "brink", NULL);
	if (target.counter[1] != 1) {
		harness_skip("no userfaultfd for faults of others, or Linux before 6.11");
		target_finish(&target, NULL);
		return;
	}
	pid_t tid = inspect_thread_named(target.pid, "edge", 0);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "1", option, NULL);
	check_not_slow(&folded);
	folded_check_thread(&folded, tid, "brink_f0;brink_leaf;...");
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_wait_progress(&target, 0);
	folded_release(&folded);
	target_finish(&target, NULL);
}

static void
block_all_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

/* Whoever starts wallsample may have blocked any signal: that which bounds its waits is not. */
static void
signals_blocked(void)
{
	char program[] = "wallsample", p[] = "-p", d[] = "-d", time[] = "1", r[] = "-r",
	     rate[] = "200", nothing[] = "--no-jitter", pid[16];
	char *words[] = {program, p, pid, d, time, r, rate, nothing, NULL};
	struct target target;
	struct run run;

	harness_case("vfork, all signals blocked by the parent");
	target_start(&target, "vforks", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_start_words(&run, words, block_all_signals);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	const uint64_t blocked = inspect_blocked_signals(run.pid);
	CHECK((blocked >> (SIGUSR2 - 1) & 1) == 1, "signals are not blocked: %llx",
	      (unsigned long long)blocked);
	CHECK((blocked >> (SIGRTMAX - 1) & 1) == 0, "the watchdog's signal is blocked: %llx",
	      (unsigned long long)blocked);
	run_finish(&run);
	run_succeeded(&run);
	CHECK(run.ended_ns - run.began_ns >= 1000000000, "it has ended early");
	run_release(&run);
	target_finish(&target, NULL);
}

/* Started by wallsample itself: seen from its beginning to its end. */
static void
as_command(void)
{
	char program[] = "wallsample", r[] = "-r", rate[] = "200", f[] = "-f", name[] = "folded",
	     t[] = "-t", v[] = "-v", dashes[] = "--", *path = strdup(target_path("exec_after"));
	char *words[] = {program, v, r, rate, f, name, t, dashes, path, NULL};
	struct folded folded;
	struct run run;
	char why[256] = "";

	harness_case("a command");
	run_start_words(&run, words, NULL);
	run_finish(&run);
	run_succeeded(&run);
	/* The command says something on the same output. */
	char *begin = strstr(run.out, "became\n");
	CHECK(begin != NULL, "the command has not run: %s", run.err);
	if (begin == run.out)
		CHECK(folded_parse(&folded, begin + 7, why, sizeof(why)), "%s", why);
	if (begin == run.out)
		CHECK(folded_weight(&folded, 0, "main;after_f0;after_leaf") > 0,
		      "too little of the command: %s", run.out);
	if (begin == run.out)
		folded_release(&folded);
	run_release(&run);
	free(path);
}

int
main(void)
{
	harness_begin(180);
	exec_by("leader", "--no-jitter");
	/* About one in ten meets the moment in which the thread takes over another id. */
	for (int i = 0; i < 8; i++)
		exec_by("thread", i % 2 == 0 ? "--no-jitter" : "--stop-all");
	ends("exits", 0, "--no-jitter");
	ends("exits", 0, "--stop-all");
	ends("is killed", SIGKILL, "--no-jitter");
	ends("is killed", SIGKILL, "--stop-all");
	ends("is killed", SIGKILL, "--nonblocking");
	leaderless();
	leader_leaves();
	signals_blocked();
	vfork_parent("--no-jitter");
	vfork_parent("--stop-all");
	brink("--no-jitter");
	brink("--stop-all");
	as_command();
	return harness_end();
}
