/* SPDX-License-Identifier: MIT */
/*
 * progress_words.c - parses the specs of progress points.
 */
#include "causal/progress_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/causal/progress.h"

#define END_WORD ",end:"

static const char *const kind_word[] = {
#define X(name, word) [PROGRESS_##name] = word,
	PROGRESS_SOURCES(X)
#undef X
};

const struct progress_io_words progress_io_fields[PROGRESS_IO_FIELD_COUNT] = {
#define X(name, word, text) [PROGRESS_##name] = { word, text },
	PROGRESS_IO_FIELDS(X)
#undef X
};

bool
progress_source_is_counted(const struct progress_source *source)
{
	return source->kind == PROGRESS_FUNC || source->kind == PROGRESS_LINE;
}

/* --- one source -------------------------------------------------------------------- */

/* Parses "123" or "0x7b" up to the end of the text. */
static bool
read_number(const char *text, uint64_t *value)
{
	if (strncmp(text, "0x", 2) == 0) {
		text += 2;
		return *text != ' ' && parse_u64(&text, 16, value) && *text == '\0';
	}
	return parse_whole_u64(text, 0, UINT64_MAX, value);
}

/* Returns the colon of "MODULE:SYMBOL", or NULL if the text has none. A "::" of C++ is skipped. */
static char *
find_colon(char *text)
{
	for (char *at = text; *at != '\0'; at++) {
		if (*at != ':')
			continue;
		if (at[1] != ':')
			return at;
		at++;
	}
	return NULL;
}

/* Parses "[MODULE:]SYMBOL". */
static int
read_symbol(char *text, struct progress_source *out, struct error *err)
{
	char *colon = find_colon(text);

	if (colon != NULL && colon > text) {
		out->module = xstrndup(text, (size_t)(colon - text));
		text = colon + 1;
	}
	if (*text == '\0')
		return error_set(err, ERROR_USAGE,
				 "%s: there is no name in it: for example %s:requests or "
				 "%s:libserver.so:requests",
				 out->text, kind_word[out->kind], kind_word[out->kind]);
	out->name = xstrdup(text);
	return 0;
}

/* Parses "/SIZE" at the end of the text, if there is one, and cuts it off. */
static int
take_size(char *text, struct progress_source *out, struct error *err)
{
	char *slash = strrchr(text, '/');
	uint64_t size;

	/* A slash without a digit after it belongs to a name, such as "operator/" of C++. */
	if (slash == NULL || slash[1] < '0' || slash[1] > '9')
		return 0;
	if (!read_number(slash + 1, &size) || (size != 1 && size != 2 && size != 4 && size != 8))
		return error_set(err, ERROR_USAGE,
				 "%s: a counter has 1, 2, 4 or 8 bytes, not %s: for example "
				 "var:requests/4",
				 out->text, slash + 1);
	out->size = (unsigned)size;
	*slash = '\0';
	return 0;
}

/* Parses "+OFFSET" at the end of the text, if there is one, and cuts it off. */
static void
take_offset(char *text, struct progress_source *out)
{
	char *plus = strrchr(text, '+');

	if (plus != NULL && plus > text && read_number(plus + 1, &out->number))
		*plus = '\0';
}

static int
read_var(char *text, struct progress_source *out, struct error *err)
{
	int status = take_size(text, out, err);

	if (status != 0)
		return status;
	if (strncmp(text, "0x", 2) == 0) {
		if (read_number(text, &out->number) && out->number <= UINT64_MAX - 8)
			return 0;
		return error_set(err, ERROR_USAGE,
				 "%s: this is no address: for example var:0x55d0c0de4010/8",
				 out->text);
	}
	take_offset(text, out);
	return read_symbol(text, out, err);
}

static int
read_line(char *text, struct progress_source *out, struct error *err)
{
	char *colon = strrchr(text, ':');

	if (colon == NULL || colon == text ||
	    !parse_whole_u64(colon + 1, 1, UINT32_MAX, &out->number))
		return error_set(err, ERROR_USAGE,
				 "%s: this is no line: for example line:server.c:123", out->text);
	out->name = xstrndup(text, (size_t)(colon - text));
	return 0;
}

static int
read_coz(char *text, struct progress_source *out, struct error *err)
{
	if (*text == '\0')
		return error_set(err, ERROR_USAGE,
				 "%s: there is no name in it: for example coz:requests for "
				 "COZ_PROGRESS_NAMED(\"requests\")",
				 out->text);
	out->name = xstrdup(text);
	return 0;
}

static int
read_io(char *text, struct progress_source *out, struct error *err)
{
	struct strbuf known = STRBUF_INIT;
	int status;

	for (size_t i = 0; i < PROGRESS_IO_FIELD_COUNT; i++) {
		strbuf_add_format(&known, "%s%s", i > 0 ? ", " : "", progress_io_fields[i].word);
		if (strcmp(progress_io_fields[i].word, text) == 0) {
			out->number = i;
			strbuf_release(&known);
			return 0;
		}
	}
	status = error_set(err, ERROR_USAGE, "%s: /proc/PID/io has no such field; it has %s",
			   out->text, known.data);
	strbuf_release(&known);
	return status;
}

static int
read_syscalls(char *text, struct progress_source *out, struct error *err)
{
	out->kind = PROGRESS_IO;
	if (strcmp(text, "read") == 0)
		out->number = PROGRESS_SYSCR;
	else if (strcmp(text, "write") == 0)
		out->number = PROGRESS_SYSCW;
	else
		return error_set(err, ERROR_USAGE,
				 "%s: the kernel counts two kinds of system calls for everybody: "
				 "syscalls:read and syscalls:write",
				 out->text);
	return 0;
}

