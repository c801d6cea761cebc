/* SPDX-License-Identifier: MIT */
/* parse.c - parses numbers in text from outside the program, independently of the locale. */
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Returns the value of a digit in the base, or -1 if the character is not a digit. */
static int
digit_value(char c, int base)
{
	int value;

	if (c >= '0' && c <= '9')
		value = c - '0';
	else if (c >= 'a' && c <= 'f')
		value = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		value = c - 'A' + 10;
	else
		return -1;
	return value < base ? value : -1;
}

static const char *
skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* Parses an unsigned number at *cursor, which must begin with a digit. */
static bool
parse_digits(const char **cursor, int base, uint64_t *value)
{
	const char *at = *cursor;
	uint64_t sum = 0;
	int digit;

	if (digit_value(*at, base) < 0)
		return false;
	while ((digit = digit_value(*at, base)) >= 0) {
		if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)digit, &sum))
			return false;
		at++;
	}
	*cursor = at;
	*value = sum;
	return true;
}

bool
parse_u64(const char **cursor, int base, uint64_t *value)
{
	const char *at = skip_spaces(*cursor);

	if (!parse_digits(&at, base, value))
		return false;
	*cursor = at;
	return true;
}

bool
parse_i64(const char **cursor, int64_t *value)
{
	const char *at = skip_spaces(*cursor);
	bool minus = *at == '-';
	uint64_t size;

	if (minus)
		at++;
	if (!parse_digits(&at, 10, &size) || size > (uint64_t)INT64_MAX + minus)
		return false;
	/* The negation is unsigned because -INT64_MIN is not an int64_t. */
	*value = (int64_t)(minus ? -size : size);
	*cursor = at;
	return true;
}

bool
parse_whole_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t number;

	if (!parse_digits(&text, 10, &number) || *text != '\0' || number < min || number > max)
		return false;
	*value = number;
	return true;
}

static bool
duration_unit(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", NS_PER_SEC },  { "s", NS_PER_SEC },      { "ms", NS_PER_MS },
		{ "us", NS_PER_US }, { "m", 60 * NS_PER_SEC }, { "h", 3600 * NS_PER_SEC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text, units[i].name) == 0) {
			*ns = units[i].ns;
			return true;
		}
	}
	return false;
}

bool
parse_duration_ns(const char *text, uint64_t *ns)
{
	uint64_t whole, unit, sum;
	const char *fraction = "";

	if (*text == '.')
		whole = 0;
	else if (!parse_digits(&text, 10, &whole))
		return false;
	if (*text == '.') {
		fraction = ++text;
		if (digit_value(*text, 10) < 0)
			return false;
		text += strspn(text, "0123456789");
	}
	if (!duration_unit(text, &unit) || __builtin_mul_overflow(whole, unit, &sum))
		return false;
	/* Digits below one nanosecond are ignored. */
	for (; digit_value(*fraction, 10) >= 0 && unit > 0; fraction++, unit /= 10) {
		uint64_t part = (uint64_t)digit_value(*fraction, 10) * unit / 10;

		if (__builtin_add_overflow(sum, part, &sum))
			return false;
	}
	if (sum == 0)
		return false;
	*ns = sum;
	return true;
}

bool
parse_size(const char *text, uint64_t *bytes)
{
	uint64_t number;
	unsigned shift = 0;

	if (!parse_digits(&text, 10, &number))
		return false;
	if (*text == 'K' || *text == 'k')
		shift = 10;
	else if (*text == 'M' || *text == 'm')
		shift = 20;
	else if (*text == 'G' || *text == 'g')
		shift = 30;
	if (shift > 0)
		text++;
	if (*text != '\0' || number > UINT64_MAX >> shift)
		return false;
	*bytes = number << shift;
	return true;
}

/*
 * Checks the characters first, because strtod(3) also accepts "inf", "0x1p3", "1e300" and leading
 * spaces.
 */
bool
parse_double(const char *text, double min, double max, double *value)
{
	const char *at = text + (*text == '-');
	size_t digits = strspn(at, "0123456789");
	double number;

	at += digits;
	if (*at == '.') {
		size_t more = strspn(++at, "0123456789");

		digits += more;
		at += more;
	}
	if (digits == 0 || *at != '\0')
		return false;
	number = strtod(text, NULL);
	if (!(number >= min && number <= max))
		return false;
	*value = number;
	return true;
}
