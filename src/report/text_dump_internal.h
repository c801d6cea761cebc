/* SPDX-License-Identifier: MIT */
/*
 * text_dump_internal.h - every thread once, as text: what a page can do, on it, the rest on
 * `out`.
 */
#ifndef WALLSAMPLE_REPORT_TEXT_DUMP_INTERNAL_H
#define WALLSAMPLE_REPORT_TEXT_DUMP_INTERNAL_H

#include "wallsample/report/page.h"
#include "wallsample/report/export.h"

void text_dump_write(const struct export_input *input, struct page *page, FILE *out);

#endif
