/* SPDX-License-Identifier: MIT */
/*
 * text.h - the parts of the text report that stand in files of their own.
 */
#ifndef WALLSAMPLE_TEXT_H
#define WALLSAMPLE_TEXT_H

#include <stdio.h>

#include "columns.h"
#include "wallsample/export.h"

/* "Label     value", the value wrapped to `width` with its lines below each other. */
void text_write_field(FILE *out, size_t width, const char *label, const char *value);

/* Cells of a time, of a share, and "name (module)". `sb` is for scratch. */
void text_add_time_cell(struct columns *table, struct strbuf *sb, int64_t ns);
void text_add_share_cell(struct columns *table, struct strbuf *sb, int64_t part, int64_t whole);
void text_add_function_cell(struct columns *table, const struct view_function *function);
/* "2.13": mean of how many threads ran at once; "-" of what never ran. */
void text_add_parallelism_cell(struct columns *table, struct strbuf *sb, int64_t overhead_ns,
			       int64_t busy_ns);

/* "latency%" */
const char *weight_share_title(enum weight weight);

/* The call tree, and the callers and callees of what is in focus. */
void text_write_tree(const struct export_input *input, FILE *out, size_t width);
void text_write_focus(const struct export_input *input, FILE *out, size_t width);

/* How many threads ran at once, in real time and in CPU time, and what that cost. */
void text_write_parallelism(const struct export_input *input, FILE *out, size_t width);

/* The closing block: what sampling cost, and what it missed. */
void text_write_cost(const struct export_input *input, FILE *out, size_t width);

#endif
