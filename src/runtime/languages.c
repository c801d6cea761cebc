/* SPDX-License-Identifier: MIT */
/* languages.c - the registry of languages: one row each. */
#include "wallsample/runtime/language.h"

#define LANGUAGES(X)                                                                               \
	X(python)                                                                                  \
	X(go)                                                                                      \
	X(julia)

#define X(name) extern const struct runtime_language language_##name;
LANGUAGES(X)
#undef X

const struct runtime_language *const languages[] = {
#define X(name) &language_##name,
	LANGUAGES(X) NULL,
#undef X
};
