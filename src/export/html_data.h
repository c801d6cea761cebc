/* SPDX-License-Identifier: MIT */
/*
 * html_data.h - the data of the page's flame graph.
 */
#ifndef WALLSAMPLE_HTML_DATA_H
#define WALLSAMPLE_HTML_DATA_H

#include "wallsample/base.h"
#include "wallsample/export.h"

/* Adds JSON that may stand in a script element: ASCII, without '<'. */
void html_add_data(struct strbuf *out, const struct export_input *input);

#endif
