/* SPDX-License-Identifier: MIT */
/*
 * fuzz_proc.c - the bytes are a file below /proc, whichever: each parser of such files gets them.
 * Names of threads, files and sockets in these files are chosen by the target.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "process/maps_source_internal.h"
#include "process/process_internal.h"
#include "wait/descriptor_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/cgroup.h"
#include "wallsample/process/loadavg.h"
#include "wallsample/thread/state.h"
#include "wallsample/thread/stolen.h"
#include "wallsample/wait/file_lock.h"

static void
check_line(const char *text, const struct maps_line *line)
{
	if (line->end < line->start || line->path < text || line->path > text + strlen(text))
		abort();
}

static void
parse_maps(const char *text)
{
	struct maps_line line;

	if (maps_source_parse(text, &line))
		check_line(text, &line);
	if (maps_source_parse_shared(text, &line))
		check_line(text, &line);
}

static void
parse_stat(const char *text)
{
	struct task_stat stat;

	if (task_stat_parse(text, &stat) && memchr(stat.comm, '\0', sizeof(stat.comm)) == NULL)
		abort();
}

static void
parse_fdinfo(const char *text)
{
	struct fdinfo info;
	struct strbuf out;

	fdinfo_parse(text, &info);
	strbuf_init(&out);
	fdinfo_add_timer(&info, &out);
	fdinfo_add_signals(&info, &out);
	strbuf_release(&out);
}

/* The first line, and all lines as those of /proc/locks. */
static void
parse_locks(const char *text)
{
	const struct file_lock_query query = {
		.wanted = { .exclusive = true, .inode = 837793, .last = FILE_LOCK_END },
	};
	struct file_lock_answer answer;
	struct file_lock lock;

	if (file_lock_parse(text, &lock) &&
	    (lock.pid < 0 || lock.first > lock.last || lock.last > FILE_LOCK_END))
		abort();
	file_lock_answer_from(text, &query, &answer);
	if (answer.known > FILE_LOCK_HOLDERS || answer.known > answer.count)
		abort();
}

/* The kernel's answer about a socket, which is aligned. */
static void
parse_socket(const uint8_t *bytes, size_t size)
{
	struct unix_socket found;
	void *answer = xmalloc(size > 0 ? size : 1);

	memcpy(answer, bytes, size);
	if (unix_diag_parse(answer, size, 1, &found) &&
	    memchr(found.name, '\0', sizeof(found.name)) == NULL)
		abort();
	free(answer);
}

static double
no_limit(int dirfd)
{
	(void)dirfd;
	return INFINITY;
}

/* cgroup_least() reads a file "cgroup" in a directory, so the bytes are written to one. */
static void
parse_cgroup(const uint8_t *bytes, size_t size)
{
	static const struct cgroup_limit limit = {
		.controller = "cpu", .v1 = no_limit, .v2 = no_limit
	};
	char folder[] = "/tmp/wallsample-fuzz-XXXXXX";
	const int dirfd = mkdtemp(folder) != NULL ? open(folder, O_RDONLY | O_CLOEXEC) : -1;
	const int fd = openat(dirfd, "cgroup", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size ||
	    cgroup_least(dirfd, &limit) != INFINITY)
		abort();
	close(fd);
	(void)unlinkat(dirfd, "cgroup", 0);
	close(dirfd);
	(void)rmdir(folder);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = xmalloc(size + 1); /* a sanitizer finds reads behind its end */
	struct task_status status;
	struct machine_time machine;
	struct syscall_info call;
	char printable[TASK_NAME_SIZE];
	struct sched sched;
	uint64_t switched;

	memcpy(text, bytes, size);
	text[size] = '\0';
	parse_maps(text);
	parse_stat(text);
	parse_fdinfo(text);
	parse_locks(text);
	parse_socket(bytes, size);
	parse_cgroup(bytes, size);
	task_parse_status(text, &status);
	sched_parse_schedstat(text, &sched);
	sched_parse_status(text, &sched);
	switch_parse(text, &switched);
	syscall_parse(text, &call);
	machine_time_parse(text, 100, &machine);
	loadavg_parse_runnable(text);
	task_printable(text, printable, sizeof(printable));
	if (memchr(printable, '\0', sizeof(printable)) == NULL)
		abort();
	free(text);
	return 0;
}
