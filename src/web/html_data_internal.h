/* SPDX-License-Identifier: MIT */
/*
 * html_data_internal.h - embeds JSON in the page, and makes the data of its flame graph.
 */
#ifndef WALLSAMPLE_WEB_HTML_DATA_INTERNAL_H
#define WALLSAMPLE_WEB_HTML_DATA_INTERNAL_H

#include <jansson.h>

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* Adds `data` as JSON that is safe in a script element: ASCII, without '<'. Frees `data`. */
void html_add_json(struct strbuf *out, json_t *data);
/* Adds the data of the flame graph. */
void html_add_data(struct strbuf *out, const struct export_input *input);

#endif
