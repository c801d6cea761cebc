/* SPDX-License-Identifier: MIT */
/*
 * quantity.c - formats times, counts, shares and rates.
 */
#include "wallsample/report/quantity.h"

#include <inttypes.h>

void
quantity_add_time(struct strbuf *out, int64_t ns)
{
	const double us = (double)ns / 1e3;

	/* The bounds are where rounding would give "1000". */
	if (us >= 999500)
		strbuf_add_format(out, "%.2fs", us / 1e6);
	else if (us >= 9950)
		strbuf_add_format(out, "%.0fms", us / 1e3);
	else if (us >= 999.5)
		strbuf_add_format(out, "%.1fms", us / 1e3);
	else if (us >= 9.95)
		strbuf_add_format(out, "%.0fus", us);
	else if (ns > 0)
		strbuf_add_format(out, "%.1fus", us);
	else
		strbuf_add_text(out, "0");
}

void
quantity_add_count(struct strbuf *out, uint64_t count)
{
	uint64_t unit = 1;

	while (count / unit >= 1000)
		unit *= 1000;
	strbuf_add_format(out, "%" PRIu64, count / unit);
	for (unit /= 1000; unit > 0; unit /= 1000)
		strbuf_add_format(out, ",%03" PRIu64, count / unit % 1000);
}

void
quantity_add_things(struct strbuf *out, uint64_t count, const char *one, const char *many)
{
	quantity_add_count(out, count);
	strbuf_add_format(out, " %s", count == 1 ? one : many);
}

void
quantity_add_share(struct strbuf *out, double part, double whole)
{
	const double percent = whole > 0 ? 100 * part / whole : 0;

	if (percent > 0 && percent < 0.005)
		strbuf_add_text(out, "<0.01%");
	else
		strbuf_add_format(out, "%.2f%%", percent);
}

void
quantity_add_rate(struct strbuf *out, double hz)
{
	strbuf_add_format(out, hz >= 1000 ? "%.0f Hz" : "%.4g Hz", hz);
}

void
quantity_add_memory(struct strbuf *out, uint64_t bytes)
{
	strbuf_add_format(out, "%.1f MiB", (double)bytes / (1024 * 1024));
}
