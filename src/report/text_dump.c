/* SPDX-License-Identifier: MIT */
/*
 * text_dump.c - writes a dump as text: each thread once, with its state and its call chain.
 *
 * Names of functions and files are not cut, whatever the width: a user may copy them.
 */
#include <inttypes.h>
#include <string.h>

#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/analysis/dump.h"

#define INDENT 4
/* Waits shown of a group whose threads wait for different objects. JSON has all. */
#define WAITS_MOST 20

/* "signal 11 (Segmentation fault)" */
static void
add_signal(struct strbuf *sb, int signal)
{
	strbuf_add_format(sb, "signal %d (%s)", signal, strsignal(signal));
}

static void
add_thread(struct strbuf *sb, const struct profile *profile, uint32_t id)
{
	const struct profile_thread *thread = profile_thread(profile, id);

	const char *name = profile_text(profile, thread->name);

	strbuf_add_format(sb, "%jd", (intmax_t)thread->tid);
	/* A core file lacks the names of some threads. */
	if (name[0] == '\0')
		return;
	strbuf_add_text(sb, " (");
	strbuf_add_escaped(sb, name);
	strbuf_add_text(sb, ")");
}

/* "NOUN 17 main.taker", capitalized. */
static void
add_task(struct strbuf *sb, const struct view *view, uint32_t id)
{
	struct strbuf name;

	strbuf_init(&name);
	view_add_thread(view, id, &name);
	if (name.data[0] >= 'a' && name.data[0] <= 'z')
		name.data[0] = (char)(name.data[0] - 'a' + 'A');
	strbuf_add_escaped(sb, name.data);
	strbuf_release(&name);
}

/* "1,000 NOUNs main.taker": with the entry function if all have the same. */
static void
add_tasks(struct strbuf *sb, const struct view *view, const struct dump_group *group)
{
	const struct profile *profile = view_profile(view);
	const uint32_t first = group->thread[0].thread;
	const char *entry = view_task_entry(view, first);

	for (size_t i = 1; entry != NULL && i < group->count; i++)
		if (view_task_entry(view, group->thread[i].thread) != entry)
			entry = NULL;
	quantity_add_count(sb, group->tasks);
	strbuf_add_text(sb, " ");
	strbuf_add_escaped(sb, profile_text(profile, profile_thread(profile, first)->name));
	strbuf_add_text(sb, "s");
	if (entry != NULL) {
		strbuf_add_text(sb, " ");
		strbuf_add_escaped(sb, entry);
	}
}

/* " (table.c:42)": the stack shows the same frame with the full path. */
static void
add_line(struct strbuf *sb, const struct view_function *function)
{
	const char *file = function->file, *slash = file != NULL ? strrchr(file, '/') : NULL;

	if (file == NULL || function->line == 0)
		return;
	if (function->script)
		file = function->module;
	else if (slash != NULL)
		file = slash + 1;
	strbuf_add_text(sb, " (");
	strbuf_add_escaped(sb, file);
	strbuf_add_format(sb, ":%" PRIu32 ")", function->line);
}

/* "mutex table_lock, which thread 14 (writer) has, in copy_rows (table.c:42)" */
static void
add_wait(struct strbuf *sb, const struct view *view, const struct dump_group *group,
	 const struct dump_thread *thread)
{
	const struct profile *profile = view_profile(view);
	const struct profile_blame *holder = thread->holder;
	const uint32_t *function;
	struct strbuf what;
	size_t depth;

	strbuf_init(&what);
	view_add_wait(view, thread->wait, group->function, group->depth, &what);
	strbuf_add_escaped(sb, what.data);
	strbuf_release(&what);
	if (profile_wait(profile, thread->wait)->timed &&
	    wait_kind_in_memory(profile_wait(profile, thread->wait)->kind))
		strbuf_add_text(sb, ", with a time-out");
	/* The text has named the awaited task already. */
	if (holder == NULL || profile_wait(profile, thread->wait)->kind == WAIT_JOIN)
		return;
	view_stack(view, holder->stack, &function, &depth);
	if (profile_thread(profile, holder->thread)->tid > 0 ||
	    profile_thread(profile, holder->thread)->is_task) {
		strbuf_add_text(sb, ", held by ");
		if (profile_thread(profile, holder->thread)->is_task) {
			add_task(sb, view, holder->thread);
		} else {
			strbuf_add_text(sb, "thread ");
			add_thread(sb, profile, holder->thread);
		}
		if (depth > 0) {
			const struct view_function *at =
				view_function(view, function[waiting_place(view, function, depth)]);

			strbuf_add_text(sb, ", in ");
			strbuf_add_escaped(sb, at->name);
			add_line(sb, at);
		}
	} else if (depth > 0) {
		strbuf_add_text(sb, ", held by ");
		strbuf_add_escaped(sb, view_function(view, function[0])->name);
	}
}

