/* SPDX-License-Identifier: MIT */
/*
 * document_absent.c - in place of documents, where the library for them was not there.
 */
#include "wallsample/report/exporters.h"

#define ABSENT                                                                 \
	"wallsample was built without libcmark-gfm; with it there, configure "                   \
	"--with-cmark builds it in"

const struct exporter exporter_markdown = {
	.name = "markdown",
	.help = "the report as Markdown (not in this build)",
	.endings = "md,markdown",
	.noun = "report",
	.absent = ABSENT,
};

const struct exporter exporter_html = {
	.name = "html",
	.help = "the report as a page for a browser (not in this build)",
	.endings = "html,htm",
	.noun = "report",
	.absent = ABSENT,
};

const struct exporter exporter_latex = {
	.name = "latex",
	.help = "the report for LaTeX (not in this build)",
	.endings = "tex,latex",
	.noun = "report",
	.absent = ABSENT,
};

const struct exporter exporter_man = {
	.name = "man",
	.help = "the report as a manual page (not in this build)",
	.endings = "man",
	.noun = "report",
	.absent = ABSENT,
};
