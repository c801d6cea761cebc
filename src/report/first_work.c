/* SPDX-License-Identifier: MIT */
/* first_work.c - describes causes that need more than the name of a function: stopped threads, a
 * limit on CPU time, many small system calls, busy waiting. */
#include <inttypes.h>
#include <math.h>

#include "report/first_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"

/* Most cells of the name of a control group: names of containers have 64 digits. */
#define GROUP_WIDTH 50

void
first_say_stopped(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_format(&text,
			  "threads were stopped %s of the time, by a signal (SIGSTOP, SIGTSTP, "
			  "SIGTTIN, SIGTTOU) or a tracer; SIGCONT resumes what a signal stopped",
			  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "stopped in", cause);
	if (export_is_live(first->input) && first->stats.failed[FAILURE_TRACED] == 0) {
		strbuf_add_format(&text, "kill -CONT %jd", (intmax_t)first->input->process->pid);
		cause_set_next(cause, &text, "resumes the program");
	}
}

void
first_say_limit(const struct first *first, const struct finding *found, struct cause *cause)
{
	const double limit = first->stats.work.cpu_limit;
	struct strbuf text = STRBUF_INIT;

	strbuf_add_text(&text, "a control group");
	if (first->stats.cpu_group[0] != '\0') {
		strbuf_add_text(&text, " (");
		display_add_name(&text, first->stats.cpu_group, GROUP_WIDTH);
		strbuf_add_text(&text, ")");
	}
	strbuf_add_text(&text, " limits the program");
	if (limit > 0)
		strbuf_add_format(&text, " to %.2f %s", limit, limit == 1 ? "CPU" : "CPUs");
	strbuf_add_format(&text, "; the limit was used up in %s of the periods",
			  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "mostly in", cause);
}

/* Adds "23,500 reads per second, 1 byte each". */
static void
add_calls(uint64_t calls, uint64_t bytes, uint64_t elapsed_ns, const char *noun, struct strbuf *out)
{
	const double rate = (double)calls * (double)NS_PER_SEC / (double)elapsed_ns;
	const uint64_t each = bytes / calls + (bytes % calls > calls / 2);

	strbuf_add_format(out, "%s %s per second, %s each",
			  quantity_count((uint64_t)fmin(rate + 0.5, RATE_MOST)).text, noun,
			  quantity_things(each, "byte", "bytes").text);
}

void
first_say_calls(const struct first *first, const struct finding *found, struct cause *cause)
{
	const struct run_stats *stats = &first->stats;
	const struct counters *work = &stats->work;
	struct strbuf text = STRBUF_INIT;

	if (work->reads >= work->writes)
		add_calls(work->reads, work->read_bytes, stats->elapsed_ns, "reads", &text);
	else
		add_calls(work->writes, work->written_bytes, stats->elapsed_ns, "writes", &text);
	strbuf_add_format(&text, " on average; threads were in such calls %s of the time",
			  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "called in", cause);
}

void
first_say_spin(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_format(&text, "%s of the CPU time was spent busy-waiting for other threads",
			  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "mostly in", cause);
}
