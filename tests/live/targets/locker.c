/* SPDX-License-Identifier: MIT */
/*
 * locker.c - takes locks of files and operates on objects of System V as it is told on standard
 * input, one command a line, and answers each with a line:
 *
 *     flock MODE PATH                MODE: r (shared) or w (exclusive)
 *     posix MODE PATH START LENGTH   F_SETLKW
 *     ofd MODE PATH START LENGTH     F_OFD_SETLKW
 *     lockf PATH POSITION LENGTH     lockf(3), at a position of the descriptor
 *     semop ID NUMBER VALUE          semop(2) of one operation
 *     msgrcv ID
 *     thread                         starts a thread that sleeps
 *     heir                           a child has all descriptors, and this process ends
 *
 * The answer is "got" when the call has returned; to "heir" it is the id of the child.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <unistd.h>

#define SECONDS_MOST 300

static void
fail(const char *what)
{
	perror(what);
	_exit(1);
}

static int
open_file(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		fail(path);
	return fd;
}

static void
take_flock(char mode, const char *path)
{
	if (flock(open_file(path), mode == 'r' ? LOCK_SH : LOCK_EX) != 0)
		fail("flock");
}

static void
take_range(int command, char mode, const char *path, long start, long length)
{
	struct flock wanted = {
		.l_type = mode == 'r' ? F_RDLCK : F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = start,
		.l_len = length,
	};

	if (fcntl(open_file(path), command, &wanted) != 0)
		fail("fcntl");
}

static void
take_lockf(const char *path, long position, long length)
{
	const int fd = open_file(path);

	if (lseek(fd, position, SEEK_SET) < 0 || lockf(fd, F_LOCK, length) != 0)
		fail("lockf");
}

static void
operate(int id, int number, int value)
{
	struct sembuf operation = { .sem_num = (unsigned short)number, .sem_op = (short)value };

	if (semop(id, &operation, 1) != 0)
		fail("semop");
}

static void
receive(int id)
{
	struct {
		long type;
		char text[16];
	} message;

	if (msgrcv(id, &message, sizeof(message.text), 0, 0) < 0)
		fail("msgrcv");
}

static void *
sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void
start_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_on, NULL) != 0)
		fail("pthread_create");
}

static void
leave_to_heir(void)
{
	const pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child > 0)
		_exit(0);
	alarm(SECONDS_MOST);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	sleep_on(NULL);
}

static void
obey(const char *line)
{
	char mode, path[512];
	long a, b;
	int id, number, value;

	if (sscanf(line, "flock %c %511s", &mode, path) == 2)
		take_flock(mode, path);
	else if (sscanf(line, "posix %c %511s %ld %ld", &mode, path, &a, &b) == 4)
		take_range(F_SETLKW, mode, path, a, b);
	else if (sscanf(line, "ofd %c %511s %ld %ld", &mode, path, &a, &b) == 4)
		take_range(F_OFD_SETLKW, mode, path, a, b);
	else if (sscanf(line, "lockf %511s %ld %ld", path, &a, &b) == 3)
		take_lockf(path, a, b);
	else if (sscanf(line, "semop %d %d %d", &id, &number, &value) == 3)
		operate(id, number, value);
	else if (sscanf(line, "msgrcv %d", &id) == 1)
		receive(id);
	else if (strcmp(line, "thread\n") == 0)
		start_thread();
	else if (strcmp(line, "heir\n") == 0)
		leave_to_heir();
	else
		fail(line);
}

int
main(void)
{
	char line[1024];

	alarm(SECONDS_MOST);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		obey(line);
		printf("got\n");
		fflush(stdout);
	}
	return 0;
}
