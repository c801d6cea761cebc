/* SPDX-License-Identifier: MIT */
/* option_parse.c - parses the arguments of the program; the option table describes them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_internal.h"

/* No name of an option or command is longer than this. Limits the array in distance(). */
#define NAME_MOST 32

/* The arguments that are not parsed yet. */
struct words {
	char **next, **end;
	const struct command *commands; /* the registry of commands */
};

unsigned
option_commands(const struct option_row *row)
{
	return row->commands != 0 ? row->commands : FOR_REPORTS;
}

/* True if the user gave the option; false if it has its default. */
static bool
option_is_given(const struct options *options, const struct option_row *row)
{
	return options->given != NULL && options->given[row - option_table];
}

const struct option_row *
option_given_beyond(const struct options *options, unsigned taken)
{
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (option_is_given(options, row) && !(option_commands(row) & taken))
			return row;
	return NULL;
}

const struct option_row *
option_given_without_core(const struct options *options)
{
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (option_is_given(options, row) && row->no_core != NULL)
			return row;
	return NULL;
}

bool
options_are_filtered(const struct options *options)
{
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (row->selects != SELECTS_ALL && option_is_given(options, row))
			return true;
	return false;
}

void
options_add_thread_filters(const struct options *options, struct strbuf *text)
{
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (row->selects == SELECTS_THREADS && option_is_given(options, row))
			strbuf_add_format(text, "%s--%s", text->length > 0 ? ", " : "", row->name);
}

static bool
takes_argument(const struct option_row *row)
{
	return row->type != OPTION_FLAG && row->type != OPTION_COUNT;
}

static const struct option_row *
find_name(const char *name, size_t length)
{
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
			return row;
	return NULL;
}

static const struct option_row *
find_letter(char letter)
{
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if (row->letter != 0 && row->letter == letter)
			return row;
	return NULL;
}

static unsigned
least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * Returns the edit distance of two words, each shorter than NAME_MOST: the number of letters to
 * insert, to remove or to replace, and of neighbours to swap (optimal string alignment).
 */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[NAME_MOST + 1][NAME_MOST + 1];
	const size_t a_length = strlen(a), b_length = strlen(b);

	for (unsigned j = 0; j <= b_length; j++)
		row[0][j] = j;
	for (unsigned i = 1; i <= a_length; i++) {
		row[i][0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			row[i][j] = least(row[i - 1][j] + 1, row[i][j - 1] + 1,
					  row[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    row[i - 2][j - 2] + 1 < row[i][j])
				row[i][j] = row[i - 2][j - 2] + 1;
		}
	}
	return row[a_length][b_length];
}

/* Returns the edit distance of two names; 0 if `name` is a prefix of the known name. */
static unsigned
name_distance(const char *known, const char *name)
{
	return strncmp(known, name, strlen(name)) == 0 ? 0 : distance(name, known);
}

/*
 * True if a misspelt name has at least two letters, so that a known name can be guessed from it,
 * and is shorter than NAME_MOST.
 */
static bool
can_guess(const char *name)
{
	return strlen(name) >= 2 && strlen(name) < NAME_MOST;
}

/*
 * Returns the name of the command's option that has the least edit distance from a misspelt name;
 * NULL if this distance is more than a third of the name's length, rounded down, plus 1. A known
 * name that begins with the misspelt one has the distance 0.
 */
static const char *
nearest_option(const char *name, const struct command *verb)
{
	const char *best = NULL;
	unsigned best_distance = (unsigned)(strlen(name) / 3) + 1;

	for (const struct option_row *row = option_table; row->name != NULL; row++) {
		const unsigned d = name_distance(row->name, name);

		if (!(option_commands(row) & verb->bit))
			continue;
		if (d < best_distance || (d == best_distance && best == NULL)) {
			best = row->name;
			best_distance = d;
		}
	}
	return best;
}

static int
refuse_name(const char *name, size_t length, const struct command *verb, struct error *err)
{
	char *copy = xstrndup(name, length);
	const char *near = can_guess(copy) ? nearest_option(copy, verb) : NULL;
	int rc;

	if (near != NULL)
		rc = error_set(err, ERROR_USAGE, "unknown option '--%s'; did you mean '--%s'?",
			       copy, near);
	else
		rc = error_set(err, ERROR_USAGE,
			       "unknown option '--%s'; wallsample %s%s--help lists all options",
			       copy, verb->name, verb->name[0] != '\0' ? " " : "");
	free(copy);
	return rc;
}

