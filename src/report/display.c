/* SPDX-License-Identifier: MIT */
/*
 * display.c - widths of UTF-8 text without the locale, so that a report is the
 * same everywhere.
 */
#include "wallsample/report/display.h"

#include <string.h>

struct range {
	uint32_t first, last;
};

/* The blocks that matter of Unicode's EastAsianWidth.txt (W and F)… */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

/* …and of combining marks, joiners and direction marks. */
static const struct range empty[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x064b, 0x065f },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x202a, 0x202e },
	{ 0x2060, 0x2064 }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	{ 0xfeff, 0xfeff },
};

static bool
is_in(const struct range *ranges, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Bytes of the character at `at`; stray bytes are characters of their own. */
static size_t
character_length(const char *at)
{
	const unsigned char first = (unsigned char)at[0];
	const size_t expected = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	size_t length = 1;

	while (length < expected && ((unsigned char)at[length] & 0xc0) == 0x80)
		length++;
	return length;
}

static size_t
character_width(const char *at, size_t length)
{
	uint32_t c = (unsigned char)at[0];

	if (length == 1)
		return 1;
	c &= 0xffu >> (length + 1);
	for (size_t i = 1; i < length; i++)
		c = c << 6 | ((unsigned char)at[i] & 0x3f);
	if (is_in(empty, ARRAY_SIZE(empty), c))
		return 0;
	return is_in(wide, ARRAY_SIZE(wide), c) ? 2 : 1;
}

size_t
display_width(const char *text)
{
	size_t width = 0;

	while (*text != '\0') {
		const size_t length = character_length(text);

		width += character_width(text, length);
		text += length;
	}
	return width;
}

/* Bytes of the longest beginning that is at most `width` cells wide. */
static size_t
bytes_that_fit(const char *text, size_t width)
{
	const char *at = text;

	while (*at != '\0') {
		const size_t length = character_length(at);
		const size_t cells = character_width(at, length);

		if (cells > width)
			break;
		width -= cells;
		at += length;
	}
	return (size_t)(at - text);
}

void
display_add_fitted(struct strbuf *out, const char *text, size_t width)
{
	const size_t whole = display_width(text);
	const char *tail = text;
	size_t left;

	if (whole <= width) {
		strbuf_add_text(out, text);
		return;
	}
	if (width == 0)
		return;
	strbuf_add(out, text, bytes_that_fit(text, width / 2));
	strbuf_add_text(out, "…");
	for (left = whole; left > (width - 1) / 2;) {
		const size_t length = character_length(tail);

		left -= character_width(tail, length);
		tail += length;
	}
	strbuf_add_text(out, tail);
}

/* --- names ------------------------------------------------------------------------------- */

/* Nested deeper, brackets are no longer told apart: all of them go at once. */
#define DEPTH_MOST 24

/* Walks over a name; `depth` is that of the character at `at`, brackets counting as outside. */
struct name_walk {
	const char *name, *at;
	size_t depth;
};

/* "operator<<", "operator()", "operator->": behind the word these are no brackets. */
static size_t
operator_length(const char *name, const char *at)
{
	static const char word[] = "operator";
	const size_t length = strlen(word);

	if ((size_t)(at - name) < length || memcmp(at - length, word, length) != 0)
		return 0;
	return strncmp(at, "()", 2) == 0 ? 2 : strspn(at, "<=>-");
}

/* The words that C++ has for a namespace without a name. */
static size_t
anonymous_length(const char *at)
{
	static const char words[] = "(anonymous namespace)";

	return strncmp(at, words, strlen(words)) == 0 ? strlen(words) : 0;
}

/*
 * Brackets that say whose function it is: Rust's "<T as Trait>::f", Go's "main.(*T).f".
 * They are kept as if there were none.
 */
static bool
is_kept(const char *name, const char *at)
{
	if (*at == '(')
		return at > name && at[-1] == '.';
	while (at > name && at[-1] == '<')
		at--;
	return at == name;
}

/* Bytes up to the next bracket or the end, which is where `at` then is. */
static size_t
walk_to_bracket(struct name_walk *walk)
{
	const char *before = walk->at;

	while (*walk->at != '\0') {
		const size_t words = anonymous_length(walk->at);
		const size_t sign = operator_length(walk->name, walk->at);

		if (words + sign > 0)
			walk->at += words > 0 ? words : sign;
		else if (strncmp(walk->at, "->", 2) == 0)
			walk->at += 2;
		else if (strchr("<>()", *walk->at) != NULL)
			break;
		else
			walk->at++;
	}
	return (size_t)(walk->at - before);
}

/*
 * Adds the name without what stands in brackets deeper than `kept`. False when the brackets
 * do not match, or are too deep: then it is no name as we know them.
 */
static bool
add_without_depths(struct strbuf *out, const char *name, size_t kept)
{
	struct name_walk walk = { name, name, 0 };
	bool counts[DEPTH_MOST]; /* of the brackets that are open: do they make it deeper? */
	size_t open = 0;

	for (;;) {
		const char *part = walk.at;
		const size_t length = walk_to_bracket(&walk);
		const char bracket = *walk.at++;

		if (walk.depth <= kept)
			strbuf_add(out, part, length);
		if (bracket == '\0')
			return open == 0;
		if (bracket == '<' || bracket == '(') {
			if (open == DEPTH_MOST)
				return false;
			if (walk.depth <= kept)
				strbuf_add(out, &bracket, 1);
			counts[open] = !is_kept(name, walk.at - 1);
			if (walk.depth == kept && counts[open] && strchr(">)", *walk.at) == NULL)
				strbuf_add_text(out, "…");
			walk.depth += counts[open++];
			continue;
		}
		if (open == 0)
			return false;
		walk.depth -= counts[--open];
		if (walk.depth <= kept)
			strbuf_add(out, &bracket, 1);
	}
}

void
display_add_name(struct strbuf *out, const char *name, size_t width)
{
	struct strbuf shorter;

	if (display_width(name) <= width) {
		strbuf_add_text(out, name);
		return;
	}
	strbuf_init(&shorter);
	for (size_t kept = DEPTH_MOST; kept-- > 0;) {
		strbuf_clear(&shorter);
		if (!add_without_depths(&shorter, name, kept)) {
			strbuf_clear(&shorter);
			strbuf_add_text(&shorter, name);
			break;
		}
		if (display_width(shorter.data) <= width)
			break;
	}
	display_add_fitted(out, shorter.data, width);
	strbuf_release(&shorter);
}

/* --- lines --------------------------------------------------------------------------------- */

void
display_pad(FILE *out, size_t count)
{
	fprintf(out, "%*s", (int)count, "");
}

void
display_wrap(FILE *out, const char *text, size_t indent, size_t width)
{
	size_t column = indent;
	struct strbuf word;

	strbuf_init(&word);
	while (*text != '\0') {
		const size_t length = strcspn(text, " ");
		size_t cells;

		strbuf_clear(&word);
		strbuf_add(&word, text, length);
		cells = display_width(word.data);
		if (column > indent && column + 1 + cells > width) {
			fputc('\n', out);
			display_pad(out, indent);
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fputs(word.data, out);
		column += cells;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
	strbuf_release(&word);
}
