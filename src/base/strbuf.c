/* SPDX-License-Identifier: MIT */
/* strbuf.c - text buffers, and the escapes of text from outside the program. */
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/utf8.h"

/* Programs that read lines may take these characters for ends of lines. */
#define LINE_SEPARATOR 0x2028
#define PARAGRAPH_SEPARATOR 0x2029

void
strbuf_init(struct strbuf *sb)
{
	*sb = STRBUF_INIT;
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

/* Makes room for `more` bytes and the terminating zero. */
static void
strbuf_reserve(struct strbuf *sb, size_t more)
{
	/* If the sum overflows, SIZE_MAX makes xgrow end the program. */
	const size_t want = more < SIZE_MAX - sb->length ? sb->length + more + 1 : SIZE_MAX;

	sb->data = xgrow(sb->data, &sb->capacity, want, 1);
}

void
strbuf_add(struct strbuf *sb, const char *text, size_t length)
{
	strbuf_reserve(sb, length);
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
strbuf_add_arguments(struct strbuf *sb, const char *fmt, va_list args)
{
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (length < 0)
		return;
	strbuf_reserve(sb, (size_t)length);
	vsnprintf(sb->data + sb->length, (size_t)length + 1, fmt, args);
	sb->length += (size_t)length;
}

void
strbuf_add_format(struct strbuf *sb, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	strbuf_add_arguments(sb, fmt, args);
	va_end(args);
}

/* Adds the text with escapes. `more`: true for characters that are escaped besides those that every
 * function escapes; NULL: none. */
static void
add_escaped(struct strbuf *sb, const char *text, bool (*more)(uint32_t c))
{
	strbuf_add(sb, "", 0);
	while (*text != '\0') {
		uint32_t c = 0;
		const size_t length = utf8_decode(text, &c);
		const size_t bytes = length > 0 ? length : 1;

		if (length == 0 || utf8_is_control(c)) {
			/* A C1 control has two bytes; both are escaped. */
			for (size_t i = 0; i < bytes; i++)
				strbuf_add_format(sb, "\\x%02x", (unsigned char)text[i]);
		} else if (c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR ||
			   (more != NULL && more(c))) {
			strbuf_add_format(sb, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
		} else {
			strbuf_add(sb, text, length);
		}
		text += bytes;
	}
}

void
strbuf_add_escaped(struct strbuf *sb, const char *text)
{
	add_escaped(sb, text, utf8_is_invisible);
}

void
strbuf_add_one_line(struct strbuf *sb, const char *text)
{
	add_escaped(sb, text, NULL);
}

void
strbuf_add_ordered_line(struct strbuf *sb, const char *text)
{
	add_escaped(sb, text, utf8_is_direction);
}
