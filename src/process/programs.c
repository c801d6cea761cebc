/* SPDX-License-Identifier: MIT */
/* programs.c - reads the CPU times of all processes from /proc/PID/stat, proc_pid_stat(5). */
#include "wallsample/process/programs.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/process_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

#define PROCESSES_MOST 4096
#define STAT_SIZE 1024
/* Fields of /proc/stat up to "steal". */
#define MACHINE_FIELDS 8
/* Most programs that are named, and the least number of CPUs that each has used. */
#define NAMED_MOST 3
#define CPUS_LEAST 0.05
/* Least number of CPUs that processes without a name have used. */
#define HIDDEN_LEAST 0.1

/* A process, or the processes of one name. */
struct program {
	pid_t pid;
	uint64_t start_time; /* in clock ticks since boot */
	uint64_t ticks;      /* CPU time in clock ticks */
	uint32_t processes;
	char comm[64];
};

struct programs {
	struct program *program; /* ordered by pid */
	size_t count, capacity;
	uint64_t at_ns; /* moment of the reading, CLOCK_MONOTONIC */
	/* CPU time of the whole machine in clock ticks, proc_stat(5): of processes, and of all but
	 * idle CPUs; 0: not readable */
	uint64_t used, busy;
};

/* --- reading ----------------------------------------------------------------------------- */

static bool
read_program(int procfd, const char *name, struct program *out)
{
	char path[32], text[STAT_SIZE];
	struct task_stat stat;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/stat", name);
	fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	if (!task_stat_parse(text, &stat))
		return false;
	*out = (struct program){ .pid = stat.tid,
				 .start_time = stat.start_time,
				 .ticks = stat.user_ticks + stat.system_ticks,
				 .processes = 1 };
	task_printable(stat.comm, out->comm, sizeof(out->comm));
	return true;
}

