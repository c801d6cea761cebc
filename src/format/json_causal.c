/* SPDX-License-Identifier: MIT */
/*
 * json_causal.c - writes virtual speed-up experiments (causal.h) and the curves computed from them
 * as JSON, see wallsample-formats(5).
 */
#include "format/format_internal.h"

/*
 * The version of the format, which is the member "schema" of the output. It is incremented when a
 * reader of the previous version would misread the output.
 */
#define SCHEMA 1

/*
 * Values that are not known are written as JSON's null: json_pack() does so for the pointer NULL if
 * the format is "o?". json_real() returns NULL for a number that is not finite.
 */

static json_t *
number_or_null(uint64_t number)
{
	return number > 0 ? json_stream_number(number) : NULL;
}

static json_t *
real_if(bool known, double value)
{
	return known ? json_real(value) : NULL;
}

static void
write_method(struct json_stream *json, const struct causal_result *result)
{
	json_t *speedups = json_array();

	for (size_t i = 0; i < result->speedup_count; i++)
		json_array_append_new(speedups, json_real(result->speedup[i]));
	json_stream_put(json, "method",
			json_pack("{s:s, s:s, s:o, s:I, s:I, s:o?, s:o?}", "by",
				  causal_unit_word(result->unit), "match",
				  result->self ? "self" : "stack", "speedups", speedups, "tick_ns",
				  (json_int_t)result->tick_ns, "experiment_ns",
				  (json_int_t)result->experiment_ns, "precision",
				  json_real(result->precision), "max_hold",
				  json_real(result->max_hold)));
}

static void
write_run(struct json_stream *json, const struct causal_result *result)
{
	json_t *object = json_pack("{s:o?, s:o?, s:I, s:I, s:I, s:I, s:I, s:I, s:o?, s:o?, s:I}",
				   "began_ns", number_or_null(result->started_ns), "burst_ns",
				   number_or_null(result->burst_ns), "wall_ns",
				   (json_int_t)result->wall_ns, "held_ns",
				   (json_int_t)result->held_ns, "profile_ns",
				   (json_int_t)result->profile_ns, "stops",
				   (json_int_t)result->stops, "late_ticks",
				   (json_int_t)result->late_ticks, "unheld",
				   (json_int_t)result->unheld, "runnable",
				   json_real(result->runnable), "cpus",
				   number_or_null(result->cpus), "own_cpu_ns",
				   (json_int_t)result->own_cpu_ns);

	json_set_excluded(object, "excluded", &result->excluded);
	json_stream_put(json, "run", object);
}

static void
write_points(struct json_stream *json, const struct causal_input *input)
{
	json_stream_begin_list(json, "progress");
	for (size_t i = 0; i < input->result->point_count; i++) {
		const struct causal_point *point = &input->result->point[i];
		const struct causal_curves *curves = input->curves;

		json_stream_put(json, NULL,
				json_pack("{s:o, s:o, s:s, s:o?, s:o?}", "name",
					  json_stream_text(json, point->name), "spec",
					  json_stream_text(json, point->spec), "kind",
					  causal_point_kind_word(point->kind), "rate",
					  json_real(curves->rate[i]), "latency_ns",
					  real_if(point->kind == CAUSAL_LATENCY,
						  curves->latency_ns[i])));
	}
	json_stream_end(json);
}

static void
write_candidates(struct json_stream *json, const struct causal_result *result)
{
	json_stream_begin_list(json, "candidates");
	for (size_t i = 0; i < result->candidate_count; i++) {
		const struct causal_candidate *candidate = &result->candidate[i];
		const bool known = result->profile_ns > 0;
		json_t *file = candidate->file != NULL ? json_stream_text(json, candidate->file) :
							 NULL;

		json_stream_put(json, NULL,
				json_pack("{s:o, s:o, s:o?, s:o?, s:o?, s:o?}", "name",
					  json_stream_text(json, candidate->name), "module",
					  json_stream_text(json, candidate->module), "file", file,
					  "line", number_or_null(candidate->line), "share",
					  real_if(known, candidate->share), "self_share",
					  real_if(known, candidate->self_share)));
	}
	json_stream_end(json);
}