static int
refuse_letter(char letter, struct error *err)
{
	int other = islower((unsigned char)letter) ? toupper((unsigned char)letter) :
						     tolower((unsigned char)letter);

	if (isalpha((unsigned char)letter) && find_letter((char)other) != NULL)
		return error_set(err, ERROR_USAGE, "unknown option '-%c'; did you mean '-%c'?",
				 letter, other);
	return error_set(err, ERROR_USAGE,
			 "unknown option '-%c'; wallsample --help lists all options", letter);
}

/*
 * Returns a command whose name has an edit distance of at most 1 from a misspelt word; NULL if
 * there is none, or if the word has less than three letters.
 */
static const struct command *
nearest_command(const struct command *commands, const char *word)
{
	if (strlen(word) < 3 || !can_guess(word))
		return NULL;
	for (const struct command *command = commands + 1; command->name != NULL; command++)
		if (distance(word, command->name) <= 1)
			return command;
	return NULL;
}

static bool
has_target(const struct options *options)
{
	return options->pids.count > 0 || options->cgroups.count > 0 ||
	       options->containers.count > 0 || options->name != NULL || options->core != NULL;
}

/*
 * Sets the error for a word that is no option where an option is expected, and returns ERROR_USAGE.
 * If `first` is true, the word is the first one, where a command is possible.
 */
static int
refuse_word(const char *word, bool first, const struct words *words, const struct options *options,
	    struct error *err)
{
	const struct command *near = first ? nearest_command(words->commands, word) : NULL;
	uint64_t pid;

	for (const struct command *command = words->commands + 1; command->name != NULL; command++)
		if (strcmp(word, command->name) == 0)
			return error_set(err, ERROR_USAGE,
					 "'%s' must be the first word: wallsample %s …", word,
					 word);
	if (near != NULL)
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a command; did you mean 'wallsample %s'?", word,
				 near->name);
	if (has_target(options))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not an option, and the process to "
				 "sample is already given",
				 word);
	if (parse_whole_u64(word, 1, INT32_MAX, &pid))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not an option; to sample process %s say: wallsample -p "
				 "%s",
				 word, word, word);
	return error_set(err, ERROR_USAGE,
			 "'%s' is not an option; to sample a running program say: wallsample "
			 "--name %s; to start it: wallsample -- %s",
			 word, word, word);
}

/*
 * Takes one option. `attached` is the argument in the same word ("-d30"); NULL: the argument, if
 * any, is the next word.
 */
static int
take_option(const struct option_row *row, const char *label, const char *attached,
	    struct words *words, struct options *options, struct error *err)
{
	options->given[row - option_table] = true;
	if (!(option_commands(row) & options->verb->bit))
		return error_set(err, ERROR_USAGE,
				 "%s is not for wallsample %s; wallsample %s --help lists what is",
				 label, options->verb->name, options->verb->name);
	if (!takes_argument(row)) {
		if (attached != NULL)
			return error_set(err, ERROR_USAGE, "%s takes no argument, but got '%s'",
					 label, attached);
		return option_convert(row, label, NULL, options, err);
	}
	/* "--" ends the options: it is never an argument. */
	if (attached == NULL && (words->next == words->end || strcmp(*words->next, "--") == 0))
		return error_set(err, ERROR_USAGE, "%s needs an argument: %s %s", label, label,
				 row->argument);
	if (attached == NULL)
		attached = *words->next++;
	return option_convert(row, label, attached, options, err);
}

static int
take_long(const char *word, struct words *words, struct options *options, struct error *err)
{
	const char *name = word + 2;
	size_t length = strcspn(name, "=");
	const struct option_row *row = find_name(name, length);
	char label[NAME_MOST + 3];

	if (row == NULL)
		return refuse_name(name, length, options->verb, err);
	snprintf(label, sizeof(label), "--%s", row->name);
	options->whole_help |= strcmp(row->name, "help") == 0;
	return take_option(row, label, name[length] == '=' ? name + length + 1 : NULL, words,
			   options, err);
}

/*
 * Takes a word such as "-qtd30": one-letter flags, of which the last may be an option with its
 * argument.
 */
