/* SPDX-License-Identifier: MIT */
/*
 * json_causal.c - writes experiments and their curves as JSON, see wallsample-formats(5).
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
number_or_null(uint64_t number)
{
	return number > 0 ? json_stream_number(number) : json_null();
}

static void
write_target(struct json_stream *json, const struct causal_result *result)
{
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_integer(result->pid));
	json_object_set_new(object, "name",
			    json_stream_text(json, result->command != NULL ? result->command : ""));
	json_object_set_new(object, "gone", json_boolean(result->target_gone));
	json_stream_put(json, "target", object);
}

static void
write_method(struct json_stream *json, const struct causal_result *result)
{
	json_t *object = json_object();
	json_t *speedups = json_array();

	for (size_t i = 0; i < result->speedup_count; i++)
		json_array_append_new(speedups, json_real(result->speedup[i]));
	json_object_set_new(object, "by", json_string(causal_unit_word(result->unit)));
	json_object_set_new(object, "match", json_string(result->self ? "self" : "stack"));
	json_object_set_new(object, "speedups", speedups);
	json_object_set_new(object, "tick_ns", json_stream_number(result->tick_ns));
	json_object_set_new(object, "experiment_ns", json_stream_number(result->experiment_ns));
	json_object_set_new(object, "precision", finite_real(result->precision));
	json_object_set_new(object, "max_hold", finite_real(result->max_hold));
	json_stream_put(json, "method", object);
}

static void
write_run(struct json_stream *json, const struct causal_result *result)
{
	json_t *object = json_object();

	json_object_set_new(object, "began_ns", number_or_null(result->started_ns));
	json_object_set_new(object, "wall_ns", json_stream_number(result->wall_ns));
	json_object_set_new(object, "held_ns", json_stream_number(result->held_ns));
	json_object_set_new(object, "profile_ns", json_stream_number(result->profile_ns));
	json_object_set_new(object, "stops", json_stream_number(result->stops));
	json_object_set_new(object, "late_ticks", json_stream_number(result->late_ticks));
	json_object_set_new(object, "unheld", json_stream_number(result->unheld));
	json_object_set_new(object, "runnable", finite_real(result->runnable));
	json_object_set_new(object, "cpus", number_or_null(result->cpus));
	json_object_set_new(object, "own_cpu_ns", json_stream_number(result->own_cpu_ns));
	json_set_excluded(object, "excluded", &result->excluded);
	json_stream_put(json, "run", object);
}

static void
write_points(struct json_stream *json, const struct causal_input *input)
{
	json_stream_begin_list(json, "progress");
	for (size_t i = 0; i < input->result->point_count; i++) {
		const struct causal_point *point = &input->result->point[i];
		const bool latency = point->kind == CAUSAL_LATENCY;
		json_t *object = json_object();

		json_object_set_new(object, "name", json_stream_text(json, point->name));
		json_object_set_new(object, "spec", json_stream_text(json, point->spec));
		json_object_set_new(object, "kind",
				    json_string(causal_point_kind_word(point->kind)));
		json_object_set_new(object, "rate", finite_real(input->curves->rate[i]));
		json_object_set_new(object, "latency_ns",
				    latency ? finite_real(input->curves->latency_ns[i]) :
					      json_null());
		json_stream_put(json, NULL, object);
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
		json_t *object = json_object();

		json_object_set_new(object, "name", json_stream_text(json, candidate->name));
		json_object_set_new(object, "module", json_stream_text(json, candidate->module));
		json_object_set_new(object, "file",
				    candidate->file != NULL ?
					    json_stream_text(json, candidate->file) :
					    json_null());
		json_object_set_new(object, "line", number_or_null(candidate->line));
		json_object_set_new(object, "share",
				    known ? finite_real(candidate->share) : json_null());
		json_object_set_new(object, "self_share",
				    known ? finite_real(candidate->self_share) : json_null());
		json_stream_put(json, NULL, object);
	}
	json_stream_end(json);
}

static json_t *
gains_of(const struct causal_curve *curve)
{
	json_t *list = json_array();

	for (size_t i = 0; i < curve->gain_count; i++) {
		const struct causal_gain *gain = &curve->gain[i];
		json_t *object = json_object();

		json_object_set_new(object, "speedup", json_real(gain->speedup));
		json_object_set_new(object, "experiments", json_stream_number(gain->experiments));
		json_object_set_new(object, "events", finite_real(gain->events));
		json_object_set_new(object, "gain",
				    gain->known ? finite_real(gain->gain) : json_null());
		json_object_set_new(object, "low",
				    gain->known ? finite_real(gain->low) : json_null());
		json_object_set_new(object, "high",
				    gain->known ? finite_real(gain->high) : json_null());
		json_array_append_new(list, object);
	}
	return list;
}

/* `progress` and `candidate` are indices in their lists. */
static void
write_curves(struct json_stream *json, const struct causal_curves *curves)
{
	json_stream_begin_list(json, "curves");
	for (size_t i = 0; i < curves->count; i++) {
		const struct causal_curve *curve = &curves->curve[i];
		const bool known = curve->verdict != CAUSAL_UNSURE;
		json_t *object = json_object();

		json_object_set_new(object, "progress", json_stream_number(curve->point));
		json_object_set_new(object, "candidate", json_stream_number(curve->candidate));
		json_object_set_new(object, "verdict",
				    json_string(causal_verdict_word(curve->verdict)));
		json_object_set_new(object, "slope",
				    known ? finite_real(curve->slope) : json_null());
		json_object_set_new(object, "slope_low",
				    known ? finite_real(curve->slope_low) : json_null());
		json_object_set_new(object, "slope_high",
				    known ? finite_real(curve->slope_high) : json_null());
		json_object_set_new(object, "gains", gains_of(curve));
		json_stream_put(json, NULL, object);
	}
	json_stream_end(json);
}

