/* SPDX-License-Identifier: MIT */
/*
 * progress_io.c - reads the kernel's I/O counters of a process (proc_pid_io(5)): the sums over all
 * its threads, ended ones included, and over children that it has waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"

/* The seven lines of the file have 200 bytes. */
#define TEXT_MOST 1024

bool
progress_io_parse(const char *text, enum progress_io_field field, uint64_t *value)
{
	const char *word = progress_io_word(field);
	const size_t length = strlen(word);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, word, length) == 0 && text[length] == ':') {
			text += length + 1;
			return parse_u64(&text, 10, value);
		}
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
	return false;
}

bool
progress_io_read(int fd, uint64_t value[PROGRESS_IO_FIELD_COUNT])
{
	char text[TEXT_MOST + 1];
	ssize_t got = pread(fd, text, TEXT_MOST, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	for (size_t i = 0; i < PROGRESS_IO_FIELD_COUNT; i++)
		if (!progress_io_parse(text, (enum progress_io_field)i, &value[i]))
			return false;
	return true;
}

static int
io_refuse(const struct process *process, int number, struct error *err)
{
	if (number == EACCES || number == EPERM)
		return error_set(err, ERROR_NOT_PERMITTED,
				 "/proc/%d/io may not be read: only root "
				 "and the user whose process it is may, and not even that user "
				 "when the program is setuid or has made itself undumpable (prctl)",
				 (int)process->pid);
	if (number == ENOENT)
		return error_set(err, ERROR_SYSTEM,
				 "/proc/%d/io is not there: this kernel does "
				 "not count it (CONFIG_TASK_IO_ACCOUNTING); var: and coz: points "
				 "need no such help",
				 (int)process->pid);
	if (number == ESRCH)
		return error_set(err, ERROR_NO_PROCESS, "process %d has gone", (int)process->pid);
	return error_set(err, ERROR_SYSTEM, "/proc/%d/io cannot be read: %s", (int)process->pid,
			 strerror(number));
}

int
progress_io_open(const struct process *process, int *fd, struct error *err)
{
	uint64_t value[PROGRESS_IO_FIELD_COUNT];
	int number;

	*fd = openat(process->dirfd, "io", O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return io_refuse(process, errno, err);
	/* The kernel checks the permission at each read. */
	errno = EIO;
	if (progress_io_read(*fd, value))
		return 0;
	number = errno;
	close(*fd);
	*fd = -1;
	return io_refuse(process, number, err);
}
