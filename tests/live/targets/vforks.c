/* SPDX-License-Identifier: MIT */
/*
 * vforks.c - a thread that waits in vfork(2) for a child that sleeps: no tracer can stop it.
 *
 * Ends, through the child's end, with the test; prints "child N", its exit status.
 */
#include <sys/wait.h>

#include "target.h"

void vfork_f0(void), vfork_f1(void), vfork_child(void);

static int gate[2];
static int child_status;

FRAME void
vfork_child(void)
{
	char c;

	close(gate[1]); /* its own copy: the end of the parent ends the read */
	target_sink += (unsigned long)read(gate[0], &c, 1);
	_exit(9);
}

FRAME void
vfork_f1(void)
{
	target_here();
	pid_t pid = vfork();
	if (pid == 0)
		vfork_child();
	waitpid(pid, &child_status, 0);
	KEEP_FRAME();
}

FRAME void
vfork_f0(void)
{
	vfork_f1();
	KEEP_FRAME();
}

static struct target_thread threads[] = {{.name = "vforker", .run = vfork_f0, .sleeps = true}};

int
main(void)
{
	if (pipe(gate) != 0)
		target_fail("pipe");
	target_start(threads, 1, 0);
	target_wait(threads, 1);
	target_ready();
	while (target_told())
		;
	if (write(gate[1], "", 1) != 1)
		target_fail("write");
	pthread_join(threads[0].thread, NULL);
	printf("child %d\n", WEXITSTATUS(child_status));
	return 0;
}
