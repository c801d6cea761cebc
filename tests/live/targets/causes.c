/* SPDX-License-Identifier: MIT */
/*
 * causes.c - a program that is slow for one known reason: causes KIND [ARGUMENT]. It prints "ready"
 * and runs until it is killed.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 6
#define MILLISECOND 1000000

static pthread_mutex_t book_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sink;

static uint64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void
pass(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&time, NULL);
}

static __attribute__((noinline)) void
compute(uint64_t ns)
{
	for (uint64_t end = now() + ns; now() < end;)
		for (int i = 0; i < 1000; i++)
			sink += (uint64_t)i * sink;
}

static void
start(void *(*function)(void *), size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, function, (void *)i) != 0)
			abort();
		pthread_setname_np(thread, name);
	}
}

static void
idle_for_ever(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		poll(NULL, 0, -1);
}

/* --- lock: six threads wait for one that sleeps while it has the lock -------------------- */

static __attribute__((noinline)) void *
handle_order(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&book_lock);
		sink++;
		pthread_mutex_unlock(&book_lock);
		pass(MILLISECOND);
	}
	return unused;
}

static __attribute__((noinline)) void *
audit(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&book_lock);
		pass(30 * MILLISECOND);
		pthread_mutex_unlock(&book_lock);
		pass(2 * MILLISECOND);
	}
	return unused;
}

static void
run_lock(void)
{
	start(audit, 1, "audit");
	start(handle_order, WORKERS, "order");
}

/* --- deadlock: two threads take two locks in different orders ---------------------------- */

static pthread_barrier_t both;

static __attribute__((noinline)) void *
transfer(void *which)
{
	pthread_mutex_t *first = which != NULL ? &left_lock : &right_lock;
	pthread_mutex_t *second = which != NULL ? &right_lock : &left_lock;

	pthread_mutex_lock(first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(second);
	return NULL;
}

static void
run_deadlock(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(transfer, 2, "transfer");
}

/* --- disk: a thread writes records and waits until they are on the disk ------------------ */

static const char *record_path;

static __attribute__((noinline)) void
save_record(int fd)
{
	static const char record[4096] = "record";

	if (pwrite(fd, record, sizeof(record), 0) < 0 || fsync(fd) < 0)
		abort();
}

static void *
write_records(void *unused)
{
	int fd = open(record_path, O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		abort();
	for (;;)
		save_record(fd);
	return unused;
}

static void
run_disk(void)
{
	start(write_records, 1, "writer");
}

/* --- downstream: a thread asks a server that answers after 20 ms ------------------------- */

static struct sockaddr_in server_address;
static uint64_t server_ns = 20 * MILLISECOND; /* time that an answer takes */

static void
serve(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		char byte;

		while (fd >= 0 && read(fd, &byte, 1) == 1) {
			pass(server_ns);
			if (write(fd, &byte, 1) != 1)
				break;
		}
		close(fd);
	}
}

static __attribute__((noinline)) void
fetch_price(int fd)
{
	char byte = 'x';

	if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
		abort();
}

static void *
ask(void *unused)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&server_address, sizeof(server_address)) != 0)
		abort();
	for (;;)
		fetch_price(fd);
	return unused;
}

/* Starts a process for each of `count` connections. */
static void
start_servers(int count)
{
	socklen_t size = sizeof(server_address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	server_address.sin_family = AF_INET;
	server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&server_address, size) != 0 ||
	    listen(listener, 8) != 0 ||
	    getsockname(listener, (struct sockaddr *)&server_address, &size) != 0)
		abort();
	for (int i = 0; i < count; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(STDOUT_FILENO);
			serve(listener);
			_exit(0);
		}
	close(listener);
	printf("port %d\n", ntohs(server_address.sin_port));
}

static void
run_downstream(void)
{
	start_servers(1);
	start(ask, 1, "client");
}

/* --- trips: the server answers at once, and the thread asks again and again ---------------- */

static void
run_trips(void)
{
	server_ns = MILLISECOND / 5;
	run_downstream();
}

/* --- pool: two threads take requests from a queue of eight, and ask the server for each ------ */

#define POOL_WORKERS 2
#define QUEUE_SIZE 8

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_space = PTHREAD_COND_INITIALIZER;
static pthread_cond_t queue_work = PTHREAD_COND_INITIALIZER;
static size_t queued;

static __attribute__((noinline)) void *
serve_requests(void *unused)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&server_address, sizeof(server_address)) != 0)
		abort();
	for (;;) {
		pthread_mutex_lock(&queue_lock);
		while (queued == 0)
			pthread_cond_wait(&queue_work, &queue_lock);
		queued--;
		pthread_cond_signal(&queue_space);
		pthread_mutex_unlock(&queue_lock);
		fetch_price(fd);
	}
	return unused;
}

static __attribute__((noinline)) void *
put_requests(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&queue_lock);
		while (queued == QUEUE_SIZE)
			pthread_cond_wait(&queue_space, &queue_lock);
		queued++;
		pthread_cond_signal(&queue_work);
		pthread_mutex_unlock(&queue_lock);
	}
	return unused;
}

static void
run_pool(void)
{
	start_servers(POOL_WORKERS);
	start(serve_requests, POOL_WORKERS, "worker");
	start(put_requests, 1, "acceptor");
}

/* --- polling: a thread looks every two milliseconds whether there is work ------------------- */

static volatile bool has_work;

static __attribute__((noinline)) void *
await_work(void *unused)
{
	while (!has_work)
		pass(2 * MILLISECOND);
	return unused;
}

static void
run_polling(void)
{
	start(await_work, 1, "poller");
}

/* --- loop: a thread that handles events computes for as long as ten of them ----------------- */

static __attribute__((noinline)) void
handle_event(void)
{
	compute(10 * MILLISECOND);
}

