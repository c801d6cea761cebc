/* SPDX-License-Identifier: MIT */
/*
 * html_timeline_internal.h - the page's timeline: the states of each thread over time, and the
 * number of threads on a CPU.
 */
#ifndef WALLSAMPLE_WEB_HTML_TIMELINE_INTERNAL_H
#define WALLSAMPLE_WEB_HTML_TIMELINE_INTERNAL_H

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/* Adds the section that timeline.js fills; nothing without a recording. */
void html_add_timeline(struct strbuf *out, const struct export_input *input);

#endif
