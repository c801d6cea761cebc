/* SPDX-License-Identifier: MIT */
/* watchdog.c - the timer, its signal, and the handler that does nothing. */
#include "tracer/tracer_internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static void
on_watchdog(int signo)
{
	(void)signo; /* the only effect of the signal is that the wait ends with EINTR */
}

int
watchdog_create(struct watchdog *watchdog, struct error *err)
{
	struct sigaction action = { .sa_handler = on_watchdog };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX };
	sigset_t signals;

	watchdog->armed = false;
	sigemptyset(&action.sa_mask);
	/* wallsample may have inherited a signal mask that blocks the signal: then the timer could
	 * not end a wait. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMAX);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	if (sigaction(SIGRTMAX, &action, NULL) != 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &watchdog->timer) != 0)
		return error_set(err, ERROR_SYSTEM, "cannot set up a timer: %s", strerror(errno));
	return 0;
}

void
watchdog_free(struct watchdog *watchdog)
{
	timer_delete(watchdog->timer);
}

void
watchdog_set(struct watchdog *watchdog, uint64_t at_ns)
{
	struct itimerspec when = { .it_value.tv_sec = (time_t)(at_ns / NS_PER_SEC),
				   .it_value.tv_nsec = (long)(at_ns % NS_PER_SEC) };

	if (at_ns == 0 && !watchdog->armed)
		return;
	watchdog->armed = at_ns != 0;
	if (at_ns != 0)
		when.it_interval.tv_nsec = WATCHDOG_REPEAT_NS;
	timer_settime(watchdog->timer, TIMER_ABSTIME, &when, NULL);
}