static json_t *
readings_of(const struct causal_result *result, const struct causal_experiment *experiment)
{
	json_t *list = json_array();

	for (size_t i = 0; i < result->point_count; i++) {
		const bool latency = result->point[i].kind == CAUSAL_LATENCY;
		const struct causal_reading *reading = &experiment->reading[i];
		json_t *object = json_object();

		json_object_set_new(object, "count", finite_real(reading->count));
		json_object_set_new(object, "in_progress_ns",
				    latency ? finite_real(reading->in_progress_ns) : json_null());
		json_array_append_new(list, object);
	}
	return list;
}

static void
write_experiments(struct json_stream *json, const struct causal_result *result)
{
	json_stream_begin_list(json, "experiments");
	for (size_t i = 0; i < result->experiment_count; i++) {
		const struct causal_experiment *experiment = &result->experiment[i];
		json_t *object = json_object();

		json_object_set_new(object, "candidate", json_stream_number(experiment->candidate));
		json_object_set_new(object, "speedup", json_real(experiment->speedup));
		json_object_set_new(object, "began_ns", json_stream_number(experiment->began_ns));
		json_object_set_new(object, "wall_ns", json_stream_number(experiment->wall_ns));
		json_object_set_new(object, "held_ns", json_stream_number(experiment->held_ns));
		json_object_set_new(object, "ticks", json_stream_number(experiment->ticks));
		json_object_set_new(object, "chosen", json_stream_number(experiment->chosen));
		json_object_set_new(object, "end", json_string(causal_end_word(experiment->end)));
		json_object_set_new(object, "readings", readings_of(result, experiment));
		json_stream_put(json, NULL, object);
	}
	json_stream_end(json);
}

void
json_write_causal(const struct causal_input *input, FILE *out)
{
	struct json_stream json;

	json_stream_open(&json, out);
	json_stream_put(&json, "schema", json_integer(SCHEMA));
	json_stream_put(&json, "generator", json_string("wallsample"));
	json_stream_put(&json, "kind", json_string("causal"));
	json_stream_put(&json, "snapshot", json_boolean(input->snapshot));
	write_target(&json, input->result);
	write_method(&json, input->result);
	write_run(&json, input->result);
	write_points(&json, input);
	write_candidates(&json, input->result);
	write_curves(&json, input->curves);
	write_experiments(&json, input->result);
	json_stream_close(&json);
}
