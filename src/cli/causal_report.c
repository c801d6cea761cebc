/* SPDX-License-Identifier: MIT */
/* causal_report.c - writes the report of experiments. */
#include "cli/causal_command_internal.h"

/* Seed of the bootstrap, constant: the same experiments always give the same report. */
#define CURVES_SEED 1

#define REPORT_ROWS 20

struct causal_writing {
	const struct exporter *exporter;
	const struct causal_input *input;
};

static int
write_causal(void *context, FILE *out, struct error *err)
{
	const struct causal_writing *writing = context;

	(void)err;
	writing->exporter->write_causal(writing->input, out);
	return 0;
}

/* SAMPLE_NOTHING without experiments; SAMPLE_PARTIAL if a result is unknown. */
static enum sample_status
status_of(const struct causal_result *result, const struct causal_curves *curves)
{
	enum sample_status status = SAMPLE_NOTHING;

	for (size_t i = 0; i < result->experiment_count; i++)
		if (result->experiment[i].end == CAUSAL_WHOLE)
			status = SAMPLE_WHOLE;
	for (size_t i = 0; status == SAMPLE_WHOLE && i < curves->count; i++)
		if (curves->curve[i].point == 0 && curves->curve[i].verdict == CAUSAL_UNSURE)
			status = SAMPLE_PARTIAL;
	return status == SAMPLE_WHOLE && result->target_gone ? SAMPLE_PARTIAL : status;
}

int
causal_write_report(struct causal_command *command, const char *note, bool snapshot,
		    struct error *err)
{
	const struct run *run = &command->run;
	const struct options *options = run->request.options;
	struct causal_curves curves;
	struct causal_input input = {
		.result = &command->result,
		.curves = &curves,
		.columns = output_columns(&run->request.output),
		.limit = options->limit > 0 ? options->limit : REPORT_ROWS,
		.snapshot = snapshot,
		.note = note,
	};
	struct causal_writing writing = { .exporter = run->request.exporter, .input = &input };
	int rc = 0;

	causal_curves_make(&command->result, CURVES_SEED, &curves);
	command->status = status_of(&command->result, &curves);
	if (run->request.exporter != NULL)
		rc = output_write(&run->request.output, write_causal, &writing, err);
	causal_curves_release(&curves);
	return rc;
}
