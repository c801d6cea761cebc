/* SPDX-License-Identifier: MIT */
/* xml_text.h - writes text as XML character data. */
#ifndef WALLSAMPLE_REPORT_XML_TEXT_H
#define WALLSAMPLE_REPORT_XML_TEXT_H

#include <stdio.h>

/* Writes text with XML's special characters escaped. The text was made by strbuf_add_escaped(). */
void xml_write_text(FILE *out, const char *text);

#endif
