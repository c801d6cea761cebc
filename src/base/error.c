/* SPDX-License-Identifier: MIT */
/* error.c - the closed set of errors, and the sentence that goes with one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"

static const struct {
	const char *name;
	int status;
} kinds[] = { [ERROR_NONE] = { "NONE", 0 },
#define X(kind_name, exit_status) [ERROR_##kind_name] = { #kind_name, exit_status },
	      ERROR_KINDS(X)
#undef X
};

int
error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
	/* A separate buffer: the arguments may point into err->text. */
	char text[sizeof(err->text)];
	va_list args;

	if (err == NULL)
		return -(int)kind;
	va_start(args, fmt);
	if (vsnprintf(text, sizeof(text), fmt, args) < 0)
		text[0] = '\0';
	va_end(args);
	memcpy(err->text, text, sizeof(text));
	err->kind = kind;
	return -(int)kind;
}

int
error_exit_status(enum error_kind kind)
{
	return (unsigned)kind < ARRAY_SIZE(kinds) ? kinds[kind].status : 2;
}

const char *
error_kind_name(enum error_kind kind)
{
	return (unsigned)kind < ARRAY_SIZE(kinds) ? kinds[kind].name : "UNKNOWN";
}
