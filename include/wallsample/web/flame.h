/* SPDX-License-Identifier: MIT */
/*
 * flame.h - the flame graph of the format svg and of the HTML page: which frames it has, their
 * names, and the kinds by which palette.css colours them.
 */
#ifndef WALLSAMPLE_WEB_FLAME_H
#define WALLSAMPLE_WEB_FLAME_H

#include <stdint.h>
#include <stdio.h>

#include "wallsample/analysis/tree.h"
#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

/*
 * Limits of the graph: the number of frames, of which the widest are taken, and the smallest share
 * of the whole weight. On a page of up to 2500 pixels, narrower frames are below half a pixel.
 */
#define FLAME_FRAMES_MOST 8000
#define FLAME_SHARE_LEAST 0.0002
/* Largest width in cells of a name: an SVG has a copy of it for each frame. */
#define FLAME_NAME_MOST 240

/* X(NAME, class in palette.css, text in the legend) */
#define FLAME_KINDS(X)                                                                             \
	X(OWN, 'c', "the program's code")                                                          \
	X(SCRIPT, 'p', NULL) /* the legend lists the interpreted languages instead */              \
	X(LIBRARY, 'l', "libraries and runtimes")                                                  \
	X(NAMELESS, 'u', "no symbol")                                                              \
	X(BLOCKED, 'w', "blocked")                                                                 \
	X(QUEUED, 'q', "waiting for a CPU")                                                        \
	X(NOBODY, 'n', "no thread could run")                                                      \
	X(FAILED, 'e', "not known")                                                                \
	X(PROCESS, 't', "process")                                                                 \
	X(THREAD, 't', NULL) /* a thread, or what the key of the view names: a state, a lock */

enum flame_kind {
#define X(name, class, text) FLAME_KIND_##name,
	FLAME_KINDS(X) FLAME_KIND_COUNT
#undef X
};

struct flame {
	const struct export_input *input;
	enum weight weight;
	struct call_tree tree; /* waits are nodes; see export_outer_frames() for others */
	int64_t total_ns;
	unsigned char *function_kind; /* enum flame_kind, by function of the view */
};

/*
 * Fills `out`, which flame_release() releases, with the frames of a report. `most` and `least` are
 * the limits of flame_tree_make().
 */
void flame_make(const struct export_input *input, enum weight weight, size_t most, double least,
		struct flame *out);
void flame_release(struct flame *flame);

enum flame_kind flame_kind_of(const struct flame *flame, const struct tree_node *node);
/* Returns the class of palette.css that has the colour of the kind: a letter. */
char flame_kind_class(enum flame_kind kind);
/* Adds the text of the legend for a kind, without characters that XML or HTML would escape. */
void flame_add_legend(const struct export_input *input, enum flame_kind kind, struct strbuf *out);

/* Adds the name of a frame, escaped by strbuf_add_escaped() and cut to FLAME_NAME_MOST cells. */
void flame_add_name(const struct flame *flame, const struct tree_node *node, struct strbuf *out);
/* Adds the module of a frame, escaped by strbuf_add_escaped(); adds "" if the name is enough. */
void flame_add_module(const struct flame *flame, const struct tree_node *node, struct strbuf *out);

/* How to draw a flame graph as an SVG. */
struct flame_picture {
	/* Style sheet and script of a file of its own. NULL: the SVG is an element of the HTML
	 * page, whose style sheet it uses. It has no heading and no script then. */
	const char *style, *script;
	size_t most;     /* maximum number of frames */
	double least;    /* smallest share of the whole width */
	uint32_t levels; /* maximum number of levels, the root included; at most 500 */
};

/* Draws the flame graph of input->sort: the root at the bottom, and each frame with a title. */
void flame_draw(const struct export_input *input, const struct flame_picture *picture, FILE *out);

#endif
