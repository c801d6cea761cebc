/* SPDX-License-Identifier: MIT */
/* own_delay.c - the scheduler's count of the time wallsample itself waits for a CPU. */
#include "tracer/tracer_internal.h"

#include <fcntl.h>
#include <unistd.h>

#include "wallsample/thread/state.h"

/* Three numbers of at most 20 digits. */
#define TEXT_SIZE 80

int
own_delay_open(void)
{
	return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

uint64_t
own_delay_read(int fd)
{
	char text[TEXT_SIZE];
	struct sched own;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sched_parse_schedstat(text, &own) ? own.delay_ns : 0;
}
