/* SPDX-License-Identifier: MIT */
/*
 * json_diff.c - writes the comparison of two runs as JSON, see wallsample-formats(5).
 */
#include <math.h>

#include "format/format_internal.h"

/* Incremented when a reader of the previous version would misread the output. */
#define SCHEMA 1

/* JSON has no infinity. */
static json_t *
finite_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

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

	json_object_set_new(object, "began_ns",
			    run->began_ns > 0 ? json_stream_number(run->began_ns) : json_null());
	json_object_set_new(object, "compared_ns", json_stream_number(profile_wall_ns(profile)));
	json_object_set_new(object, "ticks", json_stream_number(profile_tick_count(profile)));
	json_object_set_new(object, "rate_hz", json_real(run->stats->rate_wanted));
	json_object_set_new(object, "wall_ns", json_integer(view_total_ns(run->view, WEIGHT_WALL)));
	json_object_set_new(object, "overhead_ns",
			    json_integer(view_total_ns(run->view, WEIGHT_OVERHEAD)));
	json_object_set_new(object, "latency_ns",
			    json_integer(view_total_ns(run->view, WEIGHT_LATENCY)));
	json_stream_put(json, name, object);
}

static json_t *
total(const struct diff_total *of)
{
	json_t *object = json_object();

	json_object_set_new(object, "rate", pair(of->rate));
	json_object_set_new(object, "change", json_real(of->change));
	json_object_set_new(object, "margin", finite_real(of->margin));
	return object;
}

static void
write_totals(struct json_stream *json, const struct diff *diff)
{
	json_t *object = json_object();

	for (int w = 0; w < WEIGHT_COUNT; w++)
		json_object_set_new(object, weight_word((enum weight)w), total(&diff->total[w]));
	json_object_set_new(object, "parallelism", total(&diff->parallelism));
	json_stream_put(json, "total", object);
}

static json_t *
change(const struct diff_change *of)
{
	json_t *object = json_object();

	json_object_set_new(object, "ns",
			    json_pack("[I, I]", (json_int_t)of->ns[DIFF_BEFORE],
				      (json_int_t)of->ns[DIFF_AFTER]));
	json_object_set_new(object, "rate", pair(of->rate));
	json_object_set_new(object, "change", json_real(of->change));
	json_object_set_new(object, "margin", finite_real(of->margin));
	json_object_set_new(object, "share", pair(of->share));
	json_object_set_new(object, "share_change", json_real(of->points));
	json_object_set_new(object, "share_margin", json_real(of->points_margin));
	json_object_set_new(object, "found", json_boolean(of->found));
	return object;
}

static void
write_functions(struct json_stream *json, const struct diff *diff)
{
	json_stream_begin_list(json, "functions");
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_row *row = &diff->row[diff->by_flat[i]];
		json_t *object = json_object();

		json_object_set_new(object, "name", json_stream_text(json, row->name));
		json_object_set_new(object, "module", json_stream_text(json, row->module));
		json_object_set_new(object, "seen",
				    json_pack("[b, b]", row->seen[DIFF_BEFORE],
					      row->seen[DIFF_AFTER]));
		json_object_set_new(object, "flat", change(&row->flat));
		json_object_set_new(object, "cum", change(&row->cum));
		json_stream_put(json, NULL, object);
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
	write_functions(&json, diff);
	json_stream_close(&json);
}
