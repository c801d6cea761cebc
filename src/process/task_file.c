/* SPDX-License-Identifier: MIT */
/* task_file.c - reads and parses stat and status of processes and threads; finds ancestors. */
#include "process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The flag of kernel threads in include/linux/sched.h. */
#define PF_KTHREAD UINT64_C(0x00200000)

/* Size of the buffer for a stat line, which has 52 fields: a command name, a letter, and numbers of
 * at most 20 digits. */
#define STAT_LINE_SIZE 2048

/* Reads up to size - 1 bytes of the file into `to`, zero-terminated. Returns false, with errno set,
 * on failure. Uses no heap memory, because it is called for each new thread. */
static bool
read_line(int dirfd, const char *name, char *to, size_t size)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;
	int saved;

	if (fd < 0)
		return false;
	while (done < size - 1) {
		n = read(fd, to + done, size - 1 - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	saved = errno;
	close(fd);
	errno = saved;
	to[done] = '\0';
	return n >= 0;
}

/* --- stat ---------------------------------------------------------------------------------- */

/*
 * The fields of a stat line that are stored: X(number in proc_pid_stat(5), member, largest valid
 * value). Field 2, the command name, ends at the last ')': the name itself may contain any byte.
 */
#define STAT_FIELDS(X)                                                                             \
	X(4, ppid, INT32_MAX)                                                                      \
	X(5, group, INT32_MAX)                                                                     \
	X(6, session, INT32_MAX)                                                                   \
	X(9, flags, UINT64_MAX)                                                                    \
	X(10, minor_faults, UINT64_MAX)                                                            \
	X(12, major_faults, UINT64_MAX)                                                            \
	X(14, user_ticks, UINT64_MAX)                                                              \
	X(15, system_ticks, UINT64_MAX)                                                            \
	X(16, children_user_ticks, UINT64_MAX)                                                     \
	X(17, children_system_ticks, UINT64_MAX)                                                   \
	X(20, num_threads, UINT32_MAX)                                                             \
	X(22, start_time, UINT64_MAX)                                                              \
	X(28, start_stack, UINT64_MAX)                                                             \
	X(39, processor, UINT32_MAX)                                                               \
	X(48, arg_start, UINT64_MAX)

#define STAT_FIRST_NUMBER 4
#define STAT_START_TIME 22
#define STAT_LAST 48

/* Stores a field if it is one of STAT_FIELDS. Returns false when its value is invalid. */
static bool
store_field(struct task_stat *stat, unsigned field, uint64_t value)
{
	switch (field) {
#define X(number, member, most)                                                                    \
	case number:                                                                               \
		stat->member = (__typeof__(stat->member))value;                                    \
		return value <= (most);
		STAT_FIELDS(X)
#undef X
	default:
		return true;
	}
}

/* Parses fields 4 to 48. Fields behind field 22 may be missing, and then stay 0: old kernels lack
 * field 48. Returns false for a malformed line. */
static bool
parse_numbers(const char *at, struct task_stat *stat)
{
	for (unsigned field = STAT_FIRST_NUMBER; field <= STAT_LAST; field++) {
		uint64_t value = 0;
		int64_t negative;

		if (parse_u64(&at, 10, &value)) {
			if (!store_field(stat, field, value))
				return false;
		} else if (!parse_i64(&at, &negative)) {
			return field > STAT_START_TIME;
		}
		if (*at != ' ' && *at != '\n' && *at != '\0')
			return false;
	}
	return true;
}

bool
task_stat_parse(const char *line, struct task_stat *stat)
{
	const char *at = line;
	const char *close = strrchr(line, ')');
	uint64_t tid;
	size_t length;

	memset(stat, 0, sizeof(*stat));
	if (!close || !parse_u64(&at, 10, &tid) || tid == 0 || tid > INT32_MAX)
		return false;
	if (at[0] != ' ' || at[1] != '(' || close < at + 2 || close[1] != ' ')
		return false;
	stat->tid = (pid_t)tid;
	at += 2;
	length = (size_t)(close - at);
	if (length >= sizeof(stat->comm))
		length = sizeof(stat->comm) - 1;
	memcpy(stat->comm, at, length);

	stat->state = close[2];
	if (stat->state < 'A' || stat->state > 'z' || close[3] != ' ')
		return false;
	return parse_numbers(close + 3, stat);
}

bool
task_read_stat(int dirfd, const char *name, struct task_stat *stat)
{
	char line[STAT_LINE_SIZE];

	memset(stat, 0, sizeof(*stat));
	if (!read_line(dirfd, name, line, sizeof(line)))
		return false;
	if (task_stat_parse(line, stat))
		return true;
	errno = EPROTO;
	return false;
}

bool
task_is_kernel_thread(const struct task_stat *stat)
{
	return (stat->flags & PF_KTHREAD) != 0;
}

bool
task_is_zombie_process(const struct task_stat *stat)
{
	return stat->state == 'X' || (stat->state == 'Z' && stat->num_threads <= 1);
}

/* --- status -------------------------------------------------------------------------------- */

bool
task_read_schedstat(int dirfd, uint64_t *cpu_ns, uint64_t *delay_ns)
{
	char *text = file_read_text(dirfd, "schedstat", STATUS_LIMIT, NULL);
	const char *at = text;
	const bool found = text != NULL && parse_u64(&at, 10, cpu_ns) && *at++ == ' ' &&
			   parse_u64(&at, 10, delay_ns);

	free(text);
	return found;
}

/* Returns the first number after the key, such as "\nUid:"; 0 when the text has no such key. */
static uint64_t
status_number(const char *text, const char *key, int base)
{
	const char *at = strstr(text, key);
	uint64_t value = 0;

	if (!at)
		return 0;
	at += strlen(key);
	while (*at == '\t' || *at == ' ')
		at++;
	return parse_u64(&at, base, &value) ? value : 0;
}

static pid_t
status_pid(const char *text, const char *key)
{
	uint64_t value = status_number(text, key, 10);

	return value <= INT32_MAX ? (pid_t)value : 0;
}

/*
 * The command name in the first line cannot imitate another line, because the kernel writes a
 * newline in the name as a backslash and "n". The keys begin with a newline, and so match only at
 * the beginning of a line.
 */
/* Returns the byte behind the key; 0 if the text has no such key. */
static char
status_letter(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at != NULL ? at[strlen(key)] : '\0';
}

void
task_parse_status(const char *text, struct task_status *status)
{
	status->state = status_letter(text, "\nState:\t");
	status->tgid = status_pid(text, "\nTgid:");
	status->ppid = status_pid(text, "\nPPid:");
	status->tracer = status_pid(text, "\nTracerPid:");
	status->uid = (uid_t)status_number(text, "\nUid:", 10);
	status->cap_effective = status_number(text, "\nCapEff:", 16);
	status->cap_permitted = status_number(text, "\nCapPrm:", 16);
	status->seccomp = (unsigned)status_number(text, "\nSeccomp:", 10);
	status->voluntary = status_number(text, "\nvoluntary_ctxt_switches:", 10);
}

bool
task_read_status(int dirfd, struct task_status *status)
{
	size_t length;
	char *text = file_read_text(dirfd, "status", STATUS_LIMIT, &length);

	memset(status, 0, sizeof(*status));
	if (!text)
		return false;
	task_parse_status(text, status);
	free(text);
	return true;
}

/* --- ids and names ------------------------------------------------------------------------- */

int
task_compare_ids(const void *left, const void *right)
{
	const pid_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

const char *
task_printable(const char *text, char *to, size_t size)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_escaped(&sb, text);
	if (sb.length >= size) {
		size_t cut = size - 1;

		/* The text is not cut before a byte 10xxxxxx, which is in the middle of a UTF-8
		 * character. */
		while (cut > 0 && (sb.data[cut] & 0xc0) == 0x80)
			cut--;
		sb.data[cut] = '\0';
	}
	snprintf(to, size, "%s", sb.data ? sb.data : "");
	strbuf_release(&sb);
	return to;
}

static bool
read_stat_of(pid_t pid, struct task_stat *stat)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	return task_read_stat(AT_FDCWD, name, stat);
}

const char *
task_name_of(pid_t pid, char *to, size_t size)
{
	struct task_stat stat;

	return task_printable(read_stat_of(pid, &stat) ? stat.comm : "?", to, size);
}

void
lineage_read(struct lineage *lineage, pid_t pid)
{
	lineage->count = 0;
	/* The parent's pid is 0 when the parent is outside of wallsample's pid namespace, and for
	 * the first process. */
	while (pid > 0 && lineage->count < LINEAGE_MAX) {
		struct task_stat stat;

		lineage->pid[lineage->count++] = pid;
		pid = read_stat_of(pid, &stat) ? stat.ppid : 0;
	}
}

bool
lineage_holds(const struct lineage *lineage, pid_t pid)
{
	for (size_t i = 0; i < lineage->count; i++)
		if (lineage->pid[i] == pid)
			return true;
	return false;
}
