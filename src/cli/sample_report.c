/* SPDX-License-Identifier: MIT */
/*
 * sample_report.c - prints messages at the beginning and at the end of a run of the sampler, and
 * deadlocks.
 */
#include <string.h>

#include "cli/run_internal.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/analysis/waiting.h"

/* Most process ids in a message. */
#define PIDS_MOST 8

/* Adds "process 812 (nginx) of user www-data". */
static void
add_one(const struct process *process, struct strbuf *out)
{
	char name[USER_NAME_SIZE];
	uid_t uid;

	strbuf_add_format(out, "process %d (%s)", (int)process->pid, process->comm);
	if (process_read_uid(process, &uid) && !user_is_own(uid))
		strbuf_add_format(out, " of user %s", user_name(uid, name));
}

/* Adds "3 processes (nginx 812, 813, php-fpm 900)", "1 process (container 4f1b1c0e2d3a)". */
static void
add_several(const struct target *target, struct strbuf *out)
{
	strbuf_add_format(out, "%zu process%s ", target->count, target->count == 1 ? "" : "es");
	if (target->set != NULL) {
		strbuf_add_text(out, "(");
		process_set_describe(target->set, out);
		strbuf_add_text(out, ")");
		return;
	}
	strbuf_add_text(out, "(");
	for (size_t i = 0; i < target->count && i < PIDS_MOST; i++) {
		const struct process *process = target->member[i]->process;
		const bool named = i == 0 ||
				   strcmp(target->member[i - 1]->process->comm, process->comm) != 0;

		strbuf_add_format(out, "%s%s%s%d", i > 0 ? ", " : "", named ? process->comm : "",
				  named ? " " : "", (int)process->pid);
	}
	strbuf_add_text(out, target->count > PIDS_MOST ? ", …)" : ")");
}

void
sample_say_start(const struct run *run)
{
	const struct options *options = run->request.options;
	const bool many = run->target.count > 1 || run->target.set != NULL;
	struct strbuf what = STRBUF_INIT;

	strbuf_add_text(&what, "");
	if (many)
		add_several(&run->target, &what);
	else
		add_one(target_first(&run->target), &what);
	if (options->duration_ns > 0)
		log_say(&run->request.log, LOG_NORMAL,
			"sampling %s %.10g times a second for %s; Ctrl-C ends it", what.data,
			options->rate_hz, say_duration(options->duration_ns).text);
	else
		log_say(&run->request.log, LOG_NORMAL,
			"sampling %s %.10g times a second until %s or Ctrl-C", what.data,
			options->rate_hz, many ? "they end" : "it ends");
	strbuf_release(&what);
}

static void
say_command_end(const struct run *run)
{
	const struct run_stats *stats = &run->source.stats;
	struct strbuf end = STRBUF_INIT;

	if (run->source.end == RUN_END_DURATION) {
		log_say(&run->request.log, LOG_NORMAL, "the command continues as process %d",
			(int)run->target.pid);
		return;
	}
	/* An exit with status 0 is not reported. */
	if (!stats->child_exited || stats->child_status == 0)
		return;
	target_add_end(&end, stats->child_status);
	log_say(&run->request.log, LOG_NORMAL, "%s", end.data);
	strbuf_release(&end);
}

/* Prints for each origin of frames (FRAME_ORIGINS, chain.h) the number of distinct frames. */
static void
say_origins(const struct run *run)
{
	static const enum frame_origin origins[] = {
#define X(name, text) FRAME_##name,
		FRAME_ORIGINS(X)
#undef X
	};
	uint64_t count[ARRAY_SIZE(origins)] = { 0 };
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < profile_frame_count(run->source.profile); i++) {
		const struct profile_frame *frame = profile_frame(run->source.profile, (uint32_t)i);

		if (frame->module != MODULE_NONE || frame->origin == FRAME_SCRIPT)
			count[frame->origin]++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
		strbuf_add_format(&text, "%s%s %llu", i > 0 ? ", " : "",
				  frame_origin_text(origins[i]), (unsigned long long)count[i]);
	log_say(&run->request.log, LOG_VERBOSE, "different frames by how they were found: %s",
		text.data);
	strbuf_release(&text);
}

/*
 * Prints statistics of the run (-v). The nice value of wallsample and the speed of the unwinder are
 * not among them, because the sampler logs both.
 */
