/* SPDX-License-Identifier: MIT */
/* help.c - the usage text, from the registries of options and formats. */
#include <string.h>

#include "cli/cli_internal.h"
#include "wallsample/format/exporters.h"
#include "wallsample/report/display.h"
#include "wallsample/runtime/language.h"

#define WIDTH 79
#define INDENT 26 /* column in which the help of an option begins */

/* Prints a name and, from column INDENT on, its description, in lines of up to WIDTH columns. */
static void
print_item(FILE *out, const char *name, const char *help)
{
	int at = fprintf(out, "  %s", name);

	if (at + 2 > INDENT) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", INDENT - at, "");
	display_wrap(out, help, INDENT, WIDTH);
}

/* Prints an option; without `whole` with its short text. */
static void
print_option(FILE *out, const struct option_row *row, bool whole)
{
	struct strbuf name = STRBUF_INIT, help = STRBUF_INIT;

	if (row->letter != 0)
		strbuf_add_format(&name, "-%c, ", row->letter);
	else
		strbuf_add_text(&name, "    ");
	strbuf_add_format(&name, "--%s%s%s", row->name, row->argument != NULL ? " " : "",
			  row->argument != NULL ? row->argument : "");
	strbuf_add_text(&help, whole ? row->help : row->brief);
	if (row->type == OPTION_RUNTIMES && whole) {
		strbuf_add_text(&help, " ");
		language_add_names(&help);
	}
	if (row->fallback != NULL && whole)
		strbuf_add_format(&help, " (default %s)", row->fallback);
	print_item(out, name.data, help.data);
	strbuf_release(&name);
	strbuf_release(&help);
}

static void
print_commands(const struct command *commands, bool whole, FILE *out)
{
	fputs("\nCommands:\n", out);
	for (const struct command *command = commands + 1; command->name != NULL; command++)
		if (whole || command->bit != FOR_WORDS)
			print_item(out, command->name, command->help);
}

static bool
is_shown(const struct option_row *row, const struct command *command, bool whole)
{
	return !row->hidden && (whole || row->brief != NULL) &&
	       (option_commands(row) & command->bit) != 0;
}

/* Prints the options, with `whole` each group below its heading. */
static void
print_options(const struct command *command, bool whole, FILE *out)
{
	const char *group = NULL, *printed = NULL;

	for (const struct option_row *row = option_table; row->name != NULL; row++) {
		group = row->group != NULL ? row->group : group;
		if (!is_shown(row, command, whole))
			continue;
		if (whole ? group != printed : printed == NULL)
			fprintf(out, "\n%s:\n", whole ? group : "Options");
		printed = group;
		print_option(out, row, whole);
	}
}

static void
print_format(FILE *out, const struct exporter *exporter, const struct command *command)
{
	const char *other = command->bit == FOR_DIFF   ? exporter->diff_help :
			    command->bit == FOR_CAUSAL ? exporter->causal_help :
							 NULL;

	print_item(out, exporter->name, other != NULL ? other : exporter->help);
}

/* The formats that the command writes. */
static void
print_formats(const struct command *command, FILE *out)
{
	if (!(command->bit & (FOR_STACKS | FOR_CAUSAL)))
		return;
	fputs("\nFormats:\n", out);
	for (size_t i = 0; exporters[i] != NULL; i++)
		if (output_format_fits(exporters[i], command))
			print_format(out, exporters[i], command);
	if (command->bit & (FOR_SAMPLING | FOR_CAUSAL))
		print_item(out, "wsdb", "a recording, for wallsample report");
}

void
help_print(const struct command *command, const struct command *commands, bool whole, FILE *out)
{
	const bool main = command == commands;
	const char *usage_end = strstr(command->about, "\n\n");

	/* With all its commands and options, wallsample itself has no room for more. */
	if (main && !whole && usage_end != NULL)
		fprintf(out, "%.*s\n", (int)(usage_end - command->about), command->about);
	else
		fputs(command->about, out);
	print_options(command, whole, out);
	if (main)
		print_commands(commands, whole, out);
	if (!whole) {
		fprintf(out, "\nAll options, formats and examples: wallsample %s%s--help\n",
			command->name, main ? "" : " ");
		return;
	}
	print_formats(command, out);
	fputs(command->examples, out);
	fputs(command->ending, out);
}
