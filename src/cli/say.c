/* SPDX-License-Identifier: MIT */
/* say.c - prints errors, and writes numbers and times as text. */
#include "cli/cli_internal.h"

void
say_error(const struct error *err)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_escaped(&text, err->text);
	fprintf(stderr, "wallsample: %s\n", text.data);
	strbuf_release(&text);
}

int
say_end(int rc, int status, const struct error *err)
{
	if (rc == 0)
		return status;
	say_error(err);
	return error_exit_status(err->kind);
}

const char *
say_count(uint64_t count, char text[SAY_TEXT_SIZE])
{
	char digits[SAY_TEXT_SIZE];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *to = text;

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

const char *
say_duration(uint64_t ns, char text[SAY_TEXT_SIZE])
{
	if (ns < NS_PER_SEC)
		snprintf(text, SAY_TEXT_SIZE, "%.4g ms", (double)ns / (double)NS_PER_MS);
	else
		snprintf(text, SAY_TEXT_SIZE, "%.10g s", (double)(ns / NS_PER_MS) * 1e-3);
	return text;
}

const char *
say_date(time_t when, bool compact, char text[SAY_TEXT_SIZE])
{
	struct tm local;

	if (localtime_r(&when, &local) == NULL ||
	    strftime(text, SAY_TEXT_SIZE, compact ? "%Y%m%d-%H%M%S" : "%Y-%m-%d %H:%M:%S",
		     &local) == 0)
		text[0] = '\0';
	return text;
}
