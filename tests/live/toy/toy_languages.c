/* SPDX-License-Identifier: MIT */
/* toy_languages.c - the registry of src/runtime/languages.c with one row more. */
#include "runtime/languages_internal.h"

LANGUAGES(LANGUAGE_DECLARE)
LANGUAGE_DECLARE(toy)

const struct runtime_language *const languages[] = {
	LANGUAGES(LANGUAGE_ADDRESS) LANGUAGE_ADDRESS(toy) NULL,
};
