/* SPDX-License-Identifier: MIT */
/* sched.c - the scheduler's counters of a thread, from text of the kernel. */
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/thread/state.h"

/* "CPU_NS DELAY_NS SWITCHES\n": Documentation/scheduler/sched-stats.rst */
bool
sched_parse_schedstat(const char *text, struct sched *out)
{
	return parse_u64(&text, 10, &out->cpu_ns) && parse_u64(&text, 10, &out->delay_ns) &&
	       parse_u64(&text, 10, &out->switches);
}

static bool
find_field(const char *text, const char *field, uint64_t *value)
{
	const char *at = strstr(text, field);

	if (at == NULL || (at != text && at[-1] != '\n'))
		return false;
	at += strlen(field);
	while (*at == '\t')
		at++;
	return parse_u64(&at, 10, value);
}

/*
 * The fallback where the kernel keeps no schedstat: both kinds of switch *out*.
 * A thread that is scheduled in is also switched out before it can sleep again, so
 * the sum moves whenever the thread has run between two sleeps.
 */
bool
sched_parse_status(const char *text, struct sched *out)
{
	uint64_t voluntary, forced;

	if (!find_field(text, "voluntary_ctxt_switches:", &voluntary) ||
	    !find_field(text, "nonvoluntary_ctxt_switches:", &forced))
		return false;
	out->cpu_ns = 0;
	out->delay_ns = 0;
	out->switches = voluntary + forced;
	return true;
}

/*
 * A kernel without CONFIG_SCHED_INFO has no such file, and one that has it switched
 * off says "0 0 0" though we are running right now.
 */
enum sched_source
sched_source_probe(void)
{
	struct sched own = { 0 };
	size_t length;
	char *text = file_read_text(-1, "/proc/thread-self/schedstat", 256, &length);
	bool works = text != NULL && sched_parse_schedstat(text, &own) && own.switches > 0;

	free(text);
	return works ? SCHED_FROM_SCHEDSTAT : SCHED_FROM_STATUS;
}
