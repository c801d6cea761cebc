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

struct say_text
say_duration(uint64_t ns)
{
	struct say_text out;

	if (ns < NS_PER_SEC)
		snprintf(out.text, sizeof(out.text), "%.4g ms", (double)ns / (double)NS_PER_MS);
	else
		snprintf(out.text, sizeof(out.text), "%.10g s", (double)(ns / NS_PER_MS) * 1e-3);
	return out;
}

struct say_text
say_date(time_t when, bool compact)
{
	struct say_text out = { "" };
	struct tm local;

	if (localtime_r(&when, &local) != NULL)
		strftime(out.text, sizeof(out.text),
			 compact ? "%Y%m%d-%H%M%S" : "%Y-%m-%d %H:%M:%S", &local);
	return out;
}
