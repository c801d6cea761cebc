/* SPDX-License-Identifier: MIT */
/* xml_text.c - writes text as XML character data. */
#include "wallsample/report/xml_text.h"

void
xml_write_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fputc(*text, out);
	}
}
