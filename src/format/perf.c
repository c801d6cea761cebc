/* SPDX-License-Identifier: MIT */
/*
 * perf.c - writes text in the format of `perf script`, see wallsample-formats(5): one record per
 * thread and tick. A record is a line with name, pid/tid, time, period and event of the thread, a
 * line that begins with a tab for each frame, and an empty line:
 *
 *     worker       4242/4250      1234.567890:   10000000 wall:
 *             1234 compress (/usr/lib/libz.so.1)
 *             5678 main (/usr/bin/server)
 *
 * Each program that reads this format has its own regular expressions. So a name must not look like
 * the field that follows the name: the functions that write names replace some characters.
 *
 * Records of a recording are in the order of time. Some readers sum the periods, others take the
 * time between two records of a thread: a long sleep is therefore written as one record per tick.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/tick_records_internal.h"
#include "wallsample/report/report.h"
#include "wallsample/base/base.h"
#include "wallsample/process/module.h"

struct script {
	const struct export_input *input;
	const struct view *view;
	FILE *out;
	char **line; /* by function of the view: the line of a frame; NULL until it is needed */
	char **comm; /* by thread of the profile: the name of the thread; NULL until it is needed */
	struct strbuf scratch;
};

/* --- names ------------------------------------------------------------------------------ */

/*
 * Returns the length in bytes of the white space character at the start of `text`; 0 if there is
 * none. A character is white space if \s of JavaScript's regular expressions matches it; these
 * include all characters that Perl's \s matches. strbuf_add_ordered_line() has made `text`, so it
 * has no control characters and no line separators: these are not in the list.
 */
static size_t
space_at(const char *text)
{
	static const char *const wide[] = {
		"\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
		"\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87",
		"\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xaf", "\xe2\x81\x9f",
		"\xe3\x80\x80", "\xef\xbb\xbf",
	};

	if (text[0] == ' ')
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return strlen(wide[i]);
	return 0;
}

/* Returns a copy of script->scratch, which the caller frees, and clears script->scratch. */
static char *
take_scratch(struct script *script)
{
	char *text = xstrdup(script->scratch.data);

	strbuf_clear(&script->scratch);
	return text;
}

/*
 * Returns the name of a thread, in which characters that readers would misunderstand are replaced;
 * the caller frees it. '_' replaces white space at the start of the name or before a digit or
 * slash, because readers would take the word behind it for the thread's id, and '#' at the start of
 * the name, because readers would take the line for a comment. ':' replaces ';', which separates
 * names in the output of stackcollapse-perf.pl. A thread without a name gets ':' and its id, as in
 * perf.
 */
static char *
make_comm(struct script *script, uint32_t id)
{
	struct strbuf clean = STRBUF_INIT, name = STRBUF_INIT;
	char *comm;

	view_add_name(script->view, id, &name);
	strbuf_add_ordered_line(&clean, name.data);
	strbuf_release(&name);
	for (const char *at = clean.data; *at != '\0';) {
		const size_t space = space_at(at);
		const char next = at[space];

		if (space > 0 && (at == clean.data || next == '/' || (next >= '0' && next <= '9')))
			strbuf_add_text(&script->scratch, "_");
		else if (*at == ';' || (*at == '#' && at == clean.data))
			strbuf_add_text(&script->scratch, *at == ';' ? ":" : "_");
		else
			strbuf_add(&script->scratch, at, space > 0 ? space : 1);
		at += space > 0 ? space : 1;
	}
	if (clean.length == 0)
		strbuf_add_format(&script->scratch, ":%jd",
				  (intmax_t)view_thread_number(script->view, id));
	comm = take_scratch(script);
	strbuf_release(&clean);
	return comm;
}

/*
 * Changes "(anonymous namespace)::f" to "[anonymous namespace]::f": readers skip a name that begins
 * with a parenthesis.
 */
static void
open_brackets(char *name)
{
	size_t depth = 0;

	if (name[0] != '(')
		return;
	name[0] = '[';
	for (char *at = name + 1; *at != '\0'; at++) {
		if (*at == '(')
			depth++;
		if (*at == ')' && depth-- == 0) {
			*at = ']';
			return;
		}
	}
}

/*
 * Adds the name of a function, or "[unknown]" for a frame without a name: readers then show the
 * module. "->" in a name becomes "- >", because some readers split a name at "->".
 */
static void
add_symbol(struct script *script, const struct view_function *function)
{
	struct strbuf clean = STRBUF_INIT;

	if (!function->known || function->name[0] == '\0') {
		strbuf_add_text(&script->scratch, "[unknown]");
		return;
	}
	strbuf_add_ordered_line(&clean, function->label);
	open_brackets(clean.data);
	for (const char *at = clean.data; *at != '\0'; at++) {
		strbuf_add(&script->scratch, at, 1);
		if (at[0] == '-' && at[1] == '>')
			strbuf_add_text(&script->scratch, " ");
	}
	strbuf_release(&clean);
}

