/* SPDX-License-Identifier: MIT */
/* causal_ticks.c - chooses the time between the ticks of experiments. */
#include <math.h>

#include "cli/causal_command_internal.h"

/* Default duration (option -d) of profile and experiments together. */
#define DURATION_NS (300 * NS_PER_SEC)
/* Length of an experiment, as a multiple of bursts_unit_ns(): a second with long bursts. Short
 * experiments give narrower intervals, because their number shows how much they scatter. */
#define UNITS_IN_EXPERIMENT 200
/* If the run is too short for EXPERIMENTS_WANTED such experiments for each gain, they are shorter,
 * but have at least this length: a quarter of a second with long bursts. */
#define UNITS_LEAST_IN_EXPERIMENT 50
#define EXPERIMENTS_WANTED (CAUSAL_EXPERIMENTS_LEAST + 1)
/* Time for one experiment of a gain, as a multiple of its length: with its settling time, which is
 * half as long or, where events are rare, as long, and the same again for an experiment at speed-up
 * 0. */
#define TIMES_PER_EXPERIMENT 4.0

/* Logs a warning if a burst has too few ticks.. */
static void
warn_of_bursts(const struct causal_command *command)
{
	const struct causal_result *result = &command->result;
	const uint64_t burst_ns = command->bursts.burst_ns;
	const uint64_t tick_ns = bursts_tick_ns(&command->bursts);
	const struct log *log = &command->run.request.log;

	if (burst_ns == 0 || burst_ns >= bursts_least_ns(result->tick_ns))
		return;
	if (bursts_delayed(&command->bursts))
		log_say(log, LOG_NORMAL,
			"threads sleep after bursts of %s, and wait for a CPU for %.0f %% of the "
			"time in which they could run: ticks short enough for such bursts need "
			"free CPUs, and gains may be wrong",
			say_duration(burst_ns).text, 100 * command->bursts.delayed);
	else if (result->tick_ns > tick_ns)
		log_say(log, LOG_NORMAL,
			"threads sleep after bursts of %s, which need a shorter --tick: gains may "
			"be wrong (%s is chosen without --tick)",
			say_duration(burst_ns).text, say_duration(tick_ns).text);
	else
		log_say(log, LOG_NORMAL,
			"threads sleep after bursts of %s; gains are reliable for bursts of %s "
			"and longer: those of functions that other threads wait for may be wrong",
			say_duration(burst_ns).text,
			say_duration(bursts_least_ns(result->tick_ns)).text);
}

uint64_t
causal_time_left(const struct causal_command *command)
{
	const uint64_t wanted = command->run.request.options->duration_ns;
	const uint64_t all = wanted != 0 ? wanted : DURATION_NS;
	const uint64_t past = command->result.profile_ns;

	return all > past ? all - past : 1;
}

/* Returns the length of an experiment. */
static uint64_t
choose_length(const struct causal_command *command)
{
	const struct causal_result *result = &command->result;
	const double gains = (double)result->candidate_count *
			     (double)(result->speedup_count > 1 ? result->speedup_count - 1 : 1);
	const double left_ns = (double)causal_time_left(command) -
			       (double)(BURSTS_READ_NS + BURSTS_QUIET_NS);
	const double fits_ns = left_ns /
			       (fmax(1, gains) * EXPERIMENTS_WANTED * TIMES_PER_EXPERIMENT);
	const double unit_ns = (double)bursts_unit_ns(result->burst_ns, result->tick_ns);

	return (uint64_t)fmin(UNITS_IN_EXPERIMENT * unit_ns,
			      fmax(UNITS_LEAST_IN_EXPERIMENT * unit_ns, fits_ns));
}

void
causal_choose_ticks(struct causal_command *command)
{
	const struct options *options = command->run.request.options;
	struct causal_result *result = &command->result;

	command->bursts = bursts_measure(target_first(&command->run.target));
	result->burst_ns = command->bursts.burst_ns;
	result->tick_ns = options->tick_ns != 0 ? options->tick_ns :
						  bursts_tick_ns(&command->bursts);
	result->experiment_ns = options->experiment_ns != 0 ? options->experiment_ns :
							      choose_length(command);
	log_say(&command->run.request.log, LOG_VERBOSE,
		"bursts of %s: ticks every %s, experiments of %s",
		say_duration(command->bursts.burst_ns).text, say_duration(result->tick_ns).text,
		say_duration(result->experiment_ns).text);
	warn_of_bursts(command);
}
