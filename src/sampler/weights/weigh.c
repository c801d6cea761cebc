/* SPDX-License-Identifier: MIT */
/* weigh.c - divides the times that the kernel has counted in a window (weights_internal.h). */
#include <math.h>
#include <stdlib.h>

#include "sampler/threads_internal.h"
#include "sampler/weights/weigh_ended_internal.h"
#include "sampler/weights/weights_internal.h"

/* Length of a window. It grows with the number of threads, because the window's last tick observes
 * all of them: THREADS_A_WINDOW threads a second at most. */
#define WINDOW_NS NS_PER_SEC
#define THREADS_A_WINDOW 2000

/* A difference below 1/SMALL of the window is carried to the next window; at the end of the run
 * only one below LAST_SMALL_NS is left. */
#define SMALL 1000
#define LAST_SMALL_NS 20000
/* Least time on a CPU that gets a named frame. */
#define UNPLACED_LEAST_NS 100000

/* Of a thread that has no blocked sample, blocked time up to this part of the window is counted as
 * runnable: that of system calls that hardly block. */
#define BLOCKED_PART 200

/* Most time that a thread may have had stolen, as a multiple of what its CPU time makes likely: of
 * a thread with blocked samples, and of one without. Its CPU may have had more than the others. Of
 * two CPUs that were busy all the time one had four times as much as the other for 2.5 s. */
#define STOLEN_MOST 2.0
#define STOLEN_MOST_AWAKE 4.0
/* Samples in a window are too few if each stands for more than this number of times its own
 * weight. */
#define STRETCH_MOST 4
/* A thread with fewer samples in its life is brief (keep_brief). */
#define BRIEF_SAMPLES 8

/* The known and the estimated times of a thread in a window, by class. */
struct account {
	int64_t known[WEIGHT_CLASSES], sampled[WEIGHT_CLASSES], samples[WEIGHT_CLASSES];
	int64_t all_ns; /* length of the window: sum of the weights of all its samples */
};

