/* SPDX-License-Identifier: MIT */
/* Starts, watches and ends the programs that the bench runs. */
#include "bench_tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void
words_add(struct words *words, const char *word)
{
	if (words->count == TOOL_WORDS) {
		errno = E2BIG;
		bench_die("too many words");
	}
	words->word[words->count++] = word;
	words->word[words->count] = NULL;
}

static int
unnamed_file(void)
{
	int fd = (int)syscall(SYS_memfd_create, "bench-output", MFD_CLOEXEC);

	if (fd < 0)
		bench_die("memfd_create");
	return fd;
}

static _Noreturn void
become(const struct words *words, int in, int out, int err)
{
	if (in < 0)
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(err, STDERR_FILENO) < 0)
		_exit(126);
	execvp(words->word[0], (char *const *)(uintptr_t)words->word);
	_exit(127);
}

/* `out` is taken: the caller's pipe, or -1 for an unnamed file that is kept. */
static void
start(struct tool *tool, const struct words *words, int out, bool serve)
{
	int in[2] = { -1, -1 };

	tool->out = out < 0 ? unnamed_file() : -1;
	tool->err = unnamed_file();
	if (serve && pipe2(in, O_CLOEXEC) < 0)
		bench_die("pipe2");
	tool->started_ns = bench_now_ns();
	tool->pid = fork();
	if (tool->pid < 0)
		bench_die("fork");
	if (tool->pid == 0)
		become(words, in[0], out < 0 ? tool->out : out, tool->err);
	if (in[0] >= 0)
		close(in[0]);
	tool->input = in[1];
}

void
tool_start(struct tool *tool, const struct words *words, bool serve)
{
	start(tool, words, -1, serve);
}

bool
tool_is_running(const struct tool *tool)
{
	siginfo_t info = { 0 };

	/* Looks without reaping: tool_wait does that, with its times. */
	return waitid(P_PID, (id_t)tool->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0;
}

static char *
read_whole(int fd)
{
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)(size < 0 ? 0 : size) + 1);
	ssize_t n = 0;

	if (text == NULL)
		bench_die("memory");
	if (fd >= 0) {
		n = pread(fd, text, (size_t)size, 0);
		close(fd);
	}
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

void
tool_wait(struct tool *tool, double seconds, struct tool_end *end)
{
	int handle = (int)syscall(SYS_pidfd_open, tool->pid, 0);
	struct pollfd ready = { .fd = handle, .events = POLLIN };
	struct rusage usage = { 0 };

	memset(end, 0, sizeof(*end));
	if (handle >= 0 && poll(&ready, 1, (int)(seconds * 1000)) <= 0) {
		end->timed_out = true;
		kill(tool->pid, SIGKILL);
	}
	while (wait4(tool->pid, &end->status, 0, &usage) < 0 && errno == EINTR)
		continue;
	end->seconds = (double)(bench_now_ns() - tool->started_ns) / 1e9;
	end->cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	end->peak_kib = usage.ru_maxrss;
	end->out = read_whole(tool->out);
	end->err = read_whole(tool->err);
	if (handle >= 0)
		close(handle);
	if (tool->input >= 0)
		close(tool->input);
}

void
tool_end_release(struct tool_end *end)
{
	free(end->out);
	free(end->err);
	end->out = end->err = NULL;
}

void
tool_run(const struct words *words, double seconds, struct tool_end *end)
{
	struct tool tool;

	tool_start(&tool, words, false);
	tool_wait(&tool, seconds, end);
}

static ssize_t
read_proc(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n;
}

double
tool_cpu_seconds(const struct tool *tool)
{
	char path[64], text[128];

	/* Of the main thread: neither wallsample nor the floor has another. */
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)tool->pid);
	return read_proc(path, text, sizeof(text)) > 0 ? strtod(text, NULL) / 1e9 : 0;
}

long
tool_memory_kib(const struct tool *tool)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tool->pid);
	if (read_proc(path, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "VmRSS:");
	return line != NULL ? strtol(line + strlen("VmRSS:"), NULL, 10) : 0;
}

bool
tool_exists(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path != NULL && *path != '\0') {
		size_t length = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, name);
		if (access(file, X_OK) == 0)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

/* --- targets --------------------------------------------------------------- */

/* Reads the line "ready PID TIDS" from the target's pipe; false when it ends before. */
static bool
read_ready_line(struct target *target, int from)
{
	char line[1200] = "";
	size_t length = 0;
	char *pid, *tids;

	while (length < sizeof(line) - 1 && strchr(line, '\n') == NULL) {
		ssize_t n = read(from, line + length, sizeof(line) - 1 - length);

		if (n <= 0)
			return false;
		length += (size_t)n;
		line[length] = '\0';
	}
	line[strcspn(line, "\n")] = '\0';
	pid = strchr(line, ' ');
	tids = pid != NULL ? strchr(pid + 1, ' ') : NULL;
	if (tids == NULL)
		return false;
	*tids++ = '\0';
	snprintf(target->pid, sizeof(target->pid), "%s", pid + 1);
	snprintf(target->tids, sizeof(target->tids), "%s", tids);
	return true;
}

bool
target_start(struct target *target, const struct words *words, const char *board_path)
{
	int ends[2];
	bool ready;

	memset(target, 0, sizeof(*target));
	if (truncate(board_path, 0) < 0)
		bench_die(board_path);
	target->board = board_open(board_path);
	if (pipe2(ends, O_CLOEXEC) < 0)
		bench_die("pipe2");
	start(&target->tool, words, ends[1], true);
	close(ends[1]);
	ready = read_ready_line(target, ends[0]);
	close(ends[0]);
	if (!ready)
		target_stop(target);
	return ready;
}

void
target_stop(struct target *target)
{
	struct tool_end end;

	kill(target->tool.pid, SIGKILL);
	tool_wait(&target->tool, 10, &end);
	if (end.err[0] != '\0')
		printf("  target: %s", end.err);
	tool_end_release(&end);
	munmap(target->board, sizeof(*target->board));
}

static bool
is_busy(const struct target *target, const char *tid)
{
	size_t length = strlen(tid);

	for (const char *at = target->tids; *at != '\0'; at += *at == ',') {
		size_t word = strcspn(at, ",");

		if (word == length && strncmp(at, tid, length) == 0)
			return true;
		at += word;
	}
	return false;
}

uint64_t
target_switches_of_blocked(const struct target *target)
{
	char path[320], text[128];
	struct dirent *entry;
	uint64_t sum = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", target->pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		const char *last;

		if (entry->d_name[0] == '.' || is_busy(target, entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task/%s/schedstat", target->pid,
			 entry->d_name);
		if (read_proc(path, text, sizeof(text)) <= 0)
			continue;
		last = strrchr(text, ' ');
		sum += last != NULL ? strtoull(last, NULL, 10) : 0;
	}
	if (dir != NULL)
		closedir(dir);
	return sum;
}
