/* SPDX-License-Identifier: MIT */
/* process_title.h - what reports call a process. */
#ifndef WALLSAMPLE_ANALYSIS_PROCESS_TITLE_H
#define WALLSAMPLE_ANALYSIS_PROCESS_TITLE_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/profile/profile_thread.h"

/* Adds the title of a process of the profile: its command line without the directory of the
 * program; its name if the command line is not known. process_add_label adds the pid, too: "nginx:
 * worker process (812)". Bytes are not escaped. */
void process_add_title(const struct profile *profile, uint32_t process, struct strbuf *out);
void process_add_label(const struct profile *profile, uint32_t process, struct strbuf *out);
/* The same for the process of a thread. CPU time of children that were not sampled is a thread of
 * the first process, but belongs to none: its label is PROFILE_UNSAMPLED_CHILDREN. */
void process_add_label_of_thread(const struct profile *profile, uint32_t thread,
				 struct strbuf *out);
/* True for the thread with that CPU time. */
bool process_is_unsampled(const struct profile *profile, uint32_t thread);

#endif
