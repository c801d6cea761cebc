/* SPDX-License-Identifier: MIT */
/*
 * perf_map.c - reads /tmp/perf-PID.map: a line "START SIZE NAME" for each piece of code, with
 * hexadecimal numbers.
 *
 * JIT compilers and agents of many runtimes append lines to it while they run
 * (tools/perf/Documentation/jit-interface.txt in Linux's sources).
 */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jit/jit_source_internal.h"
#include "wallsample/base/file_proxy.h"

#define CHUNK ((size_t)64 << 10) /* bytes that are read at once */
/* Largest number of bytes in a line; longer lines are ignored. */
#define MAX_LINE ((size_t)64 << 10)
/* Most bytes that are read of a file. */
#define MAX_FILE ((uint64_t)512 << 20)
/* Number of bytes before the read position that are read again and compared: if they have changed,
 * the file was written again from its beginning. */
#define TAIL 64
/* Seconds by which the file's time may precede the start of the process; see is_older(). */
#define OLDER_S 60

struct perf_map {
	const struct jit_target *target;
	struct jit_book *book;
	char path[48];
	int fd;
	uint64_t dev, inode;
	/* modification time of the file when it was last read up to its end */
	struct timespec changed;
	uint64_t offset; /* offset of the next byte to read */
	char tail[TAIL]; /* the last tail_size bytes before offset */
	size_t tail_size;
	struct strbuf partial; /* the beginning of a line whose end was not read yet */
	bool too_long;         /* the current line is too long and is ignored up to its end */
	uint64_t lines, bad;   /* number of lines, and number of malformed lines */
	bool too_large;        /* the file has more than MAX_FILE bytes */
	bool warned;           /* the warning about an incomplete file was written */
	bool refused;          /* the warning that the file is not accepted was written */
};

static void *
perf_map_create(const struct jit_target *target, struct jit_book *book)
{
	struct perf_map *map = xcalloc(1, sizeof(*map));

	map->target = target;
	map->book = book;
	map->fd = -1;
	strbuf_init(&map->partial);
	return map;
}

static void
begin_file(struct perf_map *map)
{
	map->offset = 0;
	map->tail_size = 0;
	map->too_long = false;
	map->too_large = false;
	map->changed = (struct timespec){ 0, 0 };
	strbuf_clear(&map->partial);
}

static void
perf_map_release(void *state)
{
	struct perf_map *map = state;

	if (map->fd >= 0)
		close(map->fd);
	strbuf_release(&map->partial);
	free(map);
}

/*
 * Returns true when the file was last written more than OLDER_S seconds before the process started.
 * It is then the file of an earlier process with the same pid, which is frequent in containers. The
 * file's time comes from the real-time clock, which may have been set since the process started;
 * this is why some seconds are tolerated. Returns false when the times are not known.
 */
static bool
is_older(const struct perf_map *map, const struct stat *st)
{
	const uint64_t start = map->target->process->start_time;
	const long ticks = sysconf(_SC_CLK_TCK);
	struct timespec now, boot;

	if (start == 0 || ticks <= 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
		return false;
	return st->st_mtim.tv_sec <
	       now.tv_sec - boot.tv_sec + (int64_t)(start / (uint64_t)ticks) - OLDER_S;
}

static void
perf_map_refuse(struct perf_map *map, const char *why)
{
	if (!map->refused)
		log_say(map->target->log, LOG_NORMAL, "%s names no code: %s", map->path, why);
	map->refused = true;
}

/* Opens the perf map, if it is accepted and is not the file that is open already, and begins to
 * read it from its start. The open file stays open until another one replaces it: its last lines
 * can still be read after the target has removed it. */
static void
perf_map_search(void *state)
{
	struct perf_map *map = state;
	const char *why;
	struct stat st;
	int fd;

	snprintf(map->path, sizeof(map->path), "/tmp/perf-%" PRIu32 ".map", map->target->ns_pid);
	fd = jit_file_open(map->target, map->path, &st, &why);
	if (fd < 0) {
		if (why != NULL)
			perf_map_refuse(map, why);
		return;
	}
	if (map->fd >= 0 && st.st_dev == map->dev && st.st_ino == map->inode) {
		close(fd);
		return;
	}
	if (is_older(map, &st)) {
		perf_map_refuse(map, "it is older than the process");
		close(fd);
		return;
	}
	if (map->fd >= 0)
		close(map->fd);
	map->fd = fd;
	map->dev = st.st_dev;
	map->inode = st.st_ino;
	begin_file(map);
}

/* Parses a hexadecimal number, with or without "0x", and moves *cursor beyond it and the blanks
 * after it. Returns false when there is no number, or no blank after it. */
static bool
parse_field(const char **cursor, uint64_t *value)
{
	if ((*cursor)[0] == '0' && ((*cursor)[1] | 0x20) == 'x')
		*cursor += 2;
	/* parse_u64() skips blanks before the number, which are not allowed here. */
	if (**cursor <= ' ' || !parse_u64(cursor, 16, value))
		return false;
	if (**cursor != ' ' && **cursor != '\t')
		return false;
	while (**cursor == ' ' || **cursor == '\t')
		(*cursor)++;
	return true;
}

/* Adds the entry of a line, or counts the line as malformed. Removes the blanks at the end of the
 * line. */
static void
take_line(struct perf_map *map, char *line, size_t length)
{
	const char *cursor = line + strspn(line, " \t");
	uint64_t start, size;

	map->lines++;
	if (strlen(line) != length) {
		map->bad++;
		return;
	}
	while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL)
		line[--length] = '\0';
	if (length == 0)
		return;
	if (!parse_field(&cursor, &start) || !parse_field(&cursor, &size) || *cursor == '\0')
		map->bad++;
	else if (size > 0 && jit_book_add(map->book, start, size, cursor,
					  (struct jit_lines){ 0, 0 }) == JIT_NONE)
		map->bad += !jit_book_is_full(map->book);
}

