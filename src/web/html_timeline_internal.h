/* SPDX-License-Identifier: MIT */
/*
 * html_timeline_internal.h - the page's timeline: what each thread did when, and how many ran at
 * once.
 */
#ifndef WALLSAMPLE_WEB_HTML_TIMELINE_INTERNAL_H
#define WALLSAMPLE_WEB_HTML_TIMELINE_INTERNAL_H

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* Adds its section, which timeline.js fills; nothing if there is no recording of the time. */
void html_add_timeline(struct strbuf *out, const struct export_input *input);

#endif
