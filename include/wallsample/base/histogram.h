/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - a distribution of times in constant memory.
 *
 * Bucket widths grow geometrically (16 buckets per power of two), so that a quantile is within
 * 1/16 of the true value at any scale. Count, sum, minimum and maximum are exact.
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
/* Estimate of the quantile q in [0, 1]; 0 for an empty histogram. */
uint64_t histogram_quantile(const struct histogram *h, double q);

#endif
