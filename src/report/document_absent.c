/* SPDX-License-Identifier: MIT */
/*
 * document_absent.c - the exporters of documents in a build without libcmark-gfm, which cannot
 * write documents: each has only its name and the reason.
 */
#include "wallsample/report/report.h"

const struct exporter exporter_markdown = {
	.name = "markdown",
	.help = "the report as Markdown (not in this build)",
	.endings = "md,markdown",
	.noun = "report",
	.absent = DOCUMENT_ABSENT,
};

const struct exporter exporter_latex = {
	.name = "latex",
	.help = "the report for LaTeX (not in this build)",
	.endings = "tex,latex",
	.noun = "report",
	.absent = DOCUMENT_ABSENT,
};

const struct exporter exporter_man = {
	.name = "man",
	.help = "the report as a manual page (not in this build)",
	.endings = "man",
	.noun = "report",
	.absent = DOCUMENT_ABSENT,
};
