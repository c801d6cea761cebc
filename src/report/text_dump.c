/* SPDX-License-Identifier: MIT */
/*
 * text_dump.c - writes a dump as text: each thread once, with its state and its call chain; and the
 * coroutines (async tasks, async_tasks.h), with their stacks and the coroutines that await them.
 *
 * Names of functions and files are not cut, whatever the width of the page, so that a user can copy
 * them.
 */
#include <inttypes.h>
#include <string.h>

#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "report/dump_internal.h"
#include "report/report_internal.h"
#include "wallsample/analysis/async_groups.h"
#include "wallsample/analysis/dump.h"

#define INDENT 4
/*
 * Maximum number of lines that list the members of a group. For green tasks in a struct dump_group
 * (dump.h) it is the maximum number of ranges of ids. JSON lists all members.
 */
#define LINES_MOST 20
/*
 * Maximum numbers of names of async tasks in one line, and of tasks that await one task. JSON lists
 * all of them.
 */
#define NAMES_MOST 10
#define AWAITERS_MOST 5

/* Wraps the text to the width of the page. Lines after the first are indented. */
static void
write_hanging(struct page *page, const char *text)
{
	display_wrap(((struct text_page *)page)->out, text, INDENT, page->width);
}

/* Wraps the text to the width of the page. All lines are indented. */
static void
write_indented(struct page *page, const char *text)
{
	display_pad(((struct text_page *)page)->out, INDENT);
	write_hanging(page, text);
}

/*
 * Adds "1,000 NOUNs main.taker", where NOUN is the runtime's word for a green task, and main.taker
 * the function with which the tasks began. The function is added only if it is the same for all
 * tasks.
 */
static void
add_green_group(const struct view *view, const struct dump_group *group, struct page *page)
{
	const struct profile *profile = view_profile(view);
	const uint32_t first = group->thread[0].thread;
	const char *entry = view_green_entry(view, first);

	for (size_t i = 1; entry != NULL && i < group->count; i++)
		if (view_green_entry(view, group->thread[i].thread) != entry)
			entry = NULL;
	page_add(page, "%s %ss%s%s", quantity_count(group->green_count).text,
		 profile_text(profile, profile_thread(profile, first)->name),
		 entry != NULL ? " " : "", entry != NULL ? entry : "");
}

/*
 * Adds the state of the group: "sleeping in futex". In the dump of a core file, it adds for the
 * thread that received the fatal signal "ended by signal 11 (Segmentation fault)" instead.
 */
static void
add_state(const struct export_input *input, const struct dump_group *group, struct page *page)
{
	const struct core_end *end = input->core_end;
	const struct profile *profile = view_profile(input->view);

	if (end != NULL && end->signal != 0 && group->count == 1 &&
	    profile_thread(profile, group->thread[0].thread)->tid == end->tid) {
		page_add(page, "ended by signal %d (%s)", end->signal, strsignal(end->signal));
		return;
	}
	run_state_add(&page->text, group->state, group->syscall);
	if (group->are_green && group->thread[0].wait != 0) {
		page_add(page, ": ");
		dump_add_wait(input->view, &group->thread[0], group->function, group->depth, page);
	}
	dump_add_waiting(group, page);
}

/*
 * Writes a line for each object that threads of the group wait for: the threads, if the group has
 * several, and the object. Threads that wait for nothing are listed in one line. After LINES_MOST
 * lines, writes only the number of the other threads.
 */
