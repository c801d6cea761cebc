/* SPDX-License-Identifier: MIT */
/*
 * test_observe.c - observations of a thread that is woken, falls asleep or runs on while a tick
 * occupies the CPUs (occupy_internal.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../scene/rival.h"
#include "../scene/sleeping_child.h"
#include "sampler/occupy_internal.h"
#include "sampler/pipeline_internal.h"

/* What the child shares with the test. */
struct shared {
	_Atomic bool spins; /* the child spins */
	_Atomic bool go;    /* it is to end that */
};
static struct shared *shared;

struct scene {
	struct run run;
	struct sampled_process process;
	struct sampled_thread thread;
	struct sleeping_child child;
	struct observation observation;
};

/* Waits for a byte again and again; at an 's' spins until it is told to go on. */
static void
wait_or_spin(int in, int out)
{
	char c;

	(void)out;
	while (read(in, &c, 1) == 1) {
		if (c != 's')
			continue;
		shared->spins = true;
		while (!shared->go)
			;
		shared->spins = false;
	}
}

static void
tell(const struct scene *scene, char what)
{
	assert_int_equal(write(scene->child.to, &what, 1), 1);
}

/* Waits until the child sleeps in read(2), and begins an observation as select_observation does. */
static void
begin_observation(struct scene *scene)
{
	struct syscall_info info;
	struct sched sched;

	assert_true(sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read, &sched,
					  &info));
	scene->observation = (struct observation){
		.thread = &scene->thread,
		.selected = true,
		.samples = 1,
		.weight_ns = 1,
		.importance = 1.0,
	};
}

static void
scene_begin(struct scene *scene)
{
	struct error err;
	struct sched sched;
	struct syscall_info info;

	memset(scene, 0, sizeof(*scene));
	shared->spins = shared->go = false;
	sleeping_child_start(&scene->child, wait_or_spin);
	scene->process.process = scene->child.process;
	scene->process.start_stack = scene->child.start_stack;
	scene->thread.process = &scene->process;
	scene->thread.selected = true;
	scene->thread.stack_need = 4096;
	window_init(&scene->thread.window);
	watch_init(&scene->thread.watch, scene->child.pid, SCHED_FROM_SCHEDSTAT, false);
	if (!sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read, &sched, &info) ||
	    tracer_create(scene->child.process, &scene->run.tracer, &err) != 0) {
		print_message("ptrace is not permitted here\n");
		skip();
	}
	begin_observation(scene);
}

static void
scene_end(struct scene *scene)
{
	struct capture_pool *pool = &scene->process.captures;

	if (scene->observation.capture != NULL)
		capture_return(&scene->observation);
	for (size_t i = 0; i < pool->count; i++) {
		snapshot_release(&pool->free[i]->request.snapshot);
		free(pool->free[i]);
	}
	free(pool->free);
	sleeping_child_kill(&scene->child);
	tracer_free(scene->run.tracer);
	watch_release(&scene->thread.watch);
	window_release(&scene->thread.window);
	sleeping_child_release(&scene->child);
}

/* Waits until the kernel says that the child does not sleep. */
static void
wait_runnable(struct scene *scene)
{
	struct syscall_info info = { .running = false };

	while (!info.running) /* the alarm of the test ends this loop */
		(void)watch_read_syscall(&scene->thread.watch, scene->child.process, &info);
}

/* --- a rival that leaves no CPU to the child ------------------------------------------------- */

/* Begins a scene whose child gets no CPU until rival_end: it may use one CPU only, which the rival
 * takes. *all: the CPUs that the test had before. */
static void
scene_begin_beside_rival(struct scene *scene, cpu_set_t *all, pthread_t *rival)
{
	cpu_set_t other;

	if (!take_cpus(all, &other)) {
		print_message("there is one CPU only\n");
		skip();
	}
	scene_begin(scene);
	assert_int_equal(sched_setaffinity(scene->child.pid, sizeof(other), &other), 0);
	if (rival_start(rival, &other))
		return;
	print_message("SCHED_FIFO is not permitted here\n");
	sched_setaffinity(0, sizeof(*all), all);
	scene_end(scene);
	skip();
}

/* The kernel takes the CPU from a real-time thread for a part of each second (sched(7)), so that on
 * a busy machine the child may have run although the rival had not ended. Then the situation that
 * is tested did not exist, and is made once more. Returns the child's number of switches. */
