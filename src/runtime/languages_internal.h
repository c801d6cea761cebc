/* SPDX-License-Identifier: MIT */
/* languages_internal.h - the list of languages, in the order of languages[]. */
#ifndef WALLSAMPLE_RUNTIME_LANGUAGES_INTERNAL_H
#define WALLSAMPLE_RUNTIME_LANGUAGES_INTERNAL_H

#include "wallsample/runtime/language.h"

/* X(name): a directory src/runtime/NAME/, which defines language_NAME. */
#define LANGUAGES(X)                                                                               \
	X(python)                                                                                  \
	X(go)                                                                                      \
	X(julia)

/* Macros for X. */
#define LANGUAGE_DECLARE(name) extern const struct runtime_language language_##name;
#define LANGUAGE_ADDRESS(name) &language_##name,

#endif
