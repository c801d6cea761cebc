/* SPDX-License-Identifier: MIT */
/* html_absent.c - the exporter "html" of a build without libcmark-gfm, which cannot write pages. */
#include "wallsample/report/report.h"
#include "wallsample/web/html.h"

const struct exporter exporter_html = {
	.name = "html",
	.help = "the report as a page for a browser (not in this build)",
	.endings = "html,htm",
	.noun = "report",
	.absent = DOCUMENT_ABSENT,
};
