/* SPDX-License-Identifier: MIT */
/*
 * timers.c - two threads, each with a timer that sends it 200 signals a second: one runs,
 * one sleeps.
 *
 * At the end of its input it prints, for each, "NAME expired N handled N": how often the
 * timer has expired by the clock, and how many expirations the handler was told of (one
 * for each run and those that the kernel counted as overruns, because the thread had not
 * had a CPU in time).
 */
#include <signal.h>

#include "target.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define PERIOD_NS UINT64_C(5000000)

void tick_spin(void), tick_sleep(void), on_tick(int, siginfo_t *, void *);

static _Atomic bool asked;
static __thread volatile uint64_t handled;
static __thread uint64_t first_ns;
static struct { _Atomic uint64_t expired, handled; } result[2];

FRAME void
on_tick(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	handled += 1 + (uint64_t)info->si_overrun;
}

static void
start_timer(int number)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
	struct itimerspec spec = {.it_interval = {.tv_nsec = PERIOD_NS}};
	timer_t timer;

	event.sigev_notify_thread_id = target_self->tid;
	first_ns = target_clock_ns(CLOCK_MONOTONIC) + PERIOD_NS;
	spec.it_value = (struct timespec){.tv_sec = (time_t)(first_ns / 1000000000u),
					  .tv_nsec = (long)(first_ns % 1000000000u)};
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, TIMER_ABSTIME, &spec, NULL) != 0)
		target_fail("timer");
}

/*
 * Takes both numbers of the same moment: no handler has run between the first look at the
 * count and the second, and one that was due would have, before the next instruction.
 */
static void
compare(void)
{
	const size_t own = target_self->sleeps ? 1 : 0;
	uint64_t before, now;

	do {
		before = handled;
		now = target_clock_ns(CLOCK_MONOTONIC);
	} while (handled != before);
	result[own].handled = before;
	result[own].expired = now < first_ns ? 0 : (now - first_ns) / PERIOD_NS + 1;
}

FRAME void
tick_spin(void)
{
	start_timer(SIGALRM);
	target_here();
	while (!asked)
		target_sink++;
	compare();
}

FRAME void
tick_sleep(void)
{
	const struct timespec long_time = {.tv_sec = 1000};

	start_timer(SIGRTMIN + 3);
	while (!asked) {
		target_here();
		nanosleep(&long_time, NULL); /* ends at each signal */
	}
	compare();
}

static struct target_thread threads[] = {
	{.name = "ticking", .run = tick_spin},
	{.name = "woken", .run = tick_sleep, .sleeps = true},
};

int
main(void)
{
	struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO};

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGRTMIN + 3, &action, NULL);
	target_start(threads, 2, 0);
	target_wait(threads, 2);
	target_ready();
	while (target_told())
		;
	asked = true;
	for (size_t i = 0; i < 2; i++) {
		pthread_join(threads[i].thread, NULL);
		printf("%s expired %llu handled %llu\n", threads[i].name,
		       (unsigned long long)result[i].expired,
		       (unsigned long long)result[i].handled);
	}
	return 0;
}
