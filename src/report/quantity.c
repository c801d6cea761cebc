/* SPDX-License-Identifier: MIT */
/* quantity.c - formats times, counts, shares and rates. */
#include "wallsample/report/quantity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "wallsample/base/base.h"

static struct quantity quantity_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static struct quantity
quantity_format(const char *format, ...)
{
	struct quantity quantity;
	va_list args;

	va_start(args, format);
	vsnprintf(quantity.text, sizeof(quantity.text), format, args);
	va_end(args);
	return quantity;
}

struct quantity
quantity_time(int64_t ns)
{
	const double us = (double)ns / 1e3;

	/* From each of these values on, the format below it would round to one more digit:
	 * "1000ms", "10.0ms", "1000us" or "10.0us". */
	if (us >= 999500)
		return quantity_format("%.2fs", us / 1e6);
	if (us >= 9950)
		return quantity_format("%.0fms", us / 1e3);
	if (us >= 999.5)
		return quantity_format("%.1fms", us / 1e3);
	if (us >= 9.95)
		return quantity_format("%.0fus", us);
	return ns > 0 ? quantity_format("%.1fus", us) : quantity_format("0");
}

struct quantity
quantity_duration(uint64_t ns)
{
	const uint64_t seconds = ns / NS_PER_SEC, minutes = seconds / 60, hours = minutes / 60;

	if (seconds < 100)
		return quantity_time((int64_t)ns);
	if (minutes < 60)
		return quantity_format("%" PRIu64 "m %" PRIu64 "s", minutes, seconds % 60);
	if (hours < 24)
		return quantity_format("%" PRIu64 "h %" PRIu64 "m", hours, minutes % 60);
	return quantity_format("%" PRIu64 "d %" PRIu64 "h", hours / 24, hours % 24);
}

struct quantity
quantity_count(uint64_t count)
{
	if (count < 1000)
		return quantity_format("%" PRIu64, count);
	return quantity_format("%s,%03" PRIu64, quantity_count(count / 1000).text, count % 1000);
}

struct quantity
quantity_things(uint64_t count, const char *one, const char *many)
{
	return quantity_format("%s %s", quantity_count(count).text, count == 1 ? one : many);
}

struct quantity
quantity_share(double part, double whole)
{
	const double percent = whole > 0 ? 100 * part / whole : 0;

	if (percent > 0 && percent < 0.005)
		return quantity_format("<0.01%%");
	return quantity_format("%.2f%%", percent);
}

struct quantity
quantity_percent(double share)
{
	return quantity_format(share < 0.0995 ? "%.1f%%" : "%.0f%%", 100 * share);
}

struct quantity
quantity_rate(double hz)
{
	return quantity_format(hz >= 1000 ? "%.0f Hz" : "%.4g Hz", hz);
}

struct quantity
quantity_memory(uint64_t bytes)
{
	return quantity_format("%.1f MiB", (double)bytes / (1024 * 1024));
}
