/* SPDX-License-Identifier: MIT */
/*
 * shared.c - threads that wait for a mutex in POSIX shared memory, which another process has, and
 * for a named semaphore. Behind "ready" it says the id of that process, "keeper", and the name of
 * the memory and of the semaphore.
 */
#include <semaphore.h>
#include <signal.h>

#include "target.h"

/* Where the mutex is in the memory. */
#define OFFSET 0x1a40
#define SIZE 16384

static char name[64];
static pthread_mutex_t *mutex;
static sem_t *semaphore;

static pthread_mutex_t *
map_mutex(int fd)
{
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		target_fail("mmap");
	return (pthread_mutex_t *)(at + OFFSET);
}

/* Has the mutex until the target ends. The memory is at another address there. */
static void
keep(int fd, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "keeper");
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		_exit(97);
	mutex = map_mutex(fd);
	pthread_mutex_lock(mutex);
	if (write(out, "h", 1) != 1)
		_exit(97);
	while (!target_over)
		pause();
	_exit(0);
}

static pid_t
start_keeper(int fd)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		target_fail("fork");
	if (pid == 0)
		keep(fd, ends[1]);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		target_fail("the keeper");
	return pid;
}

static void
make_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attr);
}

FRAME static void
wait_mutex(void)
{
	target_here();
	pthread_mutex_lock(mutex);
	KEEP_FRAME();
}

FRAME static void
wait_semaphore(void)
{
	target_here();
	sem_wait(semaphore);
	KEEP_FRAME();
}

int
main(void)
{
	struct target_thread threads[] = {
		{ .name = "waiter", .run = wait_mutex, .sleeps = true },
		{ .name = "taker", .run = wait_semaphore, .sleeps = true },
	};
	char line[128];
	int fd;
	pid_t keeper;

	snprintf(name, sizeof(name), "/wallsample-test-%d", (int)getpid());
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	if (fd < 0 || semaphore == SEM_FAILED || ftruncate(fd, SIZE) != 0)
		target_fail("shm_open");
	mutex = map_mutex(fd);
	make_mutex();
	keeper = start_keeper(fd);
	target_start(threads, 2, 0);
	target_wait(threads, 2);
	target_ready();
	snprintf(line, sizeof(line), "%d %s\n", (int)keeper, name);
	target_say(line);
	while (target_told())
		;
	shm_unlink(name);
	sem_unlink(name);
	_exit(0);
}
