/* SPDX-License-Identifier: MIT */
/*
 * interrupts.c - a thread whose epoll_pwait has to end with EINTR at each of the signals that
 * another thread sends it, one after the other as fast as they are answered.
 *
 * The signal is blocked but inside the call, so that each must end a call. Prints, at the
 * end of its input, "sent N handled N eintr N other N lost N"; a signal that was not answered
 * within ten seconds is lost, and ends the sending.
 */
#include <signal.h>
#include <sys/epoll.h>

#include "target.h"

void wait_f0(void), wait_leaf(int), send_f0(void);

static _Atomic uint64_t sent, handled, eintr, other, lost;
static _Atomic bool asked;

static void
on_signal(int number)
{
	(void)number;
	handled++;
}

FRAME void
wait_leaf(int fd)
{
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	while (!target_over) {
		target_here();
		if (epoll_pwait(fd, &event, 1, -1, &none) == -1 && errno == EINTR)
			eintr++;
		else
			other++;
	}
}

FRAME void
wait_f0(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		target_fail("epoll_create1");
	wait_leaf(fd);
	KEEP_FRAME();
}

static struct target_thread threads[] = {
	{.name = "waiter", .run = wait_f0},
	{.name = "sender", .run = send_f0},
};

/* Every other time the waiter has gone to sleep before the next signal. */
FRAME void
send_f0(void)
{
	while (!threads[0].here)
		sched_yield();
	target_here();
	while (!asked && lost == 0) {
		const uint64_t before = eintr;
		const uint64_t limit = target_clock_ns(CLOCK_MONOTONIC) + 10000000000u;
		pthread_kill(threads[0].thread, SIGUSR1);
		sent++;
		while (eintr == before && lost == 0) {
			if (target_clock_ns(CLOCK_MONOTONIC) > limit)
				lost++;
			sched_yield();
		}
		for (uint64_t i = sent % 64 * 1000; i > 0; i--)
			target_sink++;
	}
}

int
main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &action, NULL);
	target_start(threads, 2, 0);
	target_wait(threads, 2);
	target_ready();
	while (target_told())
		;
	asked = true;
	pthread_join(threads[1].thread, NULL);
	printf("sent %llu handled %llu eintr %llu other %llu lost %llu\n",
	       (unsigned long long)sent, (unsigned long long)handled,
	       (unsigned long long)eintr, (unsigned long long)other,
	       (unsigned long long)lost);
	fflush(stdout);
	_exit(0);
}
