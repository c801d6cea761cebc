/* SPDX-License-Identifier: MIT */
/*
 * bench_rows.h - the rows of the bench: one record for each thing that is measured.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "bench_measure.h"

struct bench {
	bool keeps_overhead; /* --max-overhead is left at its default */
	const char *wallsample;  /* the program; NULL when it is not there */
	const char *folder;      /* of the bench's own programs */
	const char *board;       /* path of the file that targets count in */
	struct measure measure;
	double profile_seconds;  /* length of a run for sampler's own figures */
	double memory_seconds;
	unsigned met, missed, unclear;
};

struct row {
	const char *name;  /* for --only */
	const char *title;
	void (*run)(struct bench *bench);
};

extern const struct row bench_rows[]; /* ended by name == NULL */

#endif
