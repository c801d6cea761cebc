/* SPDX-License-Identifier: MIT */
/* ascii.c - replaces the characters of a text that a terminal cannot show. */
#include "cli/ascii_internal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The characters that reports contain, besides names of programs. */
static const struct {
	const char *character, *ascii;
} replacements[] = {
	{ "…", "*" }, { "±", "+-" }, { "×", "x" },  { "µ", "u" },  { "–", "-" },  { "—", "-" },
	{ "−", "-" }, { "’", "'" },  { "“", "\"" }, { "”", "\"" }, { "≥", ">=" }, { "≤", "<=" },
	{ "→", ">" }, { "·", "." },  { "─", "-" },  { "│", "|" },  { "┤", "|" },  { "●", "o" },
};

/* Returns the number of bytes of the character that begins with this byte; 1 for a byte that begins
 * none. */
static size_t
length_of(unsigned char first)
{
	return first >= 0xf0 && first < 0xf8 ? 4 :
	       first >= 0xe0 && first < 0xf0 ? 3 :
	       first >= 0xc0 && first < 0xe0 ? 2 :
					       1;
}

static void
add_character(const char *character, size_t length, struct strbuf *out)
{
	if (length == 1 && (unsigned char)character[0] < 0x80) {
		strbuf_add(out, character, 1);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(replacements); i++)
		if (strlen(replacements[i].character) == length &&
		    memcmp(replacements[i].character, character, length) == 0) {
			strbuf_add_text(out, replacements[i].ascii);
			return;
		}
	/* Block elements, U+2580 to U+259F, of bars. */
	strbuf_add_text(out, length == 3 && memcmp(character, "\xe2\x96", 2) == 0 ? "#" : "?");
}

void
ascii_add(struct ascii_filter *filter, const char *text, size_t length, struct strbuf *out)
{
	for (size_t i = 0; i < length; i++) {
		/* A byte that does not continue the character ends it too early. */
		if (filter->count > 0 && ((unsigned char)text[i] & 0xc0) != 0x80) {
			strbuf_add_text(out, "?");
			filter->count = 0;
		}
		filter->begun[filter->count++] = text[i];
		if (filter->count < length_of((unsigned char)filter->begun[0]))
			continue;
		add_character(filter->begun, filter->count, out);
		filter->count = 0;
	}
}

void
ascii_end(struct ascii_filter *filter, struct strbuf *out)
{
	if (filter->count > 0)
		strbuf_add_text(out, "?");
	filter->count = 0;
}

bool
ascii_locale_is_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (locale != (locale_t)0) {
		utf8 = strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
		freelocale(locale);
		return utf8;
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *name = getenv(variables[i]);

		if (name != NULL && name[0] != '\0')
			return strcasestr(name, "UTF-8") != NULL ||
			       strcasestr(name, "utf8") != NULL;
	}
	return false;
}
