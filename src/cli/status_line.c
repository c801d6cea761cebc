/* SPDX-License-Identifier: MIT */
/* status_line.c - one line on a terminal that shows the progress of sampling. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/run_internal.h"
#include "wallsample/report/quantity.h"

void
status_line_init(struct status_line *status, bool wanted, uint64_t duration_ns)
{
	status->on = wanted && isatty(STDERR_FILENO);
	status->duration_ns = duration_ns;
	status->drawn = 0;
}

void
status_line_text(const struct status_line *status, uint64_t elapsed_ns, uint64_t samples,
		 uint32_t threads, size_t columns, struct strbuf *line)
{
	static const char hint[] = " (Ctrl-C ends)";

	strbuf_add_format(line, "wallsample: %.1f s", (double)elapsed_ns / (double)NS_PER_SEC);
	if (status->duration_ns > 0)
		strbuf_add_format(line, " of %s", say_duration(status->duration_ns).text);
	strbuf_add_format(line, ", %s of %s", quantity_things(samples, "sample", "samples").text,
			  quantity_things(threads, "thread", "threads").text);
	if (line->length + sizeof(hint) - 1 <= columns)
		strbuf_add_text(line, hint);
	if (line->length > columns) {
		line->length = columns;
		line->data[columns] = '\0';
	}
}

static size_t
terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

/* True if this process is in the foreground of the terminal, or if that is not known: a background
 * process must not write over the screen of another program. */
static bool
is_foreground(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group < 0 || group == getpgrp();
}

/* Draws the first `columns` bytes of the line over the line that was drawn before; `line` is
 * changed. */
static void
draw(struct status_line *status, struct strbuf *line, size_t columns)
{
	size_t drawn;

	if (line->length > columns) {
		line->length = columns;
		line->data[columns] = '\0';
	}
	drawn = line->length;
	/* Spaces erase the rest of the previous line: not every terminal knows escape sequences. */
	while (line->length < status->drawn && line->length < columns)
		strbuf_add_text(line, " ");
	fprintf(stderr, "\r%s", line->data);
	fflush(stderr);
	status->drawn = drawn;
}

void
status_line_draw(struct status_line *status, uint64_t elapsed_ns, uint64_t samples,
		 uint32_t threads)
{
	/* The last column stays free: some terminals begin a new line after text in it. */
	const size_t columns = terminal_columns() - 1;
	struct strbuf line = STRBUF_INIT;

	if (!status->on || !is_foreground())
		return;
	status_line_text(status, elapsed_ns, samples, threads, columns, &line);
	draw(status, &line, columns);
	strbuf_release(&line);
}

void
status_line_say(struct status_line *status, struct strbuf *line)
{
	if (status->on && is_foreground())
		draw(status, line, terminal_columns() - 1);
}

void
status_line_erase(struct status_line *status)
{
	size_t columns = terminal_columns() - 1, width = status->drawn;

	if (width == 0)
		return;
	/* Erases two columns more than were drawn: the terminal may have written ^C behind the
	 * line. */
	width = width + 2 < columns ? width + 2 : columns;
	fprintf(stderr, "\r%*s\r", (int)width, "");
	fflush(stderr);
	status->drawn = 0;
}
