/* SPDX-License-Identifier: MIT */
/* log.c - writes status messages, one line each. */
#include <stdarg.h>
#include <stdio.h>

#include "wallsample/base/base.h"

void
log_say(const struct log *log, enum log_level level, const char *fmt, ...)
{
	char text[1024];
	struct strbuf line = STRBUF_INIT;
	va_list args;

	if (log == NULL || log->stream == NULL || log->level < level)
		return;
	va_start(args, fmt);
	if (vsnprintf(text, sizeof(text), fmt, args) < 0)
		text[0] = '\0';
	va_end(args);
	strbuf_add_escaped(&line, text);
	/*
	 * The whole line is written by one call of stdio, so that the lines of several programs on
	 * one terminal do not mix.
	 */
	if (log->before != NULL)
		log->before(log->context);
	fprintf(log->stream, "wallsample: %s\n", line.data);
	fflush(log->stream);
	if (log->after != NULL)
		log->after(log->context);
	strbuf_release(&line);
}
