/* SPDX-License-Identifier: MIT */
/*
 * exporters.h - the registry of exporters, and the exporters that src/format/ defines.
 *
 * The report's exporters are declared in report/report.h, the HTML page's in web/html.h.
 */
#ifndef WALLSAMPLE_FORMAT_EXPORTERS_H
#define WALLSAMPLE_FORMAT_EXPORTERS_H

#include "wallsample/report/export.h"

extern const struct exporter exporter_folded;
extern const struct exporter exporter_pprof;
extern const struct exporter exporter_json;
extern const struct exporter exporter_chrome;
extern const struct exporter exporter_speedscope;
extern const struct exporter exporter_firefox;
extern const struct exporter exporter_perf;
extern const struct exporter exporter_perf_data;
extern const struct exporter exporter_hotspot;
extern const struct exporter exporter_svg;
extern const struct exporter exporter_coz;

/* The registry, terminated by NULL. */
extern const struct exporter *const exporters[];

/* Returns the exporter with this name; NULL if there is none. */
const struct exporter *exporter_by_name(const char *name);
/*
 * Returns the exporter with the longest ending that matches the file name ("x.pb.gz"); NULL if none
 * matches.
 */
const struct exporter *exporter_by_file(const char *file);

/*
 * Write a report, a comparison or a causal profile to `out`, which the caller checks for errors.
 * The exporter must be able to write that kind of output: see struct exporter.
 */
void export_write(const struct exporter *exporter, const struct export_input *input, FILE *out);
void export_write_diff(const struct exporter *exporter, const struct diff_input *input, FILE *out);
void export_write_causal(const struct exporter *exporter, const struct causal_input *input,
			 FILE *out);

#endif