/* Adds the entries of the lines that end in these bytes, and keeps the beginning of the last line
 * in map->partial if its end is missing. */
static void
take_bytes(struct perf_map *map, const char *bytes, size_t size)
{
	while (size > 0) {
		const char *end = memchr(bytes, '\n', size);
		size_t part = end != NULL ? (size_t)(end - bytes) : size;

		if (!map->too_long && map->partial.length + part > MAX_LINE) {
			map->too_long = true;
			map->lines++;
			map->bad++;
		}
		if (!map->too_long)
			strbuf_add(&map->partial, bytes, part);
		if (end == NULL)
			return;
		if (!map->too_long)
			take_line(map, map->partial.data, map->partial.length);
		map->too_long = false;
		strbuf_clear(&map->partial);
		bytes += part + 1;
		size -= part + 1;
	}
}

static size_t
read_map(const struct perf_map *map, uint64_t offset, void *to, size_t size)
{
	return file_proxy_read(jit_target_proxy(map->target), map->dev, map->fd, offset, to, size);
}

/* Returns true when the last bytes that were read are still at the same place of the file;
 * otherwise the file was written again from its beginning. `size`: its present size. */
static bool
is_continued(const struct perf_map *map, uint64_t size)
{
	char tail[TAIL];

	return size >= map->offset &&
	       read_map(map, map->offset - map->tail_size, tail, map->tail_size) ==
		       map->tail_size &&
	       memcmp(tail, map->tail, map->tail_size) == 0;
}

static bool
perf_map_read(void *state, size_t budget)
{
	struct perf_map *map = state;
	char chunk[CHUNK];
	struct stat st;

	if (map->fd < 0 || file_stat_cached(map->fd, &st) != 0)
		return true;
	if ((uint64_t)st.st_size == map->offset &&
	    memcmp(&st.st_mtim, &map->changed, sizeof(map->changed)) == 0)
		return true;
	if (!is_continued(map, (uint64_t)st.st_size))
		begin_file(map);
	for (size_t done = 0; done < budget;) {
		uint64_t left = (uint64_t)st.st_size - map->offset;
		size_t size = left < CHUNK ? (size_t)left : CHUNK;
		size_t got;

		map->too_large |= left > 0 && map->offset >= MAX_FILE;
		if (left == 0 || map->too_large || jit_book_is_full(map->book))
			break;
		got = read_map(map, map->offset, chunk, size);
		if (got == 0)
			break;
		take_bytes(map, chunk, got);
		map->tail_size = got < TAIL ? got : TAIL;
		memcpy(map->tail, chunk + got - map->tail_size, map->tail_size);
		map->offset += got;
		done += got;
		if (done >= budget && map->offset < (uint64_t)st.st_size)
			return false;
	}
	map->changed = st.st_mtim;
	return true;
}

/* Returns the reason why the end of the file was not read, or NULL when it was read. */
static const char *
why_cut(const struct perf_map *map, bool slow)
{
	if (map->too_large || jit_book_is_full(map->book))
		return "is too large";
	return slow ? "takes too long to read" : NULL;
}

static void
perf_map_warn(void *state, bool slow)
{
	struct perf_map *map = state;
	const struct log *log = map->target->log;
	const char *cut = why_cut(map, slow);

	if (map->warned || (map->bad == 0 && cut == NULL))
		return;
	map->warned = true;
	if (map->bad == 0)
		log_say(log, LOG_NORMAL,
			"%s %s: its first %" PRIu64 " lines are used, the rest is not", map->path,
			cut, map->lines);
	else
		log_say(log, LOG_NORMAL,
			"%s: %" PRIu64 " of %" PRIu64
			" lines are not \"START SIZE NAME\" and are left out%s%s",
			map->path, map->bad, map->lines,
			cut != NULL ? ", and so is the end, because it " : "",
			cut != NULL ? cut : "");
}

const struct jit_source jit_by_perf_map = {
	.create = perf_map_create,
	.free = perf_map_release,
	.search = perf_map_search,
	.read = perf_map_read,
	.warn = perf_map_warn,
};
