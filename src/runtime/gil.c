/* SPDX-License-Identifier: MIT */
/* gil.c - words for what a thread has to do with an interpreter's lock. */
#include "wallsample/gil.h"

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
