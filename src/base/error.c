/* SPDX-License-Identifier: MIT */
/* error.c - fills in errors, and maps their kinds to exit statuses. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"

static const int exit_statuses[] = {
#define X(name, status) [ERROR_##name] = (status),
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
	return (unsigned)kind < ARRAY_SIZE(exit_statuses) ? exit_statuses[kind] : 2;
}
