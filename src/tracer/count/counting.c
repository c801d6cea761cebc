/* SPDX-License-Identifier: MIT */
/* counting.c - handles stops of threads that stay seized: breakpoints, signals, clones, an exec. */
#include "tracer/count/counting_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "tracer/stop_internal.h"
#include "wallsample/base/search.h"

/* Most bytes that are read of a status file, which has some 1500. */
#define STATUS_MOST 16384

/* Returns the index of the thread, or the index at which it would be inserted. */
static size_t
tracees_position(const struct tracees *tracees, pid_t tid)
{
	size_t place;

	SEARCH_FIRST_NOT(place, tracees->count, tracees->item[place].tid < tid);
	return place;
}

/* Returns NULL when the thread is not in the set; the pointer is valid until the set changes. */
static struct tracee *
tracees_find(const struct tracees *tracees, pid_t tid)
{
	size_t place = tracees_position(tracees, tid);

	if (place == tracees->count || tracees->item[place].tid != tid)
		return NULL;
	return &tracees->item[place];
}

static void
publish_load(const struct tracees *tracees)
{
	if (tracees->load != NULL)
		tracees->load->counted = tracees->count;
}

struct tracee *
tracees_add(struct tracees *tracees, pid_t tid)
{
	size_t place = tracees_position(tracees, tid);
	struct tracee *item;

	tracees->item = xgrow(tracees->item, &tracees->capacity, tracees->count + 1,
			      sizeof(*tracees->item));
	item = &tracees->item[place];
	memmove(item + 1, item, (tracees->count++ - place) * sizeof(*item));
	*item = (struct tracee){ .tid = tid };
	publish_load(tracees);
	return item;
}

void
tracees_remove(struct tracees *tracees, pid_t tid)
{
	struct tracee *item = tracees_find(tracees, tid);

	if (item == NULL)
		return;
	tracees->count--;
	memmove(item, item + 1, (size_t)(tracees->item + tracees->count - item) * sizeof(*item));
	publish_load(tracees);
}

/* --- threads that stay seized ---------------------------------------------------------------- */

bool
counting_has(const struct tracer *tracer, pid_t tid)
{
	return tracer->counting != NULL && tracees_find(&tracer->counting->tracees, tid) != NULL;
}

int
counting_seize(struct tracer *tracer, pid_t tid)
{
	struct counting *counting = tracer->counting;
	int error;

	if (tracees_find(&counting->tracees, tid) != NULL)
		return 0;
	error = stop_seize(tid, PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC);
	/* EPERM may mean that this tracer has the thread already: PTRACE_O_TRACECLONE seizes a new
	 * thread before its first stop. An interrupt then succeeds. */
	if (error == EPERM && stop_interrupt(tid))
		error = 0;
	if (error == 0)
		tracees_add(&counting->tracees, tid);
	return error;
}

static bool
tracee_continue(struct tracee *tracee, int signo)
{
	return stop_resume(tracee->tid, tracee->stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, signo);
}

bool
counting_continue(struct tracer *tracer, pid_t tid, int signo, bool group_stopped)
{
	struct tracee *tracee = tracees_find(&tracer->counting->tracees, tid);

	if (!group_stopped)
		return tracee_continue(tracee, signo);
	/* Without stop_keep each wait would return the same stop again. */
	stop_keep(tid);
	return stop_resume(tid, PTRACE_LISTEN, 0);
}

/* Returns the index of the breakpoint at the address; `count` if there is none. */
static size_t
find_address(const struct breakpoints *breakpoints, uint64_t address)
{
	size_t i = 0;

	while (i < breakpoints->count && breakpoints->address[i] != address)
		i++;
	return i;
}

/* True if the thread hits a breakpoint a second time because a signal handler has returned to it:
 * the first hit has been counted. True only once per return: the stored place is cleared. */
static bool
is_repeated_hit(struct tracee *tracee, uint64_t address)
{
	struct breakpoint_place place;

	if (tracee->again_pc != address || !breakpoint_find_place(tracee->tid, &place) ||
	    place.sp != tracee->again_sp)
		return false;
	tracee->again_pc = 0;
	return true;
}

