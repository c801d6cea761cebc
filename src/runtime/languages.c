/* SPDX-License-Identifier: MIT */
/* languages.c - the registry of languages, made from their list. */
#include "runtime/languages_internal.h"

LANGUAGES(LANGUAGE_DECLARE)

/* clang-format off */
const struct runtime_language *const languages[] = { LANGUAGES(LANGUAGE_ADDRESS) NULL };
/* clang-format on */
