/* SPDX-License-Identifier: MIT */
/*
 * test_process_set_load.c - looks of a target set beside many processes that live 50 ms each, and
 * beside many threads. Prints what the looks cost; checks only what is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/process_internal.h"
#include "wallsample/process/process_set.h"

#define PROCESSES 1000
#define AT_ONCE 20
#define LIFE_NS (50 * NS_PER_MS)
#define QUIET_LOOKS 20000

/* A process that forks AT_ONCE others for each byte that it reads. They end when they are LIFE_NS
 * old and have read a byte from `release`. */
struct crowd {
	pid_t root;
	int to, release, alive; /* `alive` has one byte of each process that runs, at most */
};

static void
wait_ns(uint64_t ns)
{
	const struct timespec time = { .tv_nsec = (long)ns };

	nanosleep(&time, NULL);
}

static void
crowd_run(int in, int release)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		for (int i = 0; i < AT_ONCE; i++) {
			if (fork() != 0)
				continue;
			wait_ns(LIFE_NS);
			_exit(read(release, &byte, 1) == 1 ? 0 : 1);
		}
	}
	_exit(0);
}

static struct crowd
crowd_start(void)
{
	struct crowd crowd = { .root = 0 };
	int to[2], release[2];

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(release), 0);
	crowd.root = fork();
	assert_true(crowd.root >= 0);
	if (crowd.root == 0) {
		signal(SIGCHLD, SIG_IGN);
		close(to[1]);
		close(release[1]);
		crowd_run(to[0], release[0]);
	}
	close(to[0]);
	close(release[0]);
	crowd.to = to[1];
	crowd.release = release[1];
	return crowd;
}

static void
crowd_end(struct crowd *crowd)
{
	close(crowd->to);
	close(crowd->release);
	assert_int_equal(waitpid(crowd->root, NULL, 0), crowd->root);
}

static size_t
count_descriptors(void)
{
	DIR *opened = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(opened);
	while (readdir(opened) != NULL)
		count++;
	closedir(opened);
	return count;
}

static void
print_cost(const char *what, const struct process_set_stats *stats, size_t members, uint64_t ns)
{
	print_message("%s: %.2f%% of a CPU, %zu new members, per look %.1f us, per process read "
		      "%.1f us, longest look %.0f us; %llu looks, %llu ids, %llu of them ended "
		      "before, %llu readings, %llu listings, %llu looks postponed something\n",
		      what, 100.0 * (double)stats->cpu_ns / (double)ns, members,
		      (double)stats->cpu_ns / 1e3 / (double)stats->looks,
		      (double)stats->cpu_ns / 1e3 / (double)(stats->examined + 1),
		      (double)stats->cpu_most_ns / 1e3, (unsigned long long)stats->looks,
		      (unsigned long long)stats->ids, (unsigned long long)stats->ids_ended,
		      (unsigned long long)stats->examined, (unsigned long long)stats->listings,
		      (unsigned long long)stats->postponed);
}

/* Looks every millisecond until AT_ONCE processes more are members. */
static void
find_batch(struct process_set *set, pid_t pids[AT_ONCE], uint64_t start_times[AT_ONCE])
{
	for (int found = 0; found < AT_ONCE; wait_ns(NS_PER_MS)) {
		pid_t pid;

		process_set_look(set, clock_now_ns());
		while ((pid = process_set_next_new(set, &start_times[found])) > 0) {
			assert_true(found < AT_ONCE);
			pids[found++] = pid;
		}
	}
}

/* Looks until the processes have ended, and removes them, as the sampler does. */
static void
remove_batch(struct process_set *set, const pid_t pids[AT_ONCE],
	     const uint64_t start_times[AT_ONCE])
{
	for (int i = 0; i < AT_ONCE; i++) {
		while (kill(pids[i], 0) == 0) {
			process_set_look(set, clock_now_ns());
			wait_ns(NS_PER_MS);
		}
		process_set_remove(set, pids[i], start_times[i]);
	}
}

static void
run_crowd(const char *what, const struct process_set_config *given)
{
	const size_t before = count_descriptors();
	struct crowd crowd = crowd_start();
	struct process_set_config config = *given;
	const uint64_t began_ns = clock_now_ns();
	struct process_set *set;
	struct error err = { .text = "" };
	size_t members = 0;

	config.pids = &crowd.root;
	config.pid_count = 1;
	if (process_set_create(&config, &set, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(process_set_next_new(set, NULL), crowd.root);
	while (members < PROCESSES) {
		uint64_t start_times[AT_ONCE];
		const char bytes[AT_ONCE] = "";
		pid_t pids[AT_ONCE];

		assert_int_equal(write(crowd.to, "", 1), 1);
		find_batch(set, pids, start_times);
		assert_int_equal(write(crowd.release, bytes, AT_ONCE), AT_ONCE);
		remove_batch(set, pids, start_times);
		members += AT_ONCE;
		assert_int_equal(process_set_count(set), 1);
	}
	assert_int_equal(process_set_next_new(set, NULL), 0);
	print_cost(what, process_set_stats(set), members, clock_now_ns() - began_ns);
	process_set_free(set);
	crowd_end(&crowd);
	assert_int_equal(count_descriptors(), before);
}

static void
test_descendants(void **state)
{
	(void)state;
	run_crowd("descendants", &(struct process_set_config){ .descendants = true });
}

/* A glob that no process matches: each process is examined several times in its short life. */
static void
test_excluded(void **state)
{
	const char *glob = "wallsample-no-such-name";

	(void)state;
	run_crowd("descendants, an excluded name",
		  &(struct process_set_config){ .descendants = true, .excluded = { &glob, 1 } });
}

/* A group that no process is in: the groups of each are read. */
static void
test_groups(void **state)
{
	const char *group = "/wallsample-no-such-group";
	const struct process_set_config config = { .descendants = true,
						   .cgroups = { &group, 1 },
						   .may_start_empty = true };

	(void)state;
	run_crowd("descendants, a group", &config);
}

/* Looks while nothing is created, apart from what else runs on the machine. */
static void
test_quiet(void **state)
{
	struct crowd crowd = crowd_start();
	const struct process_set_config config = { .pids = &crowd.root,
						   .pid_count = 1,
						   .descendants = true };
	struct process_set *set;
	uint64_t cpu_ns;
	struct error err;

	(void)state;
	assert_int_equal(process_set_create(&config, &set, &err), 0);
	cpu_ns = clock_thread_cpu_ns();
	for (int i = 0; i < QUIET_LOOKS; i++)
		process_set_look(set, clock_now_ns());
	cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	print_message("quiet: %.2f us per look, %llu new ids meanwhile\n",
		      (double)cpu_ns / 1e3 / QUIET_LOOKS,
		      (unsigned long long)process_set_stats(set)->ids);
	assert_int_equal(process_set_count(set), 1);
	assert_int_equal(process_set_stats(set)->looks, QUIET_LOOKS);
	process_set_free(set);
	crowd_end(&crowd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_descendants),
		cmocka_unit_test(test_excluded),
		cmocka_unit_test(test_groups),
	};

	alarm(240);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
