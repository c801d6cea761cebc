/* SPDX-License-Identifier: MIT */
/* output_name.c - expands the pattern of -o, and chooses the format by -f or the ending of -o. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "wallsample/format/exporters.h"

/* Appends a value from outside the command line so that it is one path component: each slash
 * becomes "_", and so do the values "." and "..". */
static void
add_value(struct strbuf *name, const char *value)
{
	if (strcmp(value, ".") == 0 || strcmp(value, "..") == 0) {
		strbuf_add_text(name, "_");
		return;
	}
	for (; *value != '\0'; value++)
		strbuf_add(name, *value == '/' ? "_" : value, 1);
}

static void
add_host(struct strbuf *name)
{
	char host[256] = "";

	(void)!gethostname(host, sizeof(host) - 1);
	add_value(name, host[0] != '\0' ? host : "localhost");
}

/*
 * Appends the value of the environment variable whose name *at points to. Moves *at behind the
 * closing "}".
 */
static int
add_environment(struct strbuf *name, const char **at, const char *pattern, struct error *err)
{
	size_t length = strcspn(*at, "}");
	char *variable = xstrndup(*at, length);
	const char *value = secure_getenv(variable);
	int rc = 0;

	if ((*at)[length] != '}')
		rc = error_set(err, ERROR_USAGE, "-o: '%s' has a '%%{' without its '}'", pattern);
	else if (value == NULL)
		rc = error_set(err, ERROR_USAGE,
			       "-o: '%s' names the environment variable %s, which is not set",
			       pattern, variable);
	else
		add_value(name, value);
	*at += length + 1;
	free(variable);
	return rc;
}

int
output_name_expand(const char *pattern, pid_t pid, struct strbuf *name, struct error *err)
{
	const char *at = pattern;
	int rc = 0;

	strbuf_clear(name);
	while (rc == 0 && *at != '\0') {
		if (*at != '%') {
			strbuf_add(name, at++, 1);
			continue;
		}
		switch (*++at) {
		case 'p':
			strbuf_add_format(name, "%d", (int)pid);
			break;
		case 'h':
			add_host(name);
			break;
		case 't':
			strbuf_add_text(name, say_date(time(NULL), true).text);
			break;
		case '%':
			strbuf_add_text(name, "%");
			break;
		case '{':
			at++;
			rc = add_environment(name, &at, pattern, err);
			continue;
		default:
			return error_set(err, ERROR_USAGE,
					 "-o: '%s' has an unknown '%%'; known are "
					 "%%p %%h %%t %%{ENV} and %%%% for a percent sign",
					 pattern);
		}
		at++;
	}
	return rc;
}

int
output_name_check(const char *pattern, struct error *err)
{
	struct strbuf name = STRBUF_INIT;
	int rc = pattern != NULL ? output_name_expand(pattern, 0, &name, err) : 0;

	strbuf_release(&name);
	return rc;
}

/*
 * Returns the text after the last dot if it can be the ending of a format, else NULL: "prof.%p",
 * "prof.1234" and ".prof" have no such ending.
 */
static const char *
ending_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash != NULL ? slash + 1 : file;
	const char *dot = strrchr(base, '.');

	if (dot == NULL || dot == base || !isalpha((unsigned char)dot[1]))
		return NULL;
	for (const char *at = dot + 1; *at != '\0'; at++)
		if (!isalnum((unsigned char)*at))
			return NULL;
	return dot + 1;
}

bool
output_format_fits(const struct exporter *exporter, const struct command *command)
{
	if (exporter->absent != NULL)
		return command->bit != FOR_DIFF && command->bit != FOR_DUMP;
	if (command->bit == FOR_DUMP)
		return exporter->write_dump != NULL;
	if (exporter->write_any != NULL)
		return true;
	if (command->bit == FOR_DIFF)
		return exporter->write_diff != NULL;
	if (command->bit == FOR_CAUSAL)
		return exporter->write_causal != NULL;
	return exporter->write != NULL;
}

/*
 * Lists the formats that fit the command: "text, folded", or with their file name endings if
 * `endings` is true: "folded (folded); …". The caller releases the result.
 */
static struct strbuf
list_formats(const struct command *command, bool endings)
{
	struct strbuf list = STRBUF_INIT;

	for (size_t i = 0; exporters[i] != NULL; i++) {
		const struct exporter *exporter = exporters[i];

		if (!output_format_fits(exporter, command))
			continue;
		if (list.length > 0)
			strbuf_add_text(&list, endings ? "; " : ", ");
		if (endings)
			strbuf_add_format(&list, "%s (%s)", exporter->endings, exporter->name);
		else
			strbuf_add_text(&list, exporter->name);
	}
	return list;
}

static int
refuse_unknown(const struct options *options, const char *ending, struct error *err)
{
	struct strbuf known = list_formats(options->verb, options->format == NULL);
	int rc;

	if (options->format != NULL)
		rc = error_set(err, ERROR_USAGE, "-f: '%s' is not a format; there are: %s, wsdb",
			       options->format, known.data);
	else
		rc = error_set(err, ERROR_USAGE,
			       "-o: no format has the ending '.%s' of '%s'; known endings are: "
			       "%s; wsdb (recording); or name a format with -f",
			       ending, options->output, known.data);
	strbuf_release(&known);
	return rc;
}

static int
check_fits(const struct exporter *exporter, const struct command *command, struct error *err)
{
	const bool is_causal = exporter->write == NULL && exporter->write_causal != NULL;
	struct strbuf known;
	int rc;

	if (output_format_fits(exporter, command))
		return 0;
	known = list_formats(command, false);
	rc = error_set(err, ERROR_USAGE,
		       "wallsample%s%s does not write the format %s%s; it writes: %s",
		       command->name[0] != '\0' ? " " : "", command->name, exporter->name,
		       is_causal ? ", which is for causal profiles" : "", known.data);
	strbuf_release(&known);
	return rc;
}

int
output_format_choose(const struct options *options, const struct exporter **out, struct error *err)
{
	const char *format = options->format, *output = options->output;
	const char *ending = output != NULL ? ending_of(output) : NULL;

	if (format != NULL)
		*out = exporter_by_name(format);
	else
		*out = output != NULL ? exporter_by_file(output) : NULL;
	if (*out != NULL && (*out)->absent != NULL)
		return error_set(err, ERROR_USAGE, "the format %s cannot be written: %s",
				 (*out)->name, (*out)->absent);
	if (*out != NULL)
		return check_fits(*out, options->verb, err);
	if (format != NULL || (ending != NULL && strcmp(ending, "txt") != 0 &&
			       strcmp(ending, "log") != 0 && strncmp(output, "/dev/", 5) != 0))
		return refuse_unknown(options, ending, err);
	*out = exporter_by_name("text");
	return 0;
}

bool
output_is_recording(const struct options *options)
{
	const char *ending = options->output != NULL ? ending_of(options->output) : NULL;

	if (options->format != NULL)
		ending = options->format;
	return ending != NULL && strcmp(ending, "wsdb") == 0;
}
