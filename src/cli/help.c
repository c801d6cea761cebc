/* SPDX-License-Identifier: MIT */
/* help.c - the usage text, from the registries of options and formats. */
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

static void
print_option(FILE *out, const struct option_row *row)
{
	struct strbuf name = STRBUF_INIT, help = STRBUF_INIT;

	if (row->letter != 0)
		strbuf_add_format(&name, "-%c, ", row->letter);
	else
		strbuf_add_text(&name, "    ");
	strbuf_add_format(&name, "--%s%s%s", row->name, row->argument != NULL ? " " : "",
			  row->argument != NULL ? row->argument : "");
	strbuf_add_text(&help, row->help);
	if (row->type == OPTION_RUNTIMES) {
		strbuf_add_text(&help, " ");
		language_add_names(&help);
	}
	if (row->fallback != NULL)
		strbuf_add_format(&help, " (default %s)", row->fallback);
	print_item(out, name.data, help.data);
	strbuf_release(&name);
	strbuf_release(&help);
}

static void
print_commands(const struct command *commands, FILE *out)
{
	fputs("\nCommands, each with a help of its own (wallsample record -h):\n", out);
	for (const struct command *command = commands + 1; command->name != NULL; command++)
		print_item(out, command->name, command->help);
}

static void
print_format(FILE *out, const struct exporter *exporter, const struct command *command)
{
	const char *other = command->bit == FOR_DIFF   ? exporter->diff_help :
			    command->bit == FOR_CAUSAL ? exporter->causal_help :
							 NULL;

	print_item(out, exporter->name, other != NULL ? other : exporter->help);
}

void
help_print(const struct command *command, const struct command *commands, FILE *out)
{
	fputs(command->about, out);
	fputs("\nOptions:\n", out);
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (!row->hidden && (option_commands(row) & command->bit))
			print_option(out, row);
	if (command == commands)
		print_commands(commands, out);
	if (command->bit & (FOR_STACKS | FOR_CAUSAL)) {
		fputs("\nFormats:\n", out);
		for (size_t i = 0; exporters[i] != NULL; i++)
			if (output_format_fits(exporters[i], command))
				print_format(out, exporters[i], command);
		if (command->bit & (FOR_SAMPLING | FOR_CAUSAL))
			print_item(out, "wsdb", "a recording, for wallsample report");
	}
	fputs(command->examples, out);
	fputs(command->ending, out);
}
