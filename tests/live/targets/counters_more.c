/* SPDX-License-Identifier: MIT */
/* counters_more.c - a counter with the same name as one of another file. */
#include "counters.h"

#include <stdint.h>

static volatile uint32_t twice;

void
counters_more(void)
{
	twice += 7;
}
