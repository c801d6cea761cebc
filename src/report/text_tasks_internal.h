/* SPDX-License-Identifier: MIT */
/* text_tasks_internal.h - the user-space tasks of a process, as text. */
#ifndef WALLSAMPLE_REPORT_TEXT_TASKS_INTERNAL_H
#define WALLSAMPLE_REPORT_TEXT_TASKS_INTERNAL_H

#include <stdio.h>

#include "wallsample/runtime/async_tasks.h"

/* Each group begins with an empty line. */
void text_tasks_write(const struct async_tasks *tasks, FILE *out, size_t width);

#endif
