/* SPDX-License-Identifier: MIT */
/* weights_scene.c - a run of the sampler without a target (weights_scene.h). */
#include "weights_scene.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* tick.began_ns is the present: the time since then delays the count of threads that were never
 * seen (weigh_ended). */
static void
begin_tick(struct run *run)
{
	run->tick.number++;
	run->tick.began_ns = clock_now_ns();
	run->tick.time_ns += (uint64_t)WEIGHTS_SPAN_NS;
	run->tick.span_ns = (uint64_t)WEIGHTS_SPAN_NS;
}

struct machine_time weights_scene_machine_time;

static bool
weights_scene_machine(struct machine_time *out)
{
	*out = weights_scene_machine_time;
	return true;
}

/* None of the threads is its first one. */
static const struct process process = { .pid = 1 };

void
weights_scene_begin(struct weights_scene *scene, size_t threads, void (*change)(struct run *run))
{
	struct run *run = &scene->run;

	memset(scene, 0, sizeof(*scene));
	run->profile = profile_create();
	run->threads.thread = scene->list;
	run->stats.cpus = 2;
	scene->charging.run = run;
	scene->charging.hidden.last_entry = UINT32_MAX;
	if (change != NULL)
		change(run);
	weights_init(&scene->calibration, run, &scene->charging);
	scene->calibration.stolen.read = weights_scene_machine;
	weights_scene_machine_time = (struct machine_time){ .stolen_ns = 0 };
	weights_start(&scene->calibration);
	run->threads.count = threads;
	for (size_t i = 0; i < WEIGHTS_THREADS; i++) {
		struct sampled_thread *thread = &scene->thread[i];

		scene->list[i] = thread;
		scene->process.process = &process;
		thread->process = &scene->process;
		thread->watch.tid = (pid_t)(100 + i);
		thread->record = thread->green_task = THREAD_NONE;
		thread->stack = STACK_NONE;
		thread->selected = true;
		thread->syscall = SYSCALL_NONE;
		snprintf(thread->name, sizeof(thread->name), "worker");
		window_init(&thread->window);
	}
}

void
weights_scene_end(struct weights_scene *scene)
{
	for (size_t i = 0; i < WEIGHTS_THREADS; i++)
		window_release(&scene->thread[i].window);
	weights_release(&scene->calibration);
	table_release(&scene->run.records.shared);
	free(scene->charging.item);
	free(scene->charging.gap);
	profile_free(scene->run.profile);
}

void
weights_scene_count(struct weights_scene *scene, size_t thread, int64_t cpu_ms, int64_t delay_ms)
{
	struct sched *sched = &scene->thread[thread].sched;

	sched->cpu_ns += (uint64_t)(cpu_ms * (int64_t)NS_PER_MS);
	sched->delay_ns += (uint64_t)(delay_ms * (int64_t)NS_PER_MS);
}

/* --- samples --------------------------------------------------------------------------------- */

static uint32_t
make_stack(struct profile *profile, const char *leaf)
{
	uint32_t stack = stack_of_text(profile, "start", STACK_NONE);

	stack = stack_of_text(profile, "main", stack);
	stack = stack_of_text(profile, "work", stack);
	return stack_of_text(profile, leaf, stack);
}

/* Stores the sample as the thread's last observation, and adds it to the profile. */
static uint32_t
add_sample(struct weights_scene *scene, struct sampled_thread *thread, char letter)
{
	struct run *run = &scene->run;
	const char leaf[2] = { (char)tolower((unsigned char)letter), '\0' };
	const bool woken = letter == '+', slept = letter == '-' || woken;
	struct profile_entry entry = { .syscall = woken ? SYS_read : SYSCALL_NONE, .samples = 1 };
	uint32_t id;

	thread->state = letter == '-'                           ? RUN_SLEEPING :
			woken || isupper((unsigned char)letter) ? RUN_QUEUED :
								  RUN_RUNNING;
	thread->stack = make_stack(run->profile, slept ? "sleep" : leaf);
	thread->seen = true;
	thread->asleep = slept;
	entry.thread = thread_record_of_sample(run, thread, &entry.carrier);
	entry.stack = thread->stack;
	entry.state = thread->state;
	entry.gil = thread->gil;
	entry.ns[WEIGHT_WALL] = WEIGHTS_SPAN_NS;
	entry.ns[WEIGHT_CPU] = thread->state == RUN_RUNNING ? WEIGHTS_SPAN_NS : 0;
	id = profile_add(run->profile, &entry);
	window_add(&thread->window, id, entry.state, 1, WEIGHTS_SPAN_NS);
	if (woken)
		thread->state = RUN_SLEEPING;
	thread->woken = woken;
	return id;
}

