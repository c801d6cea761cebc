/* SPDX-License-Identifier: MIT */
/* display.c - measures, cuts and wraps text by its width on a terminal. */
#include "wallsample/report/display.h"

#include <string.h>

#include "wallsample/base/utf8.h"

/*
 * Returns the length in bytes of the character at `at`, which is not the end of the text, and
 * stores its width. A byte that is not UTF-8 is a character of one cell.
 */
static size_t
next_character(const char *at, size_t *cells)
{
	uint32_t c;
	const size_t length = utf8_decode(at, &c);

	*cells = length > 0 ? utf8_width(c) : 1;
	return length > 0 ? length : 1;
}

size_t
display_width(const char *text)
{
	size_t width = 0, cells;

	while (*text != '\0') {
		text += next_character(text, &cells);
		width += cells;
	}
	return width;
}

/* Returns the length in bytes of the longest prefix that has at most `width` cells. */
static size_t
bytes_that_fit(const char *text, size_t width)
{
	const char *at = text;

	while (*at != '\0') {
		size_t cells;
		const size_t length = next_character(at, &cells);

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
		size_t cells;

		tail += next_character(tail, &cells);
		left -= cells;
	}
	strbuf_add_text(out, tail);
}

/* --- names ------------------------------------------------------------------------------- */

/* Names with brackets nested more deeply than this are cut in their middle only. */
#define DEPTH_MOST 24

/*
 * A position in a name. `depth` is the number of brackets that are open at `at`, not counting those
 * that is_kept() exempts.
 */
struct name_walk {
	const char *name, *at;
	size_t depth;
};

/*
 * Returns the length of the operator's symbol at `at` if the word "operator" directly precedes it,
 * else 0. In "operator<<", "operator()" and "operator->" the symbols are not brackets.
 */
static size_t
operator_length(const char *name, const char *at)
{
	static const char word[] = "operator";
	const size_t length = strlen(word);

	if ((size_t)(at - name) < length || memcmp(at - length, word, length) != 0)
		return 0;
	return strncmp(at, "()", 2) == 0 ? 2 : strspn(at, "<=>-");
}

/* Returns the length of the demangled form of an unnamed C++ namespace; 0 if it is not at `at`. */
static size_t
anonymous_length(const char *at)
{
	static const char words[] = "(anonymous namespace)";

	return strncmp(at, words, strlen(words)) == 0 ? strlen(words) : 0;
}

/*
 * True if the bracket at `at` opens the type to which the function belongs: a '<' at the start of
 * the name, as in "<T as Trait>::f", or a '(' after a '.', as in "main.(*T).f". The text inside
 * such brackets is kept, and they do not count as a level.
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

/*
 * Moves walk->at to the next bracket or to the end of the name, and returns the number of bytes
 * passed. Brackets of operators and of "(anonymous namespace)", and the '>' of an arrow "->", are
 * passed like other characters.
 */
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
 * Adds the name, with "…" in place of the text inside more than `kept` levels of brackets. Returns
 * false if the numbers of opening and closing brackets do not match, or if brackets are nested more
 * than DEPTH_MOST levels deep; `out` then has a part of the name. Whether a bracket is round or
 * angled is not compared.
 */
static bool
add_without_depths(struct strbuf *out, const char *name, size_t kept)
{
	struct name_walk walk = { name, name, 0 };
	/* for each open bracket, outermost first: true if the bracket counts as a level */
	bool counts[DEPTH_MOST];
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
	struct strbuf shorter = STRBUF_INIT;

	if (display_width(name) <= width) {
		strbuf_add_text(out, name);
		return;
	}
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
	struct strbuf word = STRBUF_INIT;

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

void
xml_write_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fputc(*text, out);
	}
}
