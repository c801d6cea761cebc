/* SPDX-License-Identifier: MIT */
/*
 * A report of a large recording: 50 million samples of a thousand threads, fifty of which do
 * something else at each tick. How long it takes, and how much memory.
 *
 * bench_recording WALLSAMPLE FILE [MILLIONS]
 */
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/recording/recording.h"

#define THREADS 1000
#define BUSY 50
#define STACKS 2000
#define DEPTH 30
#define TICK_NS (10 * (int64_t)NS_PER_MS)
#define MOST_S 5.0
#define MOST_MIB 1024.0

static uint32_t
make_stack(struct profile *profile, unsigned number)
{
	uint32_t stack = STACK_NONE;
	char name[32];

	for (unsigned level = 0; level < DEPTH; level++) {
		/* the outer half is shared */
		snprintf(name, sizeof(name), "f%u_%u", level,
			 level < DEPTH / 2 ? number % 10 : number % (10 + level * 20));
		stack = profile_intern_stack(profile, profile_intern_named(profile, name), stack);
	}
	return stack;
}

static void
sample_tick(struct profile *profile, const uint32_t *thread, const uint32_t *stack, uint64_t tick)
{
	struct profile_entry entry = { .samples = 1, .ns[WEIGHT_WALL] = TICK_NS };

	for (uint32_t t = 0; t < THREADS; t++) {
		const bool busy = t < BUSY;

		entry.thread = thread[t];
		entry.stack = stack[busy ? (t * 37 + tick * 11) % STACKS : t % STACKS];
		entry.state = !busy                ? RUN_SLEEPING :
			      (t + tick) % 25 == 0 ? RUN_RUNNING :
						     RUN_QUEUED;
		entry.syscall = busy ? (int32_t)SYSCALL_NONE : 7;
		entry.ns[WEIGHT_CPU] = entry.state == RUN_RUNNING ? TICK_NS : 0;
		entry.ns[WEIGHT_LATENCY] = busy ? TICK_NS / BUSY : 0;
		profile_add(profile, &entry);
	}
	profile_add_tick(profile, (uint64_t)TICK_NS, 2, BUSY);
}

static void
or_die(int rc, const struct error *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench_recording: %s\n", err->text);
	exit(2);
}

static void
generate(const char *path, uint64_t samples)
{
	static const struct run_stats none;
	struct process process = { .pid = 1, .dirfd = -1, .taskfd = -1, .comm = "made",
				   .cmdline = (char *)"made" };
	struct profile *profile = profile_create();
	struct modules *modules = modules_create();
	char *folder = xstrdup(path), *base = xstrdup(path);
	struct recording_config config = { .path = path, .modules = modules, .rate_hz = 100 };
	uint32_t thread[THREADS], stack[STACKS];
	struct recorder *recorder;
	struct error err;

	config.dirfd = open(dirname(folder), O_PATH | O_DIRECTORY);
	config.base = basename(base);
	or_die(recorder_create(&config, profile, &recorder, &err), &err);
	recorder_set_process(recorder, &process);
	for (uint32_t t = 0; t < THREADS; t++)
		thread[t] = profile_add_thread(profile, 0, (pid_t)(1000 + t), t, "thread");
	for (unsigned s = 0; s < STACKS; s++)
		stack[s] = make_stack(profile, s);
	for (uint64_t tick = 0; tick < samples / THREADS; tick++) {
		sample_tick(profile, thread, stack, tick);
		if (tick % 100 == 99)
			or_die(recorder_commit(recorder, &none, &err), &err);
	}
	or_die(recorder_finish(recorder, &none, RUN_END_STOPPED, NULL, &err), &err);
	printf("%llu samples in %.1f MiB\n", (unsigned long long)samples,
	       (double)recorder_size(recorder) / (1 << 20));
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	free(folder);
	free(base);
	close(config.dirfd);
}

/* One command, its output thrown away; true when it kept to the limits. */
static bool
measure(const char *what, char *const words[])
{
	const uint64_t began = clock_now_ns();
	struct rusage usage;
	double seconds, mib;
	int status, null;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execv(words[0], words);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		return false;
	seconds = (double)(clock_now_ns() - began) / (double)NS_PER_SEC;
	mib = (double)usage.ru_maxrss / 1024;
	printf("%-28s %6.2f s (at most %.0f)  %7.1f MiB (at most %.0f)\n", what, seconds, MOST_S,
	       mib, MOST_MIB);
	/* Samples without a cost have no reason to fail. */
	return WIFEXITED(status) && WEXITSTATUS(status) != 127 && seconds <= MOST_S &&
	       mib <= MOST_MIB;
}

int
main(int argc, char **argv)
{
	uint64_t millions = 50;
	bool good = true;

	if (argc < 3 || (argc > 3 && !parse_whole_u64(argv[3], 1, 10000, &millions))) {
		fprintf(stderr, "usage: bench_recording WALLSAMPLE FILE [MILLIONS]\n");
		return 64;
	}
	generate(argv[2], millions * 1000000);
	good &= measure("report", (char *[]){ argv[1], (char *)"report", (char *)"-q", argv[2],
					      NULL });
	good &= measure("report --parallelism 2",
			(char *[]){ argv[1], (char *)"report", (char *)"-q",
				    (char *)"--parallelism", (char *)"2", argv[2], NULL });
	good &= measure("report -t -f folded",
			(char *[]){ argv[1], (char *)"report", (char *)"-q", (char *)"-t",
				    (char *)"-f", (char *)"folded", argv[2], NULL });
	(void)unlink(argv[2]);
	return good ? 0 : 1;
}
