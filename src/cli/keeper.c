/* SPDX-License-Identifier: MIT */
/* keeper.c - when the keeper of a run is replaced, and what it does first and last. */
#include "cli/keeper_internal.h"

#include "wallsample/cli/supervisor.h"

/* Times between two keepers: the first one, and the longest. A fork takes 1 to 5 ms of CPU time. */
#define KEEP_FIRST_NS NS_PER_SEC
#define KEEP_NS (10 * NS_PER_SEC)
#define KEEP_LATE_NS (500 * NS_PER_MS)

void
keeper_renew(struct run *run, bool held, int (*report)(void *context), void *context)
{
	const uint64_t now = clock_now_ns();

	if (run->records || run->request.options->nonblocking)
		return;
	if (run->keep_ns == 0) {
		run->keep_every_ns = KEEP_FIRST_NS;
	} else if (now < run->keep_ns + (held ? KEEP_LATE_NS : 0)) {
		return;
	} else {
		run->source.stats = *sampler_stats(run->sampler);
		sampler_pause(run->sampler);
		run_read_excluded(run);
		supervisor_keep(report, context);
		sampler_resume(run->sampler);
		run->keep_every_ns *= 2;
		if (run->keep_every_ns > KEEP_NS)
			run->keep_every_ns = KEEP_NS;
	}
	run->keep_ns = now + run->keep_every_ns;
}

void
keeper_begin(struct run *run)
{
	run->request.log.before = run->request.log.after = NULL;
	run->recorder = NULL; /* its database is not to be used in this process */
	run->source.end = RUN_END_STOPPED;
}

void
keeper_end(struct run *run)
{
	symbols_free(run->source.symbols); /* waits for the end of ws-namer */
}