static uint64_t
child_switches(struct scene *scene)
{
	struct sched now;

	assert_int_equal(watch_read_sched(&scene->thread.watch, scene->child.process, &now),
			 WATCH_OK);
	return now.switches;
}

/* A thread that is woken when the CPUs are being taken, and gets none, counts as asleep: it was
 * taken for one that ran and fell asleep. */
static void
test_woken(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;
	uint64_t before, after;
	cpu_set_t all;
	pthread_t rival;

	(void)state;
	scene_begin_beside_rival(&scene, &all, &rival);
	look_first(&scene.run, observation);
	assert_true(observation->look.taken);
	assert_false(observation->look.call.running);
	before = child_switches(&scene);
	tell(&scene, 'x');
	wait_runnable(&scene);
	observe_threads(&scene.run, observation, 1);
	after = child_switches(&scene);
	rival_end(rival, &all);
	if (after != before) {
		scene_end(&scene);
		test_woken(state);
		return;
	}
	assert_int_equal(observation->outcome, OUTCOME_SLEEPING);
	assert_int_equal(observation->state, RUN_SLEEPING);
	assert_false(observation->fell_asleep);
	assert_true(observation->importance == 1.0);
	scene_end(&scene);
}

/* `waits`: it has waited for CPUs. Returns 1 if it counts as woken, 0: asleep, -1: it has run. */
static int
observe_again(struct scene *scene, bool waits)
{
	scene->observation.woken = false;
	scene->thread.window.waits = waits;
	observe_threads(&scene->run, &scene->observation, 1);
	return scene->observation.outcome == OUTCOME_UNCHANGED ? scene->observation.woken : -1;
}

/* Begins a scene whose child was asleep at its last observation, was then looked at, and has been
 * woken since. It gets no CPU until rival_end. */
static void
scene_begin_woken(struct scene *scene, cpu_set_t *all, pthread_t *rival)
{
	struct syscall_info info;

	scene_begin_beside_rival(scene, all, rival);
	assert_true(sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read,
					  &scene->thread.sched, &info));
	scene->thread.seen = scene->thread.asleep = true;
	scene->thread.window.counted = scene->thread.sched;
	look_first(&scene->run, &scene->observation);
	tell(scene, 'x');
	wait_runnable(scene);
}

/* A thread that has been woken and gets no CPU has the counters of one that sleeps. It counted as
 * asleep; its waits after wake-ups were then divided among the stacks of its other waits. */
static void
test_woken_later(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;
	uint64_t before, after;
	cpu_set_t all;
	pthread_t rival;
	int during, looked, at_once, settled, seldom, sum, held, exact;

	(void)state;
	scene_begin_woken(&scene, &all, &rival);
	before = scene.thread.sched.switches;
	during = observe_again(&scene, true);
	look_first(&scene.run, observation);
	looked = observe_again(&scene, true);
	observation->look = (struct look){ .settled = false };
	at_once = observe_again(&scene, true);
	seldom = observe_again(&scene, false);
	scene.thread.sched.delay_ns += WAITS_LEAST_NS;
	sum = observe_again(&scene, false);
	scene.run.holds = true;
	held = observe_again(&scene, true);
	scene.run.holds = false;
	scene.run.config.exact = true;
	exact = observe_again(&scene, true);
	/* The tick has found it woken when all CPUs were taken. */
	observation->look = (struct look){ .settled = true, .woken = true };
	observation->look.sched = scene.thread.sched;
	settled = observe_again(&scene, false);
	after = child_switches(&scene);
	rival_end(rival, &all);
	scene_end(&scene);
	if (after != before) {
		test_woken_later(state);
		return;
	}
	/* during: the first look has found it asleep, so that the occupation woke it. */
	assert_true(during == 0 && looked == 1 && at_once == 1 && settled == 1);
	/* The state is read only of a thread that has waited for CPUs. */
	assert_true(seldom == 0 && sum == 1 && held == 0 && exact == 0);
}

/* One tick in eight observes the thread: its first sample after the wake-up stands for eight ticks,
 * later ones for the time since the last observation. */
