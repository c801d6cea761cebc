/* SPDX-License-Identifier: MIT */
/*
 * rng.c - random numbers: xoshiro256** by D. Blackman and S. Vigna ("Scrambled
 * linear pseudorandom number generators", ACM TOMS 47, 2021).
 */
#include <math.h>

#include "wallsample/base/base.h"

static uint64_t
rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/*
 * Seeds with splitmix64 (G. Steele and others, OOPSLA 2014), as the authors of xoshiro recommend:
 * splitmix64 never yields four zeros, the only state that xoshiro cannot leave.
 */
void
rng_seed(struct rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		rng->s[i] = z ^ z >> 31;
	}
}

uint64_t
rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double
rng_uniform(struct rng *rng)
{
	/* A double has 53 significant bits. Adding 1 excludes 0 from the results. */
	return (double)((rng_next(rng) >> 11) + 1) * 0x1p-53;
}

double
rng_exponential(struct rng *rng, double mean)
{
	return -log(rng_uniform(rng)) * mean;
}

/* Inverts the distribution: the probability that more than n trials are needed is (1 - p)^n. */
uint32_t
rng_geometric(struct rng *rng, double p)
{
	double trials;

	if (p >= 1)
		return 1;
	trials = ceil(log(rng_uniform(rng)) / log1p(-p));
	/* For p == 0, `trials` is infinite or NaN: the comparison is then false. */
	if (!(trials < (double)UINT32_MAX))
		return UINT32_MAX;
	return trials > 1 ? (uint32_t)trials : 1;
}