static void
write_waits(const struct view *view, const struct dump_group *group, struct page *page)
{
	const struct profile *profile = view_profile(view);

	for (size_t first = 0, next, lines = 0; first < group->count; first = next, lines++) {
		const struct dump_thread *thread = &group->thread[first];

		if (lines == LINES_MOST) {
			size_t rest = group->count - first;
			page_write(page, page->ops->rest, "%*s… and %s", INDENT, "",
				   quantity_things(rest, "more thread", "more threads").text);
			break;
		}
		next = first + 1;
		while (next < group->count && group->thread[next].wait == thread->wait)
			next++;
		for (size_t i = first; group->count > 1 && i < next; i++) {
			page_add(page, "%s", i > first ? ", " : "");
			dump_add_member(profile, group, group->thread[i].thread, page);
		}
		const struct profile_wait *wait = profile_wait(profile, thread->wait);
		if (thread->wait != 0 && (wait->kind != WAIT_OTHER || wait->object != FRAME_NONE)) {
			page_add(page, "%s%s for ", page->text.length > 0 ? " " : "",
				 next - first > 1 ? "wait" : "waits");
			dump_add_wait(view, thread, group->function, group->depth, page);
		}
		if (page->text.length > 0)
			page_end(page, write_indented);
	}
}

/*
 * Writes the ids of a group of green tasks, up to LINES_MOST ranges: "17, 19-40, 52 and 960 more".
 * Leaves out the id 0, which stands for several tasks.
 */
static void
write_green_ids(const struct view *view, const struct dump_group *group, struct page *page)
{
	const struct profile *profile = view_profile(view);
	size_t ranges = 0, first = 0, next;

	for (; first < group->count && ranges < LINES_MOST; first = next, ranges++) {
		const uint64_t id = profile_thread(profile, group->thread[first].thread)->green_id;

		next = first + 1;
		if (id == 0)
			continue;
		while (next < group->count &&
		       profile_thread(profile, group->thread[next].thread)->green_id ==
			       id + (next - first))
			next++;
		page_add(page, "%s", page->text.length > 0 ? ", " : "");
		view_add_green_id(id, &page->text);
		if (next > first + 1) {
			page_add(page, next > first + 2 ? "-" : ", ");
			view_add_green_id(id + (next - first) - 1, &page->text);
		}
	}
	if (first < group->count)
		page_add(page, " and %s more", quantity_count(group->count - first).text);
	if (page->text.length > 0)
		page_end(page, write_indented);
}

/*
 * Writes "Thread 12 (worker): running", or "3 threads: sleeping in futex". The waits of the
 * threads, or the ids of several green tasks, follow in lines of their own.
 */
static void
write_title(const struct export_input *input, const struct dump_group *group, struct page *page)
{
	const struct view *view = input->view;

	page->ops->section(page, "");
	if (group->are_green && group->count == 1 && group->green_count == 1) {
		dump_add_green(view, group->thread[0].thread, page);
	} else if (group->are_green) {
		add_green_group(view, group, page);
	} else if (group->count == 1) {
		page_add(page, "Thread ");
		dump_add_thread(view_profile(view), group->thread[0].thread, page);
	} else {
		page_add(page, "%s threads", quantity_count(group->count).text);
	}
	dump_add_processes(view_profile(view), group, page);
	page_add(page, ": ");
	add_state(input, group, page);
	page_end(page, page->ops->rest);
	if (!group->are_green)
		write_waits(view, group, page);
	else if (group->count > 1)
		write_green_ids(view, group, page);
}

static void
add_source(const char *file, uint32_t line, struct page *page)
{
	if (file != NULL && file[0] != '\0')
		page_add(page, " at %s", file);
	if (file != NULL && file[0] != '\0' && line > 0)
		page_add(page, ":%" PRIu32, line);
}

static void
write_frame(const struct view *view, uint32_t id, size_t number, struct page *page)
{
	const struct view_function *function = view_function(view, id);

	page_add(page, "%*zu  %s", INDENT, number, function->name);
	/* Without a symbol, the name is an address and includes the module. The `module` of an
	 * interpreted function is a part of the path that add_source() adds. */
	if (function->known && function->module[0] != '\0' && !function->script)
		page_add(page, " (%s)", function->module);
	add_source(function->file, function->line, page);
	page_write(page, page->ops->rest, "%s", function->inlined ? " [inlined]" : "");
}

