/* SPDX-License-Identifier: MIT */
/* keeper_internal.h - the keeper (supervisor.h) of a run: a process with a copy of what was
 * sampled, which makes the report if wallsample has to be killed. */
#ifndef WALLSAMPLE_CLI_KEEPER_INTERNAL_H
#define WALLSAMPLE_CLI_KEEPER_INTERNAL_H

#include "cli/run_internal.h"

/*
 * To be called at each tick. Replaces the keeper after 1, 2, 4 and 8 seconds, then every 10; if
 * threads are `held`, up to half a second later. A run that records has no keeper, nor has one with
 * --nonblocking. report(context) is called in the keeper if wallsample is killed (supervisor_keep).
 */
void keeper_renew(struct run *run, bool held, int (*report)(void *context), void *context);

/* To be called by `report` before it makes the report, and after that. run->source.stats is that of
 * the moment at which the keeper was made. */
void keeper_begin(struct run *run);
void keeper_end(struct run *run);

#endif