static void
test_woken_weights(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation, first;
	uint64_t before, after;
	cpu_set_t all;
	pthread_t rival;
	int woken[2];

	(void)state;
	scene_begin_woken(&scene, &all, &rival);
	before = scene.thread.sched.switches;
	observation->look = (struct look){ .settled = false };
	scene.thread.backed_off = true;
	scene.thread.period = 8;
	scene.run.tick.span_ns = 10;
	observation->samples = 5;
	observation->weight_ns = 50;
	woken[0] = observe_again(&scene, true);
	first = *observation;
	scene.thread.woken = true;
	observation->samples = 5;
	woken[1] = observe_again(&scene, false);
	after = child_switches(&scene);
	rival_end(rival, &all);
	scene_end(&scene);
	if (after != before) {
		test_woken_weights(state);
		return;
	}
	assert_true(woken[0] == 1 && woken[1] == 1);
	assert_true(first.samples == 8 && first.weight_ns == 80);
	assert_true(first.past_samples == -3 && first.past_ns == -30);
	assert_int_equal(observation->samples, 5);
}

/* Begins an observation whose thread runs when the CPUs are being taken, and then falls asleep.
 * Returns false if it was scheduled in in between. */
static bool
fall_asleep(struct scene *scene)
{
	struct sched sched;
	struct syscall_info info;

	begin_observation(scene);
	shared->go = false;
	tell(scene, 's');
	while (!shared->spins)
		sched_yield();
	look_first(&scene->run, &scene->observation);
	assert_true(scene->observation.look.call.running);
	shared->go = true;
	while (shared->spins)
		sched_yield();
	assert_true(sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read, &sched,
					  &info));
	return sched.switches == scene->observation.look.sched.switches;
}

/* A thread that was on a CPU then, and has fallen asleep since, counts as running. */
static void
test_fell_asleep(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;
	cpu_set_t all, other;
	const bool apart = take_cpus(&all, &other);

	(void)state;
	scene_begin(&scene);
	/* On one CPU with the test, the child would hardly ever run on until it sleeps. */
	if (apart)
		assert_int_equal(sched_setaffinity(scene.child.pid, sizeof(other), &other), 0);
	while (!fall_asleep(&scene))
		;
	sched_setaffinity(0, sizeof(all), &all);
	observe_threads(&scene.run, observation, 1);
	assert_int_equal(observation->outcome, OUTCOME_SLEEPING);
	assert_true(observation->fell_asleep);
	assert_int_equal(observation->state, RUN_RUNNING);
	assert_int_equal(observation->slept, RUN_SLEEPING);
	assert_true(observation->importance == IMPORTANCE_ROUGH);
	scene_end(&scene);
}

/* Observes the child, which slept and now runs on a CPU, five ticks after its last observation. */
static void
weigh_found(struct scene *scene)
{
	struct observation *observation = &scene->observation;

	begin_observation(scene);
	shared->go = false;
	observation->samples = 5;
	observation->weight_ns = 500;
	observation->occupied = OCCUPIED_RUNNING;
	tell(scene, 's');
	while (!shared->spins)
		sched_yield();
	assert_int_equal(watch_read_sched(&scene->thread.watch, scene->child.process,
					  &observation->look.sched),
			 WATCH_OK);
	observation->look.call.running = true;
	observation->look.taken = observation->look.settled = true;
	observe_threads(&scene->run, observation, 1);
	shared->go = true;
	assert_int_equal(observation->outcome, OUTCOME_RUNNING);
}

/* Checks weights, of the sample and of the old sleep, in ticks of 100 ns, and the CPU time. */
static void
check_weights(const struct observation *observation, int64_t ticks, int64_t past, uint64_t cpu_ns)
{
	assert_int_equal(observation->samples, ticks);
	assert_int_equal(observation->weight_ns, 100 * ticks);
	assert_int_equal(observation->past_samples, past);
	assert_int_equal(observation->past_ns, 100 * past);
	assert_int_equal(observation->cpu_ns, cpu_ns);
}

static void
test_found(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;
	double sum = 0;

	(void)state;
	scene_begin(&scene);
	rng_seed(&scene.run.rng, 1);
	scene.run.searches = true;
	scene.run.tick.searched = 1;
	scene.run.tick.span_ns = 100;
	scene.thread.seen = true;
	scene.thread.period = 8;
	scene.thread.asleep = true;
	/* A search that finds all: the sample stands for this tick, the sleep for four. */
	weigh_found(&scene);
	check_weights(observation, 1, 4, 100);
	capture_return(observation);

	/* Without a sleep that could get the rest, the weight stays. */
	scene.thread.asleep = false;
	weigh_found(&scene);
	check_weights(observation, 5, 0, 0);
	capture_return(observation);

	/* A search finds half of the threads: 1 / (1 - 1/2 x 1/2) ticks on average; the mean of 400
	 * has a standard deviation of 0.024. */
	scene.thread.asleep = true;
	scene.thread.period = 2;
	scene.run.tick.searched = 0.5;
	for (int i = 0; i < 400; i++) {
		weigh_found(&scene);
		assert_int_equal(observation->samples + observation->past_samples, 5);
		assert_int_equal(observation->weight_ns + observation->past_ns, 500);
		sum += (double)observation->samples;
		capture_return(observation);
	}
	assert_true(fabs(sum / 400 - 4.0 / 3) < 0.15);

	/* No search: each tick observes it with a probability of 1/8. */
	scene.thread.period = 8;
	scene.run.tick.searched = 0;
	weigh_found(&scene);
	check_weights(observation, 8, -3, 0);
	scene_end(&scene);
}

