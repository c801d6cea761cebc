/* SPDX-License-Identifier: MIT */
/*
 * json.c - the whole report as data, in the shape that wallsample-formats(5) describes.
 *
 * A list has an element a line, each made by jansson and freed again, so that a large profile is
 * never in memory a second time. What is written here is the punctuation between them.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "exporters.h"
#include "wallsample/base.h"
#include "wallsample/chain.h"
#include "wallsample/module.h"
#include "wallsample/result.h"
#include "wallsample/state.h"

/* Grows when a reader of the last one would misread what is written. */
#define SCHEMA 1
#define DUMP_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9))

struct writing {
	const struct export_input *input;
	const struct view *view;
	FILE *out;
	bool first;         /* nothing was written yet in the list or object that is open */
	/* By function of the view and thread of the profile: their places in the lists. */
	json_t **function, **thread; /* NULL: not in it */
	struct strbuf scratch;
};

/* --- punctuation ------------------------------------------------------------ */

static void
separate(struct writing *writing)
{
	fputs(writing->first ? "\n" : ",\n", writing->out);
	writing->first = false;
}

static void
write_name(struct writing *writing, const char *name)
{
	separate(writing);
	fprintf(writing->out, "\"%s\":", name);
}

/* Takes the value over, as do those below. */
static void
write_value(struct writing *writing, json_t *value)
{
	json_dumpf(value, writing->out, DUMP_FLAGS);
	json_decref(value);
}

static void
write_member(struct writing *writing, const char *name, json_t *value)
{
	write_name(writing, name);
	write_value(writing, value);
}

static void
begin_list(struct writing *writing, const char *name)
{
	write_name(writing, name);
	fputc('[', writing->out);
	writing->first = true;
}

static void
write_element(struct writing *writing, json_t *value)
{
	separate(writing);
	write_value(writing, value);
}

static void
end_list(struct writing *writing)
{
	fputs("\n]", writing->out);
	writing->first = false;
}

/* --- values ------------------------------------------------------------ */

/* Valid UTF-8 without control characters; whole otherwise. */
static json_t *
foreign(struct writing *writing, const char *text)
{
	strbuf_clear(&writing->scratch);
	strbuf_add_one_line(&writing->scratch, text);
	return json_string(writing->scratch.data);
}

static json_t *
number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static void
add_weights(json_t *object, const int64_t *ns)
{
	json_object_set_new(object, "wall_ns", json_integer(ns[WEIGHT_WALL]));
	json_object_set_new(object, "overhead_ns", json_integer(ns[WEIGHT_OVERHEAD]));
	json_object_set_new(object, "latency_ns", json_integer(ns[WEIGHT_LATENCY]));
}

static json_t *
weights(const int64_t *ns)
{
	json_t *object = json_object();

	add_weights(object, ns);
	return object;
}

/* The state, and the system call it is a sleep in. */
static void
add_state(struct writing *writing, json_t *object, enum run_state state, int32_t syscall)
{
	const bool waits = state == RUN_SLEEPING || state == RUN_DISK;
	json_t *call = NULL;

	json_object_set_new(object, "state", json_string(run_state_text(state)));
	if (!waits || syscall == SYSCALL_NONE) {
		call = json_null();
	} else if (syscall == SYSCALL_UNKNOWN) {
		call = json_string("unknown");
	} else if (syscall_name(syscall) != NULL) {
		call = json_string(syscall_name(syscall));
	} else {
		strbuf_clear(&writing->scratch);
		strbuf_add_format(&writing->scratch, "%" PRId32, syscall);
		call = json_string(writing->scratch.data);
	}
	json_object_set_new(object, "syscall", call);
}

/* --- what was sampled, and how ------------------------------------------------------------ */

static void
write_target(struct writing *writing)
{
	const struct process *process = writing->input->process;
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_integer(process->pid));
	json_object_set_new(object, "name", foreign(writing, process->comm));
	json_object_set_new(object, "command_line", foreign(writing, process->cmdline));
	write_member(writing, "target", object);
}

