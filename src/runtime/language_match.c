/* SPDX-License-Identifier: MIT */
/* language_match.c - matches names of functions against patterns. */
#include "wallsample/runtime/language.h"

#include <string.h>

bool
language_name_matches(const char *pattern, const char *name, size_t length)
{
	const size_t whole = strlen(pattern);
	const bool is_open = whole > 0 && pattern[whole - 1] == '*';
	const size_t wanted = is_open ? whole - 1 : whole;

	return (is_open ? length >= wanted : length == wanted) &&
	       memcmp(name, pattern, wanted) == 0;
}

bool
language_names_match(const char *const *patterns, const char *name)
{
	const size_t length = strlen(name);

	for (; *patterns != NULL; patterns++)
		if (language_name_matches(*patterns, name, length))
			return true;
	return false;
}