/* Job control stops a process whose thread was observed before the tick read that. */
static void
test_job_control(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;
	struct task_stat stat = { .state = 'S' };

	(void)state;
	scene_begin(&scene);
	scene.process.leader_state = 'S';
	observe_threads(&scene.run, observation, 1);
	assert_int_equal(observation->outcome, OUTCOME_SLEEPING);
	assert_int_equal(observation->state, RUN_SLEEPING);
	kill(scene.child.pid, SIGSTOP);
	while (stat.state != 'T') /* the alarm of the test ends this loop */
		assert_true(process_read_task_stat(scene.child.process, scene.child.pid, &stat));
	observe_stopped_process(observation);
	assert_int_equal(observation->state, RUN_SLEEPING); /* the tick has not read it yet */
	scene.process.leader_state = 'T';
	observe_stopped_process(observation);
	assert_int_equal(observation->state, RUN_STOPPED);
	kill(scene.child.pid, SIGCONT);
	scene_end(&scene);
}

/* The end of a stop stores the switch count of the thread, unless the stop interrupted a sleep. A
 * thread that was woken after the tick slept only if a CPU has run it since its last stop. */
static void
test_settled(void **state)
{
	static const struct {
		struct stop_request request;
		uint64_t stopped, then; /* stop_switches before and after the stop */
		enum run_state state;
	} rows[] = {
		{ { .at_tick = TICK_RUNNING }, 3, 12, RUN_RUNNING },
		{ { .at_tick = TICK_RUNNING, .fell_asleep = true }, 3, 3, RUN_RUNNING },
		{ { .at_tick = TICK_RUNNING, .group_stopped = true }, 3, 3, RUN_STOPPED },
		{ { .at_tick = TICK_QUEUED }, 3, 12, RUN_QUEUED },
		{ { .at_tick = TICK_ASLEEP }, 3, 12, RUN_SLEEPING },
		{ { .at_tick = TICK_ASLEEP }, 11, 12, RUN_QUEUED }, /* released, not run */
	};
	struct scene scene;

	(void)state;
	scene_begin(&scene);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct observation *observation = &scene.observation;
		struct stop_request *request;

		begin_observation(&scene);
		observation->capture = capture_acquire(&scene.thread);
		request = &observation->capture->request;
		request->end = STOP_CAPTURED;
		request->at_tick = rows[i].request.at_tick;
		request->fell_asleep = rows[i].request.fell_asleep;
		request->group_stopped = rows[i].request.group_stopped;
		request->before = (struct sched){ 4000, 100, 11 };
		request->during = (struct sched){ 5000, 100, 12 };
		observation->state = RUN_RUNNING;
		observation->occupied = OCCUPIED_NOT_RUNNING;
		scene.thread.stop_switches = rows[i].stopped;
		capture_settle(&scene.run, observation);
		if (observation->outcome != OUTCOME_CAPTURED ||
		    observation->state != rows[i].state ||
		    scene.thread.stop_switches != rows[i].then)
			fail_msg("row %zu: outcome %d, state %d, switches %" PRIu64, i,
				 (int)observation->outcome, (int)observation->state,
				 scene.thread.stop_switches);
		capture_return(observation);
	}
	scene_end(&scene);
}

/* --- files in place of those of /proc --------------------------------------------------------- */

/* The scene with a child whose files in /proc/PID/task are replaced. */
struct files {
	struct scene scene;
	struct process process; /* its taskfd is open on `directory` */
	char directory[32], name[16];
	struct syscall_info info; /* of the real sleep of the child */
	uint64_t start_stack;     /* as the file "stat" shows it; 0: not shown */
	bool asleep;              /* the last observation saw the thread asleep */
};