static int
take_letters(const char *word, struct words *words, struct options *options, struct error *err)
{
	int rc = 0;

	/* Without this check "-name x" would be -n with the argument "ame". */
	if (word[2] != '\0' && find_name(word + 1, strcspn(word + 1, "=")) != NULL)
		return error_set(err, ERROR_USAGE, "unknown option '%s'; did you mean '-%s'?", word,
				 word);
	for (const char *at = word + 1; rc == 0 && *at != '\0'; at++) {
		const struct option_row *row = find_letter(*at);
		const char label[] = { '-', *at, '\0' };

		if (row == NULL)
			return refuse_letter(*at, err);
		if (takes_argument(row))
			return take_option(row, label, at[1] != '\0' ? at + 1 : NULL, words,
					   options, err);
		rc = take_option(row, label, NULL, words, options, err);
	}
	return rc;
}

/* Removes the first word and sets options->verb, if the word is the name of a command. */
static void
take_verb(struct words *words, struct options *options)
{
	options->verb = words->commands;
	if (words->next == words->end)
		return;
	for (const struct command *verb = words->commands + 1; verb->name != NULL; verb++)
		if (strcmp(*words->next, verb->name) == 0) {
			options->verb = verb;
			words->next++;
			return;
		}
}

static char *
join_words(int argc, char **argv)
{
	struct strbuf all = STRBUF_INIT;

	for (int i = 0; i < argc; i++)
		strbuf_add_format(&all, "%s%s", i > 0 ? " " : "", argv[i]);
	return all.data;
}

/* True if "--" is followed by the command line of a program to start; false if operands follow. */
static bool
starts_commands(const struct command *verb)
{
	return verb->operands == NULL || verb->bit == FOR_CAUSAL;
}

static int
take_words(struct words *words, struct options *options, struct error *err)
{
	char **first = words->next;
	int rc = 0;

	/* Words behind -h are not parsed: -h prints the help even if they are wrong. */
	while (rc == 0 && !options->help && words->next < words->end) {
		const char *word = *words->next++;

		if (strcmp(word, "--") == 0 && starts_commands(options->verb)) {
			options->command = words->next;
			if (words->next == words->end)
				rc = error_set(err, ERROR_USAGE, "a command must follow --");
			break;
		}
		if (strcmp(word, "--") == 0)
			while (words->next < words->end)
				option_add_text(&options->files, *words->next++);
		else if (strncmp(word, "--", 2) == 0)
			rc = take_long(word, words, options, err);
		else if (word[0] == '-' && word[1] != '\0')
			rc = take_letters(word, words, options, err);
		else if (options->verb->operands != NULL)
			option_add_text(&options->files, word);
		else
			rc = refuse_word(word,
					 words->next - 1 == first &&
						 options->verb == words->commands,
					 words, options, err);
	}
	return rc;
}

int
options_parse(int argc, char **argv, const struct command *commands, struct options *options,
	      struct error *err)
{
	/* argc may be 0: a caller of execve(2) may pass no words at all. */
	struct words words = { argv + (argc > 0), argv + argc, commands };
	const struct option_row *row;
	int rc = 0;

	memset(options, 0, sizeof(*options));
	for (row = option_table; rc == 0 && row->name != NULL; row++)
		if (row->fallback != NULL)
			rc = option_convert(row, row->name, row->fallback, options, err);
	options->given = xcalloc((size_t)(row - option_table) + 1, sizeof(*options->given));
	take_verb(&words, options);
	options->words = join_words(argc, argv);
	if (rc == 0)
		rc = take_words(&words, options, err);
	if (rc != 0)
		options_release(options);
	return rc;
}

void
options_release(struct options *options)
{
	free(options->given);
	free(options->words);
	free(options->files.text);
	free(options->debug_dirs.text);
	free(options->cgroups.text);
	free(options->containers.text);
	free(options->progress.text);
	free(options->filter.exclude_thread.text);
	free(options->filter.process.text);
	free(options->filter.exclude_process.text);
	free(options->pids.id);
	free(options->filter.tids.id);
	free(options->filter.green.id);
	option_free_regex(options->filter.include);
	option_free_regex(options->filter.exclude);
	option_free_regex(options->focus);
	option_free_regex(options->select);
	*options = (struct options){ .verb = options->verb };
}
