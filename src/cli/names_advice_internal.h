/* SPDX-License-Identifier: MIT */
/* names_advice_internal.h - how to get names that a report lacks. */
#ifndef WALLSAMPLE_CLI_NAMES_ADVICE_INTERNAL_H
#define WALLSAMPLE_CLI_NAMES_ADVICE_INTERNAL_H

#include "wallsample/dwarf/debug_file.h"
#include "wallsample/report/export.h"

/* Fills `out`, which names_advice_release() releases, with advice on names for the functions of
 * input->view that have none. `servers` is the state of debuginfod. If `looks` is false, there
 * is no advice: during the search for packages, a run that continues would take no samples.
 * Call this function after the names of all frames have been looked up. */
void names_advice_make(const struct export_input *input, enum debuginfod_state servers, bool looks,
		       struct names_advice *out);
void names_advice_release(struct names_advice *advice);

#endif