static void
write_sampling(struct writing *writing)
{
	static const char *const ends[] = {
		[SAMPLER_DURATION] = "duration", [SAMPLER_STOPPED] = "stopped",
		[SAMPLER_GONE] = "gone",
	};
	static const char *const keys[] = {
#define X(name, text) [VIEW_BY_##name] = text,
		VIEW_KEYS(X)
#undef X
	};
	const struct export_input *input = writing->input;
	const struct sampler_stats *stats = input->stats;
	json_t *object = json_object();

	json_object_set_new(object, "began_ns", input->began_ns > 0 ? number(input->began_ns) :
								      json_null());
	json_object_set_new(object, "elapsed_ns", number(stats->elapsed_ns));
	json_object_set_new(object, "ticks", number(stats->ticks));
	json_object_set_new(object, "rate_hz", json_real(stats->rate_wanted));
	json_object_set_new(object, "samples", number(stats->thread_samples));
	json_object_set_new(object, "threads_seen", number(stats->threads_seen));
	json_object_set_new(object, "threads_most", number(stats->threads_most));
	json_object_set_new(object, "end", input->snapshot ? json_null() :
							     json_string(ends[input->end]));
	json_object_set_new(object, "execed", json_boolean(stats->execed));
	json_object_set_new(object, "filtered", json_boolean(input->filtered));
	json_object_set_new(object, "by", json_string(keys[view_key(writing->view)]));
	json_object_set_new(object, "sort", json_string(weight_word(input->sort)));
	write_member(writing, "sampling", object);
}

static json_t *
stops(const struct histogram *histogram)
{
	json_t *object = json_object();
	const bool any = histogram->count > 0;

	json_object_set_new(object, "count", number(histogram->count));
	json_object_set_new(object, "sum_ns", number(histogram->sum));
	json_object_set_new(object, "median_ns",
			    number(any ? histogram_quantile(histogram, 0.5) : 0));
	json_object_set_new(object, "p99_ns",
			    number(any ? histogram_quantile(histogram, 0.99) : 0));
	json_object_set_new(object, "longest_ns", number(any ? histogram->max : 0));
	return object;
}

static void
write_cost(struct writing *writing)
{
	const struct sampler_stats *stats = writing->input->stats;
	json_t *object = json_object();

	json_object_set_new(object, "own_cpu_ns", number(stats->own_cpu_ns));
	json_object_set_new(object, "peak_memory_bytes", number(stats->peak_memory));
	json_object_set_new(object, "target_cpu_ns", stats->target_cpu_known ?
							     number(stats->target_cpu_ns) :
							     json_null());
	json_object_set_new(object, "looks", number(stats->looks));
	json_object_set_new(object, "stacks_reused", number(stats->reused));
	json_object_set_new(object, "stacks_read", number(stats->read));
	json_object_set_new(object, "stacks_stopped", number(stats->stopped));
	json_object_set_new(object, "stops", stops(&stats->stop_ns));
	json_object_set_new(object, "rate_lowest_hz", json_real(stats->rate_lowest));
	json_object_set_new(object, "thinnest", number(stats->thinnest));
	json_object_set_new(object, "repaired", number(stats->repaired));
	json_object_set_new(object, "signals_passed", number(stats->signals_passed));
	write_member(writing, "cost", object);
}

/* Counts by their text; what never happened is left out. */
static void
write_losses(struct writing *writing)
{
	const struct sampler_stats *stats = writing->input->stats;
	json_t *object = json_object(), *failed = json_object(), *cut = json_object();

	for (size_t i = 0; i < FAILURE_COUNT; i++)
		if (stats->failed[i] > 0)
			json_object_set_new(failed, sample_failure_text((enum sample_failure)i),
					    number(stats->failed[i]));
	for (size_t i = 0; i < CHAIN_END_COUNT; i++)
		if (stats->chains[i] > 0 && !chain_end_is_whole((enum chain_end)i))
			json_object_set_new(cut, chain_end_text((enum chain_end)i),
					    number(stats->chains[i]));
	json_object_set_new(object, "samples_failed", failed);
	json_object_set_new(object, "stacks_cut_off", cut);
	write_member(writing, "losses", object);
}