/* Counts a hit of a breakpoint at the address. The thread may have breakpoints that are not
 * counted: ones that an earlier tracer has left. */
static void
count_hit(struct counting *counting, struct tracee *tracee, uint64_t address)
{
	if (tracee->again_pc != 0 && is_repeated_hit(tracee, address))
		return;
	/* Two breakpoints may have the same address: both are counted. */
	for (size_t i = 0; i < counting->breakpoints.count; i++)
		counting->total[i] += counting->breakpoints.address[i] == address;
}

/* True when the process has a handler for the signal. */
static bool
is_caught(const struct tracer *tracer, pid_t tid, int signo)
{
	char name[32];
	const char *at;
	uint64_t caught = 0;
	size_t length;
	char *text;

	snprintf(name, sizeof(name), "%d/status", (int)tid);
	text = file_read_text(tracer->process->taskfd, name, STATUS_MOST, &length);
	at = text != NULL ? strstr(text, "\nSigCgt:\t") : NULL;
	if (at != NULL) {
		at += strlen("\nSigCgt:\t");
		if (!parse_u64(&at, 16, &caught))
			caught = 0;
	}
	free(text);
	return (caught >> (signo - 1) & 1) != 0;
}

/*
 * Delivers a signal to the program. If the program has a handler, and the thread was to step over a
 * breakpoint, the handler runs first, and the breakpoint is hit again when the handler returns. The
 * pc and stack pointer of the thread are stored in again_pc and again_sp, by which is_repeated_hit
 * recognises the second hit and does not count it.
 */
static void
pass_signal(struct tracer *tracer, struct tracee *tracee, int status)
{
	const int signo = stop_signal(status);
	struct breakpoint_place place;

	tracer->stats.repaired += stop_repair(tracee->tid, status);
	if (tracee->stepping && breakpoint_find_place(tracee->tid, &place) &&
	    find_address(&tracer->counting->breakpoints, place.pc) <
		    tracer->counting->breakpoints.count &&
	    is_caught(tracer, tracee->tid, signo)) {
		tracee->again_pc = place.pc;
		tracee->again_sp = place.sp;
	}
	tracer->stats.signals_passed++;
	tracee_continue(tracee, signo);
}

/* Handles a SIGTRAP: a breakpoint, the end of a step over one, or a signal of the program. */
static void
serve_trap(struct tracer *tracer, struct tracee *tracee, int status)
{
	struct counting *counting = tracer->counting;
	siginfo_t info;

	if (!stop_read_signal(tracee->tid, &info))
		return; /* the thread was killed */
	if (breakpoint_is_hit(tracee->tid, &info)) {
		count_hit(counting, tracee, (uint64_t)(uintptr_t)info.si_addr);
		breakpoint_pass(tracee->tid, &info);
		tracee->stepping = breakpoint_needs_step;
		if (tracee->stepping)
			breakpoints_clear(tracee->tid);
		tracee_continue(tracee, 0);
	} else if (tracee->stepping && (info.si_code == TRAP_TRACE || info.si_code == SIGTRAP)) {
		/* si_code SIGTRAP: the step has ended at the beginning of a signal handler. */
		tracee->stepping = false;
		breakpoints_set(tracee->tid, &counting->breakpoints);
		tracee_continue(tracee, 0);
	} else {
		pass_signal(tracer, tracee, status);
	}
}

/* Removes the entry of a thread that will not be captured any more. Its request, if it is
 * outstanding, gets the end `end`. */
static void
end_seized(struct tracer *tracer, struct seized *entry, enum stop_end end, struct waiting *waiting)
{
	struct stop_request *request = entry->request;

	if (request == NULL || request->end == STOP_LATE)
		waiting->pending -= entry->is_new;
	if (request != NULL) {
		request->end = request->end == STOP_LATE ? end : request->end;
		request->held = false;
	}
	seized_remove(&tracer->seized, entry);
}

/* Handles an exec: ends all requests, and detaches the only thread of the new program, which has no
 * breakpoints. */
