/* SPDX-License-Identifier: MIT */
/*
 * harness.c - checks, and target processes.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wallsample/thread/stolen.h"

/* As TARGET_COUNTERS_FD of targets/target.h. */
#define COUNTERS_FD 3
#define WORDS_MOST 32

static struct {
	char name[128]; /* of the case */
	char note[1024];
	unsigned cases, skipped, failed;
	struct machine_time machine; /* when the case began; busy_ns 0: not known */
} state;

/* --- checks ------------------------------------------------------------------- */

static void
on_alarm(int number)
{
	static const char text[] = "FAIL: this has taken too long: ";

	(void)number;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDOUT_FILENO, state.name, strlen(state.name)) < 0 ||
	    write(STDOUT_FILENO, "; ", 2) < 0 ||
	    write(STDOUT_FILENO, state.note, strlen(state.note)) < 0 ||
	    write(STDOUT_FILENO, "\n", 1) < 0)
		_exit(2);
	_exit(1);
}

/* One child tries to seize another, as wallsample will. */
static bool
may_trace_siblings(void)
{
	int status = 0;
	pid_t traced = fork();

	if (traced == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	pid_t tracer = fork();
	if (tracer == 0)
		_exit(ptrace(PTRACE_SEIZE, traced, NULL, NULL) == 0 ? 0 : 1);
	waitpid(tracer, &status, 0);
	kill(traced, SIGKILL);
	waitpid(traced, NULL, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void
harness_begin(unsigned seconds)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	if (getenv("WALLSAMPLE") == NULL || getenv("BUILD") == NULL)
		harness_die("WALLSAMPLE (the program) and BUILD (the build folder) must be set");
	if (!may_trace_siblings()) {
		printf("SKIP: tracing is not permitted here\n");
		exit(77);
	}
	signal(SIGALRM, on_alarm);
	alarm(seconds);
}

void
harness_case(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(state.name, sizeof(state.name), fmt, args);
	va_end(args);
	state.note[0] = '\0';
	if (!machine_time_read(&state.machine))
		state.machine = (struct machine_time){ 0 };
	state.cases++;
	printf("case %s\n", state.name);
}

double
harness_stolen(void)
{
	struct machine_time now;

	if (state.machine.busy_ns == 0 || !machine_time_read(&now))
		return 0;
	const double stolen = machine_time_stolen(&state.machine, &now);
	return stolen / (1 + stolen);
}

void
harness_skip(const char *fmt, ...)
{
	va_list args;

	printf("SKIP %s: ", state.name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	state.skipped++;
}

void
harness_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(state.note, sizeof(state.note), fmt, args);
	va_end(args);
}

bool
harness_check(const char *file, int line, bool holds, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	va_list args;

	if (holds)
		return true;
	printf("FAIL %s (%s:%d): ", state.name, base != NULL ? base + 1 : file, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	if (state.note[0] != '\0')
		printf("  %s\n", state.note);
	state.note[0] = '\0';
	state.failed++;
	return false;
}

int
harness_end(void)
{
	if (state.failed > 0)
		printf("%u checks failed\n", state.failed);
	if (state.failed > 0)
		return 1;
	return state.cases > 0 && state.skipped == state.cases ? 77 : 0;
}

void
harness_die(const char *fmt, ...)
{
	va_list args;

	printf("cannot go on with %s: ", state.name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	exit(99);
}

uint64_t
harness_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double
harness_share_bound(double p, double ticks)
{
	return 5 * sqrt(p * (1 - p) / (ticks / 2));
}

bool
harness_check_share(const char *file, int line, const char *what, double seen, double truth,
		    double ticks)
{
	const double bound = 0.02 + harness_share_bound(truth, ticks);

	printf("  %s: %.4f, in truth %.4f +- %.4f\n", what, seen, truth, bound);
	return harness_check(file, line, fabs(seen - truth) <= bound,
			     "%s: %.4f, in truth %.4f +- %.4f", what, seen, truth, bound);
}

/* --- targets ------------------------------------------------------------------- */

const char *
target_path(const char *program)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/tests/live/bin/%s", getenv("BUILD"), program);
	return path;
}

bool
target_exists(const char *program)
{
	return access(target_path(program), X_OK) == 0;
}

/* In the child: the pipes and the counters become its first four descriptors. */
_Noreturn static void
become_target(int in, int out, int counters, char **words)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Out of the way of 0 to 3, which they are to be. */
	in = fcntl(in, F_DUPFD_CLOEXEC, 10);
	out = fcntl(out, F_DUPFD_CLOEXEC, 10);
	counters = fcntl(counters, F_DUPFD_CLOEXEC, 10);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(counters, COUNTERS_FD) < 0)
		_exit(97);
	signal(SIGPIPE, SIG_DFL);
	execv(words[0], words);
	_exit(96);
}

static void
spawn_target(struct target *target, char **words)
{
	const size_t size = HARNESS_COUNTERS * sizeof(uint64_t);
	int in[2], out[2];
	int counters = memfd_create("counters", MFD_CLOEXEC);

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || counters < 0 ||
	    ftruncate(counters, (off_t)size) != 0)
		harness_die("no descriptors: %s", strerror(errno));
	target->counter = mmap(NULL, size, PROT_READ, MAP_SHARED, counters, 0);
	if (target->counter == MAP_FAILED)
		harness_die("no memory: %s", strerror(errno));
	target->pid = fork();
	if (target->pid < 0)
		harness_die("no process: %s", strerror(errno));
	if (target->pid == 0)
		become_target(in[0], out[1], counters, words);
	close(in[0]);
	close(out[1]);
	close(counters);
	target->in = in[1];
	target->out = out[0];
}

