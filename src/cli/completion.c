/* SPDX-License-Identifier: MIT */
/* completion.c - the command completion: writes scripts for shells, from the registries of
 * commands, options and formats. */
#include <string.h>

#include "cli/cli_internal.h"
#include "wallsample/format/exporters.h"

/* What an argument is completed with. */
enum argument {
	ARGUMENT_NONE,    /* the option is a flag */
	ARGUMENT_TEXT,    /* nothing */
	ARGUMENT_FILE,    /* files */
	ARGUMENT_FOLDER,  /* directories */
	ARGUMENT_PID,     /* ids of processes */
	ARGUMENT_PROCESS, /* names of processes */
	ARGUMENT_WORDS,   /* words_of() */
};

static enum argument
argument_of(const struct option_row *row)
{
	if (row->argument == NULL)
		return ARGUMENT_NONE;
	if (row->type == OPTION_CHOICE || strcmp(row->name, "format") == 0)
		return ARGUMENT_WORDS;
	if (row->type == OPTION_PIDS)
		return ARGUMENT_PID;
	if (strcmp(row->name, "name") == 0)
		return ARGUMENT_PROCESS;
	if (strcmp(row->argument, "DIR") == 0)
		return ARGUMENT_FOLDER;
	return strcmp(row->argument, "FILE") == 0 ? ARGUMENT_FILE : ARGUMENT_TEXT;
}

/* Adds the words that an option with ARGUMENT_WORDS accepts, separated by spaces. */
static void
add_words(const struct option_row *row, const struct command *command, struct strbuf *out)
{
	const char *gap = "";

	for (size_t i = 0; row->type == OPTION_CHOICE && row->choices[i] != NULL; i++, gap = " ")
		strbuf_add_format(out, "%s%s", gap, row->choices[i]);
	if (row->type == OPTION_CHOICE)
		return;
	for (size_t i = 0; exporters[i] != NULL && command->bit != FOR_RECORD; i++) {
		if (!output_format_fits(exporters[i], command))
			continue;
		strbuf_add_format(out, "%s%s", gap, exporters[i]->name);
		gap = " ";
	}
	if (command->bit & (FOR_SAMPLING | FOR_CAUSAL))
		strbuf_add_format(out, "%swsdb", gap);
}

/* Adds the names of all commands, separated by spaces. */
static void
add_commands(const struct command *commands, struct strbuf *out)
{
	for (const struct command *c = commands + 1; c->name != NULL; c++)
		strbuf_add_format(out, "%s%s", c > commands + 1 ? " " : "", c->name);
}

/* Adds the names of the topics of "help", separated by spaces. */
static void
add_topics(struct strbuf *out)
{
	const size_t before = out->length;

	help_add_topics(out);
	for (size_t i = before; i < out->length; i++)
		if (out->data[i] == ',')
			out->data[i] = ' ';
}

static bool
takes(const struct command *command, const struct option_row *row)
{
	return !row->hidden && (option_commands(row) & command->bit) != 0;
}

/* --- bash -------------------------------------------------------------------------------- */

/* Writes the cases of the options whose argument is completed in the same way. */
static void
bash_case(enum argument argument, const char *action, FILE *out)
{
	const char *gap = "\t";

	for (const struct option_row *row = option_table; row->name != NULL; row++) {
		if (row->hidden || argument_of(row) != argument)
			continue;
		fprintf(out, "%s--%s", gap, row->name);
		if (row->letter != 0)
			fprintf(out, "|-%c", row->letter);
		gap = "|";
	}
	if (gap[0] == '|')
		fprintf(out, ")\n\t\t%s\n\t\treturn ;;\n", action);
}

/* Writes the cases of the options with ARGUMENT_WORDS of a command. */
static void
bash_words(const struct command *command, FILE *out)
{
	struct strbuf words = STRBUF_INIT;

	for (const struct option_row *row = option_table; row->name != NULL; row++) {
		if (!takes(command, row) || argument_of(row) != ARGUMENT_WORDS)
			continue;
		strbuf_clear(&words);
		add_words(row, command, &words);
		fprintf(out, "\t%s:--%s", command->name, row->name);
		if (row->letter != 0)
			fprintf(out, "|%s:-%c", command->name, row->letter);
		fprintf(out, ") words='%s' ;;\n", words.data);
	}
	strbuf_release(&words);
}

/* Names of processes and files are foreign text: compgen -W would expand them, commands in them
 * included. */
static const char bash_functions[] =
	"# Completion of wallsample for bash, written by: wallsample completion bash\n"
	"# Adds the lines of standard input that begin with $1.\n"
	"_wallsample_lines()\n"
	"{\n"
	"\tlocal line\n"
	"\twhile IFS= read -r line; do\n"
	"\t\t[[ $line == \"$1\"* ]] && COMPREPLY+=(\"$(printf %q \"$line\")\")\n"
	"\tdone\n"
	"}\n"
	"_wallsample_files()\n"
	"{\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\")\n"
	"}\n"
	"_wallsample()\n"
	"{\n";

