/* SPDX-License-Identifier: MIT */
/*
 * rights_internal.h - what wallsample may do: gives up capabilities that it does not need, and
 * refuses options that are dangerous when it has more rights than its user.
 */
#ifndef WALLSAMPLE_CLI_RIGHTS_INTERNAL_H
#define WALLSAMPLE_CLI_RIGHTS_INTERNAL_H

#include <stdbool.h>

#include "cli/cli_internal.h"
#include "cli/target_internal.h"

/*
 * To be called before a command runs. If the file wallsample has capabilities (AT_SECURE,
 * getauxval(3)), every user that may execute it has these rights. Returns ERROR_USAGE for what such
 * a user must not do with them: experiments, starting a command, reading files below a folder that
 * the user names in place of the target's, and the network. A command that attaches to no process
 * loses all capabilities.
 */
int rights_check(const struct options *options, struct error *err);

/*
 * To be called when the target and the output are open and the command has been started. Keeps only
 * the capabilities that sampling needs: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE
 * (or CAP_SYS_ADMIN where that is missing) and CAP_SYS_NICE; CAP_KILL for a started command,
 * because it may belong to another user; and CAP_DAC_OVERRIDE or CAP_FOWNER if the output could not
 * be replaced without it. Where CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH is missing, also keeps the
 * capabilities by which the kernel permits access to the target nevertheless. The thread of the
 * supervisor and the keepers that it forks keep the same. Processes and threads that wallsample
 * starts later inherit them, unless they give them up. Also makes wallsample the first choice of
 * the kernel when memory runs out.
 */
void rights_reduce(const struct output *output, const struct target *target);

/*
 * Gives up CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN and what was kept in place of
 * missing capabilities, in the calling thread and for threads and processes that it starts later.
 * To be called after rights_reduce(), when no other thread or process of wallsample has these
 * capabilities and no file of the target in /proc is needed any more.
 */
void rights_end_sampling(void);

/* Gives the calling process the OOM score that wallsample had before rights_reduce(). */
void rights_restore_oom_score(void);

#endif
