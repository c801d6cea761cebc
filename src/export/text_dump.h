/* SPDX-License-Identifier: MIT */
/* text_dump.h - every thread once, as text; lists of threads are wrapped at `width` cells. */
#ifndef WALLSAMPLE_EXPORT_TEXT_DUMP_H
#define WALLSAMPLE_EXPORT_TEXT_DUMP_H

#include "wallsample/export.h"

void text_dump_write(const struct export_input *input, size_t width, FILE *out);

#endif
