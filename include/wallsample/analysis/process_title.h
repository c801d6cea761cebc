/* SPDX-License-Identifier: MIT */
/* process_title.h - what reports call a process. */
#ifndef WALLSAMPLE_ANALYSIS_PROCESS_TITLE_H
#define WALLSAMPLE_ANALYSIS_PROCESS_TITLE_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/profile/profile_thread.h"

/* The process of the CPU time of children that were not sampled, which belongs to none. */
#define PROCESS_NONE UINT32_MAX

/* Returns the process of a thread, or PROCESS_NONE. */
uint32_t process_of_record(const struct profile *profile, uint32_t thread);
/* Adds the title of a process of the profile: its command line without the directory of the
 * program; its name if the command line is not known. process_add_label adds the pid, too: "nginx:
 * worker process (812)"; the label of PROCESS_NONE is PROFILE_UNSAMPLED_CHILDREN. Bytes are not
 * escaped. */
void process_add_title(const struct profile *profile, uint32_t process, struct strbuf *out);
void process_add_label(const struct profile *profile, uint32_t process, struct strbuf *out);
/* Adds the name and the pid of a process: "nginx (812)". The process is not PROCESS_NONE. */
void process_add_short(const struct profile *profile, uint32_t process, struct strbuf *out);
/* As process_add_label for the process of a thread. */
void process_add_label_of_thread(const struct profile *profile, uint32_t thread,
				 struct strbuf *out);
/* Adds a title with "…" in place of numbers. */
void process_add_plain(const char *title, struct strbuf *out);
/* Returns the text that two titles have in common, with "…" in place of numbers that differ. They
 * must be equal with process_add_plain(). The caller frees it. */
char *process_common_title(const char *a, const char *b);
/* Adds what processes have in common, of which there is at least one, and none is PROCESS_NONE:
 * their title, "postgres: app shop … idle", if it differs in numbers only; else their names, at
 * most 3. */
void process_add_common(const struct profile *profile, const uint32_t *process, size_t count,
			struct strbuf *out);
/* True for the thread with the CPU time of children that were not sampled. */
bool process_is_unsampled(const struct profile *profile, uint32_t thread);

#endif
