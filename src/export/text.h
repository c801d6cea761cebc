/* SPDX-License-Identifier: MIT */
/*
 * text.h - the parts of the text report that stand in files of their own.
 */
#ifndef WALLSAMPLE_TEXT_H
#define WALLSAMPLE_TEXT_H

#include <stdio.h>

#include "wallsample/export.h"

/* "Label     value", the value wrapped to `width` with its lines below each other. */
void text_write_field(FILE *out, size_t width, const char *label, const char *value);

/* The closing block: what sampling cost, and what it missed. */
void text_write_cost(const struct export_input *input, FILE *out, size_t width);

#endif
