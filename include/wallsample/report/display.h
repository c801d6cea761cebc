/* SPDX-License-Identifier: MIT */
/*
 * display.h - the width of text on a terminal, and text cut or wrapped to fit.
 *
 * Text is UTF-8 without control characters, and without characters that do not show or that
 * turn the direction of others (strbuf_add_foreign makes it so).
 */
#ifndef WALLSAMPLE_REPORT_DISPLAY_H
#define WALLSAMPLE_REPORT_DISPLAY_H

#include <stddef.h>
#include <stdio.h>

#include "wallsample/base/base.h"

/* Cells that the text takes: two for wide characters, none for combining ones. */
size_t display_width(const char *text);

/* Adds the text, its middle replaced by "…" when it is wider than `width` cells. */
void display_add_fitted(struct strbuf *out, const char *text, size_t width);

/*
 * The same for the name of a function: first what stands between its brackets, <…> and (…), goes
 * for a "…", the innermost first, as far as needed; then the middle of what is left.
 */
void display_add_name(struct strbuf *out, const char *name, size_t width);

/* Writes `count` spaces. */
void display_pad(FILE *out, size_t count);

/*
 * Writes words separated by spaces as lines of at most `width` cells (a word that
 * is wider stands alone), all but the first indented. The first is taken to
 * begin in column `indent`.
 */
void display_wrap(FILE *out, const char *text, size_t indent, size_t width);

#endif
