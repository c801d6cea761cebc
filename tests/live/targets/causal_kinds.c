/* SPDX-License-Identifier: MIT */
/*
 * causal_kinds.c - programs of which arithmetic says what a faster function would bring
 * (../causal_programs.py has it): causal_kinds KIND [unit=MS] [loops=N] [seconds=N] [pin=0]
 * [FUNCTION=SCALE]…
 *
 * Work is a number of rounds of a loop, not a time: a thread that is held does none. Each function
 * does its kind's units of it, of `unit` ms each (20; 0.3 is possible, too), scaled by SCALE: 0.5
 * makes it 50 % faster.
 * `loops`, of one unit, comes from a measurement if it is not given. Of the CPUs there are it takes
 * two, one for every second thread, but with pin=0: which it has is then no matter of luck. Threads
 * count in `progress`, `begun` and `ended` how far they get. Lines of input:
 *   FUNCTION=SCALE   from now on
 *   ?                answers "loops N progress N begun N ended N latency NS at NS": the sum of the
 *                    times from begin to end, and when there was progress last
 *   fork, exec       does it; a child goes on with half of a second's work and ends
 * With HAVE_COZ it has coz's progress points too.
 */
#include "target.h"

#ifdef HAVE_COZ
#include <coz.h>
#else
#define COZ_PROGRESS_NAMED(name) ((void)0)
#endif

#include <poll.h>

/* For those who measure from outside. */
_Atomic uint64_t progress, begun, ended;

enum function {
	PHASE_FIRST, PHASE_SECOND, PART_LONG, PART_SHORT, PART_SERIAL, STAGE_READ, STAGE_WORK,
	STAGE_WRITE, INSIDE_LOCK, OUTSIDE_LOCK, MAKE_ITEM, EAT_ITEM, DO_WORK, READ_MAIL, WRITE_MAIL,
	FUNCTIONS
};

static struct {
	const char *name;
	double units;            /* of the kind that runs */
	_Atomic double scale;
	_Atomic uint64_t loops;
} work[FUNCTIONS] = {
	[PHASE_FIRST] = { "phase_first", 2.0, 1, 0 },
	[PHASE_SECOND] = { "phase_second", 1.9, 1, 0 },
	[PART_LONG] = { "part_long", 2.0, 1, 0 },
	[PART_SHORT] = { "part_short", 1.0, 1, 0 },
	[PART_SERIAL] = { "part_serial", 1.0, 1, 0 },
	[STAGE_READ] = { "stage_read", 0.3, 1, 0 },
	[STAGE_WORK] = { "stage_work", 1.0, 1, 0 },
	[STAGE_WRITE] = { "stage_write", 0.3, 1, 0 },
	[INSIDE_LOCK] = { "inside_lock", 1.0, 1, 0 },
	[OUTSIDE_LOCK] = { "outside_lock", 0.8, 1, 0 },
	[MAKE_ITEM] = { "make_item", 1.0, 1, 0 },
	[EAT_ITEM] = { "eat_item", 0.6, 1, 0 },
	[DO_WORK] = { "do_work", 1.0, 1, 0 },
	[READ_MAIL] = { "read_mail", 0.5, 1, 0 },
	[WRITE_MAIL] = { "write_mail", 4.0, 1, 0 },
};

static uint64_t unit_loops, seconds, pin = 1;
static double unit_ms = 20;
static _Atomic uint64_t latency_ns, last_ns;

/* A chain of dependent steps: as fast with a busy neighbour on the same core as alone. */
#define SPIN(count)                                                            \
	do {                                                                   \
		uint64_t x = (count);                                          \
		for (uint64_t left = x; left > 0; left--) {                    \
			x = x * 6364136223846793005u + 1442695040888963407u;   \
			__asm__ volatile("" : "+r"(x));                        \
		}                                                              \
	} while (0)

/* Each on a line of its own, for who goes by lines. */
#define WORK(name, number) \
	void name(void); \
	FRAME void name(void) { SPIN(work[number].loops); KEEP_FRAME(); }

WORK(phase_first, PHASE_FIRST)
WORK(phase_second, PHASE_SECOND)
WORK(part_long, PART_LONG)
WORK(part_short, PART_SHORT)
WORK(part_serial, PART_SERIAL)
WORK(stage_read, STAGE_READ)
WORK(stage_work, STAGE_WORK)
WORK(stage_write, STAGE_WRITE)
WORK(inside_lock, INSIDE_LOCK)
WORK(outside_lock, OUTSIDE_LOCK)
WORK(make_item, MAKE_ITEM)
WORK(eat_item, EAT_ITEM)
WORK(do_work, DO_WORK)
WORK(read_mail, READ_MAIL)
WORK(write_mail, WRITE_MAIL)

/* --- the parts of the kinds ----------------------------------------------------------- */

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, device = PTHREAD_MUTEX_INITIALIZER;