/* "sleeping in futex"; for a thread of a core file also whether its signal ended the process. */
static void
add_state(struct strbuf *sb, const struct export_input *input, const struct dump_group *group)
{
	const struct core_end *end = input->core_end;

	if (end == NULL || end->signal == 0 || group->count != 1 ||
	    profile_thread(view_profile(input->view), group->thread[0].thread)->tid != end->tid) {
		run_state_add(sb, group->state, group->syscall);
		if (group->are_tasks && group->thread[0].wait != 0) {
			strbuf_add_text(sb, ": ");
			add_wait(sb, input->view, group, &group->thread[0]);
		}
		if (group->waiting_ns > 0) {
			strbuf_add_text(sb, group->tasks > 1 ? ", for up to " : ", for ");
			quantity_add_time(sb, (int64_t)group->waiting_ns);
		}
		return;
	}
	strbuf_add_text(sb, "ended by ");
	add_signal(sb, end->signal);
}

/* Writes a line for each object that threads of the group wait for, with the waiters. */
static void
write_waits(const struct view *view, const struct dump_group *group, FILE *out, size_t width)
{
	const struct profile *profile = view_profile(view);
	struct strbuf sb;

	strbuf_init(&sb);
	for (size_t first = 0, next, lines = 0; first < group->count; first = next, lines++) {
		const struct dump_thread *thread = &group->thread[first];

		if (lines == WAITS_MOST) {
			fprintf(out, "%*s… and %zu more threads with waits of their own\n", INDENT,
				"", group->count - first);
			break;
		}
		next = first + 1;
		while (next < group->count && group->thread[next].wait == thread->wait)
			next++;
		strbuf_clear(&sb);
		for (size_t i = first; group->count > 1 && i < next; i++) {
			add_thread(&sb, profile, group->thread[i].thread);
			strbuf_add_text(&sb, i + 1 < next ? ", " : "");
		}
		if (thread->wait != 0 && profile_wait(profile, thread->wait)->kind != WAIT_OTHER) {
			strbuf_add_text(&sb, sb.length > 0 ? " " : "");
			strbuf_add_text(&sb, next - first > 1 ? "wait for " : "waits for ");
			add_wait(&sb, view, group, thread);
		}
		if (sb.length > 0) {
			display_pad(out, INDENT);
			display_wrap(out, sb.data, INDENT, width);
		}
	}
	strbuf_release(&sb);
}

/* "17, 19-40, 52 and 960 more": the ids of a group of tasks. */
static void
write_task_ids(const struct view *view, const struct dump_group *group, FILE *out, size_t width)
{
	const struct profile *profile = view_profile(view);
	size_t ranges = 0, first = 0, next;
	struct strbuf sb;

	strbuf_init(&sb);
	for (; first < group->count && ranges < WAITS_MOST; first = next, ranges++) {
		const uint64_t id = profile_thread(profile, group->thread[first].thread)->task_id;

		next = first + 1;
		if (id == 0)
			continue;
		while (next < group->count &&
		       profile_thread(profile, group->thread[next].thread)->task_id ==
			       id + (next - first))
			next++;
		strbuf_add_text(&sb, sb.length > 0 ? ", " : "");
		view_add_task_id(id, &sb);
		if (next > first + 1) {
			strbuf_add_text(&sb, next > first + 2 ? "-" : ", ");
			view_add_task_id(id + (next - first) - 1, &sb);
		}
	}
	if (first < group->count) {
		strbuf_add_text(&sb, " and ");
		quantity_add_count(&sb, group->count - first);
		strbuf_add_text(&sb, " more");
	}
	if (sb.length > 0) {
		display_pad(out, INDENT);
		display_wrap(out, sb.data, INDENT, width);
	}
	strbuf_release(&sb);
}

/* "Thread 12 (worker): running", or "3 threads: sleeping in futex". */
static void
write_who(const struct export_input *input, const struct dump_group *group, FILE *out, size_t width)
{
	const struct view *view = input->view;
	struct strbuf sb;

	strbuf_init(&sb);
	if (group->are_tasks && group->count == 1 && group->tasks == 1) {
		add_task(&sb, view, group->thread[0].thread);
	} else if (group->are_tasks) {
		add_tasks(&sb, view, group);
	} else if (group->count == 1) {
		strbuf_add_text(&sb, "Thread ");
		add_thread(&sb, view_profile(view), group->thread[0].thread);
	} else {
		quantity_add_count(&sb, group->count);
		strbuf_add_text(&sb, " threads");
	}
	strbuf_add_text(&sb, ": ");
	add_state(&sb, input, group);
	fprintf(out, "\n%s\n", sb.data);
	strbuf_release(&sb);
	if (!group->are_tasks)
		write_waits(view, group, out, width);
	else if (group->count > 1)
		write_task_ids(view, group, out, width);
}

