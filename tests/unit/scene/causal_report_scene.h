/* SPDX-License-Identifier: MIT */
/*
 * causal_report_scene.h - what experiments found, made up for exporters: code that helps, that
 * hurts, that does nothing and that is not known yet, some with hostile names.
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
	struct causal_input input; /* of 100 columns, with a limit of 10 */
};

/* With one progress point, of throughput, or also one of latency. */
void causal_scene_make(struct causal_scene *scene, size_t points);
void causal_scene_release(struct causal_scene *scene);

/* What the exporter of that name writes; the caller frees it. */
char *causal_scene_write(const char *format, const struct causal_input *input, size_t *size);

#endif
