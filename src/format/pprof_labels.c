/* SPDX-License-Identifier: MIT */
/* pprof_labels.c - the labels of samples in pprof's format: thread, state, process, and more. */
#include "format/format_internal.h"
#include "wallsample/base/base.h"

struct labels {
	struct strings *texts;
	struct pprof_label *label;
	size_t count;
};

int64_t
pprof_foreign_text(struct strings *texts, const char *foreign)
{
	struct strbuf line = STRBUF_INIT;
	int64_t index;

	strbuf_add_text(&line, "");
	strbuf_add_one_line(&line, foreign);
	index = strings_intern(texts, line.data);
	strbuf_release(&line);
	return index;
}

static struct pprof_label *
add_label(struct labels *labels, const char *key)
{
	struct pprof_label *label = &labels->label[labels->count++];

	*label = (struct pprof_label){ .key = strings_intern(labels->texts, key) };
	return label;
}

static void
add_text_label(struct labels *labels, const char *key, const char *plain)
{
	struct pprof_label *label = add_label(labels, key);

	label->text = strings_intern(labels->texts, plain);
}

static void
add_thread(struct labels *labels, const struct view *view, uint32_t id)
{
	const struct profile_thread *thread = profile_thread(view_profile(view), id);
	struct strbuf name = STRBUF_INIT;
	struct pprof_label *label = add_label(labels, "thread");

	/* Green tasks that form a unit (view_unit()) get the same name. */
	(thread->is_green ? view_add_unit : view_add_name)(view, view_unit(view, id), &name);
	label->text = pprof_foreign_text(labels->texts, name.length > 0 ? name.data : "");
	strbuf_release(&name);
	label = add_label(labels, thread->is_green ? "task" : "tid");
	label->number = thread->is_green ? (int64_t)thread->green_id : (int64_t)thread->tid;
}

/* Adds the labels "process", such as "nginx (812)", and "pid", if the profile has several
 * processes. */
static void
add_process_labels(struct labels *labels, const struct view *view, uint32_t thread)
{
	const struct profile *profile = view_profile(view);
	const uint32_t process = process_of_record(profile, thread);
	struct strbuf name = STRBUF_INIT;
	struct pprof_label *label;

	if (profile_process_count(profile) < 2 || process == PROCESS_NONE)
		return;
	process_add_short(profile, process, &name);
	label = add_label(labels, "process");
	label->text = pprof_foreign_text(labels->texts, name.data);
	add_label(labels, "pid")->number = profile_process(profile, process)->pid;
	strbuf_release(&name);
}

size_t
pprof_make_labels(struct strings *texts, const struct view *view, const struct view_row *row,
		  const struct parallelism_part *part, struct pprof_label label[PPROF_LABELS_MOST])
{
	const bool waits = row->state == RUN_SLEEPING || row->state == RUN_UNINTERRUPTIBLE;
	struct labels labels = { .texts = texts, .label = label };
	struct pprof_label *parallelism;

	add_thread(&labels, view, row->thread);
	add_text_label(&labels, "state", run_state_text(row->state));
	if (waits && syscall_name(row->syscall) != NULL)
		add_text_label(&labels, "syscall", syscall_name(row->syscall));
	if (row->gil != GIL_UNKNOWN)
		add_text_label(&labels, "gil", gil_word(row->gil));
	add_process_labels(&labels, view, row->thread);
	if (part != NULL) {
		parallelism = add_label(&labels, "parallelism");
		parallelism->number = part->parallelism;
		parallelism->unit = strings_intern(texts, "threads");
	}
	return labels.count;
}
