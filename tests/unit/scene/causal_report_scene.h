/* SPDX-License-Identifier: MIT */
/*
 * causal_report_scene.h - invented results of experiments, for tests of exporters: candidates with
 * a gain, a loss, no effect and too few data, some with hostile names.
 */
#ifndef UNIT_CAUSAL_REPORT_SCENE_H
#define UNIT_CAUSAL_REPORT_SCENE_H

#include "wallsample/report/export.h"

enum {
	CAUSAL_PARSE, CAUSAL_LONG, CAUSAL_CHECK, CAUSAL_LOG, CAUSAL_MARKUP, CAUSAL_EVIL,
	CAUSAL_NAMES,
};

struct causal_scene {
	struct causal_result result;
	struct causal_curves curves;
	struct causal_input input; /* a report of 100 columns and at most 10 rows */
};

/* Makes the results for a progress point that measures throughput and, if `points` is 2, for
 * another one that measures latency. */
void causal_scene_make(struct causal_scene *scene, size_t points);
void causal_scene_release(struct causal_scene *scene);

/* Returns the output of the exporter with this name; the caller frees it. */
char *causal_scene_write(const char *format, const struct causal_input *input, size_t *size);

#endif
