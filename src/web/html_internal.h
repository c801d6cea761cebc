/* SPDX-License-Identifier: MIT */
/* html_internal.h - the parts of the page that hold data as JSON in script elements. */
#ifndef WALLSAMPLE_WEB_HTML_INTERNAL_H
#define WALLSAMPLE_WEB_HTML_INTERNAL_H

#include <jansson.h>

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* Adds `data` as JSON that is safe in a script element: ASCII, without '<'. Frees `data`. */
void html_add_json(struct strbuf *out, json_t *data);
const char *html_weight_title(enum weight weight); /* returns its `title` in WEIGHTS: "Wall" */
/*
 * Adds the data of the flame graph, which report.js draws: one call tree for each weight. Adds to
 * `legend` the items of a list: the kinds of frames that the trees have.
 */
void html_add_data(struct strbuf *out, struct strbuf *legend, const struct export_input *input);
/*
 * Adds the section that timeline.js fills: the states of each thread over time, and the number of
 * threads on a CPU. Adds nothing without a recording, or if no tick is selected.
 */
void html_add_timeline(struct strbuf *out, const struct export_input *input);

#endif
