/* SPDX-License-Identifier: MIT */
/*
 * gil.h - the state of a thread with respect to an interpreter lock: one thread holds it, and other
 * threads that run interpreted code wait for it.
 */
#ifndef WALLSAMPLE_RUNTIME_GIL_H
#define WALLSAMPLE_RUNTIME_GIL_H

#include <stdbool.h>

/*
 * States of a thread: X(NAME, word, text). UNKNOWN: the process has no such lock, or the state
 * could not be read. NONE: the thread neither holds the lock nor waits for it. HANDOVER: the thread
 * has just released the lock to a waiter, and is runnable but off-CPU because the waiter took its
 * CPU; reports add this time to the time of waits for the lock.
 */
#define GILS(X)                                                                                    \
	X(UNKNOWN, "unknown", "")                                                                  \
	X(NONE, "none", "no GIL")                                                                  \
	X(HAS, "has", "has GIL")                                                                   \
	X(WAIT, "wait", "GIL wait")                                                                \
	X(HANDOVER, "handover", "GIL handover")

enum gil {
#define X(name, word, text) GIL_##name,
	GILS(X) GIL_COUNT
#undef X
};

/*
 * gil_word returns the word of the state in options and recordings, gil_text the text in reports.
 */
const char *gil_word(enum gil gil);
const char *gil_text(enum gil gil);
/* Stores the state with this word. Returns false when no state has the word. */
bool gil_parse(const char *word, enum gil *gil);

#endif
