/* SPDX-License-Identifier: MIT */
/* sampler_process.h - a process that the sampler samples. */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_PROCESS_H
#define WALLSAMPLE_SAMPLER_SAMPLER_PROCESS_H

#include <stdbool.h>

#include "wallsample/jit/jit.h"
#include "wallsample/jit/jit_objects.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

/* A process to sample. The pointers are borrowed until sampler_context.process_ended is called for
 * the process, or until sampler_free. */
struct sampler_process {
	const struct process *process;
	struct maps *maps; /* mappings of the process; those of all processes share their modules */
	/* names of code generated at run time, read once a tick; NULL: not read */
	struct jit *jit;
	/* objects registered by the GDB JIT interface, read once a tick; NULL: not read */
	struct jit_objects *jit_objects;
	/* The process was created during the run: all CPU time that it has used belongs to it. */
	bool is_new;
};

#endif
