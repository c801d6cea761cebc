/* SPDX-License-Identifier: MIT */
/* process_title.h - what reports call a process. */
#ifndef WALLSAMPLE_ANALYSIS_PROCESS_TITLE_H
#define WALLSAMPLE_ANALYSIS_PROCESS_TITLE_H

#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/profile/profile_thread.h"

/* Adds the title of a process of the profile: its command line without the directory of the
 * program; its name if the command line is not known. process_add_label adds the pid, too: "nginx:
 * worker process (812)". Bytes are not escaped. */
void process_add_title(const struct profile *profile, uint32_t process, struct strbuf *out);
void process_add_label(const struct profile *profile, uint32_t process, struct strbuf *out);

#endif
