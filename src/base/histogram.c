/* SPDX-License-Identifier: MIT */
/* histogram.c - counts durations in buckets, 16 for each power of two. */
#include <string.h>

#include "wallsample/base/histogram.h"

#define SUB_BITS 4
_Static_assert(1 << SUB_BITS == HISTOGRAM_SUB, "SUB_BITS belongs to HISTOGRAM_SUB");

/*
 * Each value below 16 has its own bucket. The bucket of a larger value is determined by the
 * position of its highest set bit and by the four bits below that bit.
 */
static unsigned
bucket_of(uint64_t value)
{
	unsigned top;

	if (value < HISTOGRAM_SUB)
		return (unsigned)value;
	top = 63 - (unsigned)__builtin_clzll(value);
	return (top - SUB_BITS + 1) * HISTOGRAM_SUB +
	       (unsigned)((value >> (top - SUB_BITS)) & (HISTOGRAM_SUB - 1));
}

/* Returns the largest value of the bucket. */
static uint64_t
bucket_last(unsigned bucket)
{
	unsigned shift;
	uint64_t first;

	if (bucket < HISTOGRAM_SUB)
		return bucket;
	shift = bucket / HISTOGRAM_SUB - 1;
	first = (uint64_t)(HISTOGRAM_SUB + bucket % HISTOGRAM_SUB) << shift;
	return first + ((UINT64_C(1) << shift) - 1);
}

void
histogram_init(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

void
histogram_add(struct histogram *h, uint64_t value)
{
	if (h->count == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	if (__builtin_add_overflow(h->sum, value, &h->sum))
		h->sum = UINT64_MAX;
	h->bucket[bucket_of(value)]++;
}

uint64_t
histogram_quantile(const struct histogram *h, double q)
{
	double wanted = q * (double)h->count;
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t last;

		seen += h->bucket[i];
		if (seen == 0 || (double)seen < wanted)
			continue;
		last = bucket_last(i);
		if (last < h->min)
			return h->min;
		return last < h->max ? last : h->max;
	}
	return h->max;
}
