/* SPDX-License-Identifier: MIT */
/* tracer_load.h - numbers of the threads that would stay stopped, or stop at a breakpoint, if
 * wallsample stopped running, for another process that watches wallsample. */
#ifndef WALLSAMPLE_TRACER_TRACER_LOAD_H
#define WALLSAMPLE_TRACER_TRACER_LOAD_H

#include <stddef.h>

struct tracer;

/* In memory that both processes share. */
struct tracer_load {
	_Atomic size_t stops;   /* threads that are stopped, or have a pending stop request */
	_Atomic size_t counted; /* threads with breakpoints (tracer_count.h) */
};

/* From now on the tracer keeps *load, which is borrowed, up to date. To be called before any thread
 * is stopped. */
void tracer_set_load(struct tracer *tracer, struct tracer_load *load);

#endif
