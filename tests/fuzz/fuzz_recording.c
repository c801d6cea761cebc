/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recording.c - the bytes are a recording: it is opened, loaded whole and in part, walked, and
 * curves are made of its experiments.
 *
 * A recording whose writer was killed consists of two files. Such bytes begin with TWO, the size of
 * the first file in eight bytes (little-endian), that file, and then the log.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "wallsample/base/base.h"
#include "wallsample/causal/causal_curve.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/recording/recording_read.h"

#define TWO "two files"

static bool
see(void *context, const struct recording_span *span)
{
	const struct profile *profile = context;

	if (span->thread >= profile_thread_count(profile) || span->end_ns < span->start_ns ||
	    (span->stack != STACK_NONE && span->stack >= profile_stack_count(profile)))
		abort();
	return true;
}

/* Whatever came in, the profile holds together: callers before callees, numbers in range. */
static void
check(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile_stack_count(profile); i++) {
		const struct profile_stack *stack = profile_stack(profile, i);

		if (stack->frame >= profile_frame_count(profile) ||
		    (stack->caller != STACK_NONE && stack->caller >= i))
			abort();
	}
	for (uint32_t i = 0; i < profile_frame_count(profile); i++) {
		const struct profile_frame *frame = profile_frame(profile, i);

		if (frame->origin == FRAME_SCRIPT &&
		    (frame->module != MODULE_NONE ||
		     profile_text(profile, (uint32_t)frame->address) == NULL ||
		     profile_text(profile, frame->file) == NULL))
			abort();
	}
	for (size_t i = 0; i < profile_entry_count(profile); i++)
		if (profile_entry(profile, i)->thread >= profile_thread_count(profile) ||
		    profile_entry(profile, i)->state >= RUN_STATE_COUNT ||
		    profile_entry(profile, i)->gil >= GIL_COUNT)
			abort();
}

static void
load(struct recording *recording, const struct recording_selection *selection)
{
	struct run_stats *stats = xcalloc(1, sizeof(*stats));
	struct recording_load to = {
		.profile = profile_create(),
		.modules = modules_create(),
		.names = recorded_names_create(),
		.selection = selection,
		.label = "host:1",
		.stats = stats,
	};
	struct error err;

	if (recording_load(recording, &to, &err) == 0)
		(void)recording_each_span(recording, RECORDING_BY_THREAD, see, to.profile, &err);
	check(to.profile);
	recorded_names_free(to.names);
	modules_free(to.modules);
	profile_free(to.profile);
	free(stats);
}

static void
load_causal(struct recording *recording)
{
	struct causal_result result;
	struct causal_curves curves;
	struct error err;

	if (recording_read_causal(recording, &result, &err) != 0)
		return;
	causal_curves_make(&result, 1, &curves);
	for (size_t i = 0; i < curves.count; i++) {
		const struct causal_curve *curve = &curves.curve[i];

		if (curve->candidate >= result.candidate_count || !isfinite(curve->slope) ||
		    !(curve->slope_low <= curve->slope && curve->slope <= curve->slope_high))
			abort();
	}
	causal_curves_release(&curves);
	causal_result_release(&result);
}

static bool
write_to(int fd, const uint8_t *bytes, size_t size)
{
	const bool good = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Writes the recording to a new file `path`, and its log, if it has one, to `log`. */
static bool
write_files(char *path, char *log, size_t room, const uint8_t *bytes, size_t size)
{
	const int fd = mkstemp(path);
	const size_t head = strlen(TWO) + sizeof(uint64_t);
	uint64_t first;

	snprintf(log, room, "%s-wal", path);
	if (size < head || memcmp(bytes, TWO, strlen(TWO)) != 0)
		return write_to(fd, bytes, size);
	memcpy(&first, bytes + strlen(TWO), sizeof(first));
	if (first > size - head)
		first = size - head;
	return write_to(fd, bytes + head, first) &&
	       write_to(open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600),
			bytes + head + first, size - head - first);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct recording_selection part = {
		.has_from = true, .from_ns = 1000, .has_parallelism = true, .most = 4,
	};
	char path[] = "/tmp/wallsample-fuzz-XXXXXX", log[sizeof(path) + 8];
	struct recording *recording;
	struct error err;

	if (write_files(path, log, sizeof(log), bytes, size) &&
	    recording_open(path, &recording, &err) == 0) {
		load(recording, NULL);
		load(recording, &part);
		load_causal(recording);
		recording_close(recording);
	}
	(void)unlink(path);
	(void)unlink(log);
	return 0;
}