static void
write_no_stack(struct page *page)
{
	page_write(page, page->ops->rest, "%*s  [no stack]", INDENT, "");
}

/* --- async tasks -------------------------------------------------------------------------- */

/* Adds "Task-1, Task-2, … and 7 more". */
static void
add_names(const struct async_tasks *tasks, const uint32_t *task, size_t count, size_t most,
	  struct page *page)
{
	for (size_t i = 0; i < count && i < most; i++) {
		const char *name = async_tasks_get(tasks, task[i])->name;

		page_add(page, "%s%s", i > 0 ? ", " : "", name[0] != '\0' ? name : "\"\"");
	}
	if (count > most)
		page_add(page, ", … and %s more", quantity_count(count - most).text);
}

/* Adds `before` and "awaited by Task-1, Task-2"; adds nothing if no async task awaits `task`. */
static void
add_awaiters(const struct async_tasks *tasks, uint32_t task, const char *before, struct page *page)
{
	const uint32_t *awaiter;
	const size_t count = async_tasks_awaiters(tasks, task, &awaiter);

	if (count == 0)
		return;
	page_add(page, "%sawaited by ", before);
	add_names(tasks, awaiter, count, AWAITERS_MOST, page);
}

/*
 * Writes the names of the async tasks of a group. Tasks that the same tasks await share a line.
 * After LINES_MOST lines, writes only the number of the other tasks.
 */
static void
write_members(const struct async_tasks *tasks, const struct async_group *group, struct page *page)
{
	for (size_t first = 0, next, lines = 0; first < group->count; first = next, lines++) {
		if (lines == LINES_MOST) {
			page_write(page, page->ops->rest,
				   "%*s… and %zu more tasks, awaited by others", INDENT, "",
				   group->count - first);
			break;
		}
		next = first + 1;
		while (next < group->count &&
		       async_tasks_share_awaiters(tasks, group->member[first], group->member[next]))
			next++;
		add_names(tasks, group->member + first, next - first, NAMES_MOST, page);
		add_awaiters(tasks, group->member[first], ": ", page);
		page_end(page, write_indented);
	}
}

/*
 * Writes "Task fetch of thread 12: waiting, awaited by Task-1", or "37 tasks of thread 12:
 * waiting".
 */
static void
write_async(const struct async_tasks *tasks, const struct async_group *group, struct page *page)
{
	const struct runtime_place *place;
	uint32_t stack = group->like->stack;

	page->ops->section(page, "");
	if (group->count == 1)
		page_add(page, "Task ");
	if (group->count == 1)
		add_names(tasks, group->member, 1, 1, page);
	else
		page_add(page, "%s", quantity_things(group->count, "task", "tasks").text);
	if (group->like->tid > 0)
		page_add(page, " of thread %jd", (intmax_t)group->like->tid);
	else
		page_add(page, " of a thread that has ended");
	page_add(page, ": %s", async_task_state_text(group->like->state));
	if (group->count == 1)
		add_awaiters(tasks, group->member[0], ", ", page);
	page_end(page, write_hanging);
	if (group->count > 1)
		write_members(tasks, group, page);
	if (stack == ASYNC_STACK_NONE)
		write_no_stack(page);
	for (int number = 0; (place = async_tasks_place(tasks, &stack)) != NULL; number++) {
		page_add(page, "%*d  %s", INDENT, number, place->function);
		add_source(place->file, place->line, page);
		page_end(page, page->ops->rest);
	}
}

void
text_async_write(const struct async_tasks *tasks, struct page *page)
{
	struct async_groups groups;
	const char *missing;

	async_groups_make(tasks, &groups);
	for (size_t g = 0; g < groups.count; g++)
		write_async(tasks, &groups.group[g], page);
	async_groups_release(&groups);
	for (size_t i = 0; (missing = async_tasks_missing(tasks, i)) != NULL; i++)
		page_write(page, page->ops->heading, "%s", missing);
}

/* --- the whole ---------------------------------------------------------------------------- */