static json_t *
make_gains(const struct causal_curve *curve)
{
	json_t *list = json_array();

	for (size_t i = 0; i < curve->gain_count; i++) {
		const struct causal_gain *gain = &curve->gain[i];

		json_array_append_new(list, json_pack("{s:f, s:I, s:o?, s:o?, s:o?, s:o?}",
						      "speedup", gain->speedup, "experiments",
						      (json_int_t)gain->experiments, "events",
						      json_real(gain->events), "gain",
						      real_if(gain->known, gain->gain), "low",
						      real_if(gain->known, gain->low), "high",
						      real_if(gain->known, gain->high)));
	}
	return list;
}

/*
 * Writes the list "curves". The members "progress" and "candidate" of a curve are indices in the
 * lists "progress" and "candidates".
 */
static void
write_curves(struct json_stream *json, const struct causal_curves *curves)
{
	json_stream_begin_list(json, "curves");
	for (size_t i = 0; i < curves->count; i++) {
		const struct causal_curve *curve = &curves->curve[i];
		const bool known = curve->verdict != CAUSAL_UNSURE;

		json_stream_put(json, NULL,
				json_pack("{s:I, s:I, s:s, s:o?, s:o?, s:o?, s:o}", "progress",
					  (json_int_t)curve->point, "candidate",
					  (json_int_t)curve->candidate, "verdict",
					  causal_verdict_word(curve->verdict), "slope",
					  real_if(known, curve->slope), "slope_low",
					  real_if(known, curve->slope_low), "slope_high",
					  real_if(known, curve->slope_high), "gains",
					  make_gains(curve)));
	}
	json_stream_end(json);
}

static json_t *
make_readings(const struct causal_result *result, const struct causal_experiment *experiment)
{
	json_t *list = json_array();

	for (size_t i = 0; i < result->point_count; i++) {
		const bool latency = result->point[i].kind == CAUSAL_LATENCY;
		const struct causal_reading *reading = &experiment->reading[i];

		json_array_append_new(list, json_pack("{s:o?, s:o?}", "count",
						      json_real(reading->count), "in_progress_ns",
						      real_if(latency, reading->in_progress_ns)));
	}
	return list;
}

static void
write_experiments(struct json_stream *json, const struct causal_result *result)
{
	json_stream_begin_list(json, "experiments");
	for (size_t i = 0; i < result->experiment_count; i++) {
		const struct causal_experiment *one = &result->experiment[i];

		json_stream_put(json, NULL,
				json_pack("{s:I, s:o?, s:I, s:I, s:I, s:I, s:I, s:s, s:o}",
					  "candidate", (json_int_t)one->candidate, "speedup",
					  json_real(one->speedup), "began_ns",
					  (json_int_t)one->began_ns, "wall_ns",
					  (json_int_t)one->wall_ns, "held_ns",
					  (json_int_t)one->held_ns, "ticks", (json_int_t)one->ticks,
					  "chosen", (json_int_t)one->chosen, "end",
					  causal_end_word(one->end), "readings",
					  make_readings(result, one)));
	}
	json_stream_end(json);
}

void
json_write_causal(const struct causal_input *input, FILE *out)
{
	const struct causal_result *result = input->result;
	const char *command = result->command != NULL ? result->command : "";
	struct json_stream json;

	json_stream_open(&json, out);
	json_stream_put(&json, "schema", json_integer(SCHEMA));
	json_stream_put(&json, "generator", json_string("wallsample"));
	json_stream_put(&json, "kind", json_string("causal"));
	json_stream_put(&json, "snapshot", json_boolean(input->snapshot));
	json_stream_put(&json, "target",
			json_pack("{s:I, s:o, s:b}", "pid", (json_int_t)result->pid, "name",
				  json_stream_text(&json, command), "gone", result->target_gone));
	write_method(&json, result);
	write_run(&json, result);
	write_points(&json, input);
	write_candidates(&json, result);
	write_curves(&json, input->curves);
	write_experiments(&json, result);
	json_stream_close(&json);
}
