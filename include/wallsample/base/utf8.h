/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - characters of UTF-8 text: decoding, width on a terminal, and classes.
 *
 * Widths and classes are those of libutf8proc's Unicode tables, not of the locale, so that a
 * report is the same everywhere.
 */
#ifndef WALLSAMPLE_BASE_UTF8_H
#define WALLSAMPLE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the first character of the text into *c. Returns its length in bytes, 1 to 4; 0 with *c
 * unset at the end of the text, and where the bytes are not well-formed UTF-8 (Unicode standard,
 * table 3-7). Reads no byte behind the terminating zero.
 */
size_t utf8_decode(const char *text, uint32_t *c);

/* Cells that the character takes: 2 if it is wide, 0 if it combines with the one before. */
size_t utf8_width(uint32_t c);

/* C0 and C1 controls, and DEL. */
bool utf8_is_control(uint32_t c);

/* U+2028 and U+2029, which programs that read lines may take for ends of lines. */
bool utf8_is_separator(uint32_t c);

/*
 * The character is invisible, so that two names may look the same, or reverses the direction of
 * the text around it: Default_Ignorable_Code_Point except the variation selectors U+FE00 to
 * U+FE0F, which only choose between two looks of a character; also the annotations U+FFF9 to
 * U+FFFB, and U+FFFE and U+FFFF, which are not characters and not allowed in XML.
 */
bool utf8_is_invisible(uint32_t c);

#endif
