/* SPDX-License-Identifier: MIT */
/* text_tasks.c - writes user-space tasks as text: their stacks, and the tasks that await them. */
#include "report/report_internal.h"

#include <inttypes.h>

#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "wallsample/analysis/task_groups.h"

#define INDENT 4
/* Maximum per group; JSON has all. */
#define NAMES_MOST 10
#define AWAITERS_MOST 5
#define LINES_MOST 20

static void
task_add_name(struct strbuf *sb, const struct async_tasks *tasks, uint32_t task)
{
	const char *name = async_tasks_get(tasks, task)->name;

	strbuf_add_escaped(sb, name[0] != '\0' ? name : "\"\"");
}

/* "Task-1, Task-2, … and 7 more" */
static void
add_names(struct strbuf *sb, const struct async_tasks *tasks, const uint32_t *task, size_t count,
	  size_t most)
{
	for (size_t i = 0; i < count && i < most; i++) {
		strbuf_add_text(sb, i > 0 ? ", " : "");
		task_add_name(sb, tasks, task[i]);
	}
	if (count > most) {
		strbuf_add_text(sb, ", … and ");
		quantity_add_count(sb, count - most);
		strbuf_add_text(sb, " more");
	}
}

/* ", awaited by Task-1" */
static void
add_awaiters(struct strbuf *sb, const struct async_tasks *tasks, uint32_t task, const char *before)
{
	const uint32_t *awaiter;
	const size_t count = async_tasks_awaiters(tasks, task, &awaiter);

	if (count == 0)
		return;
	strbuf_add_text(sb, before);
	strbuf_add_text(sb, "awaited by ");
	add_names(sb, tasks, awaiter, count, AWAITERS_MOST);
}

/* Writes a line for each set of tasks that await members of the group. */
static void
write_members(const struct async_tasks *tasks, const struct task_group *group, FILE *out,
	      size_t width)
{
	struct strbuf sb;

	strbuf_init(&sb);
	for (size_t first = 0, next, lines = 0; first < group->count; first = next, lines++) {
		if (lines == LINES_MOST) {
			fprintf(out, "%*s… and %zu more tasks, awaited by others\n", INDENT, "",
				group->count - first);
			break;
		}
		next = first + 1;
		while (next < group->count &&
		       tasks_are_awaited_alike(tasks, group->task[first], group->task[next]))
			next++;
		strbuf_clear(&sb);
		add_names(&sb, tasks, group->task + first, next - first, NAMES_MOST);
		add_awaiters(&sb, tasks, group->task[first], ": ");
		display_pad(out, INDENT);
		display_wrap(out, sb.data, INDENT, width);
	}
	strbuf_release(&sb);
}

/* "Task fetch of thread 12: waiting, awaited by Task-1", or "37 tasks of thread 12: waiting". */
static void
write_group(const struct async_tasks *tasks, const struct task_group *group, FILE *out,
	    size_t width)
{
	struct strbuf sb;

	strbuf_init(&sb);
	if (group->count == 1) {
		strbuf_add_text(&sb, "Task ");
		task_add_name(&sb, tasks, group->task[0]);
	} else {
		quantity_add_things(&sb, group->count, "task", "tasks");
	}
	if (group->like->tid > 0)
		strbuf_add_format(&sb, " of thread %jd", (intmax_t)group->like->tid);
	else
		strbuf_add_text(&sb, " of a thread that has ended");
	strbuf_add_format(&sb, ": %s", async_task_state_text(group->like->state));
	if (group->count == 1)
		add_awaiters(&sb, tasks, group->task[0], ", ");
	fputc('\n', out);
	display_wrap(out, sb.data, INDENT, width);
	strbuf_release(&sb);
	if (group->count > 1)
		write_members(tasks, group, out, width);
}

static void
write_stack(const struct async_tasks *tasks, uint32_t stack, FILE *out)
{
	const struct runtime_place *place;
	struct strbuf sb;

	if (stack == ASYNC_STACK_NONE)
		fprintf(out, "%*s  [no stack]\n", INDENT, "");
	strbuf_init(&sb);
	for (int number = 0; (place = async_tasks_place(tasks, &stack)) != NULL; number++) {
		strbuf_clear(&sb);
		strbuf_add_format(&sb, "%*d  ", INDENT, number);
		strbuf_add_escaped(&sb, place->function);
		if (place->file[0] != '\0') {
			strbuf_add_text(&sb, " at ");
			strbuf_add_escaped(&sb, place->file);
		}
		if (place->file[0] != '\0' && place->line > 0)
			strbuf_add_format(&sb, ":%" PRIu32, place->line);
		fprintf(out, "%s\n", sb.data);
	}
	strbuf_release(&sb);
}

void
text_tasks_write(const struct async_tasks *tasks, FILE *out, size_t width)
{
	struct task_groups groups;
	const char *missing;
	struct strbuf sb;

	task_groups_make(tasks, &groups);
	for (size_t g = 0; g < groups.count; g++) {
		write_group(tasks, &groups.group[g], out, width);
		write_stack(tasks, groups.group[g].like->stack, out);
	}
	task_groups_release(&groups);
	strbuf_init(&sb);
	for (size_t i = 0; (missing = async_tasks_missing(tasks, i)) != NULL; i++) {
		strbuf_clear(&sb);
		strbuf_add_escaped(&sb, missing);
		fputc('\n', out);
		display_wrap(out, sb.data, 0, width);
	}
	strbuf_release(&sb);
}
