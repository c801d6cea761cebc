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

/* The argument of a converter. */
struct conversion {
	const struct option_row *row;
	const char *label; /* the option as the user wrote it */
	const char *text;  /* its argument; NULL for flags and counts */
	void *field;       /* the field of struct options to store into */
	struct error *err;
};

static int
convert_refuse(const struct conversion *c, const char *wanted)
{
	return error_set(c->err, ERROR_USAGE, "%s: '%s' is not %s", c->label, c->text, wanted);
}

/* Sets the error "--rate: 'x' is not a number from 0.01 to 10000 Hz", and returns ERROR_USAGE. */
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

/*
 * Compiles a regular expression. If the option is given several times, the last expression is used.
 */
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

/* Converts a time since the beginning; "-1m" is a minute before the end, and "-0" the end. */
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
	/* "-0", the end, is stored as the last nanosecond before the end. */
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

/* Calls `convert` with each item of the comma-separated argument, up to the first error. */
static int
convert_list(const struct conversion *c,
	     int (*convert)(const struct conversion *c, const char *item))
{
	char *words = xstrdup(c->text), *rest = words, *item;
	int rc = 0;

	while (rc == 0 && (item = strsep(&rest, ",")) != NULL)
		rc = convert(c, item);
	free(words);
	return rc;
}

/* Appends an id to the list. If the option is given twice, both lists are joined. */
static int
add_id(const struct conversion *c, uint64_t id)
{
	struct id_list *list = c->field;
	size_t capacity = list->count;

	list->id = xgrow(list->id, &capacity, list->count + 1, sizeof(*list->id));
	list->id[list->count++] = id;
	return 0;
}

/* Converts the id of a process, unless the list has it already. */
static int
convert_pid(const struct conversion *c, const char *item)
{
	const struct id_list *list = c->field;
	uint64_t pid;

	if (!parse_whole_u64(item, (uint64_t)c->row->min, (uint64_t)c->row->max, &pid)) {
		if (strspn(c->text, "0123456789,") == strlen(c->text))
			return convert_refuse(c, "a process id, or a list such as 812,813");
		return error_set(c->err, ERROR_USAGE,
				 "%s: '%s' is not a process id; --name %s finds a process by its "
				 "name",
				 c->label, item, item);
	}
	for (size_t i = 0; i < list->count; i++)
		if (list->id[i] == pid)
			return 0;
	return add_id(c, pid);
}

static int
convert_tid(const struct conversion *c, const char *item)
{
	uint64_t tid;

	if (!parse_whole_u64(item, (uint64_t)c->row->min, (uint64_t)c->row->max, &tid))
		return convert_refuse(c, "a list of thread ids such as 12,13");
	return add_id(c, tid);
}

/* Converts a green task id as reports write it: a small decimal number, or a hexadecimal
 * address. */
static int
convert_green_id(const struct conversion *c, const char *item)
{
	const int base = strncmp(item, "0x", 2) == 0 ? 16 : 10;
	const char *at = item + (base == 16 ? 2 : 0);
	uint64_t task;

	if (!isxdigit((unsigned char)*at) || !parse_u64(&at, base, &task) || *at != '\0' ||
	    task == 0)
		return convert_refuse(c, "a list of tasks such as 17,0x7f20");
	return add_id(c, task);
}

static const char speedups_wanted[] = "a list of percents from 1 to 100, ascending, such as "
				      "0,25,50";

static int
convert_speedup(const struct conversion *c, const char *item)
{
	struct option_speedups *speedups = c->field;
	double percent;

	if (!parse_double(item, 0, 100, &percent))
		return convert_refuse(c, speedups_wanted);
	if (percent == 0 && speedups->count == 1)
		return 0;
	if (percent / 100 <= speedups->value[speedups->count - 1])
		return convert_refuse(c, speedups_wanted);
	if (speedups->count == CAUSAL_SPEEDUPS_MOST)
		return error_set(c->err, ERROR_USAGE, "%s: '%s' has more than %d speed-ups above 0",
				 c->label, c->text, CAUSAL_SPEEDUPS_MOST - 1);
	speedups->value[speedups->count++] = percent / 100;
	return 0;
}

/*
 * Converts percentages in ascending order. The speed-up 0, with which all others are compared, is
 * added if it is not in the list.
 */
static int
convert_speedups(const struct conversion *c)
{
	struct option_speedups *speedups = c->field;
	int rc;

	*speedups = (struct option_speedups){ .count = 1 };
	rc = convert_list(c, convert_speedup);
	return rc == 0 && speedups->count == 1 ? convert_refuse(c, speedups_wanted) : rc;
}

static int
convert_state(const struct conversion *c, const char *item)
{
	struct strbuf known = STRBUF_INIT;
	enum run_state state;
	int rc;

	if (run_state_parse(item, &state)) {
		*(unsigned *)c->field |= 1u << state;
		return 0;
	}
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
convert_runtime(const struct conversion *c, const char *item)
{
	const int number = language_by_name(item);
	struct strbuf names = STRBUF_INIT;
	int rc;

	if (number >= 0) {
		*(uint32_t *)c->field |= UINT32_C(1) << number;
		return 0;
	}
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
convert_gil(const struct conversion *c, const char *item)
{
	enum gil gil;

	if (!gil_parse(item, &gil) || gil == GIL_UNKNOWN)
		return error_set(c->err, ERROR_USAGE, "%s: '%s' is none of %s, %s, %s, %s",
				 c->label, item, gil_word(GIL_NONE), gil_word(GIL_HAS),
				 gil_word(GIL_WAIT), gil_word(GIL_HANDOVER));
	*(unsigned *)c->field |= 1u << gil;
	return 0;
}

static int
convert_runtimes(const struct conversion *c)
{
	uint32_t *runtimes = c->field;

	*runtimes = strcmp(c->text, "auto") == 0 ? RUNTIMES_ALL : 0;
	if (*runtimes != 0 || strcmp(c->text, "none") == 0)
		return 0;
	return convert_list(c, convert_runtime);
}

/* Stores the position of the argument in row->choices, which is the value of the enum. */
static int
convert_choice(const struct conversion *c)
{
	const char *const *word = c->row->choices;
	struct strbuf known = STRBUF_INIT;
	const bool former = c->row->former != NULL && strcmp(c->row->former, c->text) == 0;
	int number = 0, rc;

	for (; word[number] != NULL; number++)
		if (strcmp(word[number], c->text) == 0 ||
		    (former && number == c->row->former_choice)) {
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
		[OPTION_FRACTION] = convert_fraction, [OPTION_DURATION] = convert_duration,
		[OPTION_SIZE] = convert_size,         [OPTION_MOMENT] = convert_moment,
		[OPTION_RANGE] = convert_range,       [OPTION_RUNTIMES] = convert_runtimes,
		[OPTION_SPEEDUPS] = convert_speedups, [OPTION_CHOICE] = convert_choice,
	};
	/* For each type whose argument is a list: the converter of one item. */
	static int (*const item_converters[])(const struct conversion *, const char *) = {
		[OPTION_PIDS] = convert_pid,       [OPTION_TIDS] = convert_tid,
		[OPTION_GREEN] = convert_green_id, [OPTION_STATES] = convert_state,
		[OPTION_GILS] = convert_gil,       [OPTION_CHOICE] = NULL,
	};
	const struct conversion c = {
		.row = row,
		.label = label,
		.text = text,
		.field = (char *)options + row->offset,
		.err = err,
	};

	if (item_converters[row->type] != NULL)
		return convert_list(&c, item_converters[row->type]);
	return converters[row->type](&c);
}