static void *
run_events(void *unused)
{
	const struct itimerspec every = { { 0, 12 * MILLISECOND }, { 0, MILLISECOND } };
	const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct epoll_event event = { .events = EPOLLIN };
	const int loop = epoll_create1(0);
	uint64_t count;

	timerfd_settime(timer, 0, &every, NULL);
	epoll_ctl(loop, EPOLL_CTL_ADD, timer, &event);
	while (epoll_wait(loop, &event, 1, -1) == 1)
		if (read(timer, &count, sizeof(count)) == (ssize_t)sizeof(count))
			handle_event();
	return unused;
}

static void
run_loop(void)
{
	start(run_events, 1, "events");
}

/* --- CPU --------------------------------------------------------------------------------- */

static __attribute__((noinline)) void *
render(void *unused)
{
	for (;;)
		compute(MILLISECOND);
	return unused;
}

static void
run_busy(void)
{
	start(render, (size_t)sysconf(_SC_NPROCESSORS_ONLN), "render");
}

static void
run_crowd(void)
{
	start(render, 4 * (size_t)sysconf(_SC_NPROCESSORS_ONLN), "render");
}

static void
run_serial(void)
{
	start(render, 1, "render");
}

/* --- small calls: a thread reads a byte at a time ---------------------------------------- */

static __attribute__((noinline)) void *
parse_bytes(void *unused)
{
	const int fd = open("/dev/zero", O_RDONLY);
	char byte;

	while (read(fd, &byte, 1) == 1)
		sink += (uint64_t)byte;
	return unused;
}

static void
run_chatty(void)
{
	start(parse_bytes, 1, "parser");
}

/* --- spinning: threads wait for a spin lock that one of them has for long ---------------- */

static pthread_spinlock_t spin_lock;

static __attribute__((noinline)) void *
enter_ring(void *unused)
{
	for (;;) {
		pthread_spin_lock(&spin_lock);
		compute(MILLISECOND);
		pthread_spin_unlock(&spin_lock);
	}
	return unused;
}

static void
run_spin(void)
{
	pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
	start(enter_ring, 2, "ring");
}

/* --- allocator: threads allocate from one arena, and give its free memory back --------- */

#define CHUNKS 500

static __attribute__((noinline)) void *
build_index(void *unused)
{
	void *kept[CHUNKS];

	for (;;) {
		for (size_t i = 0; i < CHUNKS; i++) {
			kept[i] = malloc(2000 + 10 * i);
			memset(kept[i], 1, 2000);
		}
		for (size_t i = 0; i < CHUNKS; i++)
			free(kept[i]);
		malloc_trim(0);
	}
	return unused;
}

static void
run_allocator(void)
{
	mallopt(M_ARENA_MAX, 1);
	start(build_index, 3, "index");
}

/* --- page faults: a thread reads a mapped file that is not in memory --------------------- */

#define MAPPED_SIZE ((size_t)64 << 20)

static __attribute__((noinline)) void *
read_table(void *mapped)
{
	const int fd = open(record_path, O_RDONLY);

	for (;;) {
		madvise(mapped, MAPPED_SIZE, MADV_DONTNEED);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (size_t at = 0; at < MAPPED_SIZE; at += 5 * 4096)
			sink += ((volatile unsigned char *)mapped)[at];
	}
	return NULL;
}

static void
run_faults(void)
{
	const int fd = open(record_path, O_RDWR | O_CREAT, 0600);
	static char block[1 << 20];
	pthread_t thread;
	void *mapped;

	for (size_t at = 0; at < MAPPED_SIZE; at += sizeof(block))
		if (pwrite(fd, block, sizeof(block), (off_t)at) != (ssize_t)sizeof(block))
			abort();
	if (fsync(fd) != 0)
		abort();
	mapped = mmap(NULL, MAPPED_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		abort();
	madvise(mapped, MAPPED_SIZE, MADV_RANDOM);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	if (pthread_create(&thread, NULL, read_table, mapped) != 0)
		abort();
}

/* --- database: a thread waits for a row's lock as a backend of PostgreSQL does -------------- */

static __attribute__((noinline)) void
ProcSleep(int events)
{
	struct epoll_event event;

	while (epoll_wait(events, &event, 1, -1) <= 0)
		;
	sink++;
}

static __attribute__((noinline)) void *
heap_update(void *unused)
{
	const int events = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event none = { .events = EPOLLIN };
	int latch[2];

	if (events < 0 || pipe(latch) != 0 ||
	    epoll_ctl(events, EPOLL_CTL_ADD, latch[0], &none) != 0)
		abort();
	ProcSleep(events);
	sink++;
	return unused;
}

static void
run_database(void)
{
	start(heap_update, 1, "backend");
}

static void
run_idle(void)
{
}

static void
run_stopped(void)
{
	start(render, 1, "render");
	puts("ready");
	fflush(stdout);
	raise(SIGSTOP);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "lock", run_lock },	    { "deadlock", run_deadlock }, { "disk", run_disk },
	{ "downstream", run_downstream }, { "busy", run_busy },	  { "crowd", run_crowd },
	{ "serial", run_serial },   { "idle", run_idle },	  { "stopped", run_stopped },
	{ "chatty", run_chatty },   { "spin", run_spin },	  { "allocator", run_allocator },
	{ "faults", run_faults },   { "trips", run_trips },	  { "polling", run_polling },
	{ "loop", run_loop },	    { "pool", run_pool },	  { "database", run_database },
};

int
main(int argc, char **argv)
{
	record_path = argc > 2 ? argv[2] : NULL;
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0) {
			kinds[i].run();
			idle_for_ever();
		}
	fprintf(stderr, "usage: causes KIND\n");
	return 2;
}
