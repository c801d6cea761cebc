/* SPDX-License-Identifier: MIT */
/*
 * html.h - the exporter of the report as one HTML page, which loads nothing from the network.
 */
#ifndef WALLSAMPLE_WEB_HTML_H
#define WALLSAMPLE_WEB_HTML_H

#include "wallsample/report/export.h"

extern const struct exporter exporter_html;

#endif
