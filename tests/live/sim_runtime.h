/* SPDX-License-Identifier: MIT */
/* sim_runtime.h - the runtime of targets/sim_tasks.c, for sampler_context.extra_runtime. */
#ifndef LIVE_SIM_RUNTIME_H
#define LIVE_SIM_RUNTIME_H

#include "runtime/runtime_kind_internal.h"

#define SIM_NOUN "sim task"
#define SIM_OWN "[sim runtime]"
#define SIM_CHANNEL_TEXT "sim channel"

/* One that says how often a task has run, modulo 256 as Go does, and one that does not. */
extern const struct runtime_kind sim_runtime_counting, sim_runtime_kind;

#endif
