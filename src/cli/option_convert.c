/* SPDX-License-Identifier: MIT */
/* option_convert.c - converts the text of an option's argument to its value. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_internal.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/runtime/language.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/thread/state.h"

/* The argument of a converter: an option's text, the field to store into, the error to set. */
struct conversion {
	const struct option_row *row;
	const char *label, *text;
	void *field;
	struct error *err;
};

static int
convert_refuse(const struct conversion *c, const char *wanted)
{
	return error_set(c->err, ERROR_USAGE, "%s: '%s' is not %s", c->label, c->text, wanted);
}

/* "…'x' is not a number of Hz from 0.01 to 10000" */
static int
refuse_range(const struct conversion *c, const char *wanted)
{
	const struct option_row *row = c->row;

	return error_set(c->err, ERROR_USAGE, "%s: '%s' is not %s from %.10g to %.10g %s", c->label,
			 c->text, wanted, row->min, row->max, row->unit != NULL ? row->unit : "");
}

static int
convert_flag(const struct conversion *c)
{
	*(bool *)c->field = true;
	return 0;
}

static int
convert_count(const struct conversion *c)
{
	++*(unsigned *)c->field;
	return 0;
}

static int
refuse_empty(const struct conversion *c)
{
	return error_set(c->err, ERROR_USAGE, "%s needs a %s, not an empty word", c->label,
			 c->row->argument);
}

static int
convert_text(const struct conversion *c)
{
	if (c->text[0] == '\0')
		return refuse_empty(c);
	*(const char **)c->field = c->text;
	return 0;
}

void
option_add_text(struct text_list *list, const char *text)
{
	size_t capacity = 0;

	list->text = xgrow(list->text, &capacity, list->count + 2, sizeof(*list->text));
	list->text[list->count++] = text;
	list->text[list->count] = NULL;
}

static int
convert_texts(const struct conversion *c)
{
	if (c->text[0] == '\0')
		return refuse_empty(c);
	option_add_text(c->field, c->text);
	return 0;
}

/* The last one counts. */
static int
convert_regex(const struct conversion *c)
{
	regex_t **field = c->field, *regex = xcalloc(1, sizeof(*regex));
	char why[256];
	int rc;

	if (c->text[0] == '\0') {
		free(regex);
		return refuse_empty(c);
	}
	rc = regcomp(regex, c->text, REG_EXTENDED | REG_NOSUB);
	if (rc == 0) {
		option_free_regex(*field);
		*field = regex;
		return 0;
	}
	regerror(rc, regex, why, sizeof(why));
	free(regex);
	return error_set(c->err, ERROR_USAGE, "%s: '%s' is not a regular expression: %s", c->label,
			 c->text, why);
}

void
option_free_regex(regex_t *regex)
{
	if (regex != NULL)
		regfree(regex);
	free(regex);
}

static int
convert_number(const struct conversion *c)
{
	if (parse_whole_u64(c->text, (uint64_t)c->row->min, (uint64_t)c->row->max, c->field))
		return 0;
	return refuse_range(c, "a whole number");
}

static int
convert_pid(const struct conversion *c)
{
	if (parse_whole_u64(c->text, (uint64_t)c->row->min, (uint64_t)c->row->max, c->field))
		return 0;
	if (strspn(c->text, "0123456789") == strlen(c->text))
		return convert_refuse(c, "a process id");
	if (strspn(c->text, "0123456789,") == strlen(c->text))
		return error_set(c->err, ERROR_USAGE,
				 "%s: '%s' is a list, but wallsample samples one process at a time",
				 c->label, c->text);
	return error_set(c->err, ERROR_USAGE,
			 "%s: '%s' is not a process id; --name %s finds a process by its name",
			 c->label, c->text, c->text);
}

static int
convert_fraction(const struct conversion *c)
{
	if (parse_double(c->text, c->row->min, c->row->max, c->field))
		return 0;
	return refuse_range(c, "a number");
}

static int
convert_duration(const struct conversion *c)
{
	uint64_t ns;

	if (!parse_duration_ns(c->text, &ns) || (double)ns < c->row->min * (double)NS_PER_SEC ||
	    (double)ns > c->row->max * (double)NS_PER_SEC)
		return refuse_range(c, "a time (such as 30, 500ms, 2m, 1h)");
	*(uint64_t *)c->field = ns;
	return 0;
}

