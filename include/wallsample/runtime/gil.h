/* SPDX-License-Identifier: MIT */
/*
 * gil.h - what a thread has to do with the lock of an interpreter: at any time one thread has it,
 * and others that want to run interpreted code wait for it.
 */
#ifndef WALLSAMPLE_RUNTIME_GIL_H
#define WALLSAMPLE_RUNTIME_GIL_H

#include <stdbool.h>

/*
 * X(NAME, word, text). UNKNOWN is of a process without such a lock, and of samples of which nobody
 * can tell. HANDOVER: it has just given the lock to who waits, and does not run on yet because
 * that one took its CPU: time lost to the lock as surely as that of a wait.
 */
#define GILS(X)                                                                \
	X(UNKNOWN, "unknown", "")                                              \
	X(NONE, "none", "no GIL")                                              \
	X(HAS, "has", "has GIL")                                               \
	X(WAIT, "wait", "GIL wait")                                            \
	X(HANDOVER, "handover", "GIL handover")

enum gil {
#define X(name, word, text) GIL_##name,
	GILS(X)
#undef X
	GIL_COUNT
};

const char *gil_word(enum gil gil);
const char *gil_text(enum gil gil);
/* By the word; false when there is no such. */
bool gil_parse(const char *word, enum gil *gil);

#endif
