/* SPDX-License-Identifier: MIT */
/*
 * quantity.h - appends numbers with units to a buffer, for readable output.
 */
#ifndef WALLSAMPLE_REPORT_QUANTITY_H
#define WALLSAMPLE_REPORT_QUANTITY_H

#include <stdint.h>

#include "wallsample/base/base.h"

/* "12.34s", "120ms", "1.5ms", "12us", "0". */
void quantity_add_time(struct strbuf *out, int64_t ns);
/* "12,345,678". */
void quantity_add_count(struct strbuf *out, uint64_t count);
/* `count` and its noun: "1 thread", "1,200 threads". */
void quantity_add_things(struct strbuf *out, uint64_t count, const char *one, const char *many);
/* "12.34%"; "<0.01%" for a positive share that would round to 0; "0.00%" if the whole is 0. */
void quantity_add_share(struct strbuf *out, double part, double whole);
/* "100 Hz", "99.87 Hz". */
void quantity_add_rate(struct strbuf *out, double hz);
/* "12.3 MiB". */
void quantity_add_memory(struct strbuf *out, uint64_t bytes);

#endif
