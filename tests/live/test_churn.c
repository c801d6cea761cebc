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
		pid_t tid = inspect_thread_named(target.pid, "creator", i);
		const uint64_t weight = folded_weight(&folded, tid, NULL);
		good &= CHECK(weight >= 1950000 && weight <= folded.run_us,
			      "creator %d has %llu us of 2 s", (int)tid,
			      (unsigned long long)weight);
		good &= CHECK(folded_weight(&folded, tid, "create_f0") >= weight / 2,
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
	bool good = CHECK(folded_weight(&folded, 0, "fork_f0") > 1000000, "fork_f0 is missing");
	good &= CHECK(folded_weight(&folded, 0, "fork_child") == 0, "a child was sampled");
	if (!good)
		folded_print(&folded, 0, 20);
	folded_release(&folded);
	finish(&target);
}

int
main(void)
{
	harness_begin(60);
	threads("--no-jitter");
	threads("--stop-all");
	forks("--no-jitter");
	forks("--stop-all");
	return harness_end();
}
