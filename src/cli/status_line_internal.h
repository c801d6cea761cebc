/* SPDX-License-Identifier: MIT */
/* status_line_internal.h - one line on a terminal that says how far the work has come. */
#ifndef WALLSAMPLE_CLI_STATUS_LINE_INTERNAL_H
#define WALLSAMPLE_CLI_STATUS_LINE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"

struct status_line {
	bool on;
	uint64_t duration_ns; /* 0: not known */
	size_t drawn;         /* columns that the last line took */
};

/* Draws only if stderr is a terminal and `wanted`. */
void status_line_init(struct status_line *status, bool wanted, uint64_t duration_ns);
void status_line_draw(struct status_line *status, uint64_t elapsed_ns, uint64_t samples,
		      uint32_t threads);
/* The same with a text of somebody's own, which is changed. */
void status_line_say(struct status_line *status, struct strbuf *line);
void status_line_erase(struct status_line *status);
/* The line, cut to `columns`: apart for tests. */
void status_line_text(const struct status_line *status, uint64_t elapsed_ns, uint64_t samples,
		      uint32_t threads, size_t columns, struct strbuf *line);

#endif
