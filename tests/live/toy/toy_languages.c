/* SPDX-License-Identifier: MIT */
/* toy_languages.c - the registry of src/runtime/languages.c with one row more. */
#include "wallsample/runtime/language.h"

extern const struct runtime_language language_python, language_go, language_julia, language_toy;

const struct runtime_language *const languages[] = {
	&language_python, &language_go, &language_julia, &language_toy, NULL,
};
