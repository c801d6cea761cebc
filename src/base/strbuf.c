/* SPDX-License-Identifier: MIT */
/* strbuf.c - text that grows, and foreign text made harmless. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

void
strbuf_init(struct strbuf *sb)
{
	*sb = (struct strbuf){ NULL, 0, 0 };
}

void
strbuf_release(struct strbuf *sb)
{
	free(sb->data);
	strbuf_init(sb);
}

void
strbuf_clear(struct strbuf *sb)
{
	sb->length = 0;
	if (sb->data != NULL)
		sb->data[0] = '\0';
}

/* Room for `more` bytes and the terminating zero. */
static void
reserve(struct strbuf *sb, size_t more)
{
	size_t want = SIZE_MAX; /* on overflow, which xgrow refuses */

	if (more < SIZE_MAX - sb->length)
		want = sb->length + more + 1;
	sb->data = xgrow(sb->data, &sb->capacity, want, 1);
}

void
strbuf_add(struct strbuf *sb, const char *text, size_t length)
{
	reserve(sb, length);
	if (length > 0)
		memcpy(sb->data + sb->length, text, length);
	sb->length += length;
	sb->data[sb->length] = '\0';
}

void
strbuf_add_text(struct strbuf *sb, const char *text)
{
	strbuf_add(sb, text, strlen(text));
}

void
strbuf_add_format(struct strbuf *sb, const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (length < 0)
		return;
	reserve(sb, (size_t)length);
	va_start(args, fmt);
	vsnprintf(sb->data + sb->length, (size_t)length + 1, fmt, args);
	va_end(args);
	sb->length += (size_t)length;
}

/*
 * Bytes of the well-formed UTF-8 character at `s`, 0 if there is none (Unicode
 * standard, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
 */
static size_t
utf8_length(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return length;
}

/* The value of the well-formed character of `length` bytes at `s`. */
static uint32_t
utf8_value(const unsigned char *s, size_t length)
{
	uint32_t value = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));

	for (size_t i = 1; i < length; i++)
		value = value << 6 | (s[i] & 0x3f);
	return value;
}

static bool
is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* Line and paragraph separator: many a program that reads lines takes them for ends of lines. */
static bool
is_separator(uint32_t c)
{
	return c == 0x2028 || c == 0x2029;
}

/*
 * Characters that show nothing themselves, so that two names look the same, or make the text
 * around them run the other way: Default_Ignorable_Code_Point in Unicode's
 * DerivedCoreProperties.txt but for the variation selectors of U+FE00, which only choose
 * between two looks of a character; the annotations of U+FFF9; and U+FFFE and U+FFFF, which are
 * no characters, and not allowed in XML.
 */
static bool
is_unseen(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0xad, 0xad },       { 0x34f, 0x34f },     { 0x61c, 0x61c },
		{ 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
		{ 0x200b, 0x200f },   { 0x202a, 0x202e },   { 0x2060, 0x206f },
		{ 0x3164, 0x3164 },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },   { 0xfffe, 0xffff },   { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Adds the text; with `unseen`, characters that do not show are made to. */
static void
add_clean(struct strbuf *sb, const char *text, bool unseen)
{
	const unsigned char *at = (const unsigned char *)text;

	strbuf_add(sb, "", 0);
	while (*at != '\0') {
		size_t length = utf8_length(at);
		uint32_t c = length > 0 ? utf8_value(at, length) : 0;

		if (length == 0 || is_control(c)) {
			/* a C1 control has two bytes: both are shown */
			for (size_t i = 0; i < (length > 0 ? length : 1); i++)
				strbuf_add_format(sb, "\\x%02x", at[i]);
		} else if (is_separator(c) || (unseen && is_unseen(c))) {
			strbuf_add_format(sb, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
		} else {
			strbuf_add(sb, (const char *)at, length);
		}
		at += length > 0 ? length : 1;
	}
}

void
strbuf_add_foreign(struct strbuf *sb, const char *text)
{
	add_clean(sb, text, true);
}

void
strbuf_add_one_line(struct strbuf *sb, const char *text)
{
	add_clean(sb, text, false);
}
