/* SPDX-License-Identifier: MIT */
/* json_diff.c - writes the comparison of two runs as JSON, see wallsample-formats(5). */
#include "format/format_internal.h"

/*
 * The version of the format, which is the member "schema" of the output. It is incremented when a
 * reader of the previous version would misread the output.
 */
#define SCHEMA 1

static json_t *
pair(const double value[DIFF_SIDES])
{
	return json_pack("[f, f]", value[DIFF_BEFORE], value[DIFF_AFTER]);
}

static void
write_run(struct json_stream *json, const char *name, const struct export_input *run)
{
	const struct profile *profile = view_profile(run->view);
	json_t *object = json_process(json, run->process);
	json_t *began = run->began_ns > 0 ? json_stream_number(run->began_ns) : NULL;

	json_object_update_new(object,
			       json_pack("{s:o?, s:I, s:I, s:o?, s:I, s:I, s:I, s:I}", "began_ns",
					 began, "compared_ns", (json_int_t)profile_wall_ns(profile),
					 "ticks", (json_int_t)profile_tick_count(profile),
					 "rate_hz", json_real(run->stats->rate_wanted), "wall_ns",
					 (json_int_t)view_total_ns(run->view, WEIGHT_WALL),
					 "cpu_ns", (json_int_t)view_total_ns(run->view, WEIGHT_CPU),
					 /* the former name of "cpu_ns" */
					 "overhead_ns",
					 (json_int_t)view_total_ns(run->view, WEIGHT_CPU),
					 "latency_ns",
					 (json_int_t)view_total_ns(run->view, WEIGHT_LATENCY)));
	if (profile_process_count(profile) > 1)
		json_object_set_new(object, "targets", json_profile_processes(json, profile));
	json_stream_put(json, name, object);
}

/*
 * Returns a total as JSON. A margin may be infinite: json_real() then returns NULL, and json_pack()
 * writes null because of "o?".
 */
static json_t *
total(const struct diff_total *of)
{
	return json_pack("{s:o, s:f, s:o?}", "rate", pair(of->rate), "change", of->change, "margin",
			 json_real(of->margin));
}

static void
write_totals(struct json_stream *json, const struct diff *diff)
{
	json_t *object = json_object();

	for (int w = 0; w < WEIGHT_COUNT; w++)
		json_object_set_new(object, weight_word((enum weight)w), total(&diff->total[w]));
	/* the former name of "cpu" */
	json_object_set_new(object, "overhead", total(&diff->total[WEIGHT_CPU]));
	json_object_set_new(object, "parallelism", total(&diff->parallelism));
	json_stream_put(json, "total", object);
}

static json_t *
change(const struct diff_change *of)
{
	return json_pack("{s:[I, I], s:o, s:f, s:o?, s:o, s:f, s:f, s:b}", "ns",
			 (json_int_t)of->ns[DIFF_BEFORE], (json_int_t)of->ns[DIFF_AFTER], "rate",
			 pair(of->rate), "change", of->change, "margin", json_real(of->margin),
			 "share", pair(of->share), "share_change", of->points, "share_margin",
			 of->points_margin, "found", of->found);
}

static void
write_rows(struct json_stream *json, const char *name, const struct diff *diff)
{
	json_stream_begin_list(json, name);
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_row *row = &diff->row[diff->by_flat[i]];

		json_stream_put(json, NULL,
				json_pack("{s:o, s:o, s:[b, b], s:o, s:o}", "name",
					  json_stream_text(json, row->name), "module",
					  json_stream_text(json, row->module), "seen",
					  row->seen[DIFF_BEFORE], row->seen[DIFF_AFTER], "flat",
					  change(&row->flat), "cum", change(&row->cum)));
	}
	json_stream_end(json);
}

void
json_write_diff(const struct diff_input *input, FILE *out)
{
	const struct diff *diff = input->diff;
	struct json_stream json;

	json_stream_open(&json, out);
	json_stream_put(&json, "schema", json_integer(SCHEMA));
	json_stream_put(&json, "generator", json_string("wallsample"));
	json_stream_put(&json, "kind", json_string("diff"));
	json_stream_put(&json, "by",
			json_string(view_key_word(view_key(input->run[DIFF_AFTER].view))));
	json_stream_put(&json, "sort", json_string(weight_word(diff->weight)));
	json_stream_put(&json, "filtered", json_boolean(input->filtered));
	write_run(&json, "before", &input->run[DIFF_BEFORE]);
	write_run(&json, "after", &input->run[DIFF_AFTER]);
	json_stream_put(&json, "questions", json_integer((json_int_t)diff->questions));
	json_stream_put(&json, "deviations", json_real(diff->deviations));
	write_totals(&json, diff);
	if (input->processes != NULL)
		write_rows(&json, "processes", input->processes);
	write_rows(&json, "functions", diff);
	json_stream_close(&json);
}
