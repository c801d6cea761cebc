/* SPDX-License-Identifier: MIT */
/* causal_command_internal.h - what the files of wallsample causal share. */
#ifndef WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H
#define WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H

#include "cli/run_internal.h"
#include "wallsample/causal/causal_curve.h"
#include "wallsample/causal/causal_run.h"
#include "wallsample/causal/progress.h"

struct causal_command {
	struct run run;   /* of the profile; its target, names and output serve both */
	struct progress *progress;
	struct causal_result result;
	struct profile *profile; /* of the experiments */
	struct causal_run *experiments;
	uint64_t tended_ns;      /* when names and plans were seen to */
	bool over;               /* there is nothing more to find out */
	size_t counted;          /* addresses of code that want breakpoints */
	bool warned;             /* that nothing moves */
	enum sample_status status;
};

/* --- causal_check.c: what can be wrong before anything is touched */
int causal_check_words(struct causal_command *command, struct error *err);

/* --- causal_candidates.c */
/*
 * Adds the `most` functions (lines, modules: what the view tells apart) with the most Latency of
 * their own to the result; of those alone that match `select`, if it is not NULL. An error says
 * what there is where nothing is what was asked for.
 */
int causal_candidates_choose(const struct view *view, const regex_t *select, size_t most,
			     struct causal_result *result, struct error *err);

/* --- causal_phases.c */
/* The profile, and from it the candidates; the experiments on these. */
int causal_take_profile(struct causal_command *command, struct error *err);
int causal_choose_candidates(struct causal_command *command, struct error *err);
int causal_experiment(struct causal_command *command, struct error *err);

/* --- causal_report.c */
/* Writes the report, unless the output is a recording, and sets the status of the command. `note`
 * is about the recording that the experiments are of; NULL: live. */
int causal_write_report(struct causal_command *command, const char *note, bool snapshot,
			struct error *err);

#endif