/* "-1m" is a minute before the end, and "-0" the end. */
static int
convert_moment(const struct conversion *c)
{
	static const char wanted[] = "a time such as 30, 500ms or 2m; below zero, as in -10, it "
				     "counts from the end";
	struct option_moment *moment = c->field;
	const bool from_end = c->text[0] == '-';
	const char *text = c->text + from_end;
	uint64_t ns = 0;

	if (strspn(text, "0") != strlen(text) || text[0] == '\0')
		if (!parse_duration_ns(text, &ns) || ns > INT64_MAX / 4)
			return convert_refuse(c, wanted);
	/* "-0" is the end: the closest moment before it. */
	if (from_end && ns == 0)
		ns = 1;
	*moment = (struct option_moment){ true, from_end ? -(int64_t)ns : (int64_t)ns };
	return 0;
}

static int
convert_range(const struct conversion *c)
{
	struct option_range *range = c->field;
	const char *at = c->text;
	bool good = *at >= '0' && *at <= '9' && parse_u64(&at, 10, &range->least);

	range->most = range->least;
	if (good && *at == '-') {
		at++;
		good = *at >= '0' && *at <= '9' && parse_u64(&at, 10, &range->most);
	}
	if (!good || *at != '\0' || range->least > range->most || (double)range->most > c->row->max)
		return refuse_range(c, "a number or a range such as 2-8, in whole numbers");
	range->given = true;
	return 0;
}

static int
convert_size(const struct conversion *c)
{
	uint64_t bytes;

	if (!parse_size(c->text, &bytes) || (double)bytes < c->row->min ||
	    (double)bytes > c->row->max)
		return refuse_range(c, "a size (such as 65536, 64K, 1M)");
	*(uint64_t *)c->field = bytes;
	return 0;
}

static void
add_id(struct id_list *list, uint64_t id)
{
	size_t capacity = list->count;

	list->id = xgrow(list->id, &capacity, list->count + 1, sizeof(*list->id));
	list->id[list->count++] = id;
}

/* A list given twice is one longer list. */
static int
convert_tids(const struct conversion *c)
{
	const char *at = c->text;

	for (;;) {
		uint64_t tid;

		if (*at < '0' || *at > '9' || !parse_u64(&at, 10, &tid) ||
		    (double)tid < c->row->min || (double)tid > c->row->max)
			return convert_refuse(c, "a list of thread ids such as 12,13");
		add_id(c->field, tid);
		if (*at == '\0')
			return 0;
		if (*at++ != ',')
			return convert_refuse(c, "a list of thread ids such as 12,13");
	}
}

/* Task ids in the notation of reports: small decimal numbers, or hexadecimal addresses. */
static int
convert_tasks(const struct conversion *c)
{
	const char *at = c->text;

	for (;;) {
		const int base = at[0] == '0' && at[1] == 'x' ? 16 : 10;
		uint64_t task;

		at += base == 16 ? 2 : 0;
		if (!isxdigit((unsigned char)*at) || !parse_u64(&at, base, &task) || task == 0)
			return convert_refuse(c, "a list of tasks such as 17,0x7f20");
		add_id(c->field, task);
		if (*at == '\0')
			return 0;
		if (*at++ != ',')
			return convert_refuse(c, "a list of tasks such as 17,0x7f20");
	}
}

/* Percents in ascending order; 0, the base of all comparisons, need not be among them. */
static int
convert_speedups(const struct conversion *c)
{
	static const char wanted[] = "a list of percents from 1 to 100, ascending, such as 0,25,50";
	char *words = xstrdup(c->text), *rest = words, *item;
	struct option_speedups *speedups = c->field;
	int rc = 0;

	*speedups = (struct option_speedups){ .count = 1 };
	while (rc == 0 && (item = strsep(&rest, ",")) != NULL) {
		double percent;

		if (!parse_double(item, 0, 100, &percent))
			rc = convert_refuse(c, wanted);
		else if (percent == 0 && speedups->count == 1)
			continue;
		else if (percent / 100 <= speedups->value[speedups->count - 1])
			rc = convert_refuse(c, wanted);
		else if (speedups->count == CAUSAL_SPEEDUPS_MOST)
			rc = error_set(c->err, ERROR_USAGE,
				       "%s: '%s' has more than %d speed-ups above 0", c->label,
				       c->text, CAUSAL_SPEEDUPS_MOST - 1);
		else
			speedups->value[speedups->count++] = percent / 100;
	}
	if (rc == 0 && speedups->count == 1)
		rc = convert_refuse(c, wanted);
	free(words);
	return rc;
}

static int
refuse_state(const struct conversion *c, const char *item)
{
	struct strbuf known = STRBUF_INIT;
	int rc;

	for (int i = 0; i < RUN_STATE_COUNT; i++)
		strbuf_add_format(&known, "%s%c %s", i > 0 ? ", " : "",
				  run_state_letter((enum run_state)i),
				  run_state_text((enum run_state)i));
	rc = error_set(c->err, ERROR_USAGE, "%s: '%s' is not a state; states are: %s", c->label,
		       item, known.data);
	strbuf_release(&known);
	return rc;
}

