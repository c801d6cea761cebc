/* SPDX-License-Identifier: MIT */
/* causal_command_internal.h - the objects and the phases of wallsample causal. */
#ifndef WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H
#define WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H

#include "cli/run_internal.h"
#include "wallsample/causal/bursts.h"
#include "wallsample/causal/causal_curve.h"
#include "wallsample/causal/causal_run.h"
#include "wallsample/causal/progress.h"

struct causal_command {
	/* the run that takes the profile; the experiments have the same target and output */
	struct run run;
	struct progress *progress;
	struct burst_summary bursts; /* of the target, before the experiments */
	struct causal_result result;
	struct profile *profile; /* samples taken during the experiments */
	struct causal_run *experiments;
	uint64_t tended_ns; /* time at which tend() last named frames and planned experiments */
	bool over;          /* the experiments are complete, or the target has called exec */
	size_t counted;     /* number of breakpoints that the progress points need */
	bool warned;        /* the user was warned that there is no progress */
	enum sample_status status;
};

/*
 * The three phases, to be called in this order: take the profile, choose candidates from it, run
 * experiments on the candidates.
 */
int causal_take_profile(struct causal_command *command, struct error *err);
int causal_choose_candidates(struct causal_command *command, struct error *err);
int causal_experiment(struct causal_command *command, struct error *err);

/* Returns the time in ns from the profile to the end of the run; 1 if there is none. */
uint64_t causal_time_left(const struct causal_command *command);

/*
 * Sets command->bursts and, in command->result, the mean time between ticks and the length of an
 * experiment: those of the options or, where these are 0, those that follow from the bursts, and
 * the length also from the number of gains. Takes the time of bursts_measure(). Logs a warning if
 * the bursts are too short for the ticks.
 */
void causal_choose_ticks(struct causal_command *command);

/*
 * Sets command->status, and writes the report unless the output is a recording. `snapshot`:
 * experiments continue. `note` describes the recording that the experiments were loaded from; NULL:
 * a live run.
 */
int causal_write_report(struct causal_command *command, const char *note, bool snapshot,
			struct error *err);

#endif
