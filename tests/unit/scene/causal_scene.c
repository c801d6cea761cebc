/* SPDX-License-Identifier: MIT */
/* causal_scene.c - simulates experiments on a program whose gains are known. */
#include "causal_scene.h"

#include <math.h>
#include <stdlib.h>

#include "wallsample/causal/causal_run.h"

#define LOOK 0.005
#define EVENTS_WANTED CAUSAL_EVENTS_LEAST
#define LATENCY 0.020 /* seconds from begin to end, without a speed-up */

struct clock {
	double wall_ns;
	double until_next; /* time until the next event, in mean intervals between events */
};

static double
normal(struct rng *rng)
{
	return sqrt(-2 * log(rng_uniform(rng))) * cos(2 * M_PI * rng_uniform(rng));
}

/* Simulates an experiment without a speed-up. Returns the number of events; stores the duration in
 * s in *lasted. */
static double
run_for(const struct causal_scene *scene, struct rng *rng, double rate, struct clock *clock,
	double *lasted)
{
	double time = clock->until_next / rate, events = 0, end = scene->fixed ? 1 : HUGE_VAL;

	while (time <= end) {
		events++;
		if (!scene->fixed && time >= 1 && events >= EVENTS_WANTED && isinf(end))
			end = ceil(time / LOOK) * LOOK;
		time += (scene->independent ? rng_exponential(rng, 1) : 1) / rate;
	}
	clock->until_next = (time - end) * rate;
	*lasted = end;
	return events;
}

static void
experiment(const struct causal_scene *scene, struct rng *rng, struct clock *clock, double progress,
	   uint32_t candidate, double speedup, struct causal_result *result)
{
	struct causal_experiment *made = causal_result_add_experiment(result);
	const double gain = speedup > 0 ? scene->gain(candidate, speedup) : 0;
	const double scatter = fmax(0.1, 1 + scene->scatter * normal(rng));
	const double drift = 1 + scene->drift * progress;
	const double rate = scene->rate * (scene->latency ? 1 : (1 + gain) * scatter) * drift;
	double lasted, events = run_for(scene, rng, rate, clock, &lasted);

	made->candidate = candidate;
	made->speedup = speedup;
	made->began_ns = (uint64_t)clock->wall_ns;
	made->wall_ns = (uint64_t)(lasted / (1 - speedup / 2) * 1e9);
	made->held_ns = made->wall_ns - (uint64_t)(lasted * 1e9);
	made->ticks = (uint64_t)(lasted / LOOK);
	made->end = CAUSAL_WHOLE;
	made->reading[0].count = events;
	clock->wall_ns += (double)made->wall_ns;
	for (double i = 0; scene->latency && i < events; i++)
		made->reading[0].in_progress_ns += rng_exponential(rng, LATENCY * 1e9) *
						   (1 - gain) * scatter * drift;
	if (scene->sampled > 0)
		made->reading[0].in_progress_ns +=
			scene->sampled * 1e9 * sqrt(events) * normal(rng);
}

void
causal_scene_run(const struct causal_scene *scene, struct rng *rng, struct causal_result *result)
{
	const size_t tried = scene->speedup_count - 1;
	const size_t count = scene->candidates * tried * scene->repeats;
	size_t *order = xcalloc(count, sizeof(*order));
	struct clock clock = { .until_next = 1 };

	causal_result_init(result);
	result->precision = 0.02;
	/* An experiment of fixed length has one that has reached the largest length. */
	result->experiment_ns = scene->fixed ? NS_PER_SEC / CAUSAL_LONGEST : NS_PER_SEC;
	causal_result_add_point(result, "requests", "var:requests",
				scene->latency ? CAUSAL_LATENCY : CAUSAL_THROUGHPUT);
	for (size_t c = 0; c < scene->candidates; c++)
		causal_result_add_candidate(result, (const char[]){ (char)('a' + c), 0 }, "server",
					    NULL, 0);
	for (size_t s = 0; s < scene->speedup_count; s++)
		result->speedup[result->speedup_count++] = scene->speedups[s];
	for (size_t i = 0; i < count; i++) {
		const size_t j = rng_next(rng) % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (size_t i = 0; i < count; i++) {
		const uint32_t candidate = (uint32_t)(order[i] % scene->candidates);
		const size_t s = order[i] / scene->candidates % tried + 1;
		const double half = 0.5 / (double)count;
		const double progress = (double)i / (double)count;

		experiment(scene, rng, &clock, progress, candidate, 0, result);
		experiment(scene, rng, &clock, progress + half, candidate, scene->speedups[s],
			   result);
	}
	free(order);
}
