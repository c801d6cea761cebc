/* SPDX-License-Identifier: MIT */
/* strbuf.c - text that grows, and foreign text made harmless. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base.h"

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

static bool
is_control(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

void
strbuf_add_foreign(struct strbuf *sb, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	strbuf_add(sb, "", 0);
	while (*at != '\0') {
		size_t length = utf8_length(at);

		if (length > 0 && !is_control(at)) {
			strbuf_add(sb, (const char *)at, length);
			at += length;
			continue;
		}
		/* a C1 control has two bytes: both are shown */
		for (size_t i = 0; i < (length > 0 ? length : 1); i++)
			strbuf_add_format(sb, "\\x%02x", *at++);
	}
}
