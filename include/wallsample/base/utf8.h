/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - characters of UTF-8 text: decoding, width on a terminal, and classes.
 *
 * Widths and classes come from libutf8proc's Unicode tables and not from the locale, so that the
 * locale does not change a report.
 */
#ifndef WALLSAMPLE_BASE_UTF8_H
#define WALLSAMPLE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the first character of the text into *c and returns its length in bytes, 1 to 4. Returns
 * 0 and leaves *c unset if the text is empty or does not begin with well-formed UTF-8 (Unicode
 * standard, table 3-7). Reads no byte behind the terminating zero.
 */
size_t utf8_decode(const char *text, uint32_t *c);

/* Stores the character c, at most U+10FFFF, as UTF-8 without a zero. Returns its length, 1 to 4. */
size_t utf8_encode(uint32_t c, char text[4]);

/*
 * Returns the cells of a terminal that a character takes: 2 if wide; 0 for combining marks, control
 * characters and other characters without width; else 1.
 */
size_t utf8_width(uint32_t c);

/* True for C0 and C1 control characters and DEL. */
bool utf8_is_control(uint32_t c);

/*
 * True for characters that are invisible, so that two names may look the same, or that reverse the
 * direction of the text around them: Default_Ignorable_Code_Point except the variation selectors
 * U+FE00 to U+FE0F, which only choose between two shapes of a character; also the annotations
 * U+FFF9 to U+FFFB, and U+FFFE and U+FFFF, which are not characters and not allowed in XML.
 */
bool utf8_is_invisible(uint32_t c);

/* True for the characters that control the direction of the text around them (Bidi_Control). They
 * are invisible, too. */
bool utf8_is_direction(uint32_t c);

#endif
