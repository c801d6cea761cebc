/* SPDX-License-Identifier: MIT */
/*
 * test_churn.c - threads and processes that come and go as fast as they can.
 */
#include <signal.h>
#include <sys/wait.h>

#include "folded.h"

static void
finish(struct target *target)
{
	CHECK(inspect_is_free(target->pid), "the target is not left alone");
	target_wait_progress(target, 0);
	int status = target_finish(target, NULL);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the target's wait status is 0x%x",
	      (unsigned)status);
}

/* The two threads that stay have the whole time; those that go have what they had. */
static void
threads(const char *option)
{
	struct target target;
	struct folded folded;

	harness_case("threads created and joined, %s", option);
	target_start(&target, "churn", NULL);
	const uint64_t before = target.counter[0] + target.counter[1];
	folded_sample(&folded, target.pid, "-r", "200", "-d", "2", option, NULL);
	const uint64_t created = target.counter[0] + target.counter[1] - before;
	bool good = CHECK(created > 100, "only %llu threads came", (unsigned long long)created);

	for (size_t i = 0; i < 2; i++) {
		const pid_t tid = (pid_t)target.counter[2 + i];
		const uint64_t weight = folded_weight(&folded, tid, NULL);
		good &= CHECK(weight >= 1950000 && weight <= folded.run_us,
			      "creator %d has %llu us of 2 s", (int)tid,
			      (unsigned long long)weight);
		good &= CHECK(folded_weight(&folded, tid, "create_f0") > 0,
			      "creator %d was seen elsewhere", (int)tid);
	}
	/* At any time at most two brief threads are alive beside the three that stay. */
	const uint64_t all = folded_weight(&folded, 0, NULL);
	good &= CHECK(all <= 5 * folded.run_us + 100000, "all threads together have %llu us",
		      (unsigned long long)all);
	if (!good)
		folded_print(&folded, 0, 20);
	folded_release(&folded);
	finish(&target);
}

/* Children are other processes: they end as they should, and are not sampled. */
static void
forks(const char *option)
{
	struct target target;
	struct folded folded;

	harness_case("children forked, %s", option);
	target_start(&target, "forks", NULL);
	const uint64_t before = target.counter[0];
	folded_sample(&folded, target.pid, "-r", "500", "-d", "2", option, NULL);
	CHECK(target.counter[0] - before > 100, "only %llu children",
	      (unsigned long long)(target.counter[0] - before));
	CHECK(target.counter[1] == 0, "%llu children ended otherwise than they meant to",
	      (unsigned long long)target.counter[1]);
	bool good = CHECK(folded_weight(&folded, 0, "fork_f0") > 0, "fork_f0 is missing");
	good &= CHECK(folded_weight(&folded, 0, "fork_child") == 0, "a child was sampled");
	if (!good)
		folded_print(&folded, 0, 20);
	folded_release(&folded);
	finish(&target);
}

/* Each exec ends all threads but one, which takes over the first one's thread id. */
static void
execs(const char *who, const char *option)
{
	struct target target;
	struct folded folded;
	struct run run;

	harness_case("exec by the %s as fast as it goes, %s", who, option);
	target_start(&target, "execs", who, NULL);
	run_start(&run, target.pid, "-r", "1000", "-d", "2", option, NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	target_tell(&target);
	run_finish(&run);
	folded_of_run(&folded, &run);
	CHECK(target.counter[0] > 50, "only %llu execs", (unsigned long long)target.counter[0]);
	CHECK(folded.run_us >= 2000000, "it has taken the target for gone after %llu us",
	      (unsigned long long)folded.run_us);
	/*
	 * The first thread's id is there all the time, whoever bears it. Many of its samples
	 * fail, because the one that was asked to stop is gone; they have to be there.
	 */
	const uint64_t all = folded_weight(&folded, target.pid, NULL);
	if (!CHECK(all > 500000, "the process has %llu us of 2 s", (unsigned long long)all))
		folded_print(&folded, 0, 20);
	folded_release(&folded);
	finish(&target);
}

/* Each thread beyond this number shares a record with others of its name: see the manual. */
#define OWN_RECORDS 10000u

/* More threads than are told apart: what cannot be told is whose time it was, not whether. */
static void
throng(void)
{
	const unsigned wanted = OWN_RECORDS + 100;
	char number[16];
	struct target target;
	struct folded folded;
	uint64_t shared = 0;

	harness_case("%u threads", wanted);
	snprintf(number, sizeof(number), "%u", wanted);
	target_start(&target, "throng", number, NULL);
	if (target.counter[0] < wanted) {
		harness_skip("the system permits %u threads", (unsigned)target.counter[0]);
		target_finish(&target, NULL);
		return;
	}
	folded_sample(&folded, target.pid, "-r", "10", "-d", "3", NULL);
	for (size_t i = 0; i < folded.count; i++)
		if (folded.line[i].tid == 0)
			shared += folded.line[i].weight_us;
	const uint64_t all = folded_weight(&folded, 0, "throng_f0;throng_leaf;...");
	/* Sampling lasts three seconds, and a tick of so many is no moment. */
	bool good = CHECK(all >= 3000000u * (uint64_t)wanted * 9 / 10 &&
				  all <= folded.run_us * wanted,
			  "%u threads have %.1f s in the one stack they have", wanted,
			  (double)all / 1e6);
	/* The first thread is one of those that have a record. */
	good &= CHECK(shared >= 3000000u * (uint64_t)101 * 9 / 10 && shared <= folded.run_us * 101,
		      "101 threads share %.1f s", (double)shared / 1e6);
	if (!good)
		folded_print(&folded, 0, 10);
	folded_release(&folded);
	CHECK(inspect_status(target.pid, target.pid, "TracerPid") == 0, "it is traced");
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(60);
	threads("--no-jitter");
	threads("--stop-all");
	forks("--no-jitter");
	forks("--stop-all");
	throng();
	execs("leader", "--no-jitter");
	execs("thread", "--no-jitter");
	execs("thread", "--stop-all");
	return harness_end();
}