static int
convert_states(const struct conversion *c)
{
	char *words = xstrdup(c->text), *rest = words, *item;
	int rc = 0;

	while (rc == 0 && (item = strsep(&rest, ",")) != NULL) {
		enum run_state state;

		if (run_state_parse(item, &state))
			*(unsigned *)c->field |= 1u << state;
		else
			rc = refuse_state(c, item);
	}
	free(words);
	return rc;
}

/* Refuses an item that is not the name of a runtime. */
static int
refuse_runtime(const struct conversion *c, const char *item)
{
	struct strbuf names = STRBUF_INIT;
	int rc;

	if (strcmp(item, "auto") == 0 || strcmp(item, "none") == 0)
		return error_set(c->err, ERROR_USAGE, "%s: '%s' stands alone, not in a list",
				 c->label, item);
	for (size_t i = 0; languages[i] != NULL; i++)
		strbuf_add_format(&names, ", %s", languages[i]->name);
	rc = error_set(c->err, ERROR_USAGE, "%s: '%s' is none of auto, none%s", c->label, item,
		       names.data);
	strbuf_release(&names);
	return rc;
}

static int
convert_runtimes(const struct conversion *c)
{
	uint32_t *runtimes = c->field;
	char *words, *rest, *item;
	int rc = 0;

	*runtimes = strcmp(c->text, "auto") == 0 ? RUNTIMES_ALL : 0;
	if (*runtimes != 0 || strcmp(c->text, "none") == 0)
		return 0;
	words = rest = xstrdup(c->text);
	while (rc == 0 && (item = strsep(&rest, ",")) != NULL) {
		const int number = language_by_name(item);

		if (number >= 0)
			*runtimes |= UINT32_C(1) << number;
		else
			rc = refuse_runtime(c, item);
	}
	free(words);
	return rc;
}

static int
convert_gils(const struct conversion *c)
{
	char *words = xstrdup(c->text), *rest = words, *item;
	int rc = 0;

	while (rc == 0 && (item = strsep(&rest, ",")) != NULL) {
		enum gil gil;

		if (gil_parse(item, &gil) && gil != GIL_UNKNOWN)
			*(unsigned *)c->field |= 1u << gil;
		else
			rc = error_set(c->err, ERROR_USAGE, "%s: '%s' is none of %s, %s, %s, %s",
				       c->label, item, gil_word(GIL_NONE), gil_word(GIL_HAS),
				       gil_word(GIL_WAIT), gil_word(GIL_HANDOVER));
	}
	free(words);
	return rc;
}

/* Stores the position of the word in the list, which is the value of the enum. */
static int
convert_choice(const struct conversion *c)
{
	const char *const *word = c->row->choices;
	struct strbuf known = STRBUF_INIT;
	int number = 0, rc;

	for (; word[number] != NULL; number++)
		if (strcmp(word[number], c->text) == 0) {
			memcpy(c->field, &number, sizeof(number));
			return 0;
		}
	for (int i = 0; i < number; i++)
		strbuf_add_format(&known, "%s%s", i > 0 ? "|" : "", word[i]);
	rc = error_set(c->err, ERROR_USAGE, "%s: '%s' is none of %s", c->label, c->text,
		       known.data);
	strbuf_release(&known);
	return rc;
}

int
option_convert(const struct option_row *row, const char *label, const char *text,
	       struct options *options, struct error *err)
{
	static int (*const converters[])(const struct conversion *) = {
		[OPTION_FLAG] = convert_flag,         [OPTION_COUNT] = convert_count,
		[OPTION_TEXT] = convert_text,         [OPTION_TEXTS] = convert_texts,
		[OPTION_REGEX] = convert_regex,       [OPTION_NUMBER] = convert_number,
		[OPTION_PID] = convert_pid,           [OPTION_FRACTION] = convert_fraction,
		[OPTION_DURATION] = convert_duration, [OPTION_SIZE] = convert_size,
		[OPTION_MOMENT] = convert_moment,     [OPTION_RANGE] = convert_range,
		[OPTION_TIDS] = convert_tids,         [OPTION_TASKS] = convert_tasks,
		[OPTION_STATES] = convert_states,     [OPTION_GILS] = convert_gils,
		[OPTION_RUNTIMES] = convert_runtimes, [OPTION_SPEEDUPS] = convert_speedups,
		[OPTION_CHOICE] = convert_choice,
	};
	const struct conversion c = {
		.row = row,
		.label = label,
		.text = text,
		.field = (char *)options + row->offset,
		.err = err,
	};

	return converters[row->type](&c);
}
