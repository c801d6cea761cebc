/* SPDX-License-Identifier: MIT */
/* utf8.c - decodes and classifies characters by the tables of libutf8proc. */
#include "wallsample/base/utf8.h"

#include <utf8proc.h>

size_t
utf8_decode(const char *text, uint32_t *c)
{
	utf8proc_int32_t value;
	utf8proc_ssize_t length;

	if (text[0] == '\0')
		return 0;
	length = utf8proc_iterate((const utf8proc_uint8_t *)text, -1, &value);
	if (length <= 0)
		return 0;
	*c = (uint32_t)value;
	return (size_t)length;
}

size_t
utf8_encode(uint32_t c, char text[4])
{
	return (size_t)utf8proc_encode_char((utf8proc_int32_t)c, (utf8proc_uint8_t *)text);
}

size_t
utf8_width(uint32_t c)
{
	return (size_t)utf8proc_charwidth((utf8proc_int32_t)c);
}

bool
utf8_is_control(uint32_t c)
{
	return utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_CC;
}

bool
utf8_is_invisible(uint32_t c)
{
	if (c >= 0xfe00 && c <= 0xfe0f)
		return false;
	/*
	 * libutf8proc has no properties of unassigned characters. These unassigned characters are
	 * Default_Ignorable_Code_Point: U+2065, U+FFF0 to U+FFF8, and those of U+E0000 to U+E0FFF.
	 * U+FFF9 to U+FFFB are the annotations.
	 */
	if (c == 0x2065 || (c >= 0xfff0 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff))
		return true;
	return c == 0xfffe || c == 0xffff || utf8proc_get_property((utf8proc_int32_t)c)->ignorable;
}

bool
utf8_is_direction(uint32_t c)
{
	/* Bidi_Control of Unicode's PropList.txt. libutf8proc does not have this property. */
	return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}
