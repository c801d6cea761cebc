/* SPDX-License-Identifier: MIT */
/*
 * svg.c - writes a flame graph as a self-contained file, which flame_draw() draws; the script
 * flame.js adds zoom, search and keys.
 */
#include "format/format_internal.h"
#include "wallsample/web/flame.h"

static const char style[] =
#include "palette.css.h"
#include "flame.css.h"
	;
static const char script[] =
#include "labels.js.h"
#include "flame.js.h"
	;

static void
svg_write(const struct export_input *input, FILE *out)
{
	const struct flame_picture picture = {
		.style = style,
		.script = script,
		.most = FLAME_FRAMES_MOST,
		.least = FLAME_SHARE_LEAST,
		.levels = UINT32_MAX,
	};

	flame_draw(input, &picture, out);
}

const struct exporter exporter_svg = {
	.name = "svg",
	.help = "an interactive flame graph, one file for a browser",
	.endings = "svg",
	.noun = "flame graph",
	.options = EXPORT_STACKS,
	.write = svg_write,
	.write_causal = svg_write_causal,
	.causal_help = "the curves as one picture",
};
