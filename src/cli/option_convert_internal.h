/* SPDX-License-Identifier: MIT */
/* option_convert_internal.h - from the text of an option's argument to its value. */
#ifndef WALLSAMPLE_CLI_OPTION_CONVERT_INTERNAL_H
#define WALLSAMPLE_CLI_OPTION_CONVERT_INTERNAL_H

#include "wallsample/cli/options.h"

/*
 * Stores `text` (NULL for flags and counts) in the field that belongs to the
 * row. `label` is the option as it was written ("-d", "--duration"), for the
 * sentence of ERROR_USAGE. Texts are kept as pointers into the caller's words.
 */
int option_convert(const struct option_row *row, const char *label, const char *text,
		   struct options *options, struct error *err);

#endif
