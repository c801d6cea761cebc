/* SPDX-License-Identifier: MIT */
/* output_name.c - expands the pattern of -o, and chooses the format by its ending. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "wallsample/format/exporters.h"

/* Appends a value from outside the command line as one path component. */
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

	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		add_value(name, "localhost");
	else
		add_value(name, host);
}

static void
name_add_time(struct strbuf *name)
{
	char text[32];
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local) != NULL &&
	    strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local) > 0)
		strbuf_add_text(name, text);
}

/* *at points behind "%{"; on return, behind the "}". */
static int
add_environment(struct strbuf *name, const char **at, const char *pattern, struct error *err)
{
	size_t length = strcspn(*at, "}");
	char *variable = xstrndup(*at, length);
	const char *value = getenv(variable);
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
			name_add_time(name);
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

/*
 * Returns the text after the last dot if it can be the ending of a format: "prof.%p", "prof.1234"
 * and ".prof" have none.
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
	if (command->bit == FOR_DIFF)
		return exporter->write_diff != NULL;
	if (command->bit == FOR_CAUSAL)
		return exporter->write_causal != NULL;
	if (command->bit == FOR_DUMP)
		return exporter->write_dump != NULL;
	return exporter->write != NULL;
}

/* Appends "text, folded": the formats that fit the command. */
static void
add_known(struct strbuf *known, const struct command *command)
{
	for (size_t i = 0; exporters[i] != NULL; i++)
		if (output_format_fits(exporters[i], command))
			strbuf_add_format(known, "%s%s", known->length > 0 ? ", " : "",
					  exporters[i]->name);
}

static int
refuse_format(const char *format, const struct command *command, struct error *err)
{
	struct strbuf known = STRBUF_INIT;
	int rc;

	add_known(&known, command);
	rc = error_set(err, ERROR_USAGE, "-f: '%s' is not a format; there are: %s, wsdb", format,
		       known.data);
	strbuf_release(&known);
	return rc;
}

static int
refuse_ending(const char *output, const char *ending, const struct command *command,
	      struct error *err)
{
	struct strbuf known = STRBUF_INIT;
	int rc;

	for (size_t i = 0; exporters[i] != NULL; i++)
		if (output_format_fits(exporters[i], command))
			strbuf_add_format(&known, "%s%s (%s)", known.length > 0 ? "; " : "",
					  exporters[i]->endings, exporters[i]->name);
	rc = error_set(err, ERROR_USAGE,
		       "-o: no format has the ending '.%s' of '%s'; known endings are: %s; wsdb "
		       "(recording); or name a format with -f",
		       ending, output, known.data);
	strbuf_release(&known);
	return rc;
}

static int
check_fits(const struct exporter *exporter, const struct command *command, struct error *err)
{
	struct strbuf known = STRBUF_INIT;
	int rc;

	if (output_format_fits(exporter, command))
		return 0;
	add_known(&known, command);
	rc = error_set(err, ERROR_USAGE,
		       "wallsample%s%s does not write the format %s%s; it writes: %s",
		       command->name[0] != '\0' ? " " : "", command->name, exporter->name,
		       exporter->write == NULL && exporter->write_causal != NULL ?
			       ", which is for causal profiles" :
			       "",
		       known.data);
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
	if (format != NULL)
		return refuse_format(format, options->verb, err);
	if (ending != NULL && strcmp(ending, "txt") != 0 && strcmp(ending, "log") != 0 &&
	    strncmp(output, "/dev/", 5) != 0)
		return refuse_ending(output, ending, options->verb, err);
	*out = exporter_by_name("text");
	return 0;
}

bool
output_is_recording(const char *format, const char *output)
{
	const char *ending = output != NULL ? ending_of(output) : NULL;

	if (format != NULL)
		return strcmp(format, "wsdb") == 0;
	return ending != NULL && strcmp(ending, "wsdb") == 0;
}
