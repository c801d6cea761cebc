/* SPDX-License-Identifier: MIT */
/* xml_text.h - text in XML. */
#ifndef WALLSAMPLE_REPORT_XML_TEXT_H
#define WALLSAMPLE_REPORT_XML_TEXT_H

#include <stdio.h>

/* Of text that strbuf_add_foreign has made harmless: it has no character that XML has not. */
void xml_write_text(FILE *out, const char *text);

#endif
