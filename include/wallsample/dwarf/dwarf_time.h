/* SPDX-License-Identifier: MIT */
/*
 * dwarf_time.h - how much CPU time the reading of DWARF may still take.
 *
 * Entries of a few bytes can each have libdw run over a list of a gigabyte: what it costs to
 * read a file cannot be told from its size.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_TIME_H
#define WALLSAMPLE_DWARF_DWARF_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_time {
	uint64_t began_ns, end_ns; /* of the CPU time of this process */
	uint64_t ask_ns; /* when that is asked for next: CLOCK_MONOTONIC */
	unsigned count;  /* of questions since */
	bool over;
};

void dwarf_time_start(struct dwarf_time *time, uint64_t most_ns);
/* To be asked at each step: the kernel is only at each 256th, and after 10 ms. */
bool dwarf_time_is_over(struct dwarf_time *time);
uint64_t dwarf_time_used_ns(const struct dwarf_time *time);

#endif