/*
 * Adds the path or name of the function's module; for a function of a script the path of its file,
 * or "[script]"; for a named frame "[wallsample]"; for an inlined function "inlined". '_' replaces
 * white space, because readers take what follows the last white space of the line for the module.
 * Brackets replace parentheses, because one reader ends the module at the first ')'.
 */
static void
add_module(struct script *script, const struct view_function *function)
{
	const struct modules *modules = script->input->modules;
	const char *path = function->module;
	struct strbuf clean = STRBUF_INIT;

	if (modules != NULL && function->module_id < modules_count(modules)) {
		const struct module *module = modules_at(modules, function->module_id);

		path = module->path[0] == '/' ? module->path : module->name;
	}
	if (function->script && function->file != NULL)
		path = function->file;
	else if (function->script)
		path = "[script]";
	else if (function->module_id == MODULE_NONE)
		path = "[wallsample]";
	else if (function->inlined)
		path = "inlined";
	strbuf_add_ordered_line(&clean, path);
	for (const char *at = clean.data; *at != '\0';) {
		const size_t space = space_at(at);

		strbuf_add(&script->scratch,
			   space > 0  ? "_" :
			   *at == '(' ? "[" :
			   *at == ')' ? "]" :
					at,
			   1);
		at += space > 0 ? space : 1;
	}
	strbuf_release(&clean);
}

static const char *
line_of(struct script *script, uint32_t id)
{
	const struct view_function *function = view_function(script->view, id);
	uint64_t address = 0;

	if (script->line[id] != NULL)
		return script->line[id];
	if (function->module_id != MODULE_NONE)
		address = profile_frame(view_profile(script->view), function->frame)->address;
	strbuf_add_format(&script->scratch, "\t%16" PRIx64 " ", address);
	add_symbol(script, function);
	strbuf_add_text(&script->scratch, " (");
	add_module(script, function);
	strbuf_add_text(&script->scratch, ")\n");
	return script->line[id] = take_scratch(script);
}

static const char *
comm_of(struct script *script, uint32_t thread)
{
	if (script->comm[thread] == NULL)
		script->comm[thread] = make_comm(script, thread);
	return script->comm[thread];
}

/* --- records ---------------------------------------------------------------------------- */

static bool
write_record(void *context, const struct tick_record *record)
{
	struct script *script = context;
	const struct timeline_slice *slice = record->slice;

	/* The process id is padded to 8 columns: some readers need two spaces behind a name of
	 * one letter. */
	fprintf(script->out, "%s %8" PRId64 "/%-7jd ", comm_of(script, slice->thread),
		timeline_pid(script->input, record->recording, slice->thread),
		(intmax_t)view_thread_number(script->view, slice->thread));
	fprintf(script->out, "%5" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " %s:\n",
		record->ns / NS_PER_SEC, record->ns % NS_PER_SEC / NS_PER_US, record->period,
		weight_word(script->input->sort));
	for (size_t i = 0; i < slice->depth; i++)
		fputs(line_of(script, slice->function[i]), script->out);
	if (slice->depth == 0)
		fprintf(script->out, "\t%16x [no stack] ([wallsample])\n", 0);
	fputc('\n', script->out);
	return ferror(script->out) == 0;
}

/* --- the output -------------------------------------------------------------------------- */

/* Writes a header: without one, some readers guess the format from the name of the first thread. */
static void
write_head(struct script *script)
{
	const struct process *process = script->input->process;
	struct strbuf *line = &script->scratch;

	strbuf_add_format(line, "# ========\n# written by wallsample: process %jd (",
			  (intmax_t)process->pid);
	strbuf_add_ordered_line(line, process->comm);
	strbuf_add_text(line, ")");
	report_add_others(script->input, line);
	strbuf_add_format(line, "\n# periods: nanoseconds, %s\n# ========\n#\n",
			  weight_word(script->input->sort));
	fputs(line->data, script->out);
	strbuf_clear(line);
}

static void
perf_write(const struct export_input *input, FILE *out)
{
	const size_t functions = view_function_count(input->view);
	const size_t threads = profile_thread_count(view_profile(input->view));
	struct script script = {
		.input = input,
		.view = input->view,
		.out = out,
		.line = xcalloc(functions + 1, sizeof(char *)),
		.comm = xcalloc(threads + 1, sizeof(char *)),
	};

	write_head(&script);
	tick_records_each(input, write_record, &script);
	for (size_t i = 0; i < functions; i++)
		free(script.line[i]);
	for (size_t i = 0; i < threads; i++)
		free(script.comm[i]);
	free(script.line);
	free(script.comm);
	strbuf_release(&script.scratch);
}

const struct exporter exporter_perf = {
	.name = "perf",
	.help = "text as of perf script, a record for each thread and tick",
	.endings = "perf,perf.txt,linux-perf.txt",
	.noun = "records",
	.options = EXPORT_SORT,
	.time = EXPORT_TIME,
	.by_address = true,
	.write = perf_write,
};