static void
write_frame(const struct view *view, uint32_t id, size_t number, FILE *out)
{
	const struct view_function *function = view_function(view, id);
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "%*zu  ", INDENT, number);
	strbuf_add_escaped(&sb, function->name);
	/* A name that is an address, and a script's file, include the module already. */
	if (function->known && function->module[0] != '\0' && !function->script) {
		strbuf_add_text(&sb, " (");
		strbuf_add_escaped(&sb, function->module);
		strbuf_add_text(&sb, ")");
	}
	if (function->file != NULL) {
		strbuf_add_text(&sb, " at ");
		strbuf_add_escaped(&sb, function->file);
		if (function->line > 0)
			strbuf_add_format(&sb, ":%" PRIu32, function->line);
	}
	if (function->inlined)
		strbuf_add_text(&sb, " [inlined]");
	fprintf(out, "%s\n", sb.data);
	strbuf_release(&sb);
}

static void
write_head(const struct export_input *input, const struct dump *dump, FILE *out)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "Process %jd (", (intmax_t)input->process->pid);
	strbuf_add_escaped(&sb, input->process->comm);
	strbuf_add_text(&sb, "): ");
	quantity_add_things(&sb, dump->threads, "thread", "threads");
	if (dump->tasks > 0) {
		const struct profile *profile = view_profile(input->view);

		strbuf_add_text(&sb, ", ");
		quantity_add_count(&sb, dump->tasks);
		strbuf_add_text(&sb, " ");
		strbuf_add_escaped(&sb, profile_text(profile,
						     profile_thread(profile, dump->task)->name));
		strbuf_add_text(&sb, dump->tasks == 1 ? "" : "s");
	}
	if (input->tasks != NULL && async_tasks_count(input->tasks) > 0) {
		strbuf_add_text(&sb, ", ");
		quantity_add_things(&sb, async_tasks_count(input->tasks), "task", "tasks");
	}
	strbuf_add_text(&sb, "\n");
	strbuf_add_escaped(&sb, input->process->cmdline);
	fprintf(out, "%s\n", sb.data);
	strbuf_clear(&sb);
	strbuf_add_escaped(&sb, input->stats->runtimes);
	if (sb.length > 0)
		fprintf(out, "%s\n", sb.data);
	strbuf_release(&sb);
}

/* "ended by signal 11 (Segmentation fault), address 0x10, in thread 12" */
static void
write_end(const struct core_end *end, FILE *out)
{
	struct strbuf sb;

	strbuf_init(&sb);
	if (end->signal == 0) {
		strbuf_add_text(&sb, "not ended: the process continued after its core was written");
	} else {
		strbuf_add_text(&sb, "ended by ");
		add_signal(&sb, end->signal);
		if (end->has_address)
			strbuf_add_format(&sb, ", address 0x%" PRIx64, end->address);
		if (end->sender != 0)
			strbuf_add_format(&sb, ", sent by process %jd", (intmax_t)end->sender);
		strbuf_add_format(&sb, ", in thread %jd", (intmax_t)end->tid);
	}
	fprintf(out, "%s\n", sb.data);
	strbuf_release(&sb);
}

/* Writes the number of stacks read without and with a stop, and the longest stop. */
static void
write_cost(const struct export_input *input, FILE *out, size_t width)
{
	const struct run_stats *stats = input->stats;
	struct strbuf sb;

	strbuf_init(&sb);
	quantity_add_count(&sb, stats->read);
	strbuf_add_text(&sb, stats->read == 1 ? " stack was read without a stop, " :
						" stacks were read without a stop, ");
	quantity_add_count(&sb, stats->stopped);
	strbuf_add_text(&sb, " in a stop");
	if (stats->stop_ns.count > 0) {
		strbuf_add_text(&sb, stats->stop_ns.count > 1 ? ", the longest of " : " of ");
		quantity_add_time(&sb, (int64_t)stats->stop_ns.max);
	}
	if (stats->task_stacks > 0) {
		strbuf_add_text(&sb, "; ");
		quantity_add_count(&sb, stats->task_stacks);
		strbuf_add_text(&sb, " of tasks without a thread");
	}
	strbuf_add_text(&sb, ".");
	if (stats->excluded.threads > 0) {
		strbuf_add_text(&sb, " Excluded: ");
		report_add_excluded(&stats->excluded, &sb);
		strbuf_add_text(&sb, ".");
	}
	display_wrap(out, sb.data, 0, width);
	strbuf_release(&sb);
}

void
text_dump_write(const struct export_input *input, struct page *page, FILE *out)
{
	const size_t width = page->width;
	struct dump dump;

	dump_make(input->view, &dump);
	write_head(input, &dump, out);
	if (input->core_end != NULL)
		write_end(input->core_end, out);
	report_write_deadlocks(input->view, page);
	for (size_t g = 0; g < dump.count; g++) {
		const struct dump_group *group = &dump.group[g];

		write_who(input, group, out, width);
		for (size_t i = 0; i < group->depth; i++)
			write_frame(input->view, group->function[i], i, out);
		if (group->depth == 0)
			fprintf(out, "%*s  [no stack]\n", INDENT, "");
	}
	if (input->tasks != NULL)
		text_tasks_write(input->tasks, out, width);
	if (input->core_end == NULL || input->filtered)
		fputc('\n', out);
	if (input->core_end == NULL)
		write_cost(input, out, width);
	if (input->filtered)
		fputs("Threads that options have left out are not shown.\n", out);
	dump_release(&dump);
}
