/* SPDX-License-Identifier: MIT */
/*
 * test_jitter.c - code made while the target runs has its name, the one that it had when the
 * sample was taken; and stacks go on through it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"

/* So much CPU time in each of the two functions: tens of samples. */
#define PHASE_NS UINT64_C(300000000)

#define FIRST "jit_root;jit_outer;jit_first in two words$"
#define SECOND "jit_root;jit_outer;jit_second$"

static void
wait_until_ran(const struct target *target, pid_t tid, uint64_t ns)
{
	const uint64_t from = inspect_sched_time(target->pid, tid).ran_ns;

	/* The alarm is the bound. */
	while (inspect_sched_time(target->pid, tid).ran_ns - from < ns)
		sched_yield();
}

/* Both threads, before anything is replaced. */
static void
named(void)
{
	struct target target;
	struct folded folded;

	harness_case("code that a perf map names");
	target_start(&target, "jitter", NULL);
	folded_sample(&folded, target.pid, "-r", "200", "-d", "500ms", NULL);
	folded_check_thread(&folded, inspect_thread_named(target.pid, "jit", 0), FIRST);
	folded_check_thread(&folded, inspect_thread_named(target.pid, "trampoline", 0),
			    "trampoline_root;py::f:/app/x.py;trampoline_leaf$");
	folded_release(&folded);
	target_finish(&target, NULL);
}

/* The same address has two names, one after the other. */
static void
replaced(void)
{
	struct target target;
	struct folded folded;
	struct run run;
	char line[64];

	harness_case("code that takes the place of other code");
	target_start(&target, "jitter", NULL);
	const pid_t tid = inspect_thread_named(target.pid, "jit", 0);
	run_start(&run, target.pid, "-r", "200", "-d", "60s", NULL);
	if (!CHECK(run_wait_sampling(&run), "it does not sample"))
		harness_die("%s", run.err);
	wait_until_ran(&target, tid, PHASE_NS);
	target_tell(&target);
	CHECK(target_read_line(&target, line, sizeof(line)), "nothing was replaced");
	wait_until_ran(&target, tid, PHASE_NS);
	kill(run.pid, SIGINT);
	run_finish(&run);
	run_succeeded(&run);
	folded_of_run(&folded, &run);
	if (folded_all_late(&folded, tid)) {
		printf("  the thread got no CPU in time: nothing is known of it\n");
	} else {
		const uint64_t first = folded_weight(&folded, tid, FIRST);
		const uint64_t second = folded_weight(&folded, tid, SECOND);
		bool good = CHECK(first >= PHASE_NS / 1000 / 2, "the first has %llu us",
				  (unsigned long long)first);
		good &= CHECK(second >= PHASE_NS / 1000 / 2, "the second has %llu us",
			      (unsigned long long)second);
		if (!good)
			folded_print(&folded, tid, 8);
	}
	CHECK(folded_weight(&folded, tid, "[anon]") == 0, "some code has no name");
	folded_release(&folded);
	run_release(&run);
	target_finish(&target, NULL);
}

/* A compiler that others wrote: optimised functions are named as in the source. */
static pid_t
start_node(int *in)
{
	static const char source[] =
		"function ws_leaf(n){let s=0;for(let i=0;i<n;i++)s+=Math.sqrt(i)*i%7;return s}"
		"function ws_outer(n){let r=0;for(let k=0;k<9;k++)r+=ws_leaf(n);return r}"
		"for(let i=0;i<3000;i++)ws_outer(300);console.log('ready');for(;;)ws_outer(20000)";
	int fds[2];
	char line[6] = "";
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		harness_die("no pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDOUT_FILENO);
		execlp("node", "node", "--perf-basic-prof", "--interpreted-frames-native-stack",
		       "-e", source, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	*in = fds[0];
	if (pid > 0 && read(fds[0], line, 5) == 5 && strcmp(line, "ready") == 0)
		return pid;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(fds[0]);
	return -1;
}

static void
node(void)
{
	struct folded folded;
	uint64_t leaf = 0, all = 0;
	char path[64];
	int in;

	harness_case("Node");
	const pid_t pid = start_node(&in);
	if (pid < 0) {
		harness_skip("no node that writes perf maps");
		return;
	}
	folded_sample(&folded, pid, "-r", "200", "-d", "1s", NULL);
	for (size_t i = 0; i < folded.count; i++) {
		const struct folded_line *line = &folded.line[i];
		const char *last = line->depth > 0 ? line->frame[line->depth - 1] : "";

		if (line->tid != pid || folded_line_is_late(line))
			continue;
		all += line->weight_us;
		if (strstr(last, "ws_leaf") != NULL || strstr(last, "ws_outer") != NULL)
			leaf += line->weight_us;
	}
	if (!CHECK(leaf * 10 >= all * 8, "%llu of %llu us are in the loop",
		   (unsigned long long)leaf, (unsigned long long)all))
		folded_print(&folded, pid, 8);
	folded_release(&folded);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(in);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	unlink(path);
}

int
main(void)
{
	harness_begin(60);
	named();
	replaced();
	node();
	return harness_end();
}
