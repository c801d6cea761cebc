/* SPDX-License-Identifier: MIT */
/*
 * watchdog_internal.h - a timer whose signal ends a wait that would last too long: waitpid(2)
 * has no bound of its own.
 */
#ifndef WALLSAMPLE_TRACER_WATCHDOG_INTERNAL_H
#define WALLSAMPLE_TRACER_WATCHDOG_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"

/* The watchdog repeats, so that a signal that arrives just before a wait begins
 * only delays the end of the wait by this much. */
#define WATCHDOG_REPEAT_NS (2 * NS_PER_MS)

struct watchdog {
	timer_t timer;
	bool armed;
};

/* SIGRTMAX becomes its signal: unblocked, with a handler that does nothing. */
int watchdog_create(struct watchdog *watchdog, struct error *err);
void watchdog_free(struct watchdog *watchdog);

/* Makes waits end with EINTR at `at_ns` (CLOCK_MONOTONIC) or a little later, again and again;
 * 0 switches that off. */
void watchdog_set(struct watchdog *watchdog, uint64_t at_ns);

#endif
