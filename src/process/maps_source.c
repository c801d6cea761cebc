/* SPDX-License-Identifier: MIT */
/* maps_source.c - reads /proc/PID/maps, as text and by PROCMAP_QUERY. */
#include "process/maps_source_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * Size of the buffer for lines: a path has at most 4 KiB, or 16 KiB when all its bytes are escaped.
 */
#define BUFFER_SIZE (64 << 10)

/* Most bytes of /proc/PID/maps that are read to find the shared mappings: 65,530 mappings, the
 * default of vm.max_map_count, with lines of 250 bytes. */
#define SHARED_BYTES_MOST (16 << 20)

/*
 * Argument and result of PROCMAP_QUERY, Linux 6.11 (include/uapi/linux/fs.h, struct
 * procmap_query). Declared here because the headers of older systems lack it.
 */
struct procmap_question {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size; /* in: size of the buffer; out: length with the zero; 0: no name */
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

#define PROCMAP_QUESTION _IOWR('f', 17, struct procmap_question)
#define PROCMAP_EXECUTABLE UINT64_C(0x04) /* PROCMAP_QUERY_VMA_EXECUTABLE */
#define PROCMAP_SHARED UINT64_C(0x08)     /* PROCMAP_QUERY_VMA_SHARED */

_Static_assert(sizeof(struct procmap_question) == 104, "as in the UAPI");

int
maps_source_open(const struct process *process)
{
	return process_open_file(process, "maps", O_RDONLY | O_CLOEXEC);
}

/* Asks for the mapping at the address if it has the property `flag`. */
static enum maps_query
query_with(int fd, uint64_t flag, uint64_t address, struct maps_line *line, char path[PATH_MAX])
{
	struct procmap_question q = {
		.size = sizeof(q),
		.query_flags = flag,
		.query_addr = address,
		.vma_name_size = path ? PATH_MAX : 0,
		.vma_name_addr = (uintptr_t)path,
	};

	if (ioctl(fd, PROCMAP_QUESTION, &q) != 0) {
		if (errno == ENOENT)
			return MAPS_QUERY_NONE;
		if (errno == ENOTTY || errno == EINVAL || errno == ENOSYS || errno == EPERM)
			return MAPS_QUERY_UNSUPPORTED;
		return MAPS_QUERY_FAILED;
	}
	if (q.vma_start > address || q.vma_end <= address)
		return MAPS_QUERY_FAILED;
	if (path) {
		if (q.vma_name_size == 0)
			path[0] = '\0';
		path[PATH_MAX - 1] = '\0';
		/*
		 * The text of /proc/PID/maps has "\012" for a newline. If a name has a newline,
		 * this function returns MAPS_QUERY_FAILED, and the caller reads that text instead:
		 * a mapping has the same name however it was found.
		 */
		if (strchr(path, '\n'))
			return MAPS_QUERY_FAILED;
	}
	*line = (struct maps_line){
		.start = q.vma_start,
		.end = q.vma_end,
		.offset = q.vma_offset,
		.dev = makedev(q.dev_major, q.dev_minor),
		.inode = q.inode,
		.path = path,
	};
	return MAPS_QUERY_FOUND;
}

enum maps_query
maps_source_query(int fd, uint64_t address, struct maps_line *line, char path[PATH_MAX])
{
	return query_with(fd, PROCMAP_EXECUTABLE, address, line, path);
}

enum maps_query
maps_source_query_shared(int fd, uint64_t address, struct maps_line *line, char path[PATH_MAX])
{
	return query_with(fd, PROCMAP_SHARED, address, line, path);
}

int
process_mapping_at(const struct process *process, pid_t tid, uint64_t address, uint64_t *start,
		   uint64_t *end)
{
	struct procmap_question question = { .size = sizeof(question), .query_addr = address };
	char name[32];
	int fd, error = 0;

	/* /proc/PID/maps is empty when the first thread has ended: this opens the file of thread
	 * `tid`. */
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

/* Parses a hexadecimal number that is followed by the character `end`, and skips both. */
static bool
parse_hex_until(const char **at, char end, uint64_t *value)
{
	if (**at == ' ' || !parse_u64(at, 16, value) || **at != end)
		return false;
	(*at)++;
	return true;
}

/*
 * Parses a line if the character number `at_flag` of its permissions is `flag`. A line has the form
 * "start-end perms offset major:minor inode path", see proc_pid_maps(5).
 */
static bool
parse_line(const char *text, unsigned at_flag, char flag, struct maps_line *line)
{
	uint64_t major_number, minor_number;
	const char *at = text;

	if (!parse_hex_until(&at, '-', &line->start) || !parse_hex_until(&at, ' ', &line->end) ||
	    line->start >= line->end)
		return false;
	if (strnlen(at, 5) < 5 || at[at_flag] != flag || at[4] != ' ')
		return false;
	at += 5;
	if (!parse_hex_until(&at, ' ', &line->offset) ||
	    !parse_hex_until(&at, ':', &major_number) ||
	    !parse_hex_until(&at, ' ', &minor_number) || !parse_u64(&at, 10, &line->inode) ||
	    major_number > UINT32_MAX || minor_number > UINT32_MAX)
		return false;
	if (*at != ' ' && *at != '\0')
		return false;
	line->dev = makedev((unsigned)major_number, (unsigned)minor_number);
	line->path = at + strspn(at, " ");
	return true;
}

bool
maps_source_parse(const char *text, struct maps_line *line)
{
	return parse_line(text, 2, 'x', line);
}

bool
maps_source_parse_shared(const char *text, struct maps_line *line)
{
	return parse_line(text, 3, 's', line);
}

struct line_feed {
	char buffer[BUFFER_SIZE];
	size_t used;
	size_t left;   /* number of bytes that may still be read */
	bool skipping; /* the current line is longer than the buffer */
	bool (*parse)(const char *text, struct maps_line *line);
	void (*each)(void *context, const struct maps_line *line);
	void *context;
};

/* Parses all complete lines of the buffer, and moves the incomplete last line to the front. A line
 * that fills the whole buffer is skipped. */
static void
feed_lines(struct line_feed *feed)
{
	char *at = feed->buffer, *end = feed->buffer + feed->used, *newline;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		struct maps_line line;

		*newline = '\0';
		if (!feed->skipping && feed->parse(at, &line))
			feed->each(feed->context, &line);
		feed->skipping = false;
		at = newline + 1;
	}
	feed->used = (size_t)(end - at);
	if (feed->used == sizeof(feed->buffer)) {
		feed->skipping = true;
		feed->used = 0;
	}
	memmove(feed->buffer, at, feed->used);
}

static bool
feed_all(struct line_feed *feed, int fd)
{
	bool any = false;

	while (feed->left > 0) {
		const size_t room = sizeof(feed->buffer) - feed->used;
		const ssize_t n = read(fd, feed->buffer + feed->used,
				       room < feed->left ? room : feed->left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		any = true;
		feed->used += (size_t)n;
		feed->left -= (size_t)n;
		feed_lines(feed);
	}
	return any;
}

static bool
read_lines(int fd, size_t most, bool (*parse)(const char *text, struct maps_line *line),
	   void (*each)(void *context, const struct maps_line *line), void *context)
{
	struct line_feed *feed = xmalloc(sizeof(*feed));
	bool any;

	feed->used = 0;
	feed->left = most;
	feed->skipping = false;
	feed->parse = parse;
	feed->each = each;
	feed->context = context;
	any = feed_all(feed, fd);
	free(feed);
	return any;
}

bool
maps_source_read(int fd, void (*each)(void *context, const struct maps_line *line), void *context)
{
	return read_lines(fd, SIZE_MAX, maps_source_parse, each, context);
}

bool
maps_source_read_shared(int fd, void (*each)(void *context, const struct maps_line *line),
			void *context)
{
	return read_lines(fd, SHARED_BYTES_MOST, maps_source_parse_shared, each, context);
}
