/* SPDX-License-Identifier: MIT */
/* donors.c - the latest samples of one class of states (weights_internal.h). */
#include "sampler/weights/weights_internal.h"

void
donors_add(struct donors *donors, uint32_t entry, double ns, double part)
{
	if (ns <= 0 || part <= 0)
		return;
	donors->donor[donors->next] = (struct donor){
		.entry = entry,
		.weight = (float)part,
		.importance = (float)(part / ns),
	};
	donors->next = (donors->next + 1) % DONORS_MOST;
	if (donors->count < DONORS_MOST)
		donors->count++;
}

/* Smooth weighted round robin: each donor's credit grows by its weight, and the donor with the
 * highest credit pays the sum of all weights. The caller guarantees that at least one donor is
 * fit. `best` begins as the first donor, which may be unfit, and is then replaced by the first fit
 * one. */
uint32_t
donors_next(struct donors *donors)
{
	struct donor *best = &donors->donor[0];
	float total = 0;

	for (uint32_t i = 0; i < donors->count; i++) {
		struct donor *donor = &donors->donor[i];

		if (donor->unfit)
			continue;
		donor->credit += donor->weight;
		total += donor->weight;
		if (best->unfit || donor->credit > best->credit)
			best = donor;
	}
	best->credit -= total;
	return best->entry;
}
