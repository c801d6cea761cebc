/* SPDX-License-Identifier: MIT */
/*
 * jobserver: the bundled demo, a small server with the usual kinds of threads.
 *
 * A producer puts documents into a bounded queue; four workers hash them and count the
 * results in one table under one lock, which they fight over; a listener waits in
 * poll for clients that never come; a thread looks for old results at fixed times; a
 * logger writes lines away. It is there to be sampled: each thread shows another state.
 *
 * jobserver SECONDS
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
#define QUEUE_SIZE 16
#define DOCUMENT_WORDS 8192
#define TABLE_SIZE 4096
#define JOBS_PER_BATCH 24
#define JOBS_PER_LINE 16
#define BATCH_INTERVAL_NS 20000000L /* 50 batches a second: a CPU or less */

/* Each step is to have a frame of its own in the report. */
#define STEP __attribute__((noinline, noclone))

struct job {
	uint64_t number;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct job job[QUEUE_SIZE];
	size_t first, count;
};

static struct queue jobs = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .not_empty = PTHREAD_COND_INITIALIZER,
			     .not_full = PTHREAD_COND_INITIALIZER };

static pthread_mutex_t results_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t results[TABLE_SIZE];

static pthread_mutex_t expiry_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t expiry_wanted = PTHREAD_COND_INITIALIZER;

static int log_pipe[2], client_socket[2];

static void
die(const char *what)
{
	fprintf(stderr, "jobserver: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- the queue ---------------------------------------------------------------- */

STEP static void
put_job(struct queue *queue, struct job job)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == QUEUE_SIZE)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	queue->job[(queue->first + queue->count) % QUEUE_SIZE] = job;
	queue->count++;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

STEP static struct job
take_job(struct queue *queue)
{
	struct job job;

	pthread_mutex_lock(&queue->lock);
	while (queue->count == 0)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	job = queue->job[queue->first];
	queue->first = (queue->first + 1) % QUEUE_SIZE;
	queue->count--;
	pthread_cond_signal(&queue->not_full);
	pthread_mutex_unlock(&queue->lock);
	return job;
}

/* --- what the workers do -------------------------------------------------------- */

STEP static void
fill_document(uint64_t *words, uint64_t number)
{
	uint64_t x = number * UINT64_C(0x9e3779b97f4a7c15) + 1;

	for (size_t i = 0; i < DOCUMENT_WORDS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		words[i] = x;
	}
}

/* FNV-1a, word by word, over and over: the work that takes the time. */
STEP static uint64_t
hash_document(const uint64_t *words)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int round = 0; round < 40; round++) {
		for (size_t i = 0; i < DOCUMENT_WORDS; i++)
			hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* Longer under the lock than it should be: the fight over it is meant to be seen. */
STEP static void
store_result(uint64_t hash)
{
	pthread_mutex_lock(&results_lock);
	for (int round = 0; round < 64; round++) {
		for (size_t i = 0; i < TABLE_SIZE; i++)
			results[i] = results[i] * 31 + (hash >> (i % 32));
	}
	pthread_mutex_unlock(&results_lock);
}

STEP static void
write_log_line(uint64_t number)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "job %llu done\n", (unsigned long long)number);

	if (write(log_pipe[1], line, (size_t)length) < 0 && errno == EPIPE)
		_exit(1);
}

STEP static void
run_job(struct job job, uint64_t *words)
{
	fill_document(words, job.number);
	store_result(hash_document(words));
	if (job.number % JOBS_PER_LINE == 0)
		write_log_line(job.number);
}

/* --- the threads ---------------------------------------------------------------- */

static void *
worker_main(void *unused)
{
	uint64_t *words = calloc(DOCUMENT_WORDS, sizeof(*words));

	(void)unused;
	if (words == NULL)
		die("memory");
	for (;;)
		run_job(take_job(&jobs), words);
	return NULL;
}

static void *
producer_main(void *unused)
{
	const struct timespec interval = { .tv_nsec = BATCH_INTERVAL_NS };
	uint64_t number = 0;

	(void)unused;
	for (;;) {
		for (int i = 0; i < JOBS_PER_BATCH; i++)
			put_job(&jobs, (struct job){ .number = number++ });
		nanosleep(&interval, NULL);
	}
	return NULL;
}

STEP static void
serve_client(int fd)
{
	char byte;

	if (read(fd, &byte, 1) < 0 && errno != EINTR)
		_exit(1);
}

static void *
listener_main(void *unused)
{
	struct pollfd client = { .fd = client_socket[0], .events = POLLIN };

	(void)unused;
	for (;;) {
		if (poll(&client, 1, -1) > 0)
			serve_client(client.fd);
	}
	return NULL;
}

STEP static void
expire_old_results(void)
{
	pthread_mutex_lock(&results_lock);
	for (size_t i = 0; i < TABLE_SIZE; i += 8)
		results[i] = 0;
	pthread_mutex_unlock(&results_lock);
}

static void *
expiry_main(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&expiry_lock);
	for (;;) {
		struct timespec at;

		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_sec += 1;
		if (pthread_cond_timedwait(&expiry_wanted, &expiry_lock, &at) == ETIMEDOUT)
			expire_old_results();
	}
	return NULL;
}

static void *
logger_main(void *sink)
{
	char text[4096];
	ssize_t n;

	while ((n = read(log_pipe[0], text, sizeof(text))) > 0) {
		if (write((int)(intptr_t)sink, text, (size_t)n) < 0)
			break;
	}
	return NULL;
}

/* --- set up --------------------------------------------------------------------- */

static void
start_thread(const char *name, void *(*begin)(void *), void *context)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, begin, context);
	if (errno != 0)
		die("a thread cannot be created");
	pthread_setname_np(thread, name);
}

static void
start_threads(void)
{
	int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (sink < 0 || pipe(log_pipe) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, client_socket) < 0)
		die("no descriptors");
	start_thread("logger", logger_main, (void *)(intptr_t)sink);
	start_thread("listener", listener_main, NULL);
	start_thread("expiry", expiry_main, NULL);
	for (int i = 1; i <= WORKERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker-%d", i);
		start_thread(name, worker_main, NULL);
	}
	start_thread("producer", producer_main, NULL);
}

STEP static void
wait_for_the_end(unsigned seconds)
{
	while (seconds > 0)
		seconds = sleep(seconds);
}

int
main(int argc, char **argv)
{
	char *end = NULL;
	unsigned long seconds = argc == 2 ? strtoul(argv[1], &end, 10) : 0;

	if (end == NULL || *end != '\0' || seconds == 0 || seconds > 86400) {
		fprintf(stderr, "usage: jobserver SECONDS\n");
		return 64;
	}
	/*
	 * Where Yama lets a process be traced by its ancestors alone, this one says that
	 * anybody of its user may: it is here to be sampled.
	 */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0UL, 0UL, 0UL);
	start_threads();
	printf("%d\n", (int)getpid());
	fflush(stdout);
	wait_for_the_end((unsigned)seconds);
	return 0;
}
