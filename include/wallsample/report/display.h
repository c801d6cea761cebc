/* SPDX-License-Identifier: MIT */
/*
 * display.h - measures, cuts and wraps text by its width on a terminal.
 *
 * Text passed to these functions is UTF-8. It has no control characters, no invisible characters
 * and no characters that change the direction of text: the caller has escaped these by
 * strbuf_add_escaped().
 */
#ifndef WALLSAMPLE_REPORT_DISPLAY_H
#define WALLSAMPLE_REPORT_DISPLAY_H

#include <stddef.h>
#include <stdio.h>

#include "wallsample/base/base.h"

/* Returns the width in cells: two for a wide character, none for a combining character. */
size_t display_width(const char *text);

/*
 * Adds the text; if it is wider than `width` cells, "…" replaces its middle. If `width` is 0, adds
 * no visible text, not even "…".
 */
void display_add_fitted(struct strbuf *out, const char *text, size_t width);

/*
 * Adds the name of a function. If it is wider than `width` cells, "…" first replaces the text
 * between the brackets < > and ( ), from the innermost level outwards as far as needed. If the
 * result is still too wide, "…" replaces its middle.
 */
void display_add_name(struct strbuf *out, const char *name, size_t width);

/* Writes `count` spaces. */
void display_pad(FILE *out, size_t count);

/*
 * Writes words separated by spaces as lines of at most `width` cells; a wider word gets a line of
 * its own. Each line but the first begins with `indent` spaces. Before the call, the caller must
 * have written `indent` cells of the first line.
 */
void display_wrap(FILE *out, const char *text, size_t indent, size_t width);

/* Writes text with XML's special characters escaped. */
void xml_write_text(FILE *out, const char *text);

#endif
