/* SPDX-License-Identifier: MIT */
/* counters.h - the second file of a program that counts: counters_more.c. */
#ifndef TARGET_COUNTERS_H
#define TARGET_COUNTERS_H

void counters_more(void);
void counters_step(void);

#endif
