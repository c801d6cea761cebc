/* SPDX-License-Identifier: MIT */
/*
 * coded.c - functions and lines to be counted: alone, inlined twice, both, and several of one
 * name. With each line that it is told it says where function() is.
 */
#include "target.h"

static volatile unsigned long sum;

__attribute__((always_inline)) static inline void
copied(unsigned long n)
{
	sum += n * n; /* LINE copied */
}

/* Inlined where it is called, and there for whoever has its address. */
__attribute__((always_inline)) static inline void
both(unsigned long n)
{
	sum ^= n;
}

static void (*volatile both_address)(unsigned long) = both;

FRAME static void
function(unsigned long n)
{
	copied(n); /* LINE call */
	both(n);
	KEEP_FRAME();
}

FRAME static void
looping(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) /* LINE loop */
		copied(i);
	/* LINE nothing */
	sum++; /* LINE alone */
	KEEP_FRAME();
}

int
main(void)
{
	char text[64];

	target_ready();
	while (target_told()) {
		function(3);
		looping(3);
		both_address(2);
		snprintf(text, sizeof(text), "%p\n", (void *)(uintptr_t)function);
		target_say(text);
	}
	return 0;
}
