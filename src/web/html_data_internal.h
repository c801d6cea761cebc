/* SPDX-License-Identifier: MIT */
/*
 * html_data_internal.h - the data of the page's flame graph, and how data gets into the page.
 */
#ifndef WALLSAMPLE_WEB_HTML_DATA_INTERNAL_H
#define WALLSAMPLE_WEB_HTML_DATA_INTERNAL_H

#include <jansson.h>

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* Adds JSON that may stand in a script element: ASCII, without '<'. Takes the data over. */
void html_add_json(struct strbuf *out, json_t *data);
/* That of the flame graph. */
void html_add_data(struct strbuf *out, const struct export_input *input);

#endif