static void
say_numbers(const struct run *run)
{
	const struct run_stats *stats = &run->source.stats;

	log_say(&run->request.log, LOG_VERBOSE,
		"%llu ticks, thread states read %llu times; stacks: %llu reused, %llu read "
		"without a stop, %llu in a stop",
		(unsigned long long)stats->ticks, (unsigned long long)stats->looks,
		(unsigned long long)stats->reused, (unsigned long long)stats->read,
		(unsigned long long)stats->stopped);
	log_say(&run->request.log, LOG_VERBOSE, "threads were stopped for %llu us, longest %llu us",
		(unsigned long long)stats->stop_ns.sum / NS_PER_US,
		(unsigned long long)stats->stop_ns.max / NS_PER_US);
	say_origins(run);
	log_say(&run->request.log, LOG_VERBOSE,
		"saved %llu system calls from EINTR, passed on %llu signals",
		(unsigned long long)stats->repaired, (unsigned long long)stats->signals_passed);
	log_say(&run->request.log, LOG_VERBOSE, "rate: wanted %.4g Hz, lowest %.4g Hz",
		stats->rate_wanted, stats->rate_lowest);
}

void
sample_say_end(const struct run *run)
{
	if (run->target.is_command)
		say_command_end(run);
	else if (run->source.end == RUN_END_EXITED)
		log_say(&run->request.log, LOG_NORMAL,
			run->target.count > 1 ? "all processes have ended" : "process %d has ended",
			(int)run->target.pid);
	say_numbers(run);
}

int
sample_nothing(const struct run *run, struct error *err)
{
	const struct options *options = run->request.options;
	struct strbuf filters = STRBUF_INIT;
	int rc;

	if (run->target.is_command && run->source.stats.child_exited)
		return target_refuse_ended(run->source.stats.child_status, err);
	if (run->source.end == RUN_END_EXITED)
		return error_set(err, ERROR_NO_PROCESS,
				 "nothing was sampled: process %d ended before it could be sampled",
				 (int)run->target.pid);
	options_add_thread_filters(options, &filters);
	if (filters.length > 0)
		rc = error_set(err, ERROR_SYSTEM,
			       "nothing was sampled: no thread of process %d is "
			       "one that was asked for (%s)",
			       (int)run->target.pid, filters.data);
	else
		rc = error_set(err, ERROR_SYSTEM, "nothing was sampled in %s",
			       say_duration(run->source.stats.elapsed_ns).text);
	strbuf_release(&filters);
	return rc;
}

/* --- deadlocks ----------------------------------------------------------------------- */

/* Returns the name of the object that the thread waits for; "" if the name is unknown. */
static const char *
deadlock_name(const struct run *run, uint32_t wait)
{
	const struct profile *profile = run->source.profile;
	const uint32_t id = profile_wait(profile, wait)->object;
	const struct profile_frame *frame = id != FRAME_NONE ? profile_frame(profile, id) : NULL;
	struct symbol symbol;

	if (frame == NULL)
		return "";
	if (frame->module == MODULE_NONE)
		return profile_text(profile, (uint32_t)frame->address);
	symbols_find(run->source.symbols,
		     &(struct symbol_place){ .module = frame->module,
					     .data = frame->origin == FRAME_DATA,
					     .vaddr = frame->address },
		     &symbol, 1);
	return symbol.function;
}

static void
say(struct run *run, const struct profile_deadlock *deadlock)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < deadlock->ring; i++) {
		strbuf_add_text(&text, i > 0 ? "; " : "");
		deadlock_add_thread(run->source.profile, deadlock, i,
				    deadlock_name(run, deadlock->stuck[i].wait), &text);
	}
	if (deadlock->count > deadlock->ring) {
		strbuf_add_text(&text, "; behind them: ");
		deadlock_add_others(run->source.profile, deadlock, &text);
	}
	status_line_erase(&run->status);
	log_say(&run->request.log, LOG_NORMAL, "deadlock: %s", text.data);
	strbuf_release(&text);
}

void
say_deadlocks(struct run *run)
{
	const size_t count = profile_deadlock_count(run->source.profile);

	for (; run->deadlocks_reported < count; run->deadlocks_reported++)
		say(run, profile_deadlock(run->source.profile, run->deadlocks_reported));
}
