/* SPDX-License-Identifier: MIT */
/* process_choice.c - decides which processes of a profile a filter selects. */
#include "wallsample/analysis/process_choice.h"

#include <inttypes.h>

/* Most processes that the error names, and most bytes of each. */
#define NAMES_MOST 8
#define NAME_BYTES 60

enum process_choice
process_choice_of(const struct profile *profile, uint32_t id, const struct filter *filter)
{
	const struct profile_process *process = profile_process(profile, id);
	const char *name = profile_text(profile, process->name);
	struct strbuf title = STRBUF_INIT;
	enum process_choice choice = PROCESS_SELECTED;

	strbuf_add_text(&title, "");
	process_add_title(profile, id, &title);
	if (filter_excludes_process(filter, name, title.data))
		choice = PROCESS_EXCLUDED;
	else if (!filter_process(filter, process->pid, name, title.data))
		choice = PROCESS_NOT_ASKED;
	strbuf_release(&title);
	return choice;
}

/* Adds the title and the id of a process: "nginx: worker process (812)". */
static void
add_process(const struct profile *profile, uint32_t id, struct strbuf *out)
{
	const struct profile_process *process = profile_process(profile, id);
	struct strbuf title = STRBUF_INIT, shown = STRBUF_INIT;

	process_add_title(profile, id, &title);
	strbuf_add_escaped(&shown, title.length > 0 ? title.data : "");
	if (shown.length > NAME_BYTES)
		strbuf_add_escaped(out, profile_text(profile, process->name));
	else
		strbuf_add(out, shown.data, shown.length);
	strbuf_add_format(out, " (%jd)", (intmax_t)process->pid);
	strbuf_release(&title);
	strbuf_release(&shown);
}

int
process_choice_check(const struct profile *profile, const struct filter *filter, struct error *err)
{
	const uint32_t count = (uint32_t)profile_process_count(profile);
	struct strbuf names = STRBUF_INIT;
	int rc;

	if (!filter_selects_processes(filter))
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (process_choice_of(profile, i, filter) == PROCESS_SELECTED) {
			strbuf_release(&names);
			return 0;
		}
	strbuf_add_text(&names, "");
	for (uint32_t i = 0; i < count && i < NAMES_MOST; i++) {
		strbuf_add_text(&names, i > 0 ? ", " : "");
		add_process(profile, i, &names);
	}
	if (count > NAMES_MOST)
		strbuf_add_format(&names, " and %" PRIu32 " more", count - NAMES_MOST);
	rc = error_set(err, ERROR_NO_MATCH, "the processes are %s",
		       count == 0 ? "not known" : names.data);
	strbuf_release(&names);
	return rc;
}
