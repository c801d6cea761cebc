/* SPDX-License-Identifier: MIT */
/*
 * exporters.h - the exporters that the registry lists, one in each file.
 */
#ifndef WALLSAMPLE_REPORT_EXPORTERS_H
#define WALLSAMPLE_REPORT_EXPORTERS_H

#include "wallsample/report/export.h"

extern const struct exporter exporter_text;
extern const struct exporter exporter_folded;
extern const struct exporter exporter_pprof;
extern const struct exporter exporter_json;
extern const struct exporter exporter_chrome;
extern const struct exporter exporter_speedscope;
extern const struct exporter exporter_perf;
extern const struct exporter exporter_svg;
extern const struct exporter exporter_markdown;
extern const struct exporter exporter_html;
extern const struct exporter exporter_latex;
extern const struct exporter exporter_man;
extern const struct exporter exporter_coz;

/* The parts of exporter_json that have files of their own. */
void json_write_diff(const struct diff_input *input, FILE *out);
void json_write_dump(const struct export_input *input, FILE *out);
void json_write_causal(const struct causal_input *input, FILE *out);
/* And that of exporter_svg. */
void svg_write_causal(const struct causal_input *input, FILE *out);

#endif
