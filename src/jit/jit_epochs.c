/* SPDX-License-Identifier: MIT */
/* jit_epochs.c - numbers the epochs of the generated code of several processes. */
#include <stdlib.h>

#include "jit/jit_source_internal.h"

struct jit_epochs {
	const struct jit **jit; /* by epoch: whose it is; NULL: that of a freed table */
	size_t count, capacity;
};

struct jit_epochs *
jit_epochs_create(void)
{
	return xcalloc(1, sizeof(struct jit_epochs));
}

void
jit_epochs_free(struct jit_epochs *epochs)
{
	if (epochs == NULL)
		return;
	free(epochs->jit);
	free(epochs);
}

const struct jit *
jit_epochs_find(const struct jit_epochs *epochs, uint32_t epoch)
{
	return epoch < epochs->count ? epochs->jit[epoch] : NULL;
}

void
jit_epoch_next(struct jit_numbering *numbering)
{
	struct jit_epochs *epochs = numbering->epochs;

	if (epochs == NULL) {
		numbering->epoch++;
		return;
	}
	epochs->jit = xgrow(epochs->jit, &epochs->capacity, epochs->count + 1,
			    sizeof(*epochs->jit));
	numbering->epoch = (uint32_t)epochs->count;
	epochs->jit[epochs->count++] = numbering->jit;
}

void
jit_epochs_forget(struct jit_epochs *epochs, const struct jit *jit)
{
	for (size_t i = 0; i < epochs->count; i++)
		if (epochs->jit[i] == jit)
			epochs->jit[i] = NULL;
}
