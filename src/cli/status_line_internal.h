/* SPDX-License-Identifier: MIT */
/* status_line_internal.h - one line on a terminal that shows the progress. */
#ifndef WALLSAMPLE_CLI_STATUS_LINE_INTERNAL_H
#define WALLSAMPLE_CLI_STATUS_LINE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"

struct status_line {
	bool on;
	uint64_t duration_ns; /* 0: not known */
	size_t drawn;         /* width of the drawn line in columns; 0: no line is drawn */
};

/* The status line is drawn only if stderr is a terminal and `wanted` is true. */
void status_line_init(struct status_line *status, bool wanted, uint64_t duration_ns);
void status_line_draw(struct status_line *status, uint64_t elapsed_ns, uint64_t samples,
		      uint32_t threads);
/* Draws `line`, cut to the width of the terminal, in place of the status line. */
void status_line_say(struct status_line *status, struct strbuf *line);
void status_line_erase(struct status_line *status);
/* Appends the text of the status line, cut to `columns` columns. */
void status_line_text(const struct status_line *status, uint64_t elapsed_ns, uint64_t samples,
		      uint32_t threads, size_t columns, struct strbuf *line);

#endif
