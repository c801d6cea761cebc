/* SPDX-License-Identifier: MIT */
/* causal_command_internal.h - what the files of wallsample causal share. */
#ifndef WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H
#define WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H

#include "cli/run_internal.h"
#include "wallsample/causal/causal_curve.h"
#include "wallsample/causal/causal_run.h"
#include "wallsample/causal/progress.h"

struct causal_command {
	struct run run; /* of the profile; experiments share its target and output */
	struct progress *progress;
	struct causal_result result;
	struct profile *profile; /* of the experiments */
	struct causal_run *experiments;
	uint64_t tended_ns; /* time of the last naming of frames and planning */
	bool over;          /* the experiments are complete */
	size_t counted;     /* addresses of code that need breakpoints */
	bool warned;        /* the user was warned that no progress point moves */
	enum sample_status status;
};

/* --- causal_check.c */
/* Checks the options before anything is opened. ERROR_USAGE if they contradict each other. */
int causal_check_words(struct causal_command *command, struct error *err);

/* --- causal_candidates.c */
/*
 * Adds to the result the `most` functions (or lines, or modules: the rows of the view) that have
 * the most Latency of their own. `select` (NULL: all) limits them to matching names. If no name
 * matches, the error lists names that exist.
 */
int causal_candidates_choose(const struct view *view, const regex_t *select, size_t most,
			     struct causal_result *result, struct error *err);

/* --- causal_phases.c */
/* Take the profile, choose the candidates from it, and run the experiments on them. */
int causal_take_profile(struct causal_command *command, struct error *err);
int causal_choose_candidates(struct causal_command *command, struct error *err);
int causal_experiment(struct causal_command *command, struct error *err);

/* --- causal_report.c */
/* Writes the report, unless the output is a recording, and sets the status of the command. `note`
 * describes the recording that the experiments were loaded from; NULL: a live run. */
int causal_write_report(struct causal_command *command, const char *note, bool snapshot,
			struct error *err);

#endif
