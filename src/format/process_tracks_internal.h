/* SPDX-License-Identifier: MIT */
/*
 * process_tracks_internal.h - the processes of traces (chrome.c, firefox.c): each process of each
 * recording is one.
 */
#ifndef WALLSAMPLE_FORMAT_PROCESS_TRACKS_INTERNAL_H
#define WALLSAMPLE_FORMAT_PROCESS_TRACKS_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/report/timeline.h"

struct process_track {
	size_t recording; /* index in input->recordings */
	int64_t pid;
	uint64_t same; /* number of earlier tracks with this pid, which are of other recordings */
	/* id of the process in the profile; PROCESS_NONE: it is known from the recording only */
	uint32_t process;
};

struct process_tracks {
	const struct export_input *input;
	struct table index; /* (recording, pid) -> index in `track` */
	struct process_track *track;
	size_t capacity;
};

/* Begins with the first process of each recording, in the order of the recordings. The input is
 * borrowed until process_tracks_release. */
void process_tracks_init(struct process_tracks *tracks, const struct export_input *input);
void process_tracks_release(struct process_tracks *tracks);
size_t process_tracks_count(const struct process_tracks *tracks);
/* Returns the index of the track of a thread's process, which is added if it is not known. */
size_t process_tracks_of(struct process_tracks *tracks, size_t recording, uint32_t thread);
/* Adds the name of the process: the command name or, in a recording of several processes, the
 * title (process_title.h), cut to 60 cells. */
void process_tracks_add_name(const struct process_tracks *tracks, size_t track, struct strbuf *out);

#endif
