/* SPDX-License-Identifier: MIT */
/*
 * test_modes.c - --nonblocking never stops anything, --stop-all still tells the truth, and
 * blocked threads are left alone in every mode.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"

#define PARKED 20

/* Whoever calls ptrace is killed by SIGSYS. */
static void
forbid_ptrace(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	/* The leak checker of the sanitizers stops its own process with ptrace. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(126);
}

static void
check_parked(const struct target *target, const struct folded *folded,
	     const long long switches[PARKED])
{
	for (size_t i = 0; i < PARKED; i++) {
		const pid_t tid = inspect_thread_named(target->pid, "parked", i);
		folded_check_thread(folded, tid, "park_f0;park_f1;park_f2;...");
		CHECK(inspect_switches(target->pid, tid) == switches[i],
		      "blocked thread %d was woken", (int)tid);
	}
	CHECK(target->counter[62] == 0 && target->counter[63] == 0, "calls came back");
	CHECK(inspect_is_free(target->pid), "the target is not left alone");
}

static void
remember(const struct target *target, long long switches[PARKED])
{
	for (size_t i = 0; i < PARKED; i++)
		switches[i] = inspect_switches(target->pid,
					       inspect_thread_named(target->pid, "parked", i));
}

static void
nonblocking(void)
{
	char program[] = "wallsample", p[] = "-p", f[] = "-f", name[] = "folded", t[] = "-t",
	     d[] = "-d", time[] = "1", r[] = "-r", rate[] = "200", v[] = "-v",
	     option[] = "--nonblocking", pid[16];
	char *words[] = {program, v, p, pid, f, name, t, d, time, r, rate, option, NULL};
	long long switches[PARKED];
	struct target target;
	struct folded folded;
	struct run run;

	harness_case("--nonblocking never calls ptrace");
	target_start(&target, "crowd", "2", "2", "20", NULL);
	remember(&target, switches);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_start_words(&run, words, forbid_ptrace);
	run_finish(&run);
	if (WIFEXITED(run.status) && WEXITSTATUS(run.status) == 126) {
		harness_skip("no system call filters");
		run_release(&run);
		target_finish(&target, NULL);
		return;
	}
	folded_of_run(&folded, &run);
	for (size_t i = 0; i < 2; i++) {
		pid_t tid = inspect_thread_named(target.pid, "spinner", i);
		const uint64_t all = folded_weight(&folded, tid, NULL);
		CHECK(all > 900000, "spinner %d has only %llu us", (int)tid,
		      (unsigned long long)all);
		CHECK(folded_weight(&folded, tid, "^[running: not stopped]$") == all,
		      "a running thread has a stack");
	}
	check_parked(&target, &folded, switches);
	folded_release(&folded);
	target_finish(&target, NULL);
}

static void
with_option(const char *option)
{
	long long switches[PARKED];
	struct target target;
	struct folded folded;

	harness_case("%s", option);
	target_start(&target, "crowd", "2", "2", "20", NULL);
	remember(&target, switches);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "1500ms", option, NULL);
	for (size_t i = 0; i < 2; i++) {
		folded_check_thread(&folded, inspect_thread_named(target.pid, "spinner", i),
				    "spin;spin_leaf$");
		pid_t tid = inspect_thread_named(target.pid, "hot", i);
		/* On a busy machine it may move while it is looked at: then it says so. */
		const uint64_t failed = folded_weight(&folded, tid, "^[failed: *");
		const uint64_t known = folded_weight(&folded, tid, NULL) - failed;
		if (!CHECK(known > failed && folded_weight(&folded, tid, "hot;hot_leaf") >
						     known / 10 * 9,
			   "hot thread %d is elsewhere", (int)tid))
			folded_print(&folded, tid, 8);
	}
	check_parked(&target, &folded, switches);
	folded_release(&folded);
	target_finish(&target, NULL);
}

/* The text report names what a thread does, and the threads. */
static void
text_report(void)
{
	char program[] = "wallsample", p[] = "-p", d[] = "-d", time[] = "1", full[] = "--full",
	     pid[16];
	char *words[] = {program, p, pid, d, time, full, NULL};
	static const char *const wanted[] = {"spinner", "hot", "parked", "spin_leaf", "running",
					     "read", "epoll_wait", "sleeping"};
	struct target target;
	struct run run;

	harness_case("text report");
	target_start(&target, "crowd", "1", "1", "20", NULL);
	snprintf(pid, sizeof(pid), "%d", (int)target.pid);
	run_start_words(&run, words, NULL);
	run_finish(&run);
	run_succeeded(&run);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		CHECK(strstr(run.out, wanted[i]) != NULL, "no '%s' in:\n%s", wanted[i], run.out);
	run_release(&run);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(60);
	nonblocking();
	with_option("--stop-all");
	with_option("--no-jitter");
	with_option("--unwinder=libdw");
	with_option("--unwinder=libunwind");
	text_report();
	return harness_end();
}
