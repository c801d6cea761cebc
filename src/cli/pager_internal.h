/* SPDX-License-Identifier: MIT */
/* pager_internal.h - shows a report that is longer than the terminal with a pager. */
#ifndef WALLSAMPLE_CLI_PAGER_INTERNAL_H
#define WALLSAMPLE_CLI_PAGER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Shows the text with the command in $PAGER, by default "less" with the options F, R and X, and
 * waits until the user ends it. SIGINT and SIGQUIT (Ctrl-C and Ctrl-\) are for the pager until
 * then; SIGTERM and SIGHUP end both. The pager has no capabilities.
 *
 * Returns false if the pager has not shown the text. The reasons are: the text has fewer lines than
 * the terminal `fd`; $PAGER is empty or "cat"; the pager cannot be started, or does not end with
 * status 0; wallsample runs in the background, or has rights that its caller does not have
 * (AT_SECURE). No thread may be traced.
 */
bool pager_show(const char *text, size_t length, int fd);

#endif