/* Reads the line "cpu  user nice system idle iowait irq softirq steal …" of /proc/stat. */
static void
read_machine(int procfd, struct programs *programs)
{
	char text[STAT_SIZE];
	uint64_t value[MACHINE_FIELDS] = { 0 };
	const int fd = openat(procfd, "stat", O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	const char *at = text + strlen("cpu");

	if (fd >= 0)
		close(fd);
	if (got <= 0 || strncmp(text, "cpu ", 4) != 0)
		return;
	text[got] = '\0';
	for (size_t i = 0; i < MACHINE_FIELDS && parse_u64(&at, 10, &value[i]); i++)
		continue;
	programs->used = value[0] + value[1] + value[2];
	programs->busy = programs->used + value[5] + value[6] + value[7];
}

static int
compare_pids(const void *left, const void *right)
{
	const struct program *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

struct programs *
programs_read(void)
{
	struct programs *programs = xcalloc(1, sizeof(*programs));
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	size_t seen = 0;

	programs->at_ns = clock_now_ns();
	while (proc != NULL && seen <= PROCESSES_MOST && (entry = readdir(proc)) != NULL) {
		uint64_t pid;

		if (!parse_whole_u64(entry->d_name, 1, INT32_MAX, &pid))
			continue;
		seen++;
		programs->program = xgrow(programs->program, &programs->capacity,
					  programs->count + 1, sizeof(*programs->program));
		programs->count += read_program(dirfd(proc), entry->d_name,
						&programs->program[programs->count]);
	}
	if (proc != NULL) {
		read_machine(dirfd(proc), programs);
		closedir(proc);
	}
	if (seen == 0 || seen > PROCESSES_MOST) {
		programs_free(programs);
		return NULL;
	}
	if (programs->count > 1)
		qsort(programs->program, programs->count, sizeof(*programs->program), compare_pids);
	return programs;
}

void
programs_free(struct programs *programs)
{
	if (programs == NULL)
		return;
	free(programs->program);
	free(programs);
}

/* --- what was used ----------------------------------------------------------------------- */

static const struct program *
find_program(const struct programs *programs, pid_t pid)
{
	const struct program wanted = { .pid = pid };

	return programs->count > 0 ? bsearch(&wanted, programs->program, programs->count,
					     sizeof(*programs->program), compare_pids) :
				     NULL;
}

/* Returns the CPU time that the process has used since `before`; all of it if it is younger. */
static uint64_t
ticks_since(const struct programs *before, const struct program *now)
{
	const struct program *then = find_program(before, now->pid);

	if (then == NULL || then->start_time != now->start_time)
		return now->ticks;
	return now->ticks > then->ticks ? now->ticks - then->ticks : 0;
}

static bool
is_excepted(pid_t pid, const pid_t *except, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (except[i] == pid)
			return true;
	return pid == getpid();
}

static int
compare_names(const void *left, const void *right)
{
	const struct program *a = left, *b = right;
	const int order = strcmp(a->comm, b->comm);

	return order != 0 ? order : compare_pids(left, right);
}

static int
compare_ticks(const void *left, const void *right)
{
	const struct program *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? 1 : -1;
	return compare_names(left, right);
}

/* Adds up the processes of one name. Returns the number of names. */
static size_t
join_names(struct program *program, size_t count)
{
	size_t names = 0;

	if (count > 1)
		qsort(program, count, sizeof(*program), compare_names);
	for (size_t i = 0; i < count; i++) {
		struct program *last = names > 0 ? &program[names - 1] : NULL;

		if (last != NULL && strcmp(last->comm, program[i].comm) == 0) {
			last->ticks += program[i].ticks;
			last->processes++;
		} else {
			program[names++] = program[i];
		}
	}
	return names;
}

/* Returns the number of clock ticks between two readings; 0: none, or one of them is NULL. */
static double
span_of(const struct programs *before, const struct programs *now)
{
	if (before == NULL || now == NULL || now->at_ns <= before->at_ns)
		return 0;
	return (double)(now->at_ns - before->at_ns) / (double)NS_PER_SEC *
	       (double)sysconf(_SC_CLK_TCK);
}

double
programs_machine_busy(const struct programs *before, const struct programs *now)
{
	const double span = span_of(before, now);

	if (span <= 0 || before->busy == 0 || now->busy < before->busy)
		return 0;
	return (double)(now->busy - before->busy) / span;
}

void
programs_add_busy(const struct programs *before, const struct programs *now, const pid_t *except,
		  size_t count, struct strbuf *out)
{
	const double span = span_of(before, now);
	struct program *busy;
	size_t found = 0, names;
	uint64_t listed = 0;
	bool all = true;
	double hidden;

	if (span <= 0)
		return;
	busy = xcalloc(now->count + 1, sizeof(*busy));
	for (size_t i = 0; i < now->count; i++) {
		busy[found] = now->program[i];
		busy[found].ticks = ticks_since(before, &now->program[i]);
		listed += busy[found].ticks;
		found += busy[found].ticks > 0 && !is_excepted(now->program[i].pid, except, count);
	}
	names = join_names(busy, found);
	if (names > 1)
		qsort(busy, names, sizeof(*busy), compare_ticks);
	for (size_t i = 0; i < names && i < NAMED_MOST; i++) {
		const double cpus = (double)busy[i].ticks / span;

		if (cpus < CPUS_LEAST)
			break;
		strbuf_add_format(out, "%s%s (", i > 0 ? ", " : "", busy[i].comm);
		if (busy[i].processes > 1)
			strbuf_add_format(out, "%" PRIu32 " processes", busy[i].processes);
		else
			strbuf_add_format(out, "%jd", (intmax_t)busy[i].pid);
		strbuf_add_format(out, cpus < 0.1 ? ") %.2f CPUs" : ") %.1f CPUs", cpus);
	}
	/* The CPU time of a target that has ended is not known here. */
	for (size_t i = 0; i < count; i++)
		all &= find_program(now, except[i]) != NULL;
	hidden = ((double)now->used - (double)before->used - (double)listed) / span;
	if (before->used > 0 && all && hidden >= HIDDEN_LEAST)
		strbuf_add_format(out, "%sothers, which ended or are hidden, %.1f CPUs",
				  out->length > 0 ? ", " : "", hidden);
	free(busy);
}
