/* SPDX-License-Identifier: MIT */
/* process_title.c - what reports call a process. */
#include "wallsample/analysis/process_title.h"

#include <inttypes.h>
#include <string.h>

#include "wallsample/profile/profile_frame.h"

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
