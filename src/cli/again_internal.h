/* SPDX-License-Identifier: MIT */
/* again_internal.h - a command that reports the same program, or the same recordings, once more. */
#ifndef WALLSAMPLE_CLI_AGAIN_INTERNAL_H
#define WALLSAMPLE_CLI_AGAIN_INTERNAL_H

#include "wallsample/cli/options.h"

/* The beginning of the command ("wallsample report") and its end (" x.wsdb"). Options can be put
 * between the two. */
struct again {
	struct strbuf before, after;
};

/*
 * Fills `out`, which again_release() releases. Returns false if there is no such command:
 * wallsample has started the program, or an option selects samples or names the files of symbols,
 * so that a command without it would report something else.
 */
bool again_make(const struct options *options, struct again *out);
void again_release(struct again *again);

#endif