static void
bash_write(const struct command *commands, FILE *out)
{
	struct strbuf names = STRBUF_INIT, topics = STRBUF_INIT;

	add_commands(commands, &names);
	add_topics(&topics);
	fputs(bash_functions, out);
	fprintf(out,
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		"\tlocal command= commands='%s' topics='%s' words= options= i\n"
		"\tCOMPREPLY=()\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\t[[ ${COMP_WORDS[i]} == -- ]] && { _wallsample_files -f \"$cur\"; return; }\n"
		"\tdone\n"
		"\t[[ $COMP_CWORD -gt 1 && \" $commands \" == *\" ${COMP_WORDS[1]} \"* ]] &&\n"
		"\t\tcommand=${COMP_WORDS[1]}\n"
		"\t# --format=json is three words.\n"
		"\tif [[ $cur == = ]]; then\n"
		"\t\tcur=\n"
		"\telif [[ $prev == = && $COMP_CWORD -gt 2 ]]; then\n"
		"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
		"\tfi\n"
		"\tcase $command:$prev in\n",
		names.data, topics.data);
	for (const struct command *c = commands; c->name != NULL; c++)
		bash_words(c, out);
	fputs("\tesac\n"
	      "\tif [[ $words ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase $prev in\n",
	      out);
	bash_case(ARGUMENT_PID, "_wallsample_lines \"$cur\" < <(ps -eo pid= | tr -d ' ')", out);
	bash_case(ARGUMENT_PROCESS, "_wallsample_lines \"$cur\" < <(ps -eo comm= | sort -u)", out);
	bash_case(ARGUMENT_FILE, "_wallsample_files -f \"$cur\"", out);
	bash_case(ARGUMENT_FOLDER, "_wallsample_files -d \"$cur\"", out);
	bash_case(ARGUMENT_TEXT, ":", out);
	fputs("\tesac\n\tcase $command in\n", out);
	for (const struct command *c = commands; c->name != NULL; c++) {
		fprintf(out, "\t'%s') options='", c->name);
		for (const struct option_row *row = option_table; row->name != NULL; row++)
			if (takes(c, row))
				fprintf(out, " --%s", row->name);
		fputs("' ;;\n", out);
	}
	fputs("\tesac\n"
	      "\tif [[ $cur == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	      "\telif [[ $COMP_CWORD -eq 1 || ( $command == help && $COMP_CWORD -eq 2 ) ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$commands${command:+ $topics}\" -- \"$cur\"))\n"
	      "\telif [[ $command == completion && $COMP_CWORD -eq 2 ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\"))\n"
	      "\telif [[ $command != help && $command != completion ]]; then\n"
	      "\t\t_wallsample_files -f \"$cur\"\n"
	      "\tfi\n"
	      "}\n"
	      "complete -F _wallsample wallsample\n",
	      out);
	strbuf_release(&names);
	strbuf_release(&topics);
}

/* --- zsh --------------------------------------------------------------------------------- */

/* Writes a text between single quotes of zsh, for _arguments, where ":" and brackets have a
 * meaning. */
static void
zsh_text(const char *text, FILE *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text) != NULL)
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void
zsh_option(const struct command *command, const struct option_row *row, FILE *out)
{
	static const char *const actions[] = {
		[ARGUMENT_TEXT] = " ",
		[ARGUMENT_FILE] = "_files",
		[ARGUMENT_FOLDER] = "_files -/",
		[ARGUMENT_PID] = "_pids",
		[ARGUMENT_PROCESS] = "_process_names",
	};
	const enum argument argument = argument_of(row);
	struct strbuf words = STRBUF_INIT;

	/* With "=", zsh completes --format=json, and with "+" -fjson. */
	if (row->letter != 0)
		fprintf(out, " \\\n\t\t\t{-%c%s,--%s%s}'", row->letter,
			argument != ARGUMENT_NONE ? "+" : "", row->name,
			argument != ARGUMENT_NONE ? "=" : "");
	else
		fprintf(out, " \\\n\t\t\t'--%s%s", row->name, argument != ARGUMENT_NONE ? "=" : "");
	fputc('[', out);
	zsh_text(row->help, out);
	fputc(']', out);
	if (argument == ARGUMENT_WORDS) {
		add_words(row, command, &words);
		fprintf(out, ":%s:(%s)", row->argument, words.data);
	} else if (argument != ARGUMENT_NONE) {
		fprintf(out, ":%s:%s", row->argument, actions[argument]);
	}
	fputc('\'', out);
	strbuf_release(&words);
}

static void
zsh_write(const struct command *commands, FILE *out)
{
	struct strbuf topics = STRBUF_INIT;

	add_topics(&topics);
	fputs("#compdef wallsample\n"
	      "# Completion of wallsample for zsh, written by: wallsample completion zsh\n"
	      "_wallsample()\n"
	      "{\n"
	      "\tlocal command= commands=(",
	      out);
	for (const struct command *c = commands + 1; c->name != NULL; c++) {
		fprintf(out, "\n\t\t'%s:", c->name);
		zsh_text(c->help, out);
		fputc('\'', out);
	}
	fputs("\n\t)\n"
	      "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	      "\t\t_describe command commands\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\t(( ${commands[(I)$words[2]:*]} )) && command=$words[2]\n"
	      "\tcase $command in\n",
	      out);
	for (const struct command *c = commands; c->name != NULL; c++) {
		fprintf(out, "\t('%s')\n\t\t_arguments -s", c->name);
		for (const struct option_row *row = option_table; row->name != NULL; row++)
			if (takes(c, row))
				zsh_option(c, row, out);
		if (strcmp(c->name, "help") == 0)
			fprintf(out, " \\\n\t\t\t'*:topic:(${commands%%%%:*} %s)'\n\t\t;;\n",
				topics.data);
		else
			fprintf(out, " \\\n\t\t\t'*:%s'\n\t\t;;\n",
				strcmp(c->name, "completion") == 0 ? "shell:(bash zsh fish)" :
								     "file:_files");
	}
	fputs("\tesac\n}\n_wallsample \"$@\"\n", out);
	strbuf_release(&topics);
}

/* --- fish -------------------------------------------------------------------------------- */

static void
fish_text(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		fprintf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
}

/* `names`: those of all commands. */
static void
fish_option(const struct command *command, const struct option_row *row, const char *names,
	    FILE *out)
{
	static const char *const actions[] = {
		[ARGUMENT_NONE] = "",
		[ARGUMENT_TEXT] = " -x",
		[ARGUMENT_FILE] = " -r -F",
		[ARGUMENT_FOLDER] = " -x -a '(__fish_complete_directories)'",
		[ARGUMENT_PID] = " -x -a '(__fish_complete_pids)'",
		[ARGUMENT_PROCESS] = " -x -a '(ps -eo comm=)'",
	};
	const enum argument argument = argument_of(row);
	struct strbuf words = STRBUF_INIT;

	if (command->name[0] == '\0')
		fprintf(out, "complete -c wallsample -n 'not __fish_seen_subcommand_from %s'",
			names);
	else
		fprintf(out, "complete -c wallsample -n '__fish_seen_subcommand_from %s'",
			command->name);
	fprintf(out, " -l %s", row->name);
	if (row->letter != 0)
		fprintf(out, " -s %c", row->letter);
	if (argument == ARGUMENT_WORDS) {
		add_words(row, command, &words);
		fprintf(out, " -x -a '%s'", words.data);
	} else {
		fputs(actions[argument], out);
	}
	fputs(" -d '", out);
	fish_text(row->help, out);
	fputs("'\n", out);
	strbuf_release(&words);
}

static void
fish_write(const struct command *commands, FILE *out)
{
	struct strbuf names = STRBUF_INIT;

	add_commands(commands, &names);
	fputs("# Completion of wallsample for fish, written by: wallsample completion fish\n", out);
	for (const struct command *c = commands + 1; c->name != NULL; c++) {
		fprintf(out, "complete -c wallsample -f -n __fish_use_subcommand -a %s -d '",
			c->name);
		fish_text(c->help, out);
		fputs("'\n", out);
	}
	for (const struct command *c = commands; c->name != NULL; c++)
		for (const struct option_row *row = option_table; row->name != NULL; row++)
			if (takes(c, row))
				fish_option(c, row, names.data, out);
	strbuf_add_text(&names, " ");
	add_topics(&names);
	fprintf(out,
		"complete -c wallsample -f -n '__fish_seen_subcommand_from completion' "
		"-a 'bash zsh fish'\n"
		"complete -c wallsample -f -n '__fish_seen_subcommand_from help' -a '%s'\n",
		names.data);
	strbuf_release(&names);
}

/* --- the command ------------------------------------------------------------------------- */

int
completion_print(const struct command *commands, const char *shell, FILE *out, struct error *err)
{
	static const struct {
		const char *shell;
		void (*write)(const struct command *commands, FILE *out);
	} scripts[] = { { "bash", bash_write }, { "zsh", zsh_write }, { "fish", fish_write } };

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
		if (strcmp(scripts[i].shell, shell) == 0) {
			scripts[i].write(commands, out);
			return 0;
		}
	return error_set(err, ERROR_USAGE,
			 "there is no completion for '%s', only for bash, zsh and fish", shell);
}
