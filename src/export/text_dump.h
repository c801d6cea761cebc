/* SPDX-License-Identifier: MIT */
/* text_dump.h - every thread once, as text: what a page can do, on it, the rest on `out`. */
#ifndef WALLSAMPLE_EXPORT_TEXT_DUMP_H
#define WALLSAMPLE_EXPORT_TEXT_DUMP_H

#include "page.h"
#include "wallsample/export.h"

void text_dump_write(const struct export_input *input, struct page *page, FILE *out);

#endif