static void
serve_exec(struct tracer *tracer, pid_t tid, struct waiting *waiting)
{
	while (tracer->seized.count > 0)
		end_seized(tracer, tracer->seized.item, STOP_EXITED, waiting);
	tracer->counting->tracees.count = 0;
	tracer->counting->state = COUNT_EXEC;
	stop_resume(tid, PTRACE_DETACH, 0);
}

/*
 * Clears the breakpoints and detaches. A thread may have hit a breakpoint and stopped for another
 * reason before it takes the signal of the breakpoint, which is pending: detached, it would die of
 * that signal. Such a thread is resumed until it takes the signal; it executes nothing before.
 */
static void
clear_and_detach(struct tracer *tracer, struct tracee *tracee, int status, struct waiting *waiting)
{
	struct counting *counting = tracer->counting;
	const pid_t tid = tracee->tid;
	struct seized *entry = seized_find(&tracer->seized, tid);
	int signo = stop_signal(status);
	siginfo_t info;

	breakpoints_clear(tid);
	tracee->set = false;
	if (signo == SIGTRAP && stop_read_signal(tid, &info) && breakpoint_is_hit(tid, &info)) {
		count_hit(counting, tracee, (uint64_t)(uintptr_t)info.si_addr);
		signo = 0;
	} else {
		tracer->stats.repaired += stop_repair(tid, status);
		if (stop_awaits_trap(tid)) {
			stop_resume(tid, PTRACE_CONT, signo);
			return;
		}
	}
	if (tracee->stepping && signo == SIGTRAP)
		signo = 0;
	if (entry != NULL)
		end_seized(tracer, entry, STOP_MISSED, waiting);
	/* If the thread was killed, its exit is reported later, and then belongs to no request. */
	stop_resume(tid, PTRACE_DETACH, signo);
	tracees_remove(&counting->tracees, tid);
}

/* Adds a thread that was seized when a tracee created it. Returns NULL if it belongs to another
 * process. */
static struct tracee *
adopt(struct tracer *tracer, pid_t tid)
{
	struct task_stat stat;

	if (!process_read_task_stat(tracer->process, tid, &stat))
		return NULL;
	return tracees_add(&tracer->counting->tracees, tid);
}

static void
set_breakpoints(struct counting *counting, struct tracee *tracee)
{
	int error = breakpoints_set(tracee->tid, &counting->breakpoints);

	if (error != 0 && error != ESRCH && counting->error == 0)
		counting->error = error;
	tracee->set = true;
}

static void
serve_exit(struct tracer *tracer, pid_t tid)
{
	struct counting *counting = tracer->counting;

	if (tracees_find(&counting->tracees, tid) == NULL)
		return;
	tracees_remove(&counting->tracees, tid);
	if (counting->tracees.count == 0 && counting->state == COUNT_RUNNING && !counting->ending)
		counting->state = COUNT_GONE;
}

bool
counting_serve(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting)
{
	struct counting *counting = tracer->counting;
	const enum stop_kind kind = stop_classify(end->status);
	struct tracee *tracee;

	if (counting == NULL || counting->state != COUNT_RUNNING)
		return false;
	if (kind == KIND_EXITED) {
		serve_exit(tracer, end->tid);
		return false;
	}
	if (kind == KIND_EXEC) {
		serve_exec(tracer, end->tid, waiting);
		return true;
	}
	tracee = tracees_find(&counting->tracees, end->tid);
	if (tracee == NULL)
		tracee = adopt(tracer, end->tid);
	if (tracee == NULL)
		return false;
	if (counting->ending) {
		clear_and_detach(tracer, tracee, end->status, waiting);
		return true;
	}
	if (!tracee->set)
		set_breakpoints(counting, tracee);
	if (kind == KIND_OTHER)
		tracee_continue(tracee, 0);
	else if (kind == KIND_SIGNAL && stop_signal(end->status) == SIGTRAP)
		serve_trap(tracer, tracee, end->status);
	else if (kind == KIND_SIGNAL)
		pass_signal(tracer, tracee, end->status);
	else
		return false;
	return true;
}