static void
write_total(struct writing *writing)
{
	json_t *object = json_object();
	int64_t ns[WEIGHT_COUNT];

	for (int w = 0; w < WEIGHT_COUNT; w++)
		ns[w] = view_total_ns(writing->view, (enum weight)w);
	add_weights(object, ns);
	json_object_set_new(object, "samples", json_integer(view_total_samples(writing->view)));
	json_object_set_new(object, "unfiltered_wall_ns",
			    json_integer(view_unfiltered_ns(writing->view)));
	write_member(writing, "total", object);
}

static void
write_parallelism(struct writing *writing)
{
	const struct profile *profile = view_profile(writing->view);

	begin_list(writing, "parallelism");
	for (size_t p = 0; p < profile_parallelism_count(profile); p++) {
		const struct profile_parallelism *at = profile_parallelism(profile, p);
		json_t *object = json_object();

		if (at->ticks == 0) {
			json_decref(object);
			continue;
		}
		json_object_set_new(object, "threads", number(p));
		json_object_set_new(object, "ticks", number(at->ticks));
		json_object_set_new(object, "real_ns", number(at->time_ns));
		json_object_set_new(object, "cpu_ns", number(at->cpu_ns));
		write_element(writing, object);
	}
	end_list(writing);
}

/* --- tables ------------------------------------------------------------ */

static void
write_function(struct writing *writing, const struct top_row *row)
{
	const struct view_function *function = view_function(writing->view, row->function);
	json_t *object = json_object();

	json_object_set_new(object, "name", foreign(writing, function->name));
	json_object_set_new(object, "module", foreign(writing, function->module));
	json_object_set_new(object, "known", json_boolean(function->known));
	json_object_set_new(object, "flat", weights(row->flat));
	json_object_set_new(object, "cum", weights(row->cum));
	json_object_set_new(object, "parallelism",
			    row->busy_ns > 0 ? json_real((double)row->cum[WEIGHT_OVERHEAD] /
							 (double)row->busy_ns) :
					       json_null());
	write_element(writing, object);
}

/*
 * All functions that a stack names: those that weigh something by the weight asked for in the
 * order of the report, then the others.
 */
static void
write_functions(struct writing *writing)
{
	json_int_t count = 0;

	begin_list(writing, "functions");
	for (int turn = 0; turn <= WEIGHT_COUNT; turn++) {
		const enum weight weight =
			turn == 0 ? writing->input->sort : (enum weight)(turn - 1);
		struct top_table top;

		top_table_make(writing->view, weight, &top);
		for (size_t i = 0; i < top.count; i++) {
			if (writing->function[top.row[i].function] != NULL)
				continue;
			writing->function[top.row[i].function] = json_integer(count++);
			write_function(writing, &top.row[i]);
		}
		top_table_release(&top);
	}
	end_list(writing);
}

static void
write_threads(struct writing *writing)
{
	const struct profile *profile = view_profile(writing->view);
	struct thread_table threads;

	begin_list(writing, "threads");
	thread_table_make(writing->view, &threads);
	for (size_t i = 0; i < threads.count; i++) {
		const struct thread_row *row = &threads.row[i];
		const struct profile_thread *thread = profile_thread(profile, row->thread);
		const bool top = row->top < view_function_count(writing->view);
		json_t *object = json_object();

		writing->thread[row->thread] = number(i);
		json_object_set_new(object, "tid", json_integer(thread->tid));
		json_object_set_new(object, "start_time", number(thread->start_time));
		json_object_set_new(object, "name",
				    foreign(writing, profile_text(profile, thread->name)));
		add_weights(object, row->ns);
		json_object_set_new(object, "runnable_ns", json_integer(row->runnable_ns));
		if (top)
			json_object_set(object, "mostly_in", writing->function[row->top]);
		else
			json_object_set_new(object, "mostly_in", json_null());
		write_element(writing, object);
	}
	thread_table_release(&threads);
	end_list(writing);
}

