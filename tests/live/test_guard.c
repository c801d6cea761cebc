/* SPDX-License-Identifier: MIT */
/*
 * test_guard.c - whoever is killed while runs are counted, the target goes on, without breakpoints;
 * and the command looks like one process.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "wallsample/base/base.h"
#include "wallsample/cli/guard.h"
#include "wallsample/tracer/tracer_count.h"

/* Counters of targets/counted.c. */
enum { COUNTED, OTHER, DONE, ADDRESS = 8, OTHER_ADDRESS, WORKER = 16 };
#define WORKERS 4

/* Of cli/cli_internal.h, which has another struct target than we. */
void signals_install(void);
void signals_defer_suspend(bool defer);
extern volatile sig_atomic_t signals_stop;

/* A command that counts: two processes, of which we are the parent's parent. */
struct command_run {
	struct target *target;
	uint64_t address;
	pid_t parent, child;
	int told;   /* the child says that it counts, and its end closes it */
	int tell;
};

static int
count_until_stopped(void *context)
{
	struct command_run *run = context;
	struct process *process;
	struct tracer *tracer;
	const pid_t own = getpid();
	struct error err;
	int rc;

	signals_install();
	signals_defer_suspend(true);
	if (process_open(run->target->pid, &process, &err) != 0 ||
	    tracer_create(process, &tracer, &err) != 0)
		return 90;
	guard_watch(process);
	rc = tracer_count(tracer, &run->address, 1, &err);
	if (write(run->tell, &own, sizeof(own)) != sizeof(own))
		rc = -1;
	while (rc == 0 && signals_stop == 0 && tracer_count_state(tracer) == COUNT_RUNNING)
		tracer_sleep_until(tracer, clock_now_ns() + 5 * NS_PER_MS);
	tracer_free(tracer);
	guard_watch(NULL);
	process_free(process);
	return rc == 0 ? 40 + signals_stop : 91;
}

static void
start(struct command_run *run, struct target *target, uint64_t address)
{
	int ends[2];
	struct error err;

	if (pipe2(ends, O_CLOEXEC) != 0)
		harness_die("no pipe");
	*run = (struct command_run){ .target = target, .address = address,
				     .told = ends[0], .tell = ends[1] };
	run->parent = fork();
	if (run->parent == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(0);
		setpgid(0, 0);
		close(ends[0]);
		_exit(guard_run(count_until_stopped, run, &err));
	}
	close(ends[1]);
	if (read(run->told, &run->child, sizeof(run->child)) != sizeof(run->child))
		harness_die("the command does not begin to count");
}

/* Both of them have ended; the parent's wait status. */
static int
finish(struct command_run *run)
{
	int status;
	char byte;

	waitpid(run->parent, &status, 0);
	CHECK(read(run->told, &byte, 1) == 0, "the child says more than it should");
	close(run->told);
	return status;
}

static void
random_moment(unsigned *seed)
{
	const struct timespec time = { .tv_nsec = rand_r(seed) % 20000000 };

	nanosleep(&time, NULL);
}

/* All its threads run the function on, a thousand times. */
static bool
check_lives(struct target *target)
{
	const uint64_t done = target->counter[DONE];
	uint64_t seen[WORKERS];
	bool lives;

	if (inspect_state(target->pid, target->pid) == 'Z')
		return CHECK(false, "the target has died");
	CHECK(inspect_is_free(target->pid), "the target is not left alone");
	for (unsigned i = 0; i < WORKERS; i++)
		seen[i] = target->counter[WORKER + i];
	target_tell(target);
	do {
		sched_yield();
		lives = inspect_state(target->pid, target->pid) != 'Z';
	} while (lives && target->counter[DONE] == done);
	for (unsigned i = 0; i < WORKERS && lives; i++)
		while (lives && target->counter[WORKER + i] < seen[i] + 1000 / WORKERS) {
			sched_yield();
			lives = inspect_state(target->pid, target->pid) != 'Z';
		}
	return CHECK(lives, "the target has died of a breakpoint");
}

static void
end_target(struct target *target)
{
	int status = target_finish(target, NULL);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the target's wait status is 0x%x",
	      (unsigned)status);
}

/* Four threads run the function all the time. */
static void
kill_parent(int times)
{
	const unsigned begin = (unsigned)harness_now_ns();
	unsigned seed = begin;
	struct target target;
	struct command_run run;

	harness_case("the parent killed %d times", times);
	harness_note("seed %u", begin);
	target_start(&target, "counted", "workers", NULL);
	for (int i = 0; i < times; i++) {
		start(&run, &target, target.counter[ADDRESS]);
		random_moment(&seed);
		kill(run.parent, SIGKILL);
		const int status = finish(&run);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "wait status 0x%x",
		      (unsigned)status);
		if (!check_lives(&target))
			break;
	}
	end_target(&target);
}

/* Of a function that nobody runs meanwhile: the parent clears. */
static void
kill_child(int number, int times)
{
	unsigned seed = 1;
	struct target target;
	struct command_run run;

	harness_case("the child ended by signal %d, %d times", number, times);
	target_start(&target, "counted", "workers", NULL);
	for (int i = 0; i < times; i++) {
		start(&run, &target, target.counter[OTHER_ADDRESS]);
		random_moment(&seed);
		kill(run.child, number);
		const int status = finish(&run);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number,
		      "the parent's wait status is 0x%x", (unsigned)status);
		if (!check_lives(&target))
			break;
	}
	end_target(&target);
}

/* One signal, to the parent alone or to both as a terminal would. */
static void
polite_end(const char *name, int number, bool group)
{
	struct target target;
	struct command_run run;

	harness_case("%s", name);
	target_start(&target, "counted", "workers", NULL);
	start(&run, &target, target.counter[ADDRESS]);
	kill(group ? run.child : run.parent, number);
	const int status = finish(&run);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 40 + number, "wait status 0x%x",
	      (unsigned)status);
	check_lives(&target);
	end_target(&target);
}

/* The command is stopped by job control: its child, which suspends only when it has cleared all
 * breakpoints, and never does in this test, counts on. So the target does not wait at its next
 * breakpoint. */
static void
stopped_command(void)
{
	struct target target;
	struct command_run run;
	int status;

	harness_case("Ctrl-Z of the command");
	target_start(&target, "counted", "workers", NULL);
	start(&run, &target, target.counter[ADDRESS]);
	kill(-run.parent, SIGTSTP);
	waitpid(run.parent, &status, WUNTRACED);
	CHECK(WIFSTOPPED(status), "wait status 0x%x", (unsigned)status);
	for (unsigned i = 0; i < WORKERS; i++)
		for (int k = 0; k < 20; k++)
			target_wait_progress(&target, WORKER + i);
	kill(-run.parent, SIGCONT);
	kill(run.parent, SIGTERM);
	status = finish(&run);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 40 + SIGTERM, "wait status 0x%x",
	      (unsigned)status);
	check_lives(&target);
	end_target(&target);
}

int
main(void)
{
	harness_begin(200);
	kill_parent(50);
	kill_child(SIGKILL, 10);
	kill_child(SIGABRT, 2);
	polite_end("SIGTERM to the parent", SIGTERM, false);
	polite_end("SIGINT to the parent", SIGINT, false);
	polite_end("SIGINT to the child", SIGINT, true);
	stopped_command();
	return harness_end();
}
