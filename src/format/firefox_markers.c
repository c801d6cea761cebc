/* SPDX-License-Identifier: MIT */
/*
 * firefox_markers.c - markers of the Firefox Profiler: named stretches of time, which the viewer
 * shows in a chart and a table of their own. Unlike samples they name the awaited object.
 */
#include "format/firefox_internal.h"

#include "wallsample/base/base.h"

/* The phase of a marker with a start and an end: INTERVAL in src/app-logic/constants.ts. */
#define PHASE_INTERVAL 1

void
firefox_markers_clear(struct firefox_markers *markers)
{
	markers->count = markers->wait = markers->hold = 0;
	markers->last = (struct timeline_slice){ .ticks = 0 };
}

static struct firefox_marker *
add_marker(struct firefox_markers *markers, const struct timeline_slice *slice)
{
	markers->marker = xgrow(markers->marker, &markers->capacity, markers->count + 1,
				sizeof(*markers->marker));
	markers->marker[markers->count] = (struct firefox_marker){
		.start_ns = slice->start_ns,
		.end_ns = slice->end_ns,
	};
	return &markers->marker[markers->count++];
}

/* True if the slice begins where the slice before it ends. */
static bool
follows(const struct firefox_markers *markers, const struct timeline_slice *slice)
{
	return markers->last.ticks > 0 && markers->last.end_ns == slice->start_ns;
}

static bool
continues_wait(const struct firefox_markers *markers, const struct timeline_slice *slice,
	       enum firefox_category category)
{
	const struct timeline_slice *last = &markers->last;

	return markers->wait > 0 && follows(markers, slice) && last->state == slice->state &&
	       last->syscall == slice->syscall && last->wait == slice->wait &&
	       last->gil == slice->gil && markers->marker[markers->wait - 1].category == category;
}

static void
begin_wait(struct firefox_markers *markers, struct firefox_tables *tables,
	   const struct timeline_slice *slice, enum firefox_category category)
{
	struct firefox_marker *marker = add_marker(markers, slice);
	struct strbuf text = STRBUF_INIT;

	marker->category = category;
	marker->waits = true;
	marker->name = firefox_text(tables, firefox_category_text(category));
	if (slice->wait != 0)
		view_add_wait(tables->input->view, slice->wait, slice->function, slice->depth,
			      &text);
	else
		strbuf_add_text(&text, category == FIREFOX_GIL ? "GIL" : "not known");
	marker->object = firefox_text(tables, text.data);
	strbuf_clear(&text);
	run_state_add(&text, slice->state, slice->syscall);
	marker->state = firefox_text(tables, text.data);
	strbuf_release(&text);
	markers->wait = markers->count;
}

static void
add_wait(struct firefox_markers *markers, struct firefox_tables *tables,
	 const struct timeline_slice *slice, enum firefox_category category)
{
	if (category != FIREFOX_LOCK && category != FIREFOX_GIL && category != FIREFOX_PEER)
		markers->wait = 0;
	else if (continues_wait(markers, slice, category))
		markers->marker[markers->wait - 1].end_ns = slice->end_ns;
	else
		begin_wait(markers, tables, slice, category);
}

static void
add_hold(struct firefox_markers *markers, struct firefox_tables *tables,
	 const struct timeline_slice *slice)
{
	struct firefox_marker *marker;

	if (slice->gil != GIL_HAS) {
		markers->hold = 0;
	} else if (markers->hold > 0 && follows(markers, slice)) {
		markers->marker[markers->hold - 1].end_ns = slice->end_ns;
	} else {
		marker = add_marker(markers, slice);
		marker->category = FIREFOX_RUNNING;
		marker->name = firefox_text(tables, "Holds the GIL");
		markers->hold = markers->count;
	}
}

void
firefox_markers_add(struct firefox_markers *markers, struct firefox_tables *tables,
		    const struct timeline_slice *slice, enum firefox_category category)
{
	add_wait(markers, tables, slice, category);
	add_hold(markers, tables, slice);
	markers->last = *slice;
	markers->last.function = NULL;
}

/* --- the output --------------------------------------------------------------------------- */

static json_t *
marker_data(const struct firefox_marker *marker)
{
	if (!marker->waits)
		return json_pack("{s:s}", "type", "Hold");
	return json_pack("{s:s, s:I, s:I}", "type", "Wait", "object", (json_int_t)marker->object,
			 "state", (json_int_t)marker->state);
}

static void
put_texts_of_markers(const struct firefox_markers *markers, struct json_stream *json)
{
	json_stream_begin_list(json, "name");
	for (size_t i = 0; i < markers->count; i++)
		json_stream_put(json, NULL, json_stream_number(markers->marker[i].name));
	json_stream_end(json);
	json_stream_begin_list(json, "category");
	for (size_t i = 0; i < markers->count; i++)
		json_stream_put(json, NULL, json_stream_number(markers->marker[i].category));
	json_stream_end(json);
	json_stream_begin_list(json, "data");
	for (size_t i = 0; i < markers->count; i++)
		json_stream_put(json, NULL, marker_data(&markers->marker[i]));
	json_stream_end(json);
}

void
firefox_put_markers(const struct firefox_markers *markers, struct json_stream *json,
		    uint64_t base_ns)
{
	json_stream_begin_object(json, "markers");
	json_stream_put(json, "length", json_stream_number(markers->count));
	put_texts_of_markers(markers, json);
	json_stream_begin_list(json, "phase");
	for (size_t i = 0; i < markers->count; i++)
		json_stream_put(json, NULL, json_stream_number(PHASE_INTERVAL));
	json_stream_end(json);
	json_stream_begin_list(json, "startTime");
	for (size_t i = 0; i < markers->count; i++)
		json_stream_put_ms(json, NULL, markers->marker[i].start_ns - base_ns);
	json_stream_end(json);
	json_stream_begin_list(json, "endTime");
	for (size_t i = 0; i < markers->count; i++)
		json_stream_put_ms(json, NULL, markers->marker[i].end_ns - base_ns);
	json_stream_end(json);
	json_stream_end(json);
}

static json_t *
field(const char *key, const char *label)
{
	return json_pack("{s:s, s:s, s:s}", "key", key, "label", label, "format", "unique-string");
}

void
firefox_put_marker_schema(struct json_stream *json)
{
	json_stream_begin_list(json, "markerSchema");
	json_stream_put(json, NULL,
			json_pack("{s:s, s:[s, s], s:s, s:s, s:s, s:[o, o]}", "name", "Wait",
				  "display", "marker-chart", "marker-table", "chartLabel",
				  "{marker.data.object}", "tooltipLabel",
				  "{marker.name}: {marker.data.object}", "tableLabel",
				  "{marker.data.object}", "fields", field("object", "Waits for"),
				  field("state", "State")));
	json_stream_put(json, NULL,
			json_pack("{s:s, s:[s, s], s:[]}", "name", "Hold", "display",
				  "marker-chart", "marker-table", "fields"));
	json_stream_end(json);
}