static int64_t
between(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* --- the times of one thread  --------------------------------------------------------------- */

static void
sum_samples(const struct calibration *calibration, const struct thread_window *window,
	    struct account *account)
{
	*account = (struct account){ 0 };
	for (size_t i = 0; i < window->count; i++) {
		const struct window_cell *cell = &window->cell[i];
		const enum weight_class class = weight_class_of(
			profile_entry(calibration->run->profile, cell->entry)->state);

		account->sampled[class] += cell->ns;
		account->samples[class] += cell->samples;
		account->all_ns += cell->ns;
	}
}

/* Adds what the kernel has counted since the last call to window->carried. */
static void
read_counters(struct sampled_thread *thread)
{
	struct thread_window *window = &thread->window;
	const struct sched now = thread->late != NULL ? thread->late->latest : thread->sched;

	if (now.cpu_ns < window->counted.cpu_ns || now.delay_ns < window->counted.delay_ns) {
		/* Once: the last reading is older than the one of a late sample. Twice: another
		 * thread has taken this thread's id by an exec. */
		if (window->backwards)
			window->counted = now;
		window->backwards = !window->backwards;
		return;
	}
	window->backwards = false;
	window->waits = now.delay_ns - window->counted.delay_ns >= WAITS_LEAST_NS;
	thread->process->weights.known_ns += (int64_t)(now.cpu_ns - window->counted.cpu_ns);
	window->carried[CLASS_CPU] += (int64_t)(now.cpu_ns - window->counted.cpu_ns);
	window->carried[CLASS_QUEUE] += (int64_t)(now.delay_ns - window->counted.delay_ns);
	window->counted = now;
}

/*
 * Takes the time for which a hypervisor used the thread's CPU (stolen.h) from the blocked time,
 * which is what the counters do not explain, and returns it: the thread waited for a CPU. The
 * kernel knows the stolen time of CPUs, not of threads. So the samples divide the time that the
 * counters do not explain into blocked and stolen time, within a bound: what is likely for a thread
 * is the same share of its CPU time as for the machine.
 */
static int64_t
take_stolen(const struct calibration *calibration, struct account *account)
{
	int64_t *blocked = &account->known[CLASS_BLOCKED];
	const double likely = calibration->stolen.share * (double)account->known[CLASS_CPU];
	const bool slept = account->samples[CLASS_BLOCKED] > 0;
	const int64_t most = (int64_t)(likely * (slept ? STOLEN_MOST : STOLEN_MOST_AWAKE));
	const int64_t asleep = slept ? between(account->sampled[CLASS_BLOCKED], 0, *blocked) : 0;
	const int64_t stolen = between(*blocked - asleep, 0, most);

	*blocked -= stolen;
	calibration->run->stats.stolen_ns += (uint64_t)stolen;
	return stolen;
}

/*
 * Sets account->known from the counters. The kernel counts a wait for a CPU when it ends, and the
 * CPU time of a running thread at scheduler ticks. So of a run or wait in progress, one tick at
 * most is counted in advance, and taken back in the next window. A late thread (late.c) has no
 * samples yet for the wait in progress. Stops by the sampler delay a runnable thread. No counter of
 * the kernel has this time; it counts as a wait for a CPU.
 */
static void
know_times(const struct calibration *calibration, struct sampled_thread *thread,
	   struct account *account)
{
	const struct run *run = calibration->run;
	struct thread_window *window = &thread->window;
	int64_t *known = account->known, *blocked = &known[CLASS_BLOCKED], more;
	const enum run_state state = thread->woken ? RUN_QUEUED : thread->state;
	const bool awake = (!thread->asleep || thread->woken) && thread->late == NULL;

	known[CLASS_CPU] = between(window->carried[CLASS_CPU], 0, account->all_ns);
	known[CLASS_QUEUE] = between(window->carried[CLASS_QUEUE], 0,
				     account->all_ns - known[CLASS_CPU]);
	*blocked = account->all_ns - known[CLASS_CPU] - known[CLASS_QUEUE];
	if (awake && run_state_runnable(state) && account->samples[CLASS_BLOCKED] <= 0) {
		more = between(*blocked, 0, state == RUN_RUNNING ? SCHED_TICK_NS : 0);
		known[CLASS_CPU] += more;
		*blocked -= more;
		more = between(*blocked, 0, (int64_t)(run->tick.time_ns - window->moved_ns));
		known[CLASS_QUEUE] += more;
		*blocked -= more;
	}
	window->carried[CLASS_CPU] -= known[CLASS_CPU];
	window->carried[CLASS_QUEUE] -= known[CLASS_QUEUE];
	more = between(*blocked, 0, window->stopped_ns);
	known[CLASS_QUEUE] += more;
	*blocked -= more;
	known[CLASS_QUEUE] += take_stolen(calibration, account);
	if (account->samples[CLASS_BLOCKED] > 0)
		return;
	more = between(*blocked, 0, account->all_ns / BLOCKED_PART);
	known[known[CLASS_CPU] >= known[CLASS_QUEUE] ? CLASS_CPU : CLASS_QUEUE] += more;
	*blocked -= more;
}

/* True if the estimated times are near enough to the known ones: the differences are carried to the
 * next window. */
static bool
is_exact(struct thread_window *window, struct account *account, int64_t small)
{
	for (int class = 0; class < WEIGHT_CLASSES; class ++) {
		const int64_t difference = account->known[class] - account->sampled[class];

		if (difference > small || difference < -small)
			return false;
	}
	for (int class = 0; class < CLASS_BLOCKED; class ++) {
		window->carried[class] += account->known[class] - account->sampled[class];
		account->known[class] = account->sampled[class];
	}
	account->known[CLASS_BLOCKED] = account->sampled[CLASS_BLOCKED];
	return true;
}

/* Returns the sum of `part` over the window's samples of one class. */
static double
sum_parts(const struct calibration *calibration, const struct thread_window *window,
	  enum weight_class class)
{
	double sum = 0;

	for (size_t i = 0; i < window->count; i++)
		if (weight_class_of(profile_entry(calibration->run->profile, window->cell[i].entry)
					    ->state) == class)
			sum += window->cell[i].part;
	return sum;
}

/* Counts CPU time that the window's samples of running threads divide. */
static void
count_divided(struct calibration *calibration, const struct thread_window *window, int64_t ns)
{
	struct run_division *division = &calibration->run->stats.division;
	const double sum = sum_parts(calibration, window, CLASS_CPU);
	const double factor = sum > 0 ? (double)ns / sum : 0;

	if (ns <= 0 || sum <= 0)
		return;
	division->ns += (uint64_t)ns;
	for (size_t i = 0; i < window->count; i++) {
		const struct window_cell *cell = &window->cell[i];

		if (profile_entry(calibration->run->profile, cell->entry)->state != RUN_RUNNING)
			continue;
		division->samples += cell->additions;
		division->squares += factor * factor * cell->squares / (double)NS_PER_SEC;
	}
}

/* Plans the corrections of the window's samples of one class, whose weights shall sum up to
 * `wanted`. */
static void
plan_cells(struct calibration *calibration, const struct thread_window *window,
	   enum weight_class class, int64_t wanted)
{
	const double sum = sum_parts(calibration, window, class);
	const double factor = sum > 0 ? (double)wanted / sum : 0;
	double before = 0;
	int64_t given = 0;

	for (size_t i = 0; i < window->count; i++) {
		const struct window_cell *cell = &window->cell[i];
		const struct profile_entry *entry = profile_entry(calibration->run->profile,
								  cell->entry);
		struct planned *item;
		int64_t upto;

		if (weight_class_of(entry->state) != class)
			continue;
		before += cell->part;
		upto = llround(factor * before);
		if (class != CLASS_BLOCKED || upto - given != cell->ns || cell->latency_ns != 0) {
			item = weights_plan(calibration, entry, upto - given - cell->ns);
			item->latency_ns = cell->latency_ns;
			item->latency = cell->ns > 0 ?
						(double)cell->latency_ns * (double)(upto - given) /
							(double)cell->ns :
						0;
		}
		given = upto;
	}
}

/* Divides the known time of a class. `account`: time on a CPU that is short and has neither samples
 * nor donors becomes blocked time. */
static void
divide_class(struct calibration *calibration, struct sampled_thread *thread,
	     enum weight_class class, struct account *account)
{
	const int64_t known = account->known[class], sampled = account->sampled[class];
	const bool poor = class == CLASS_CPU &&
			  weights_has_better(calibration, thread, sampled,
					     sum_parts(calibration, &thread->window, class));
	const bool any = account->samples[class] > 0 && sampled > 0 && !poor;
	const bool few = !any || known / STRETCH_MOST > sampled;
	int64_t own = few ? (any ? sampled * STRETCH_MOST : 0) : known;

	if (own < known && !weights_borrow(calibration, thread, class, known - own)) {
		if (any) {
			own = known;
		} else if (class == CLASS_CPU && known < UNPLACED_LEAST_NS) {
			account->known[CLASS_BLOCKED] += known;
			thread->window.carried[CLASS_CPU] += known;
		} else {
			weights_leave_unplaced(calibration, thread, class, known);
		}
	}
	if (class == CLASS_CPU)
		count_divided(calibration, &thread->window, own);
	plan_cells(calibration, &thread->window, class, own);
}

/* Plans the scaling of the latency that was charged in a window without time: of a run that ends
 * soon after its last window. */
static void
plan_latency(struct calibration *calibration, const struct thread_window *window)
{
	for (size_t i = 0; i < window->count; i++) {
		const struct window_cell *cell = &window->cell[i];
		struct planned *item;

		if (cell->latency_ns == 0)
			continue;
		item = weights_plan(calibration,
				    profile_entry(calibration->run->profile, cell->entry), 0);
		item->latency_ns = cell->latency_ns;
		item->latency = (double)cell->latency_ns;
	}
}

/* Plans the corrections of a thread for the window that ends. `last`: the thread has no further
 * window. */
static void
weigh_thread(struct calibration *calibration, struct sampled_thread *thread, bool last)
{
	struct thread_window *window = &thread->window;
	struct plan *plan = &calibration->plan;
	struct account account;
	int64_t runnable;

	read_counters(thread);
	if (!thread->selected && window->count == 0)
		window->carried[CLASS_CPU] = window->carried[CLASS_QUEUE] = 0;
	sum_samples(calibration, window, &account);
	if (account.all_ns <= 0) {
		if (last)
			plan_latency(calibration, window);
		return;
	}
	know_times(calibration, thread, &account);
	if (!is_exact(window, &account, last ? LAST_SMALL_NS : account.all_ns / SMALL))
		weights_place(calibration, thread);
	for (int class = 0; class < WEIGHT_CLASSES; class ++)
		divide_class(calibration, thread, (enum weight_class) class, &account);
	runnable = account.known[CLASS_CPU] + account.known[CLASS_QUEUE];
	plan->cpu_ns += account.known[CLASS_CPU];
	plan->runnable_ns += runnable;
	if (runnable > plan->most_ns)
		plan->most_ns = runnable;
	window->count = 0;
	window->stopped_ns = 0;
	window->weighed = true;
}

/* --- windows -------------------------------------------------------------------------------- */

void
weights_init(struct calibration *calibration, struct run *run, struct charging *charging)
{
	*calibration = (struct calibration){
		.run = run,
		.charging = charging,
		.gap = UINT32_MAX,
		.stolen = { .read = machine_time_read },
	};
}

void
weights_release(struct calibration *calibration)
{
	table_release(&calibration->kinds);
	free(calibration->kind);
	free(calibration->plan.item);
}

void
weights_start(struct calibration *calibration)
{
	struct run *run = calibration->run;

	calibration->began_ns = run->tick.time_ns;
	if (weights_are_off(calibration))
		return;
	stolen_begin(&calibration->stolen);
	run->stats.calibrated = run->context.selected == NULL && run->context.excluded == NULL;
	for (size_t i = 0; i < run->threads.count; i++) {
		struct sampled_thread *thread = run->threads.thread[i];

		(void)watch_read_sched(&thread->watch, thread->process->process,
				       &thread->window.counted);
	}
	for (size_t i = 0; i < run->processes.count; i++) {
		struct sampled_process *process = run->processes.item[i];

		process->weights.cpu_ns = process_cpu(process);
		process->weights.known_ns = 0;
	}
}

bool
weights_due(const struct calibration *calibration)
{
	const struct run *run = calibration->run;
	const uint64_t scale = 1 + run->threads.count / THREADS_A_WINDOW;

	return run->tick.time_ns - calibration->began_ns >= WINDOW_NS * scale;
}

void
weights_end_window(struct calibration *calibration, bool last)
{
	struct run *run = calibration->run;
	struct thread_list *threads = &run->threads;

	for (size_t i = 0; i < threads->count; i++) {
		if (weights_are_off(calibration))
			threads->thread[i]->window.count = 0;
		else
			weights_lend(calibration, threads->thread[i]);
	}
	if (!weights_are_off(calibration)) {
		stolen_end_window(&calibration->stolen);
		for (size_t i = 0; i < threads->count; i++)
			if (!threads->thread[i]->excluded || threads->thread[i]->window.count > 0)
				weigh_thread(calibration, threads->thread[i], last);
		weigh_ended(calibration, last);
		weights_carry_out(calibration, true);
	}
	calibration->began_ns = run->tick.time_ns;
	calibration->first_tick = profile_tick_count(run->profile);
}

/*
 * A thread that lived for a few ticks only, and was perhaps seen by chance: its samples stand for
 * such threads in general, of which most are never seen. They keep their weights, and their CPU
 * time counts as known. Not so the first thread of a process: the CPU time of processes that are
 * never seen is known from their parents.
 */
static bool
keep_brief(struct calibration *calibration, const struct sampled_thread *thread)
{
	const struct thread_window *window = &thread->window;
	struct account account;

	sum_samples(calibration, window, &account);
	if (window->weighed || thread->watch.tid == thread->process->process->pid ||
	    account.samples[CLASS_CPU] + account.samples[CLASS_QUEUE] +
			    account.samples[CLASS_BLOCKED] >=
		    BRIEF_SAMPLES)
		return false;
	thread->process->weights.known_ns += account.sampled[CLASS_CPU];
	count_divided(calibration, window, account.sampled[CLASS_CPU]);
	calibration->plan.cpu_ns += account.sampled[CLASS_CPU];
	calibration->plan.runnable_ns += account.sampled[CLASS_CPU] + account.sampled[CLASS_QUEUE];
	return true;
}

void
weights_end_thread(struct calibration *calibration, struct sampled_thread *thread)
{
	if (!weights_are_off(calibration) && (!thread->excluded || thread->window.count > 0)) {
		weights_lend(calibration, thread);
		if (!keep_brief(calibration, thread)) {
			weigh_thread(calibration, thread, true);
			/* What the thread used after its last observation has no time in its row:
			 * it is left to the process (weigh_ended.c). */
			thread->process->weights.known_ns -= thread->window.carried[CLASS_CPU];
			weights_carry_out(calibration, false);
		}
	}
	window_release(&thread->window);
}