static void
files_begin(struct files *files)
{
	struct scene *scene = &files->scene;
	struct sched sched;

	files->start_stack = 0;
	files->asleep = false;
	scene_begin(scene);
	assert_true(sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read, &sched,
					  &files->info));
	snprintf(files->directory, sizeof(files->directory), "/tmp/test_observe_XXXXXX");
	snprintf(files->name, sizeof(files->name), "%d", (int)scene->child.pid);
	assert_non_null(mkdtemp(files->directory));
	files->process = *scene->child.process;
	files->process.taskfd = open(files->directory, O_RDONLY | O_DIRECTORY);
	assert_true(files->process.taskfd >= 0);
	assert_int_equal(mkdirat(files->process.taskfd, files->name, 0700), 0);
	scene->process.process = &files->process;
}

static void
files_end(struct files *files)
{
	static const char *const file[] = { "schedstat", "stat", "syscall" };
	const int directory = files->process.taskfd;

	files->scene.process.process = files->scene.child.process;
	for (size_t i = 0; i < ARRAY_SIZE(file); i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%s", files->name, file[i]);
		assert_int_equal(unlinkat(directory, path, 0), 0);
	}
	assert_int_equal(unlinkat(directory, files->name, AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(files->directory), 0);
	close(directory);
	scene_end(&files->scene);
}

static void
put_file(const struct files *files, const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", files->name, name);
	fd = openat(files->process.taskfd, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* What the files show of a thread of a process that has one thread. */
struct shown {
	uint64_t cpu_ns;
	int switches; /* number of times that a CPU switched to the thread */
	char state;   /* state letter of proc_pid_stat(5) */
	long call;    /* its system call, or SYSCALL_NONE; the registers are those of files.info */
};

static void
put_files(const struct files *files, const struct shown *shown)
{
	char text[256];

	snprintf(text, sizeof(text), "%" PRIu64 " 100 %d\n", shown->cpu_ns, shown->switches);
	put_file(files, "schedstat", text);
	snprintf(text, sizeof(text),
		 "%s (child) %c 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 77 0 0 0 0 0 %" PRIu64 " 0\n",
		 files->name, shown->state, files->start_stack);
	put_file(files, "stat", text);
	snprintf(text, sizeof(text), "%ld 0x0 0x0 0x0 0x0 0x0 0x0 0x%" PRIx64 " 0x%" PRIx64 "\n",
		 shown->call, files->info.sp, files->info.pc);
	if (shown->call == SYSCALL_NONE)
		snprintf(text, sizeof(text), "-1 0x%" PRIx64 " 0x%" PRIx64 "\n", files->info.sp,
			 files->info.pc);
	put_file(files, "syscall", text);
}

/* Observes the thread, whose last observation saw it run or, with files->asleep, asleep. */
static const struct observation *
observe_files(struct files *files, const struct shown *shown)
{
	struct scene *scene = &files->scene;

	if (scene->observation.capture != NULL)
		capture_return(&scene->observation);
	begin_observation(scene);
	put_files(files, shown);
	scene->thread.seen = true;
	scene->thread.asleep = files->asleep;
	scene->thread.sched = (struct sched){ 4000, 100, 9 };
	observe_threads(&scene->run, &scene->observation, 1);
	return &scene->observation;
}

/* A thread that has not run since a stop is runnable, whatever the file "syscall" shows. */
static void
test_released(void **state)
{
	static const struct {
		uint64_t stopped; /* switches in its last stop; 0: it was never stopped */
		struct shown shown;
		enum outcome outcome;
		enum run_state state;
	} rows[] = {
		{ 10, { 5000, 10, 'R', SYSCALL_NONE }, OUTCOME_RUNNING, RUN_RUNNING },
		{ 10, { 5000, 10, 'R', SYS_getppid }, OUTCOME_RUNNING, RUN_RUNNING },
		{ 10, { 5000, 10, 'R', SYS_read }, OUTCOME_RUNNING, RUN_RUNNING },
		/* It has run, and sleeps, or slept and was woken while it was observed. */
		{ 10, { 5000, 11, 'S', SYS_read }, OUTCOME_SLEEPING, RUN_SLEEPING },
		{ 10,
		  { 5000, 11, 'D', SYSCALL_NONE },
		  OUTCOME_SLEEPING,
		  RUN_UNINTERRUPTIBLE },
		{ 10, { 5000, 11, 'R', SYS_fsync }, OUTCOME_SLEEPING, RUN_SLEEPING },
		{ 0, { 5000, 10, 'S', SYS_read }, OUTCOME_SLEEPING, RUN_SLEEPING },
	};
	struct files files;

	(void)state;
	files_begin(&files);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct observation *observation;

		files.scene.thread.stop_switches = rows[i].stopped;
		observation = observe_files(&files, &rows[i].shown);
		if (observation->outcome != rows[i].outcome || observation->state != rows[i].state)
			fail_msg("row %zu: outcome %d, state %d", i, (int)observation->outcome,
				 (int)observation->state);
	}
	files_end(&files);
}

/* What the files show in test_exec. */
#define HOUR { 3600 * NS_PER_SEC, 11, 'S', SYS_read }
#define SECOND { NS_PER_SEC, 11, 'S', SYS_read }
#define MILLISECOND { NS_PER_MS, 11, 'S', SYS_read }

/* After an exec by another thread, which has the id of the first one since then, the first one has
 * ended. At the last observation it had 4,000 ns of CPU time and 9 switches (observe_files). Now
 * the process has one thread (put_files). */
static void
test_exec(void **state)
{
	static const struct {
		const char *what;
		struct shown shown;
		/* At the last observation: threads of the process, state of this one. */
		uint32_t threads;
		enum run_state state;
		bool executed;   /* there was an exec since then */
		uint64_t ago_ns; /* time since then */
		bool other;      /* another thread has the id */
	} rows[] = {
		{ "an hour more", HOUR, 2, RUN_RUNNING, 0, 0, true },
		{ "less CPU time", { 3999, 11, 'S', SYS_read }, 2, RUN_RUNNING, 0, 0, true },
		{ "fewer switches", { 5000, 8, 'S', SYS_read }, 2, RUN_RUNNING, 0, 0, true },
		/* CPU time of a running thread may be counted late, and no thread is missing. */
		{ "counted late", SECOND, 1, RUN_RUNNING, 0, 0, false },
		{ "slept, more", SECOND, 1, RUN_SLEEPING, 0, 0, true },
		{ "exited, more", SECOND, 1, RUN_UNKNOWN, 0, 0, true },
		{ "ran since", SECOND, 2, RUN_RUNNING, 0, NS_PER_SEC, false },
		/* It called exec itself, and has run all the time or only briefly. */
		{ "ran, exec", SECOND, 2, RUN_RUNNING, 1, NS_PER_SEC, false },
		{ "woke up, exec", MILLISECOND, 2, RUN_SLEEPING, 1, NS_PER_SEC, false },
		/* It slept, and another thread that has run called exec. */
		{ "slept, exec", SECOND, 2, RUN_SLEEPING, 1, NS_PER_SEC, true },
		{ "slept, no exec", SECOND, 2, RUN_SLEEPING, 0, NS_PER_SEC, false },
	};
	struct files files;
	struct sampled_thread *thread = &files.scene.thread;

	(void)state;
	files_begin(&files);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct observation *observation;

		files.asleep = rows[i].state == RUN_SLEEPING;
		thread->state = rows[i].state;
		thread->last_ns = clock_now_ns() - rows[i].ago_ns;
		thread->process_threads = rows[i].threads;
		thread->process_execs = 1;
		files.scene.process.execs = 1 + rows[i].executed;
		observation = observe_files(&files, &rows[i].shown);
		if ((observation->outcome == OUTCOME_GONE) != rows[i].other)
			fail_msg("%s: outcome %d", rows[i].what, (int)observation->outcome);
	}
	files_end(&files);
}

/* The exec happened in this tick, after the process was read: only start_stack shows it. */
static void
test_exec_in_tick(void **state)
{
	static const struct shown shown = { NS_PER_SEC, 11, 'S', SYS_read };
	struct files files;

	(void)state;
	files_begin(&files);
	files.asleep = true;
	files.scene.thread.last_ns = clock_now_ns() - NS_PER_SEC;
	files.start_stack = 0x7ffd2000;
	files.scene.process.start_stack = 0x7ffd2000;
	assert_int_equal(observe_files(&files, &shown)->outcome, OUTCOME_SLEEPING);
	files.scene.process.start_stack = 0x7ffd1000;
	assert_int_equal(observe_files(&files, &shown)->outcome, OUTCOME_GONE);
	files_end(&files);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_woken),
		cmocka_unit_test(test_woken_later),
		cmocka_unit_test(test_woken_weights),
		cmocka_unit_test(test_fell_asleep),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_job_control),
		cmocka_unit_test(test_settled),
		cmocka_unit_test(test_released),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_in_tick),
	};

	alarm(60);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 99;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
