/* SPDX-License-Identifier: MIT */
/* causal_command_internal.h - what the files of wallsample causal share. */
#ifndef WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H
#define WALLSAMPLE_CLI_CAUSAL_COMMAND_INTERNAL_H

#include "cli/sample_run_internal.h"
#include "wallsample/causal/causal_curve.h"
#include "wallsample/causal/causal_run.h"
#include "wallsample/causal/progress.h"

struct causal_command {
	struct sample_run run;   /* of the profile; its target, names and output serve both */
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

/* --- causal_phases.c */
/* The profile, and from it the candidates; the experiments on these. */
int causal_take_profile(struct causal_command *command, struct error *err);
int causal_choose_candidates(struct causal_command *command, struct error *err);
int causal_experiment(struct causal_command *command, struct error *err);

/* --- command_causal.c */
/* Sets the command's status, too; with -o x.wsdb it writes nothing. */
int causal_write_report(struct causal_command *command, bool snapshot, struct error *err);

#endif
