/* SPDX-License-Identifier: MIT */
/* test_programs.c - the CPU time of a child that computes is found among all processes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/process/programs.h"

/* CPU time of each child: many clock ticks, which have 10 ms. If it takes longer than SLOW_NS, the
 * machine is so busy that the children may have less than the least share that is reported. */
#define COMPUTED_NS (200 * NS_PER_MS)
#define SLOW_NS (2 * NS_PER_SEC)

static uint64_t
cpu_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * NS_PER_SEC + (uint64_t)time.tv_nsec;
}

/* Starts a process of this name that computes until it is killed. */
static pid_t
start(const char *name)
{
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		for (;;)
			continue;
	}
	return pid;
}

static const char *
name_of_run(char name[16])
{
	snprintf(name, 16, "spin %u", (unsigned)getpid() % 10000000);
	return name;
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static double
seconds_between(uint64_t began_ns)
{
	return (double)(clock_now_ns() - began_ns) / (double)NS_PER_SEC;
}

/* Returns what was used while the two children computed; the caller releases it. On a busy machine
 * other programs may have used more, so that names are sought with the others left out. */
static struct strbuf
text_of(pid_t one, pid_t other, const pid_t *except, size_t count)
{
	const uint64_t began_ns = clock_now_ns();
	struct programs *before = programs_read(), *now;
	const uint64_t one_ns = cpu_of(one), other_ns = cpu_of(other);
	struct strbuf text = STRBUF_INIT;

	assert_non_null(before);
	while (cpu_of(one) < one_ns + COMPUTED_NS || cpu_of(other) < other_ns + COMPUTED_NS)
		nanosleep(&(struct timespec){ .tv_nsec = NS_PER_MS }, NULL);
	now = programs_read();
	assert_non_null(now);
	strbuf_add_text(&text, "");
	programs_add_busy(before, now, except, count, &text);
	/* The kernel counts by ticks, of which a virtual machine may lose some. 0: not known. */
	if (programs_machine_busy(before, now) > 0)
		assert_true(programs_machine_busy(before, now) * seconds_between(began_ns) >=
			    (double)COMPUTED_NS / (double)NS_PER_SEC);
	programs_free(before);
	programs_free(now);
	return text;
}

static size_t
count_names(const char *text)
{
	size_t count = text[0] != '\0';

	for (; (text = strstr(text, " CPUs, ")) != NULL; text++)
		count++;
	return count;
}

/* True if the text must have a program that computed since `began_ns`: it has no three others. */
static bool
is_certain(const char *text, uint64_t began_ns)
{
	return count_names(text) < 3 && clock_now_ns() - began_ns < SLOW_NS;
}

static void
test_names(void **state)
{
	char name[16]; /* of this run of the test: others may run beside it */
	const pid_t one = start(name_of_run(name)), other = start(name);
	const pid_t both[] = { one, other };
	uint64_t began_ns = clock_now_ns();
	struct strbuf text = text_of(one, other, NULL, 0);
	char alone[64], both_text[64];

	(void)state;
	snprintf(both_text, sizeof(both_text), "%s (2 processes) ", name);
	assert_in_range(count_names(text.data), 0, 4);
	if (is_certain(text.data, began_ns))
		assert_non_null(strstr(text.data, both_text));
	strbuf_release(&text);
	text = text_of(one, other, both, 2);
	snprintf(alone, sizeof(alone), "%s (", name);
	assert_null(strstr(text.data, alone));
	strbuf_release(&text);
	began_ns = clock_now_ns();
	text = text_of(one, other, both, 1);
	snprintf(alone, sizeof(alone), "%s (%jd) ", name, (intmax_t)other);
	if (is_certain(text.data, began_ns))
		assert_non_null(strstr(text.data, alone));
	strbuf_release(&text);
	end(one);
	end(other);
}

static void
test_none(void **state)
{
	struct programs *programs = programs_read();
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_add_text(&text, "");
	programs_add_busy(NULL, programs, NULL, 0, &text);
	programs_add_busy(programs, NULL, NULL, 0, &text);
	programs_add_busy(programs, programs, NULL, 0, &text);
	assert_string_equal(text.data, "");
	assert_true(programs_machine_busy(NULL, programs) <= 0);
	assert_true(programs_machine_busy(programs, NULL) <= 0);
	strbuf_release(&text);
	programs_free(programs);
	programs_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
