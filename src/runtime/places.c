/* SPDX-License-Identifier: MIT */
/* places.c - interns places (a function and a line) by their texts. */
#include <stdlib.h>

#include "runtime/runtime_kind_internal.h"

void
runtime_places_init(struct runtime_places *places)
{
	*places = (struct runtime_places){ .texts = strings_create() };
	table_init(&places->functions);
	table_init(&places->known);
}

void
runtime_places_release(struct runtime_places *places)
{
	strings_free(places->texts);
	table_release(&places->functions);
	table_release(&places->known);
	free(places->place);
}

uint32_t
runtime_places_add(struct runtime_places *places, const struct runtime_place *place)
{
	const uint32_t function = strings_intern(places->texts, place->function);
	const uint32_t file = strings_intern(places->texts, place->file);
	const uint32_t name = *table_insert(&places->functions, function, file,
					    (uint32_t)places->functions.count, NULL);
	bool added;
	const uint32_t id = *table_insert(&places->known, name,
					  (uint64_t)place->line << 1 | place->marker,
					  (uint32_t)places->count, &added);

	if (!added)
		return id;
	places->place = xgrow(places->place, &places->capacity, places->count + 1,
			      sizeof(*places->place));
	places->place[places->count] = *place;
	places->place[places->count].function = strings_text(places->texts, function);
	places->place[places->count++].file = strings_text(places->texts, file);
	return id;
}

const struct runtime_place *
runtime_places_get(const struct runtime_places *places, uint32_t place)
{
	return &places->place[place];
}

void
runtime_frames_add(struct runtime_frames *frames, size_t before, uint32_t place)
{
	frames->frame = xgrow(frames->frame, &frames->capacity, frames->count + 1,
			      sizeof(*frames->frame));
	frames->frame[frames->count++] = (struct runtime_frame){ .before = before, .place = place };
}
