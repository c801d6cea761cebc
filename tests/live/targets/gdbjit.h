/* SPDX-License-Identifier: MIT */
/*
 * gdbjit.h - what the target gdbjit and the code that it loads know of one another.
 */
#ifndef LIVE_GDBJIT_H
#define LIVE_GDBJIT_H

struct gdbjit_host {
	int waits;              /* in its innermost function; else it runs there */
	volatile int *over;     /* never set */
	unsigned long counter;
	long (*wait)(struct gdbjit_host *host);
};

/* Calls inside_middle, which calls inside_leaf. */
long inside_top(struct gdbjit_host *host);

#endif