/* Charges the tick to its runnable samples, as charge_tick does. */
static void
charge(struct weights_scene *scene, const uint32_t *entry, const size_t *owner, size_t runnable)
{
	struct profile *profile = scene->run.profile;
	struct charging *charging = &scene->charging;

	for (size_t i = 0; i < runnable; i++) {
		const int64_t ns = WEIGHTS_SPAN_NS / (int64_t)runnable;

		profile_charge(profile, entry[i], ns);
		window_charge(&scene->thread[owner[i]].window, entry[i], ns);
	}
	if (runnable == 0) {
		struct profile_entry gap = {
			.thread = thread_record(&scene->run, &scene->thread[0]),
			.stack = stack_of_text(profile, PROFILE_GAP, STACK_NONE),
			.state = RUN_SLEEPING,
			.syscall = SYSCALL_NONE,
			.ns[WEIGHT_LATENCY] = WEIGHTS_SPAN_NS,
		};

		charging->gap = xgrow(charging->gap, &charging->gap_capacity,
				      charging->gap_count + 1, sizeof(*charging->gap));
		charging->gap[charging->gap_count++] = (struct charged_gap){
			profile_add(profile, &gap), WEIGHTS_SPAN_NS
		};
	}
}

/* Runs tick `at` of the texts. Returns false if all texts have ended. */
static bool
run_tick(struct weights_scene *scene, const char *const *samples, size_t at)
{
	const size_t count = scene->run.threads.count;
	uint32_t entry[WEIGHTS_THREADS];
	size_t owner[WEIGHTS_THREADS], runnable = 0;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any = any || strlen(samples[i]) > at;
	if (!any)
		return false;
	begin_tick(&scene->run);
	for (size_t i = 0; i < count; i++) {
		if (strlen(samples[i]) <= at || samples[i][at] == '.')
			continue;
		entry[runnable] = add_sample(scene, &scene->thread[i], samples[i][at]);
		owner[runnable] = i;
		runnable += samples[i][at] != '-';
	}
	charge(scene, entry, owner, runnable);
	profile_add_tick(scene->run.profile, (uint64_t)WEIGHTS_SPAN_NS, 0, (uint32_t)runnable);
	return true;
}

void
weights_scene_tick(struct weights_scene *scene, const char *const *samples)
{
	for (size_t at = 0; run_tick(scene, samples, at);)
		at++;
}

void
weights_scene_window(struct weights_scene *scene, const char *const *samples, bool last)
{
	weights_scene_tick(scene, samples);
	weights_end_window(&scene->calibration, last);
}

void
weights_scene_remove(struct weights_scene *scene)
{
	scene->run.threads.count--;
	weights_end_thread(&scene->calibration, &scene->thread[scene->run.threads.count]);
}

/* --- results --------------------------------------------------------------------------------- */

int64_t
weights_scene_sum(struct weights_scene *scene, int thread, enum run_state state, const char *leaf,
		  enum weight weight)
{
	const struct profile *profile = scene->run.profile;
	int64_t sum = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const uint32_t frame = profile_stack(profile, entry->stack)->frame;
		const uint32_t text = (uint32_t)profile_frame(profile, frame)->address;

		if (thread >= 0 && entry->thread != scene->thread[thread].record)
			continue;
		if (state != RUN_STATE_COUNT && entry->state != state)
			continue;
		if (leaf != NULL && strcmp(profile_text(profile, text), leaf) != 0)
			continue;
		sum += entry->ns[weight];
	}
	return sum;
}
