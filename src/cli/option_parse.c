/* SPDX-License-Identifier: MIT */
/* option_parse.c - walks the words of the call along the rows of the registry. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_internal.h"
#include "cli/option_convert_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/cli/options.h"

/* Longer than any option's name, so that a distance fits in a small table. */
#define NAME_MOST 32

/* The words that are left. */
struct words {
	char **next, **end;
};

unsigned
option_commands(const struct option_row *row)
{
	return row->commands != 0 ? row->commands : FOR_REPORTS;
}

const struct option_row *
option_given_beyond(const struct options *options, unsigned taken)
{
	for (const struct option_row *row = option_table; row->name != NULL; row++)
		if ((options->given >> (row - option_table) & 1) && !(option_commands(row) & taken))
			return row;
	return NULL;
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

/* Levenshtein's distance of two words, each shorter than NAME_MOST. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[NAME_MOST + 1];
	size_t b_length = strlen(b);

	for (unsigned j = 0; j <= b_length; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1] != '\0'; i++) {
		unsigned corner = row[0]; /* of the line above */

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1,
				       corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[b_length];
}

/* The known option that a misspelt one most likely means; NULL when none is near. */
static const char *
nearest(const char *name)
{
	const char *best = NULL;
	size_t length = strlen(name);
	unsigned best_distance = (unsigned)(length / 3) + 1;

	if (length < 2 || length >= NAME_MOST)
		return NULL;
	for (const struct option_row *row = option_table; row->name != NULL; row++) {
		/* the beginning of a name is as near as can be */
		unsigned d = strncmp(row->name, name, length) == 0 ? 0 : distance(name, row->name);

		if (d < best_distance || (d == best_distance && best == NULL)) {
			best = row->name;
			best_distance = d;
		}
	}
	return best;
}

static int
refuse_name(const char *name, size_t length, struct error *err)
{
	char *copy = xstrndup(name, length);
	const char *near = nearest(copy);
	int rc;

	if (near != NULL)
		rc = error_set(err, ERROR_USAGE, "unknown option '--%s'; did you mean '--%s'?",
			       copy, near);
	else
		rc = error_set(err, ERROR_USAGE,
			       "unknown option '--%s'; wallsample -h lists all options", copy);
	free(copy);
	return rc;
}

static int
refuse_letter(char letter, struct error *err)
{
	int other = islower((unsigned char)letter) ? toupper((unsigned char)letter)
						   : tolower((unsigned char)letter);

	if (isalpha((unsigned char)letter) && find_letter((char)other) != NULL)
		return error_set(err, ERROR_USAGE, "unknown option '-%c'; did you mean '-%c'?",
				 letter, other);
	return error_set(err, ERROR_USAGE, "unknown option '-%c'; wallsample -h lists all options",
			 letter);
}

/* A word that is no option, where one is expected. */
static int
refuse_word(const char *word, struct error *err)
{
	uint64_t pid;

	for (const struct command *command = commands + 1; command->name != NULL; command++)
		if (strcmp(word, command->name) == 0)
			return error_set(err, ERROR_USAGE,
					 "'%s' must be the first word: wallsample %s …", word,
					 word);

	if (parse_whole_u64(word, 1, INT32_MAX, &pid))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not an option; to sample process %s say: wallsample -p "
				 "%s", word, word, word);
	return error_set(err, ERROR_USAGE,
			 "'%s' is not an option; to sample a running program say: wallsample "
			 "--name %s; to start it: wallsample -- %s",
			 word, word, word);
}

/* `attached` is what follows the option in its own word; NULL: nothing. */
static int
take_option(const struct option_row *row, const char *label, const char *attached,
	    struct words *words, struct options *options, struct error *err)
{
	options->given |= UINT64_C(1) << (row - option_table);
	if (!(option_commands(row) & options->verb->bit))
		return error_set(err, ERROR_USAGE, "%s is not for wallsample %s; wallsample %s -h "
				 "lists what is", label, options->verb->name, options->verb->name);
	if (!takes_argument(row)) {
		if (attached != NULL)
			return error_set(err, ERROR_USAGE, "%s takes no argument, but got '%s'",
					 label, attached);
		return option_convert(row, label, NULL, options, err);
	}
	/* "--" ends the options: nobody means it as a file or a name */
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
		return refuse_name(name, length, err);
	snprintf(label, sizeof(label), "--%s", row->name);
	return take_option(row, label, name[length] == '=' ? name + length + 1 : NULL, words,
			   options, err);
}

/* "-qtd30": flags, and at the end one option with its argument. */
static int
take_letters(const char *word, struct words *words, struct options *options, struct error *err)
{
	int rc = 0;

	/* "-name x" would be read as -n with the argument "ame" */
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

static void
take_file(const char *word, struct options *options)
{
	size_t capacity = options->file_count;

	options->files = xgrow(options->files, &capacity, options->file_count + 1,
			       sizeof(*options->files));
	options->files[options->file_count++] = word;
}

/* The first word may name a command. */
static void
take_verb(struct words *words, struct options *options)
{
	options->verb = commands;
	for (const struct command *command = commands + 1; command->name != NULL; command++) {
		if (words->next == words->end || strcmp(*words->next, command->name) != 0)
			continue;
		options->verb = command;
		words->next++;
		return;
	}
}

static char *
join_words(int argc, char **argv)
{
	struct strbuf all;

	strbuf_init(&all);
	for (int i = 0; i < argc; i++)
		strbuf_add_format(&all, "%s%s", i > 0 ? " " : "", argv[i]);
	return all.data;
}

/* What is behind "--": a command, or words that are no options. */
static bool
starts_commands(const struct command *verb)
{
	return verb->operands == NULL || verb->bit == FOR_CAUSAL;
}

static int
take_words(struct words *words, struct options *options, struct error *err)
{
	int rc = 0;

	/* who asks for help gets it, whatever else is wrong behind it */
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
				take_file(*words->next++, options);
		else if (strncmp(word, "--", 2) == 0)
			rc = take_long(word, words, options, err);
		else if (word[0] == '-' && word[1] != '\0')
			rc = take_letters(word, words, options, err);
		else if (options->verb->operands != NULL)
			take_file(word, options);
		else
			rc = refuse_word(word, err);
	}
	return rc;
}

int
options_parse(int argc, char **argv, struct options *options, struct error *err)
{
	/* a caller may be started with no words at all, not even its name */
	struct words words = { argv + (argc > 0), argv + argc };
	int rc = 0;

	memset(options, 0, sizeof(*options));
	for (const struct option_row *row = option_table; rc == 0 && row->name != NULL; row++)
		if (row->fallback != NULL)
			rc = option_convert(row, row->name, row->fallback, options, err);
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
	free(options->tids);
	free(options->tasks);
	free(options->files);
	free(options->words);
	options->files = NULL;
	options->file_count = 0;
	options->words = NULL;
	free(options->progress);
	options->progress = NULL;
	options->progress_count = 0;
	free(options->debug_dirs);
	options->debug_dirs = NULL;
	options->debug_dir_count = 0;
	options->tids = NULL;
	options->tasks = NULL;
	options->tid_count = 0;
}