static void
write_states(struct writing *writing)
{
	struct state_table states;

	begin_list(writing, "states");
	state_table_make(writing->view, &states);
	for (size_t i = 0; i < states.count; i++) {
		json_t *object = json_object();

		add_state(writing, object, states.row[i].state, states.row[i].syscall);
		json_object_set_new(object, "samples", json_integer(states.row[i].samples));
		add_weights(object, states.row[i].ns);
		write_element(writing, object);
	}
	state_table_release(&states);
	end_list(writing);
}

static void
write_modules(struct writing *writing)
{
	const struct modules *modules = writing->input->modules;
	const size_t count = modules != NULL ? modules_count(modules) : 0;
	bool *used = xcalloc(count + 1, sizeof(*used));

	for (uint32_t f = 0; f < view_function_count(writing->view); f++)
		if (view_function(writing->view, f)->module_id < count)
			used[view_function(writing->view, f)->module_id] = true;
	begin_list(writing, "modules");
	for (uint32_t id = 0; id < count; id++) {
		const struct module *module = modules_get(modules, id);
		json_t *object;

		if (!used[id])
			continue;
		object = json_object();
		json_object_set_new(object, "name", foreign(writing, module->name));
		json_object_set_new(object, "path", foreign(writing, module->path));
		json_object_set_new(object, "build_id", json_string(module->build_id));
		write_element(writing, object);
	}
	end_list(writing);
	free(used);
}

/* --- stacks ------------------------------------------------------------ */

static void
write_stacks(struct writing *writing)
{
	begin_list(writing, "stacks");
	for (size_t i = 0; i < view_row_count(writing->view); i++) {
		const struct view_row *row = view_row(writing->view, i);
		json_t *object = json_object(), *functions = json_array();

		json_object_set(object, "thread", writing->thread[row->thread]);
		add_state(writing, object, row->state, row->syscall);
		json_object_set_new(object, "samples", json_integer(row->samples));
		add_weights(object, row->ns);
		for (size_t f = 0; f < row->depth; f++)
			json_array_append(functions, writing->function[row->function[f]]);
		json_object_set_new(object, "functions", functions);
		write_element(writing, object);
	}
	end_list(writing);
}

static void
json_write(const struct export_input *input, FILE *out)
{
	const size_t functions = view_function_count(input->view);
	const size_t threads = profile_thread_count(view_profile(input->view));
	struct writing writing = {
		.input = input,
		.view = input->view,
		.out = out,
		.first = true,
		.function = xcalloc(functions + 1, sizeof(*writing.function)),
		.thread = xcalloc(threads + 1, sizeof(*writing.thread)),
	};

	/* Then nothing that jansson makes can fail for want of memory. */
	json_set_alloc_funcs(xmalloc, free);
	strbuf_init(&writing.scratch);
	fputc('{', out);
	write_member(&writing, "schema", json_integer(SCHEMA));
	write_member(&writing, "generator", json_string("wallsample"));
	write_target(&writing);
	write_sampling(&writing);
	write_cost(&writing);
	write_losses(&writing);
	write_total(&writing);
	write_parallelism(&writing);
	write_functions(&writing);
	write_threads(&writing);
	write_states(&writing);
	write_modules(&writing);
	write_stacks(&writing);
	fputs("\n}\n", out);
	for (size_t i = 0; i < functions; i++)
		json_decref(writing.function[i]);
	for (size_t i = 0; i < threads; i++)
		json_decref(writing.thread[i]);
	free(writing.function);
	free(writing.thread);
	strbuf_release(&writing.scratch);
}

const struct exporter exporter_json = {
	.name = "json",
	.help = "the whole report as data",
	.endings = "json",
	.noun = "report",
	.write = json_write,
};