void
target_start(struct target *target, const char *program, ...)
{
	char *words[WORDS_MOST];
	char line[256];
	size_t count = 0;
	va_list args;

	words[count++] = strdup(target_path(program));
	va_start(args, program);
	do
		words[count] = va_arg(args, char *);
	while (words[count++] != NULL && count < WORDS_MOST);
	va_end(args);
	spawn_target(target, words);
	while (target_read_line(target, line, sizeof(line)))
		if (strcmp(line, "ready") == 0) {
			free(words[0]);
			return;
		} else
			printf("%s says: %s\n", program, line);
	harness_die("%s has ended, status 0x%x", words[0], (unsigned)target_finish(target, NULL));
}

void
target_tell(struct target *target)
{
	if (write(target->in, "\n", 1) != 1)
		harness_die("the target does not listen: %s", strerror(errno));
}

void
target_tell_end(struct target *target)
{
	if (target->in >= 0)
		close(target->in);
	target->in = -1;
}

bool
target_read_line(struct target *target, char *line, size_t size)
{
	size_t length = 0;
	char c;

	while (read(target->out, &c, 1) == 1) {
		if (c == '\n') {
			line[length] = '\0';
			return true;
		}
		if (length + 1 < size)
			line[length++] = c;
	}
	return false;
}

int
target_finish(struct target *target, char **text)
{
	size_t length = 0, capacity = 0;
	char *all = NULL;
	int status = 0;
	ssize_t n;

	target_tell_end(target);
	do {
		if (capacity - length < 4096)
			all = realloc(all, capacity += 65536);
		if (all == NULL)
			harness_die("no memory");
		n = read(target->out, all + length, capacity - length - 1);
		length += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	all[length] = '\0';
	close(target->out);
	if (waitpid(target->pid, &status, 0) != target->pid)
		harness_die("the target has got lost: %s", strerror(errno));
	munmap((void *)(uintptr_t)target->counter, HARNESS_COUNTERS * sizeof(uint64_t));
	if (text != NULL)
		*text = all;
	else
		free(all);
	return status;
}

void
target_wait_progress(const struct target *target, unsigned counter)
{
	const uint64_t before = target->counter[counter];

	while (target->counter[counter] == before) {
		siginfo_t info = {.si_pid = 0};

		if (waitid(P_PID, (id_t)target->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    info.si_pid != 0)
			harness_die("the target has ended");
		sched_yield();
	}
}

uint64_t
target_number(const char *text, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
		if ((at == text || at[-1] == '\n' || at[-1] == ' ') && at[length] == ' ')
			return strtoull(at + length + 1, NULL, 10);
	harness_die("no '%s' in what the target says: %s", word, text);
}
