/* SPDX-License-Identifier: MIT */
/* gil.c - words and texts for the state of a thread with respect to an interpreter's lock. */
#include "wallsample/runtime/gil.h"

#include <string.h>

static const struct {
	const char *word, *text;
} gils[] = {
#define X(name, gil_word, gil_text) [GIL_##name] = { gil_word, gil_text },
	GILS(X)
#undef X
};

const char *
gil_word(enum gil gil)
{
	return gils[gil].word;
}

const char *
gil_text(enum gil gil)
{
	return gils[gil].text;
}

bool
gil_parse(const char *word, enum gil *gil)
{
	for (int i = 0; i < GIL_COUNT; i++) {
		if (strcmp(gils[i].word, word) != 0)
			continue;
		*gil = (enum gil)i;
		return true;
	}
	return false;
}
