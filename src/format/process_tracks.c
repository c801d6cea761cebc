/* SPDX-License-Identifier: MIT */
/* process_tracks.c - finds the process of each thread in a trace. */
#include "format/process_tracks_internal.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/report/display.h"

/* Maximum width in cells of a title, which may be a long command line. */
#define TITLE_MOST 60

static size_t
add_track(struct process_tracks *tracks, size_t recording, int64_t pid, uint32_t process)
{
	const uint64_t key[] = { recording, (uint64_t)pid };
	const size_t before = tracks->index.count;
	struct process_track *track;
	uint32_t at;

	tracks->track = table_row(&tracks->index, key, tracks->track, &tracks->capacity,
				  sizeof(*tracks->track), &at);
	track = &tracks->track[at];
	if (at < before) {
		if (track->process == PROCESS_NONE)
			track->process = process;
		return at;
	}
	*track = (struct process_track){ .recording = recording, .pid = pid, .process = process };
	for (size_t i = 0; i < before; i++)
		track->same += tracks->track[i].pid == pid;
	return at;
}

void
process_tracks_init(struct process_tracks *tracks, const struct export_input *input)
{
	*tracks = (struct process_tracks){ .input = input };
	for (size_t i = 0; i < input->recording_count; i++)
		(void)add_track(tracks, i, recording_info(input->recordings[i])->pid, PROCESS_NONE);
}

void
process_tracks_release(struct process_tracks *tracks)
{
	table_release(&tracks->index);
	free(tracks->track);
}

size_t
process_tracks_count(const struct process_tracks *tracks)
{
	return tracks->index.count;
}

size_t
process_tracks_of(struct process_tracks *tracks, size_t recording, uint32_t thread)
{
	const struct export_input *input = tracks->input;

	return add_track(tracks, recording,
			 timeline_pid(input, input->recordings[recording], thread),
			 process_of_record(view_profile(input->view), thread));
}

/* Returns the process of the profile with the pid of the track; PROCESS_NONE: there is none. */
static uint32_t
find_process(const struct profile *profile, const struct process_track *track)
{
	if (track->process != PROCESS_NONE)
		return track->process;
	for (uint32_t i = 0; i < profile_process_count(profile); i++)
		if (profile_process(profile, i)->pid == track->pid)
			return i;
	return PROCESS_NONE;
}

void
process_tracks_add_name(const struct process_tracks *tracks, size_t track, struct strbuf *out)
{
	const struct profile *profile = view_profile(tracks->input->view);
	const struct process_track *of = &tracks->track[track];
	const struct recording_info *info = recording_info(
		tracks->input->recordings[of->recording]);
	const uint32_t process = find_process(profile, of);
	struct strbuf title = STRBUF_INIT, shown = STRBUF_INIT;

	if (info->processes < 2 || process == PROCESS_NONE) {
		strbuf_add_text(out, info->comm);
		return;
	}
	process_add_title(profile, process, &title);
	strbuf_add_escaped(&shown, title.length > 0 ? title.data : "");
	display_add_fitted(out, shown.length > 0 ? shown.data : "", TITLE_MOST);
	strbuf_release(&title);
	strbuf_release(&shown);
}
