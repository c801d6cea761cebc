/* SPDX-License-Identifier: MIT */
/* ascii_internal.h - texts for a terminal whose character set is not UTF-8. */
#ifndef WALLSAMPLE_CLI_ASCII_INTERNAL_H
#define WALLSAMPLE_CLI_ASCII_INTERNAL_H

#include "wallsample/base/base.h"

/* The beginning of a character whose end is in the next part of a text. All bytes zero: none. */
struct ascii_filter {
	char begun[4];
	size_t count;
};

/* Adds a part of a text in UTF-8, with a replacement of ASCII characters for each other character:
 * "*" for an ellipsis, "+-" for a plus-minus sign, "#" for a block, "?" for an unknown one and for
 * bytes that are not UTF-8. */
void ascii_add(struct ascii_filter *filter, const char *text, size_t length, struct strbuf *out);

/* Ends a text: adds "?" if its last character is incomplete. */
void ascii_end(struct ascii_filter *filter, struct strbuf *out);

/* True if the locale of the environment has the character set UTF-8. A locale that is not installed
 * has it if its name says so. */
bool ascii_locale_is_utf8(void);

#endif
