/* SPDX-License-Identifier: MIT */
/*
 * find.c - finds processes by the name of their command.
 */
#include "wallsample/process/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "process/process_internal.h"
#include "process/process_set_parts_internal.h"

#define FIRST_WORD_LIMIT 4096

/* The error for an ambiguous name lists at most this number of processes, each with at most this
 * number of bytes of its command line. */
#define LISTED 5
#define LISTED_SIZE 64

struct found {
	pid_t *pid;
	size_t count, capacity;
};

bool
find_first_word(int dirfd, const char *name, char word[FIND_WORD_SIZE])
{
	size_t length;
	char *words = file_read_text(dirfd, name, FIRST_WORD_LIMIT, &length);
	const char *slash;

	if (!words)
		return false;
	slash = strrchr(words, '/');
	snprintf(word, FIND_WORD_SIZE, "%s", slash ? slash + 1 : words);
	free(words);
	return word[0] != '\0';
}

static bool
matches_first_word(int dirfd, const char *glob)
{
	char word[FIND_WORD_SIZE];

	return find_first_word(dirfd, "cmdline", word) && fnmatch(glob, word, 0) == 0;
}

/* Returns true when the command name of the process, or the base name of the first word of its
 * command line, matches `glob`; false for a kernel thread or a zombie. `dirfd`: the directory of
 * the process in /proc. */
static bool
name_matches(int dirfd, const char *glob)
{
	struct task_stat stat;

	if (!task_read_stat(dirfd, "stat", &stat) || task_is_kernel_thread(&stat) ||
	    task_is_zombie_process(&stat))
		return false;
	return fnmatch(glob, stat.comm, 0) == 0 || matches_first_word(dirfd, glob);
}

/* Adds the process whose directory in /proc is `name` to the result if it matches and is not in
 * `own`. */
static void
find_try(int procfd, const char *name, const struct lineage *own, const char *glob,
	 struct found *found)
{
	uint64_t pid;
	int dirfd;

	if (!parse_whole_u64(name, 1, INT32_MAX, &pid) || lineage_holds(own, (pid_t)pid))
		return;
	dirfd = openat(procfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return;
	if (name_matches(dirfd, glob)) {
		found->pid = xgrow(found->pid, &found->capacity, found->count + 1,
				   sizeof(*found->pid));
		found->pid[found->count++] = (pid_t)pid;
	}
	close(dirfd);
}

int
find_by_name(const char *glob, pid_t **pids, struct error *err)
{
	struct found found = { 0 };
	struct lineage own;
	const struct dirent *entry;
	DIR *proc = opendir("/proc");

	*pids = NULL;
	if (!proc)
		return error_set(err, ERROR_SYSTEM, "cannot list /proc: %s", strerror(errno));
	lineage_read(&own, getpid());
	while ((entry = readdir(proc)))
		find_try(dirfd(proc), entry->d_name, &own, glob, &found);
	closedir(proc);
	if (found.count > 1)
		qsort(found.pid, found.count, sizeof(*found.pid), task_compare_ids);
	*pids = found.pid;
	return (int)found.count;
}

/* Adds "17 (server --port 80) of user www-data, …" for the first LISTED processes. */
static void
add_listing(struct strbuf *sb, const pid_t *pids, int count)
{
	for (int i = 0; i < count && i < LISTED; i++) {
		char line[LISTED_SIZE], name[USER_NAME_SIZE];
		struct process *process;
		uid_t uid;

		if (process_open(pids[i], &process, NULL) != 0)
			continue;
		strbuf_add_format(sb, "%s%d (%s)", sb->length ? ", " : "", (int)pids[i],
				  task_printable(process->cmdline, line, sizeof(line)));
		if (process_read_uid(process, &uid))
			strbuf_add_format(sb, " of user %s", user_name(uid, name));
		process_free(process);
	}
	if (count > LISTED)
		strbuf_add_text(sb, ", …");
}

/* Leaves only the processes of the user that has started wallsample, if there are any and this user
 * is not root. Another user may run a program of any name. Returns the number that is left. */
static int
prefer_own(pid_t *pids, int count)
{
	int own = 0;
	uid_t caller, uid;

	if (!user_of_caller(&caller))
		return count;
	for (int i = 0; i < count; i++) {
		struct process *process;
		bool is_own = false;

		if (process_open(pids[i], &process, NULL) == 0) {
			is_own = process_read_uid(process, &uid) && uid == caller;
			process_free(process);
		}
		if (is_own)
			pids[own++] = pids[i];
	}
	return own > 0 ? own : count;
}

int
find_one_by_name(const char *glob, pid_t *pid, struct error *err)
{
	char printable[TASK_NAME_SIZE];
	pid_t *pids;
	int count = find_by_name(glob, &pids, err);

	task_printable(glob, printable, sizeof(printable));
	if (count > 1)
		count = prefer_own(pids, count);
	if (count == 1) {
		*pid = pids[0];
		count = 0;
	} else if (count == 0) {
		count = error_set(err, ERROR_NO_MATCH,
				  "no process matches the name '%s'; names are those of ps -e, and "
				  "wallsample's own and its ancestors' do not count",
				  printable);
	} else if (count > 1) {
		struct strbuf sb = STRBUF_INIT;

		add_listing(&sb, pids, count);
		count = error_set(err, ERROR_AMBIGUOUS,
				  "%d processes match the name '%s': %s; choose one with -p", count,
				  printable, sb.data ? sb.data : "all have gone by now");
		strbuf_release(&sb);
	}
	free(pids);
	return count;
}
