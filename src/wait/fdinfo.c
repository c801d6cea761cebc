/* SPDX-License-Identifier: MIT */
/* fdinfo.c - parses the lines of /proc/PID/fdinfo/N. */
#include "wait/descriptor_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

/* A set of at most this number of signals is listed by names; a larger set is only counted. */
#define SIGNALS_NAMED 4

static bool
skip_word(const char **cursor, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*cursor, word, length) != 0)
		return false;
	*cursor += length;
	return true;
}

/* Parses "(3, 199999999)", seconds and nanoseconds. */
static bool
parse_pair(const char *at, uint64_t *ns)
{
	uint64_t seconds, rest;

	at += strspn(at, " \t");
	if (*at++ != '(' || !parse_u64(&at, 10, &seconds) || *at++ != ',' ||
	    !parse_u64(&at, 10, &rest))
		return false;
	return !__builtin_mul_overflow(seconds, NS_PER_SEC, &seconds) &&
	       !__builtin_add_overflow(seconds, rest, ns);
}

/* Counts a descriptor of an epoll, and keeps it if its number is among the FDINFO_WATCHED lowest so
 * far. */
static void
keep_watched(struct fdinfo *info, int fd, uint64_t inode)
{
	size_t known = info->watched < FDINFO_WATCHED ? info->watched : FDINFO_WATCHED;
	size_t at = known;

	while (at > 0 && info->first[at - 1].fd > fd)
		at--;
	info->watched++;
	if (at == FDINFO_WATCHED)
		return;
	if (known == FDINFO_WATCHED)
		known--;
	memmove(&info->first[at + 1], &info->first[at], (known - at) * sizeof(info->first[0]));
	info->first[at].fd = fd;
	info->first[at].inode = inode;
}

/* Parses "        5 events:       1f data:     7f4b00000005  pos:0 ino:3a2c9d sdev:f". */
static void
parse_watched(const char *at, struct fdinfo *info)
{
	const char *end = strchr(at, '\n');
	uint64_t fd, inode = 0;
	const char *mark;

	if (!parse_u64(&at, 10, &fd) || fd > INT_MAX)
		return;
	mark = strstr(at, " ino:");
	if (mark != NULL && (end == NULL || mark < end)) {
		mark += strlen(" ino:");
		if (!parse_u64(&mark, 16, &inode))
			inode = 0;
	}
	keep_watched(info, (int)fd, inode);
}

static void
parse_line(const char *line, struct fdinfo *info)
{
	int64_t pid;

	if (skip_word(&line, "tfd:"))
		parse_watched(line, info);
	else if (skip_word(&line, "it_value:"))
		info->has_timer = parse_pair(line, &info->left_ns);
	else if (skip_word(&line, "it_interval:") && !parse_pair(line, &info->interval_ns))
		info->interval_ns = 0;
	else if (skip_word(&line, "sigmask:"))
		info->has_signals = parse_u64(&line, 16, &info->signals);
	else if (skip_word(&line, "inotify wd:"))
		info->watches++;
	else if (skip_word(&line, "Pid:") && parse_i64(&line, &pid) && pid > 0)
		info->pid = (uint64_t)pid;
}

void
fdinfo_parse(const char *text, struct fdinfo *info)
{
	memset(info, 0, sizeof(*info));
	while (*text != '\0') {
		parse_line(text, info);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

static void
fdinfo_add_time(uint64_t ns, struct strbuf *out)
{
	if (ns >= 100 * NS_PER_SEC)
		strbuf_add_format(out, "%" PRIu64 " s", ns / NS_PER_SEC);
	else if (ns >= NS_PER_SEC)
		strbuf_add_format(out, "%" PRIu64 ".%" PRIu64 " s", ns / NS_PER_SEC,
				  ns / (NS_PER_SEC / 10) % 10);
	else
		strbuf_add_format(out, "%" PRIu64 " ms", ns / NS_PER_MS);
}

void
fdinfo_add_timer(const struct fdinfo *info, struct strbuf *out)
{
	strbuf_add_text(out, "timerfd");
	if (!info->has_timer)
		return;
	if (info->left_ns == 0 && info->interval_ns == 0) {
		strbuf_add_text(out, ", not set");
		return;
	}
	strbuf_add_text(out, ", in ");
	fdinfo_add_time(info->left_ns, out);
	if (info->interval_ns > 0) {
		strbuf_add_text(out, ", every ");
		fdinfo_add_time(info->interval_ns, out);
	}
}

static void
add_signal(unsigned number, struct strbuf *out)
{
	static const char *const names[] = {
		[SIGHUP] = "SIGHUP",     [SIGINT] = "SIGINT",       [SIGQUIT] = "SIGQUIT",
		[SIGILL] = "SIGILL",     [SIGTRAP] = "SIGTRAP",     [SIGABRT] = "SIGABRT",
		[SIGBUS] = "SIGBUS",     [SIGFPE] = "SIGFPE",       [SIGUSR1] = "SIGUSR1",
		[SIGSEGV] = "SIGSEGV",   [SIGUSR2] = "SIGUSR2",     [SIGPIPE] = "SIGPIPE",
		[SIGALRM] = "SIGALRM",   [SIGTERM] = "SIGTERM",     [SIGCHLD] = "SIGCHLD",
		[SIGCONT] = "SIGCONT",   [SIGTSTP] = "SIGTSTP",     [SIGTTIN] = "SIGTTIN",
		[SIGTTOU] = "SIGTTOU",   [SIGURG] = "SIGURG",       [SIGXCPU] = "SIGXCPU",
		[SIGXFSZ] = "SIGXFSZ",   [SIGVTALRM] = "SIGVTALRM", [SIGPROF] = "SIGPROF",
		[SIGWINCH] = "SIGWINCH", [SIGIO] = "SIGIO",         [SIGPWR] = "SIGPWR",
		[SIGSYS] = "SIGSYS",
	};

	if (number < ARRAY_SIZE(names) && names[number] != NULL)
		strbuf_add_text(out, names[number]);
	else
		strbuf_add_format(out, "signal %u", number);
}

void
fdinfo_add_signals(const struct fdinfo *info, struct strbuf *out)
{
	unsigned count = (unsigned)__builtin_popcountll(info->signals);
	const char *before = " of ";

	strbuf_add_text(out, "signalfd");
	if (!info->has_signals)
		return;
	if (count > SIGNALS_NAMED) {
		strbuf_add_format(out, " of %u signals", count);
		return;
	}
	for (unsigned number = 1; number <= 64; number++) {
		if ((info->signals >> (number - 1) & 1) == 0)
			continue;
		strbuf_add_text(out, before);
		add_signal(number, out);
		before = ", ";
	}
}