static void
write_head(const struct export_input *input, const struct dump *dump, struct page *page)
{
	const struct profile *profile = view_profile(input->view);

	const bool several = profile_process_count(profile) > 1;

	if (several)
		report_add_processes(input, &page->text);
	else
		page_add(page, "Process %jd (%s)", (intmax_t)input->process->pid,
			 input->process->comm);
	page_add(page, "%s %s", several ? ";" : ":",
		 quantity_things(dump->threads, "thread", "threads").text);
	if (dump->green_count > 0)
		page_add(page, ", %s %s%s", quantity_count(dump->green_count).text,
			 profile_text(profile, profile_thread(profile, dump->any_green)->name),
			 dump->green_count == 1 ? "" : "s");
	if (input->async != NULL && async_tasks_count(input->async) > 0)
		page_add(page, ", %s",
			 quantity_things(async_tasks_count(input->async), "task", "tasks").text);
	page_end(page, page->ops->rest);
	if (!several)
		page_write(page, page->ops->rest, "%s", input->process->cmdline);
	report_write_runtimes(input->stats, page);
}

/* Writes "ended by signal 11 (Segmentation fault), address 0x10, in thread 12". */
static void
write_end(const struct core_end *end, struct page *page)
{
	if (end->signal == 0) {
		page_write(page, page->ops->rest,
			   "not ended: the process continued after its core was written");
		return;
	}
	page_add(page, "ended by signal %d (%s)", end->signal, strsignal(end->signal));
	if (end->has_address)
		page_add(page, ", address 0x%" PRIx64, end->address);
	if (end->sender != 0)
		page_add(page, ", sent by process %jd", (intmax_t)end->sender);
	page_write(page, page->ops->rest, ", in thread %jd", (intmax_t)end->tid);
}

/*
 * Writes how many stacks were read without stopping the thread and how many during a stop, the
 * longest stop, and the threads that were excluded.
 */
static void
write_cost(const struct run_stats *stats, struct page *page)
{
	page_add(page, "%s without a stop, %s in a stop",
		 quantity_things(stats->read, "stack was read", "stacks were read").text,
		 quantity_count(stats->stopped).text);
	if (stats->stop_ns.count > 0)
		page_add(page, "%s of %s", stats->stop_ns.count > 1 ? ", the longest" : "",
			 quantity_time((int64_t)stats->stop_ns.max).text);
	if (stats->green_stacks > 0)
		page_add(page, "; %s of tasks without a thread",
			 quantity_count(stats->green_stacks).text);
	if (stats->excluded.threads + stats->excluded_processes.count > 0)
		page_add(page, ". Excluded: ");
	if (report_add_excluded(&stats->excluded, &page->text) &&
	    stats->excluded_processes.count > 0)
		page_add(page, "; ");
	report_add_excluded_processes(&stats->excluded_processes, &page->text);
	page_write(page, page->ops->paragraph, ".");
}

void
text_dump_write(const struct export_input *input, struct page *page)
{
	struct dump dump;

	dump_make(input->view, &dump);
	write_head(input, &dump, page);
	if (input->core_end != NULL)
		write_end(input->core_end, page);
	report_write_deadlocks(input->view, page);
	dump_write_finding(input, &dump, page);
	dump_write_processes(input->view, page);
	for (size_t g = 0; g < dump.count; g++) {
		const struct dump_group *group = &dump.group[g];

		write_title(input, group, page);
		for (size_t i = 0; i < group->depth; i++)
			write_frame(input->view, group->function[i], i, page);
		if (group->depth == 0)
			write_no_stack(page);
	}
	if (input->async != NULL)
		text_async_write(input->async, page);
	if (input->core_end == NULL || input->filtered)
		page->ops->section(page, "");
	if (input->core_end == NULL)
		write_cost(input->stats, page);
	if (input->filtered)
		page->ops->rest(page, "Threads that options have left out are not shown.");
	dump_release(&dump);
}