static int (*const reader[])(char *text, struct progress_source *out, struct error *err) = {
	[PROGRESS_VAR] = read_var,     [PROGRESS_COZ] = read_coz,
	[PROGRESS_IO] = read_io,       [PROGRESS_SYSCALLS] = read_syscalls,
	[PROGRESS_FUNC] = read_symbol, [PROGRESS_LINE] = read_line,
};

/* Finds the kind of source whose word the text begins with; *rest is the text after the colon.
 * False: the text begins with no such word. */
static bool
find_kind(const char *text, enum progress_source_kind *kind, const char **rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_word); i++) {
		const size_t length = strlen(kind_word[i]);

		if (strncmp(text, kind_word[i], length) == 0 && text[length] == ':') {
			*kind = (enum progress_source_kind)i;
			*rest = text + length + 1;
			return true;
		}
	}
	return false;
}

static void
release_source(struct progress_source *source)
{
	free(source->text);
	free(source->module);
	free(source->name);
	*source = (struct progress_source){ .text = NULL };
}

static int
read_source(const char *text, struct progress_source *out, struct error *err)
{
	const char *rest;
	char *copy;
	int status;

	*out = (struct progress_source){ .size = 0 };
	if (!find_kind(text, &out->kind, &rest))
		return error_set(
			err, ERROR_USAGE,
			"%s: this is no progress point: for example var:requests (a "
			"counter in memory), syscalls:write, io:wchar, coz:NAME, func:NAME, "
			"line:FILE:N, begin:SPEC,end:SPEC",
			text);
	out->text = xstrdup(text);
	copy = xstrdup(rest);
	status = reader[out->kind](copy, out, err);
	free(copy);
	if (status != 0)
		release_source(out);
	return status;
}

/* --- points ------------------------------------------------------------------------ */

static bool
is_latency(const char *spec)
{
	return strncmp(spec, "begin:", 6) == 0 || strncmp(spec, "end:", 4) == 0;
}

static int
read_latency(const char *spec, struct progress_words *out, struct error *err)
{
	const char *end = strstr(spec, END_WORD);
	char *begin;
	int status;

	if (strncmp(spec, "begin:", 6) != 0 || end == NULL)
		return error_set(err, ERROR_USAGE,
				 "%s: a latency has a begin and an end: for example "
				 "begin:var:accepted,end:var:answered",
				 spec);
	begin = xstrndup(spec + 6, (size_t)(end - spec) - 6);
	status = read_source(begin, &out->source[0], err);
	free(begin);
	if (status != 0)
		return status;
	status = read_source(end + strlen(END_WORD), &out->source[1], err);
	if (status != 0) {
		release_source(&out->source[0]);
		return status;
	}
	out->kind = CAUSAL_LATENCY;
	out->source_count = 2;
	return 0;
}

int
progress_words_read(const char *text, struct progress_words *out, struct error *err)
{
	enum progress_source_kind kind;
	const char *rest;
	const bool is_named = !is_latency(text) && !find_kind(text, &kind, &rest);
	const char *equals = is_named ? strchr(text, '=') : NULL;
	const char *spec = equals != NULL ? equals + 1 : text;
	int status;

	*out = (struct progress_words){ .kind = CAUSAL_THROUGHPUT, .source_count = 1 };
	if (equals == text)
		return error_set(err, ERROR_USAGE,
				 "%s: there is no name before '=': for example "
				 "requests=var:requests_done",
				 text);
	status = is_latency(spec) ? read_latency(spec, out, err) :
				    read_source(spec, &out->source[0], err);
	if (status != 0)
		return status;
	out->name = equals != NULL ? xstrndup(text, (size_t)(equals - text)) : xstrdup(spec);
	out->spec = xstrdup(spec);
	return 0;
}

void
progress_words_release(struct progress_words *words)
{
	for (size_t i = 0; i < words->source_count; i++)
		release_source(&words->source[i]);
	free(words->name);
	free(words->spec);
	*words = (struct progress_words){ .name = NULL };
}

/* --- all of them ------------------------------------------------------------------- */

static int
check_name(const struct progress_words *words, size_t index, struct error *err)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(words[i].name, words[index].name) == 0)
			return error_set(
				err, ERROR_USAGE,
				"--progress: two points are called %s; NAME=SPEC gives one "
				"another name",
				words[index].name);
	return 0;
}

int
progress_check(const char *const *spec, size_t count, size_t *counted, struct error *err)
{
	struct progress_words words[CAUSAL_POINTS_MOST];
	size_t parsed = 0, breakpoints = 0;
	int status = 0;

	if (count > CAUSAL_POINTS_MOST)
		return error_set(err, ERROR_USAGE,
				 "--progress: %zu points are too many, there may be %d", count,
				 CAUSAL_POINTS_MOST);
	for (; parsed < count && status == 0; parsed++) {
		status = progress_words_read(spec[parsed], &words[parsed], err);
		if (status == 0)
			status = check_name(words, parsed, err);
	}
	for (size_t i = 0; i < parsed; i++) {
		for (size_t s = 0; s < words[i].source_count; s++)
			breakpoints += progress_source_is_counted(&words[i].source[s]);
		progress_words_release(&words[i]);
	}
	if (status == 0 && breakpoints > PROGRESS_COUNTED_MOST)
		return error_set(err, ERROR_USAGE,
				 "--progress: func: and line: %zu times are too many: the hardware "
				 "has %d breakpoints",
				 breakpoints, PROGRESS_COUNTED_MOST);
	if (status == 0 && counted != NULL)
		*counted = breakpoints;
	return status;
}
