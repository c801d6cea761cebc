/* SPDX-License-Identifier: MIT */
/* causal_command_internal.h - the objects and the phases of wallsample causal. */
#ifndef WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H
#define WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H

#include "cli/run_internal.h"
#include "wallsample/causal/causal_curve.h"
#include "wallsample/causal/causal_run.h"
#include "wallsample/causal/progress.h"

struct causal_command {
	struct run run; /* of the profile; experiments use its target and output, too */
	struct progress *progress;
	struct causal_result result;
	struct profile *profile; /* of the experiments */
	struct causal_run *experiments;
	uint64_t tended_ns; /* when frames were last named and experiments planned */
	bool over;          /* the experiments are complete */
	size_t counted;     /* addresses of code that need breakpoints */
	bool warned;        /* the user was warned that no progress point moves */
	enum sample_status status;
};

/* Take the profile, choose the candidates from it, and run the experiments on them. */
int causal_take_profile(struct causal_command *command, struct error *err);
int causal_choose_candidates(struct causal_command *command, struct error *err);
int causal_experiment(struct causal_command *command, struct error *err);

/*
 * Writes the report, unless the output is a recording, and sets the status of the command. `note`
 * describes the recording that the experiments were loaded from; NULL: a live run.
 */
int causal_write_report(struct causal_command *command, const char *note, bool snapshot,
			struct error *err);

#endif