static void
count_progress(void)
{
	progress++;
	last_ns = target_clock_ns(CLOCK_MONOTONIC);
	COZ_PROGRESS_NAMED("progress");
}

#define QUEUE_MOST 4

/* Of the times at which items began. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t item[QUEUE_MOST];
	size_t first, count, most;
};

#define QUEUE(n) { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER, .most = n }
static struct queue queue = QUEUE(QUEUE_MOST), second_queue = QUEUE(QUEUE_MOST), mailbox = QUEUE(1);

static void
queue_put(struct queue *into, uint64_t item)
{
	pthread_mutex_lock(&into->lock);
	while (into->count == into->most)
		pthread_cond_wait(&into->moved, &into->lock);
	into->item[(into->first + into->count++) % into->most] = item;
	pthread_cond_signal(&into->moved);
	pthread_mutex_unlock(&into->lock);
}

/* False: it is empty, and that was not to be waited for. */
static bool
queue_take(struct queue *from, bool waits, uint64_t *item)
{
	pthread_mutex_lock(&from->lock);
	while (waits && from->count == 0)
		pthread_cond_wait(&from->moved, &from->lock);
	const bool is_there = from->count > 0;
	if (is_there) {
		*item = from->item[from->first];
		from->first = (from->first + 1) % from->most;
		from->count--;
		pthread_cond_signal(&from->moved);
	}
	pthread_mutex_unlock(&from->lock);
	return is_there;
}

/* --- the kinds ------------------------------------------------------------------------ */

static void
run_first(void)
{
	target_here();
	for (;;) {
		phase_first();
		pthread_barrier_wait(&barrier);
		count_progress();
	}
}

static void
run_second(void)
{
	target_here();
	for (;;) {
		phase_second();
		pthread_barrier_wait(&barrier);
	}
}

static void
run_long(void)
{
	target_here();
	for (;;) {
		part_long();
		pthread_barrier_wait(&barrier);
		part_serial();
		count_progress();
		pthread_barrier_wait(&barrier);
	}
}

static void
run_short(void)
{
	target_here();
	for (;;) {
		part_short();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
}

/* Reading and writing use one device: no more than two threads can run at any time. */
static void
run_reader(void)
{
	target_here();
	for (;;) {
		pthread_mutex_lock(&device);
		stage_read();
		pthread_mutex_unlock(&device);
		queue_put(&queue, 0);
	}
}

static void
run_worker(void)
{
	uint64_t item;

	target_here();
	for (;;) {
		queue_take(&queue, true, &item);
		stage_work();
		queue_put(&second_queue, item);
	}
}

static void
run_writer(void)
{
	uint64_t item;

	target_here();
	for (;;) {
		queue_take(&second_queue, true, &item);
		pthread_mutex_lock(&device);
		stage_write();
		pthread_mutex_unlock(&device);
		count_progress();
	}
}

static void
run_locker(void)
{
	target_here();
	for (;;) {
		outside_lock();
		pthread_mutex_lock(&lock);
		inside_lock();
		pthread_mutex_unlock(&lock);
		count_progress();
	}
}

static void
run_maker(void)
{
	target_here();
	for (;;) {
		make_item();
		begun++;
		queue_put(&queue, target_clock_ns(CLOCK_MONOTONIC));
	}
}

static void
run_eater(void)
{
	uint64_t item;

	target_here();
	for (;;) {
		queue_take(&queue, true, &item);
		eat_item();
		latency_ns += target_clock_ns(CLOCK_MONOTONIC) - item;
		ended++;
		count_progress();
	}
}

/* Mail keeps the worker from its work: the faster it is written, the less gets done. */
static void
run_clerk(void)
{
	uint64_t item;

	target_here();
	for (;;) {
		do_work();
		count_progress();
		if (queue_take(&mailbox, false, &item))
			read_mail();
	}
}

static void
run_penpal(void)
{
	target_here();
	for (;;) {
		write_mail();
		queue_put(&mailbox, 0);
	}
}

#define KIND_THREADS 3

static struct kind {
	const char *name;
	struct target_thread thread[KIND_THREADS];
	size_t count;
} kinds[] = {
	{ "phases", { { .name = "first", .run = run_first },
		      { .name = "second", .run = run_second } }, 2 },
	{ "serial", { { .name = "long", .run = run_long },
		      { .name = "short", .run = run_short } }, 2 },
	{ "pipeline", { { .name = "reader", .run = run_reader },
			{ .name = "worker", .run = run_worker },
			{ .name = "writer", .run = run_writer } }, 3 },
	{ "locked", { { .name = "one", .run = run_locker },
		      { .name = "other", .run = run_locker } }, 2 },
	{ "make", { { .name = "maker", .run = run_maker },
		    { .name = "eater", .run = run_eater } }, 2 },
	{ "eat", { { .name = "maker", .run = run_maker },
		   { .name = "eater", .run = run_eater } }, 2 },
	{ "mail", { { .name = "clerk", .run = run_clerk },
		    { .name = "penpal", .run = run_penpal } }, 2 },
};

/* --- words and lines ------------------------------------------------------------------ */

static void
set_scale(size_t function, double scale)
{
	work[function].scale = scale;
	work[function].loops = (uint64_t)(work[function].units * scale * (double)unit_loops);
}

static bool
set_by_word(const char *word)
{
	const char *value = strchr(word, '=');

	if (value == NULL)
		return false;
	const size_t length = (size_t)(value++ - word);
	if (strncmp(word, "unit=", 5) == 0)
		unit_ms = strtod(value, NULL);
	else if (strncmp(word, "loops=", 6) == 0)
		unit_loops = strtoull(value, NULL, 10);
	else if (strncmp(word, "seconds=", 8) == 0)
		seconds = strtoull(value, NULL, 10);
	else if (strncmp(word, "pin=", 4) == 0)
		pin = strtoull(value, NULL, 10);
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (strlen(work[i].name) == length && strncmp(work[i].name, word, length) == 0)
			set_scale(i, strtod(value, NULL));
	return true;
}

/* Of one unit: the quickest of several, as others may run too. */
static uint64_t
measure_loops(void)
{
	const uint64_t count = 1000000;
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		const uint64_t began = target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		SPIN(count);
		const uint64_t took = target_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
		if (took > 0 && took < least)
			least = took;
	}
	return (uint64_t)((double)count * 1e6 * unit_ms / (double)least);
}

