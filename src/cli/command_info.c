/* SPDX-License-Identifier: MIT */
/* command_info.c - wallsample info: describes the contents of recordings. */
#include <stdlib.h>

#include "cli/cli_internal.h"
#include "wallsample/report/quantity.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/report/report.h"

#define LABEL_WIDTH 11
/* Most processes that are listed. */
#define PROCESSES_MOST 20

static void
print_text(const char *label, const char *text)
{
	struct strbuf shown = STRBUF_INIT;

	strbuf_add_escaped(&shown, text);
	printf("%-*s%s\n", LABEL_WIDTH, label, shown.data != NULL ? shown.data : "");
	strbuf_release(&shown);
}

static void
print_count(const char *label, uint64_t count)
{

	printf("%-*s%s\n", LABEL_WIDTH, label, quantity_count(count).text);
}

/* Prints the process, or the processes, at most PROCESSES_MOST. */
static void
print_processes(const struct recording_info *info, const struct profile *profile)
{
	const size_t count = profile_process_count(profile);
	struct strbuf sb = STRBUF_INIT;

	if (count < 2) {
		strbuf_add_format(&sb, "%lld (%s)", (long long)info->pid, info->comm);
		print_text("Process", sb.data);
		print_text("Command", info->cmdline);
	} else {
		print_count("Processes", count);
	}
	for (uint32_t i = 0; count > 1 && i < count && i < PROCESSES_MOST; i++) {
		const struct profile_process *process = profile_process(profile, i);

		strbuf_clear(&sb);
		strbuf_add_format(&sb, "%lld (%s) %s", (long long)process->pid,
				  profile_text(profile, process->name),
				  profile_text(profile, process->cmdline));
		print_text("", sb.data);
	}
	if (count > PROCESSES_MOST) {
		strbuf_clear(&sb);
		strbuf_add_format(&sb, "… and %s more",
				  quantity_count(count - PROCESSES_MOST).text);
		print_text("", sb.data);
	}
	strbuf_release(&sb);
}

static void
print_origin(const struct recording_info *info, const struct profile *profile)
{
	struct strbuf sb = STRBUF_INIT;

	print_text("Recording", info->path);
	print_processes(info, profile);
	if (info->runtime[0] != '\0')
		print_text("Runtime", info->runtime);
	if (info->unread[0] != '\0')
		print_text("Not read", info->unread);
	if (info->others[0] != '\0')
		print_text("Used by", info->others);
	strbuf_clear(&sb);
	strbuf_add_format(&sb, "%s, %s, Linux %s, %u CPUs for the process", info->host,
			  info->machine, info->kernel, info->cpus);
	print_text("Host", sb.data);
	strbuf_clear(&sb);
	strbuf_add_format(&sb, "%s by wallsample %s: %s", say_date(info->began, false).text,
			  info->version, info->command);
	print_text("Made", sb.data);
	if (info->being_written)
		print_text("State", "being written at this moment");
	else if (!info->ended)
		print_text("State",
			   "never finished: the last second of samples may be missing (after a "
			   "power cut: the last 5 seconds, or more if the disk was slow)");
	else
		print_text("State", info->end != RUN_END_EXITED ? "whole" :
				    info->processes > 1         ? "whole: all processes ended" :
								  "whole: the process ended");
	strbuf_release(&sb);
}

static void
print_amounts(const struct recording_info *info, const struct run_stats *stats)
{

	printf("%-*s%s at %.10g Hz: %s samples in %s ticks\n", LABEL_WIDTH, "Sampled",
	       say_duration(info->span_ns).text, info->rate_hz,
	       quantity_count(stats->thread_samples).text, quantity_count(info->ticks).text);
	print_count("Spans", info->spans);
	print_count("Threads", info->threads);
	print_count("Stacks", info->stacks);
	print_count("Frames", info->frames);
	print_count("Names", info->symbols);
	print_count("Modules", info->modules);
	printf("%-*s%.4g MiB\n", LABEL_WIDTH, "Size", (double)info->size / (1 << 20));
}

static void
print_cost(const struct recording_info *info, const struct run_stats *stats)
{
	const double seconds = (double)info->span_ns / (double)NS_PER_SEC;
	struct strbuf excluded = STRBUF_INIT;
	bool lost = false;

	for (size_t i = 0; i < FAILURE_COUNT; i++)
		if (stats->failed[i] > 0) {
			printf("%-*s%llu %s\n", LABEL_WIDTH, lost ? "" : "Failed",
			       (unsigned long long)stats->failed[i],
			       sample_failure_text((enum sample_failure)i));
			lost = true;
		}
	if (!lost)
		print_text("Failed", "none");
	if (report_add_excluded(&stats->excluded, &excluded))
		print_text("Excluded", excluded.data);
	strbuf_clear(&excluded);
	if (report_add_excluded_processes(&stats->excluded_processes, &excluded))
		print_text("Excluded", excluded.data);
	strbuf_release(&excluded);
	if (stats->running > 0)
		printf("%-*s%llu of %llu samples of running threads\n", LABEL_WIDTH, "Exact",
		       (unsigned long long)stats->running_exact,
		       (unsigned long long)stats->running);
	printf("%-*s%llu stops, %.4g %% of one CPU, %.4g MiB of memory\n", LABEL_WIDTH, "Own cost",
	       (unsigned long long)stats->stopped,
	       seconds > 0 ? (double)stats->own_cpu_ns / 1e7 / seconds : 0,
	       (double)stats->peak_memory / (1 << 20));
}

static void
print_causal(const struct causal_result *result)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_format(&sb, "%zu candidate%s, %zu experiments in %s, of which %s held",
			  result->candidate_count, result->candidate_count == 1 ? "" : "s",
			  result->experiment_count, say_duration(result->wall_ns).text,
			  say_duration(result->held_ns).text);
	for (size_t i = 0; i < result->point_count; i++)
		strbuf_add_format(&sb, "%s%s",
				  i > 0 ? ", " : "; progress: ", result->point[i].name);
	print_text("Causal", sb.data);
	strbuf_release(&sb);
}

static int
print_loaded(struct recording *recording, struct recording_load *load, struct error *err)
{
	const struct recording_info *info = recording_info(recording);
	struct causal_result causal;
	int rc = recording_load(recording, load, err);

	causal_result_init(&causal);
	if (rc == 0 && info->causal)
		rc = recording_read_causal(recording, &causal, err);
	if (rc == 0) {
		print_origin(info, load->profile);
		print_amounts(info, load->stats);
		print_cost(info, load->stats);
		if (info->causal)
			print_causal(&causal);
	}
	causal_result_release(&causal);
	return rc;
}

static int
print_file(const char *path, struct error *err)
{
	struct run_stats *stats = xcalloc(1, sizeof(*stats));
	struct recording_load load = { .stats = stats };
	struct recording *recording;
	int rc = recording_open(path, &recording, err);

	if (rc == 0) {
		load.profile = profile_create();
		load.names = recorded_names_create();
		rc = print_loaded(recording, &load, err);
		recorded_names_free(load.names);
		profile_free(load.profile);
		recording_close(recording);
	}
	free(stats);
	return rc;
}

int
command_info(const struct options *options, int *status, struct error *err)
{
	int rc = 0;

	(void)status;
	if (options->files.count == 0)
		return error_set(err, ERROR_USAGE,
				 "no recording is given: wallsample info FILE.wsdb");
	for (size_t i = 0; rc == 0 && i < options->files.count; i++) {
		if (i > 0)
			putchar('\n');
		rc = print_file(options->files.text[i], err);
	}
	return rc;
}
