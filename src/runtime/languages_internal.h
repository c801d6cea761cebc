/* SPDX-License-Identifier: MIT */
/* languages_internal.h - the list of languages, in the order of languages[]. */
#ifndef WALLSAMPLE_RUNTIME_LANGUAGES_INTERNAL_H
#define WALLSAMPLE_RUNTIME_LANGUAGES_INTERNAL_H

#include "wallsample/runtime/language.h"

/* X(name): the files in src/runtime/NAME/ define the variable language_NAME. */
#define LANGUAGES(X)                                                                               \
	X(python)                                                                                  \
	X(go)                                                                                      \
	X(julia)

/* Arguments for LANGUAGES: the declaration of language_NAME, and its address as an element of
 * languages[]. */
#define LANGUAGE_DECLARE(name) extern const struct runtime_language language_##name;
#define LANGUAGE_ADDRESS(name) &language_##name,

#endif
