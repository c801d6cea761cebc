/* SPDX-License-Identifier: MIT */
/* process_title.c - what reports call a process. */
#include "wallsample/analysis/process_title.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/profile/profile_frame.h"

/* Most different names of processes that are listed. */
#define NAMES_MOST 3

void
process_add_title(const struct profile *profile, uint32_t process, struct strbuf *out)
{
	const struct profile_process *of;
	const char *cmdline, *slash;

	if (process >= profile_process_count(profile))
		return;
	of = profile_process(profile, process);
	cmdline = profile_text(profile, of->cmdline);
	slash = memrchr(cmdline, '/', strcspn(cmdline, " "));
	/* A text in brackets stands for a command line that is not known. */
	if (cmdline[0] == '\0' || cmdline[0] == '[')
		strbuf_add_text(out, profile_text(profile, of->name));
	else
		strbuf_add_text(out, slash != NULL ? slash + 1 : cmdline);
}

void
process_add_label(const struct profile *profile, uint32_t process, struct strbuf *out)
{
	if (process == PROCESS_NONE)
		strbuf_add_text(out, PROFILE_UNSAMPLED_CHILDREN);
	if (process >= profile_process_count(profile))
		return;
	process_add_title(profile, process, out);
	strbuf_add_format(out, "%s(%jd)", out->length > 0 ? " " : "",
			  (intmax_t)profile_process(profile, process)->pid);
}

void
process_add_short(const struct profile *profile, uint32_t process, struct strbuf *out)
{
	const struct profile_process *of = profile_process(profile, process);

	strbuf_add_format(out, "%s (%jd)", profile_text(profile, of->name), (intmax_t)of->pid);
}

bool
process_is_unsampled(const struct profile *profile, uint32_t thread)
{
	const struct profile_thread *of = profile_thread(profile, thread);

	return of->tid == 0 && !of->is_green &&
	       strcmp(profile_text(profile, of->name), PROFILE_UNSAMPLED_CHILDREN) == 0;
}

uint32_t
process_of_record(const struct profile *profile, uint32_t thread)
{
	return process_is_unsampled(profile, thread) ? PROCESS_NONE :
						       profile_thread(profile, thread)->process;
}

void
process_add_label_of_thread(const struct profile *profile, uint32_t thread, struct strbuf *out)
{
	process_add_label(profile, process_of_record(profile, thread), out);
}

void
process_add_plain(const char *title, struct strbuf *out)
{
	while (*title != '\0') {
		const size_t digits = strspn(title, "0123456789");

		if (digits > 0)
			strbuf_add_text(out, "…");
		else
			strbuf_add(out, title, 1);
		title += digits > 0 ? digits : 1;
	}
}

char *
process_common_title(const char *a, const char *b)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_add_text(&out, "");
	while (*a != '\0' && *b != '\0') {
		/* A title may have been made by this function: "…" there stands for a number. */
		const bool dots = strncmp(a, "…", strlen("…")) == 0;
		const size_t in_a = dots ? strlen("…") : strspn(a, "0123456789");
		const size_t in_b = strspn(b, "0123456789");

		if (in_a > 0 && in_b > 0) {
			if (in_a == in_b && strncmp(a, b, in_a) == 0)
				strbuf_add(&out, a, in_a);
			else
				strbuf_add_text(&out, "…");
		} else {
			strbuf_add(&out, a, 1);
		}
		a += in_a > 0 && in_b > 0 ? in_a : 1;
		b += in_a > 0 && in_b > 0 ? in_b : 1;
	}
	return out.data;
}

/* Returns the common title of the processes if their titles differ in numbers only, else NULL. The
 * caller frees it. */
static char *
common_title_of(const struct profile *profile, const uint32_t *process, size_t count)
{
	struct strbuf title = STRBUF_INIT, plain = STRBUF_INIT, first = STRBUF_INIT;
	char *common = NULL;

	for (size_t i = 0; i < count && (i == 0 || common != NULL); i++) {
		char *last = common;

		strbuf_clear(&title);
		strbuf_clear(&plain);
		strbuf_add_text(&title, "");
		strbuf_add_text(&plain, "");
		process_add_title(profile, process[i], &title);
		process_add_plain(title.data, &plain);
		if (i == 0)
			strbuf_add_text(&first, plain.data);
		common = NULL;
		if (i == 0)
			common = xstrdup(title.data);
		else if (strcmp(plain.data, first.data) == 0)
			common = process_common_title(last, title.data);
		free(last);
	}
	strbuf_release(&title);
	strbuf_release(&plain);
	strbuf_release(&first);
	return common;
}

void
process_add_common(const struct profile *profile, const uint32_t *process, size_t count,
		   struct strbuf *out)
{
	char *title = common_title_of(profile, process, count);
	uint32_t names[NAMES_MOST];
	size_t known = 0;

	strbuf_add_text(out, title != NULL ? title : "");
	for (size_t i = 0; title == NULL && i < count && known <= NAMES_MOST; i++) {
		const uint32_t name = profile_process(profile, process[i])->name;
		size_t at = 0;

		while (at < known && names[at] != name)
			at++;
		if (at < known)
			continue;
		strbuf_add_text(out, known > 0 ? ", " : "");
		strbuf_add_text(out, known < NAMES_MOST ? profile_text(profile, name) : "…");
		if (known < NAMES_MOST)
			names[known] = name;
		known++;
	}
	free(title);
}
