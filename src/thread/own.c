/* SPDX-License-Identifier: MIT */
/* own.c - reads what the scheduler says about the calling thread. */
#include "wallsample/thread/own.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "wallsample/thread/state.h"

/* Longest text of a schedstat file: three numbers of at most 20 digits. */
#define SCHEDSTAT_SIZE 80

void
own_thread_open(struct own_thread *own)
{
	own->delay_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	own->switch_fd = open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);
}

void
own_thread_close(struct own_thread *own)
{
	if (own->delay_fd >= 0)
		close(own->delay_fd);
	if (own->switch_fd >= 0)
		close(own->switch_fd);
	own->delay_fd = own->switch_fd = -1;
}

/* Reads the beginning of the file, zero-terminated. */
static bool
read_text(int fd, char *text, size_t size)
{
	const ssize_t got = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	return true;
}

uint64_t
own_thread_delay(const struct own_thread *own)
{
	char text[SCHEDSTAT_SIZE];
	struct sched sched;

	return read_text(own->delay_fd, text, sizeof(text)) && sched_parse_schedstat(text, &sched) ?
		       sched.delay_ns :
		       0;
}

uint64_t
own_thread_switch(const struct own_thread *own)
{
	char text[SWITCH_TEXT_SIZE];
	uint64_t ns;

	return read_text(own->switch_fd, text, sizeof(text)) && switch_parse(text, &ns) ? ns : 0;
}
