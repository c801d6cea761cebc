/* SPDX-License-Identifier: MIT */
/* help.c - the usage text, from the registries of options and formats. */
#include <string.h>

#include "cli.h"

#define WIDTH 80
#define INDENT 26 /* where the help of an option begins */

static const char intro[] =
	"Usage: wallsample [OPTIONS] -p PID\n"
	"       wallsample [OPTIONS] --name GLOB\n"
	"       wallsample [OPTIONS] -- CMD [ARGS]\n"
	"\n"
	"Samples every thread of a running program and prints where its wall time goes,\n"
	"time spent blocked included. The program needs no preparation and is left as it\n"
	"was found.\n"
	"\n"
	"Options:\n";

static const char outro[] =
	"\n"
	"Examples:\n"
	"  wallsample -p 1234 -d 30               a text report of 30 seconds\n"
	"  wallsample --name redis-server -d 10   the same, found by its name\n"
	"  wallsample -d 5 -- ./server 8080       start a program and sample it\n"
	"  wallsample -p 1234 -d 10 -o out.folded for flamegraph.pl and speedscope\n"
	"  wallsample -p 1234 -d 10 -t --state R  what each thread does while it runs\n"
	"\n"
	"Signals: INT (Ctrl-C) and TERM end sampling and write what there is, a second\n"
	"one leaves at once; USR1 writes what there is so far and goes on.\n"
	"\n"
	"Exit status: 0 whole; 1 partial, more than 1 % of samples or stacks failed;\n"
	"2 nothing sampled or not written; 3 not permitted; 64 wrong usage.\n";

/* Writes the words of `text`, which begin at column `at`, and ends the line. */
static void
print_wrapped(FILE *out, const char *text, int at)
{
	bool first = true;

	while (*text != '\0') {
		int length = (int)strcspn(text, " ");

		if (!first && at + 1 + length >= WIDTH) {
			fprintf(out, "\n%*s", INDENT, "");
			at = INDENT;
			first = true;
		}
		fprintf(out, "%s%.*s", first ? "" : " ", length, text);
		at += length + !first;
		first = false;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* The name of something and, from a column on, what it is. */
static void
print_item(FILE *out, const char *name, const char *help)
{
	int at = fprintf(out, "  %s", name);

	if (at + 2 > INDENT) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", INDENT - at, "");
	print_wrapped(out, help, INDENT);
}

static void
print_option(FILE *out, const struct option_row *row)
{
	struct strbuf name, help;

	strbuf_init(&name);
	strbuf_init(&help);
	if (row->letter != 0)
		strbuf_add_format(&name, "-%c, ", row->letter);
	else
		strbuf_add_text(&name, "    ");
	strbuf_add_format(&name, "--%s%s%s", row->name, row->argument != NULL ? " " : "",
			  row->argument != NULL ? row->argument : "");
	strbuf_add_text(&help, row->help);
	if (row->fallback != NULL)
		strbuf_add_format(&help, " (default %s)", row->fallback);
	print_item(out, name.data, help.data);
	strbuf_release(&name);
	strbuf_release(&help);
}

void
help_print(FILE *out)
{
	fputs(intro, out);
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (!row->hidden)
			print_option(out, row);
	fputs("\nFormats:\n", out);
	for (size_t i = 0; exporters[i] != NULL; i++)
		print_item(out, exporters[i]->name, exporters[i]->help);
	fputs(outro, out);
}
