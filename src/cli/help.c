/* SPDX-License-Identifier: MIT */
/* help.c - the usage text, from the registries of options and formats. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "wallsample/format/exporters.h"
#include "wallsample/report/display.h"
#include "wallsample/runtime/language.h"

#define WIDTH 79
#define INDENT 26 /* column in which the help of an option begins */

/* Topics besides the names of languages: each stands for the page wallsample-TOPIC of section 7 of
 * the manual. */
static const char *const topics[] = {
	"tutorial", "theory", "native", "node", "java", "containers", NULL,
};

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
help_add_topics(struct strbuf *out)
{
	for (size_t i = 0; topics[i] != NULL; i++)
		strbuf_add_format(out, "%s, ", topics[i]);
	language_add_names(out);
}

static void
print_topics(FILE *out)
{
	struct strbuf names = STRBUF_INIT;

	help_add_topics(&names);
	fputs("\nTopics, for which man(1) shows a page of the manual:\n  ", out);
	display_wrap(out, names.data, 2, WIDTH);
	strbuf_release(&names);
}

int
help_open_topic(const char *topic, struct error *err)
{
	bool found = language_by_name(topic) >= 0;
	char page[64];

	for (size_t i = 0; topics[i] != NULL && !found; i++)
		found = strcmp(topics[i], topic) == 0;
	if (!found)
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a command or topic; wallsample help --help lists "
				 "them",
				 topic);
	snprintf(page, sizeof(page), "wallsample-%s", topic);
	execlp("man", "man", "7", page, (char *)NULL);
	return error_set(err, ERROR_SYSTEM, "cannot start man to show %s(7): %s", page,
			 strerror(errno));
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
	if (strcmp(command->name, "help") == 0)
		print_topics(out);
	if (!whole) {
		fprintf(out, "\nAll options, formats and examples: wallsample %s%s--help\n",
			command->name, main ? "" : " ");
		return;
	}
	print_formats(command, out);
	fputs(command->examples, out);
	fputs(command->ending, out);
}
