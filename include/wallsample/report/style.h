/* SPDX-License-Identifier: MIT */
/* style.h - bold text and colours on a terminal: SGR sequences of ECMA-48. */
#ifndef WALLSAMPLE_REPORT_STYLE_H
#define WALLSAMPLE_REPORT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the text; bold if `colour` is true. */
void style_bold(FILE *out, bool colour, const char *text);
/* Writes the text; if `colour` is true, the marks of a bar (PLACE_DOINGS in code_places.h) each in
 * the colour of their state: green, yellow, blue. Other characters remain as they are. */
void style_marks(FILE *out, bool colour, const char *text);

#endif
