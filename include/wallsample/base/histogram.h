/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - the distribution of durations, in memory of constant size.
 *
 * Each value below 16 has its own bucket, and each range from a power of two to the next one has 16
 * buckets, so that the error of a quantile is at most 1/16 of its value. Count, minimum and maximum
 * are exact; the sum stops at UINT64_MAX.
 */
#ifndef WALLSAMPLE_BASE_HISTOGRAM_H
#define WALLSAMPLE_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB 16
#define HISTOGRAM_BUCKETS (64 * HISTOGRAM_SUB)

struct histogram {
	uint64_t count, sum, min, max;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_init(struct histogram *h);
void histogram_add(struct histogram *h, uint64_t value);
/* Estimates the quantile q in [0, 1]. Returns 0 for an empty histogram. */
uint64_t histogram_quantile(const struct histogram *h, double q);

#endif
