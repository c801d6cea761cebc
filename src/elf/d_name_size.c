/* SPDX-License-Identifier: MIT */
/*
 * d_name_size.c - computes a bound of the demangled size of a D name with back references, without
 * parsing the name.
 *
 * https://dlang.org/spec/abi.html#back_ref: a 'Q' and a distance (in digits to the base 26) form a
 * back reference to an identifier or a type that begins this distance, in bytes, before the 'Q'.
 * The identifier or type ends before the 'Q' (a demangler must refuse other names, which it could
 * never finish). So the demangled size of a back reference is at most that of the text between the
 * beginning of the identifier or type and the 'Q', with all back references in that text.
 */
#include "elf/symbol_names_internal.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Bound on the bytes of readable text for one mangled byte: 'W' is "extern(Windows) ". */
#define FACTOR 16

struct reference {
	size_t at;   /* position of the 'Q' */
	size_t size; /* bound on the bytes of its readable text */
};

static size_t
sum_of(size_t a, size_t b)
{
	return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* Reads the distance behind a 'Q': upper-case letters, then one lower-case letter. Returns 0 when
 * there is no distance, or the distance is larger than `most`. */
static size_t
distance_at(const char *digit, size_t most)
{
	size_t distance = 0;

	for (; isupper((unsigned char)*digit); digit++) {
		distance = distance * 26 + (size_t)(*digit - 'A');
		if (distance > most)
			return 0;
	}
	if (!islower((unsigned char)*digit))
		return 0;
	distance = distance * 26 + (size_t)(*digit - 'a');
	return distance <= most ? distance : 0;
}

/* Reads the decimal length that precedes an identifier. Returns the length, or `most` if it is
 * larger. */
static size_t
length_at(const char *digit, size_t most)
{
	size_t length = 0;

	for (; isdigit((unsigned char)*digit); digit++) {
		length = length * 10 + (size_t)(*digit - '0');
		if (length > most)
			return most;
	}
	return length;
}

/* Returns a bound on the bytes of readable text for a back reference: `at` is the position of its
 * 'Q', `to` that of the identifier or type. `before` has the `count` references before this one. */
static size_t
reference_size(const char *name, size_t to, size_t at, const struct reference *before, size_t count)
{
	size_t size;

	if (isdigit((unsigned char)name[to]))
		return length_at(name + to, strlen(name));
	/* A lower-case letter is a type of one letter, except const (x), immutable (y) and the
	 * 128-bit types (z). */
	if (islower((unsigned char)name[to]) && strchr("xyz", name[to]) == NULL)
		return FACTOR;
	size = (at - to) * FACTOR;
	for (size_t i = count; i > 0 && before[i - 1].at >= to; i--)
		size = sum_of(size, before[i - 1].size);
	return size;
}

size_t
d_name_size(const char *name)
{
	struct reference *reference = NULL;
	size_t count = 0, capacity = 0, size = strlen(name);

	size = size > SIZE_MAX / FACTOR ? SIZE_MAX : size * FACTOR;
	for (size_t at = 0; name[at] != '\0'; at++) {
		const size_t distance = name[at] == 'Q' ? distance_at(name + at + 1, at) : 0;

		if (distance == 0)
			continue;
		reference = xgrow(reference, &capacity, count + 1, sizeof(*reference));
		reference[count].at = at;
		reference[count].size = reference_size(name, at - distance, at, reference, count);
		size = sum_of(size, reference[count].size);
		count++;
	}
	free(reference);
	return size;
}
