/* SPDX-License-Identifier: MIT */
/* mapping_at.c - the bounds of the mapping around one address, executable or not. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "process/maps_source_internal.h"
#include "wallsample/process/process.h"

int
process_mapping_at(const struct process *process, pid_t tid, uint64_t address, uint64_t *start,
		   uint64_t *end)
{
	struct procmap_question question = { .size = sizeof(question), .query_addr = address };
	char name[32];
	int fd, error = 0;

	/* The thread's own file: that of the process is empty once its first thread has ended. */
	snprintf(name, sizeof(name), "%d/maps", (int)tid);
	fd = openat(process->taskfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (ioctl(fd, PROCMAP_QUESTION, &question) != 0)
		error = errno;
	close(fd);
	if (error != 0)
		return error;
	if (question.vma_start > address || question.vma_end <= address)
		return ENOENT;
	*start = question.vma_start;
	*end = question.vma_end;
	return 0;
}
