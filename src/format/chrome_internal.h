/* SPDX-License-Identifier: MIT */
/* chrome_internal.h - parts of the exporter for the Trace Event Format (chrome.c). */
#ifndef WALLSAMPLE_FORMAT_CHROME_INTERNAL_H
#define WALLSAMPLE_FORMAT_CHROME_INTERNAL_H

#include "wallsample/report/export.h"
#include "wallsample/report/json_stream.h"

/* Returns a time in microseconds, rounded. */
static inline int64_t
chrome_us(uint64_t ns)
{
	return (int64_t)((ns + NS_PER_US / 2) / NS_PER_US);
}

/*
 * Writes the counters of a recording, of all its processes, as those of the process `pid` of the
 * trace: their values at
 * each tick at which a value differs from that at the previous tick, and zeros at the end of the
 * last tick. For a tick that is not selected, the values are 0.
 */
void chrome_put_counters(struct json_stream *json, const struct export_input *input, size_t number,
			 int64_t pid);

#endif
