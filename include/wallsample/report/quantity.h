/* SPDX-License-Identifier: MIT */
/*
 * quantity.h - formats numbers with their units for readable output.
 *
 * Each function returns a value whose `text` is an argument for "%s": it is valid until the end of
 * the full expression that contains the call.
 */
#ifndef WALLSAMPLE_REPORT_QUANTITY_H
#define WALLSAMPLE_REPORT_QUANTITY_H

#include <stdint.h>

struct quantity {
	char text[96];
};

/* Returns "12.34s", "120ms", "1.5ms", "12us" or "1.5us"; "0" if `ns` is not above 0. */
struct quantity quantity_time(int64_t ns);
/* Formats a time that may be long: "12.30s", "5m 20s", "3h 12m", "2d 4h". */
struct quantity quantity_duration(uint64_t ns);
/* Returns "12,345,678". */
struct quantity quantity_count(uint64_t count);
/* Returns `count` and its noun, "1 thread" or "1,200 threads". A noun has at most 64 bytes. */
struct quantity quantity_things(uint64_t count, const char *one, const char *many);
/* Returns "12.34%"; "<0.01%" for a positive share that would round to 0; "0.00%" if whole is 0. */
struct quantity quantity_share(double part, double whole);
/*
 * Returns a share from 0 to 1 as "63%", or below 10% with a digit after the decimal point: "1.3%".
 */
struct quantity quantity_percent(double share);
/* Returns "100 Hz" or "99.87 Hz". */
struct quantity quantity_rate(double hz);
/* Returns "12.3 MiB". */
struct quantity quantity_memory(uint64_t bytes);

#endif