static void
answer(void)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "loops %llu progress %llu begun %llu ended %llu latency %llu at %llu\n",
		 (unsigned long long)unit_loops, (unsigned long long)progress,
		 (unsigned long long)begun, (unsigned long long)ended,
		 (unsigned long long)latency_ns, (unsigned long long)last_ns);
	target_say(line);
}

static void
obey(const char *line, char **argv)
{
	if (strcmp(line, "?") == 0) {
		answer();
	} else if (strcmp(line, "exec") == 0) {
		execv("/proc/self/exe", argv);
		target_fail("execv");
	} else if (strcmp(line, "fork") == 0) {
		if (fork() == 0) {
			SPIN((uint64_t)((double)unit_loops * 500 / unit_ms));
			_exit(0);
		}
	} else {
		set_by_word(line);
	}
}

/* False: the input, or the time that it was to run, is over. */
static bool
next_line(char *line, size_t size, uint64_t end_ns)
{
	for (size_t length = 0; length + 1 < size; length++) {
		struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
		const uint64_t now = target_clock_ns(CLOCK_MONOTONIC);

		if (end_ns != 0 && now >= end_ns)
			return false;
		if (poll(&input, 1, end_ns != 0 ? (int)((end_ns - now) / 1000000 + 1) : -1) <= 0) {
			length--; /* interrupted, or it is over */
			continue;
		}
		if (read(STDIN_FILENO, &line[length], 1) != 1)
			return false;
		if (line[length] == '\n') {
			line[length] = '\0';
			return true;
		}
	}
	return false;
}

static void
prepare(const struct kind *kind, char **words)
{
	if (strcmp(kind->name, "eat") == 0) {
		work[MAKE_ITEM].units = 0.6;
		work[EAT_ITEM].units = 1.0;
	}
	for (char **word = words; *word != NULL; word++)
		if (!set_by_word(*word))
			exit(64);
	if (unit_loops == 0)
		unit_loops = measure_loops();
	for (size_t i = 0; i < FUNCTIONS; i++)
		set_scale(i, work[i].scale);
	pthread_barrier_init(&barrier, NULL, 2);
}

/* Each thread to one of the first two CPUs that there are. */
static void
pin_threads(const struct kind *kind)
{
	cpu_set_t all, own;
	int cpu[2], found = 0;

	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &all))
			cpu[found++] = i;
	for (size_t i = 0; i < kind->count && found == 2; i++) {
		CPU_ZERO(&own);
		CPU_SET(cpu[i % 2], &own);
		sched_setaffinity(kind->thread[i].tid, sizeof(own), &own);
	}
}

int
main(int argc, char **argv)
{
	struct kind *kind = NULL;
	char line[64];

	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			kind = &kinds[i];
	if (kind == NULL)
		return 64;
	prepare(kind, argv + 2);
	target_start(kind->thread, kind->count, 0);
	target_wait(kind->thread, kind->count);
	if (pin != 0)
		pin_threads(kind);
	target_ready();
	const uint64_t end_ns =
		seconds == 0 ? 0 : target_clock_ns(CLOCK_MONOTONIC) + seconds * 1000000000u;
	while (next_line(line, sizeof(line), end_ns))
		obey(line, argv);
	answer();
	exit(0);
}
