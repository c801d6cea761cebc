/* SPDX-License-Identifier: MIT */
/* languages.c - defines languages[] (language.h) from the list LANGUAGES. */
#include "runtime/languages_internal.h"

LANGUAGES(LANGUAGE_DECLARE)

/* clang-format off */
const struct runtime_language *const languages[] = { LANGUAGES(LANGUAGE_ADDRESS) NULL };
/* clang-format on */
