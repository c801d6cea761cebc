/* SPDX-License-Identifier: MIT */
/* stolen.c - reads the times of all CPUs from /proc/stat. */
#include "wallsample/thread/stolen.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* Number of windows after which the times are read again, while there is no stolen time. */
#define UNREAD_MOST 16

/* Longest first line of /proc/stat: "cpu" and ten numbers of at most 20 digits. */
#define LINE_SIZE 256

bool
machine_time_parse(const char *text, uint64_t hz, struct machine_time *out)
{
	/* proc_stat(5): user and nice include the time of guests, the two numbers after steal. */
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;

	if (hz == 0 || strncmp(text, "cpu ", 4) != 0)
		return false;
	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
		   &idle, &iowait, &irq, &softirq, &steal) != 8)
		return false;
	out->busy_ns = (user + nice + system + irq + softirq) * (NS_PER_SEC / hz);
	out->stolen_ns = steal * (NS_PER_SEC / hz);
	return true;
}

bool
machine_time_read(struct machine_time *out)
{
	const int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	const long hz = sysconf(_SC_CLK_TCK);
	char text[LINE_SIZE];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0 || hz <= 0)
		return false;
	text[n] = '\0';
	return machine_time_parse(text, (uint64_t)hz, out);
}

double
machine_time_stolen(const struct machine_time *before, const struct machine_time *after)
{
	if (after->stolen_ns <= before->stolen_ns || after->busy_ns <= before->busy_ns)
		return 0;
	return (double)(after->stolen_ns - before->stolen_ns) /
	       (double)(after->busy_ns - before->busy_ns);
}

void
stolen_begin(struct stolen *stolen)
{
	stolen->share = 0;
	stolen->unread = 0;
	if (!stolen->read(&stolen->last))
		stolen->last = (struct machine_time){ .stolen_ns = 0 };
}

void
stolen_end_window(struct stolen *stolen)
{
	struct machine_time now;

	stolen->share = 0;
	if (stolen->last.stolen_ns == 0 && ++stolen->unread % UNREAD_MOST != 0)
		return;
	if (!stolen->read(&now))
		return;
	if (stolen->last.stolen_ns > 0)
		stolen->share = machine_time_stolen(&stolen->last, &now);
	stolen->last = now;
}
