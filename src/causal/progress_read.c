/* SPDX-License-Identifier: MIT */
/*
 * progress_read.c - reads all counters of a target, and converts the readings into events and the
 * number in progress. The memory of all counters is read by one call of process_vm_readv(2),
 * without a stop of the target.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "causal/progress_internal.h"
#include "wallsample/base/bytes.h"

/* Largest number of pieces of memory in one read: one for progress_coz_table.used, and two counters
 * for each point. A counter of coz.h may have PROGRESS_COZ_PLACES_MOST pieces. */
#define PIECES_MOST (2 * CAUSAL_POINTS_MOST * PROGRESS_COZ_PLACES_MOST + 1)
/* Size of the buffer for the text of /proc/PID/io, which has seven lines, some 200 bytes. */
#define TEXT_MOST 1024

/* --- values --------------------------------------------------------------------------------- */

/* Returns the largest value of a counter of `size` bytes. */
static uint64_t
mask_of(unsigned size)
{
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

void
progress_counter_step(struct progress_counter *counter, uint64_t now)
{
	const uint64_t mask = mask_of(counter->size);
	const uint64_t step = (now - counter->now) & mask;

	now &= mask;
	if (!counter->known || (counter->size >= 4 && step > mask / 2))
		counter->back += counter->known;
	else
		counter->total += step;
	counter->known = true;
	counter->now = now;
}

/* Returns the difference begin - end of the last readings, modulo 2^(8 * size) for the smaller
 * counter; the highest bit of the difference is its sign. */
static int64_t
plain_difference(const struct progress_counter *begin, const struct progress_counter *end)
{
	const unsigned size = begin->size < end->size ? begin->size : end->size;
	const uint64_t mask = mask_of(size), difference = (begin->now - end->now) & mask;

	return difference > mask / 2 ? -(int64_t)(mask - difference) - 1 : (int64_t)difference;
}

/* True when the counter is in the target's memory: its value is then the number of events since the
 * program started, not since it was first read. */
static bool
is_in_memory(const struct progress_source *source)
{
	return source->kind == PROGRESS_VAR || source->kind == PROGRESS_COZ;
}

void
progress_entry_start(struct progress_entry *entry)
{
	/* If more ends than begins were counted, the difference is negative: it cannot be the
	 * number in progress. */
	entry->exact = entry->words.kind == CAUSAL_LATENCY &&
		       is_in_memory(&entry->words.source[0]) &&
		       is_in_memory(&entry->words.source[1]) &&
		       plain_difference(&entry->counter[0], &entry->counter[1]) >= 0;
	entry->least = 0;
}

struct progress_value
progress_entry_value(struct progress_entry *entry)
{
	const struct progress_counter *begin = &entry->counter[0], *end = &entry->counter[1];
	struct progress_value value = { .count = begin->total };
	int64_t between;

	if (entry->words.kind != CAUSAL_LATENCY)
		return value;
	value.count = end->total;
	if (entry->exact) {
		between = plain_difference(begin, end);
		value.in_progress = between > 0 ? between : 0;
		return value;
	}
	/* The number in progress at progress_open is not known: where begin - end has its minimum
	 * since then, the number in progress is taken as 0. */
	between = (int64_t)(begin->total - end->total);
	if (between < entry->least)
		entry->least = between;
	value.in_progress = between - entry->least;
	return value;
}

/* --- /proc/PID/io (proc_pid_io(5)) ---------------------------------------------------------- */

bool
progress_io_parse(const char *text, enum progress_io_field field, uint64_t *value)
{
	const char *word = progress_io_fields[field].word;
	const size_t length = strlen(word);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, word, length) == 0 && text[length] == ':') {
			text += length + 1;
			return parse_u64(&text, 10, value);
		}
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
	return false;
}

/*
 * Reads all fields of /proc/PID/io. They are sums over all threads, also those that have ended, and
 * over children that the process has waited for. False: the process has ended, or reading is not
 * permitted any more.
 */
static bool
progress_io_read(int fd, uint64_t value[PROGRESS_IO_FIELD_COUNT])
{
	char text[TEXT_MOST + 1];
	ssize_t got = pread(fd, text, TEXT_MOST, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	for (size_t i = 0; i < PROGRESS_IO_FIELD_COUNT; i++)
		if (!progress_io_parse(text, (enum progress_io_field)i, &value[i]))
			return false;
	return true;
}

static int
io_refuse(const struct process *process, int number, struct error *err)
{
	if (number == EACCES || number == EPERM)
		return error_set(
			err, ERROR_NOT_PERMITTED,
			"/proc/%d/io may not be read: only root and the user whose process "
			"it is may, and not even that user when the program is setuid or "
			"has made itself undumpable (prctl)",
			(int)process->pid);
	if (number == ENOENT)
		return error_set(err, ERROR_SYSTEM,
				 "/proc/%d/io is not there: this kernel does not count it "
				 "(CONFIG_TASK_IO_ACCOUNTING); var: and coz: points need no such "
				 "help",
				 (int)process->pid);
	if (number == ESRCH)
		return error_set(err, ERROR_NO_PROCESS, "process %d has gone", (int)process->pid);
	return error_set(err, ERROR_SYSTEM, "/proc/%d/io cannot be read: %s", (int)process->pid,
			 strerror(number));
}

int
progress_io_open(const struct process *process, int *fd, struct error *err)
{
	uint64_t value[PROGRESS_IO_FIELD_COUNT];
	int number;

	*fd = openat(process->dirfd, "io", O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return io_refuse(process, errno, err);
	/* The kernel checks the permission at each read, not when the file is opened. */
	errno = EIO;
	if (progress_io_read(*fd, value))
		return 0;
	number = errno;
	close(*fd);
	*fd = -1;
	return io_refuse(process, number, err);
}

/* --- memory --------------------------------------------------------------------------------- */

/* The pieces of memory to be read, and the counter to which each piece belongs. */
struct reading {
	struct memory_piece piece[PIECES_MOST];
	/* Indexed by piece: the counter to which it belongs; NULL: it is
	 * progress_coz_table.used. */
	struct progress_counter *counter[PIECES_MOST];
	uint64_t value[PIECES_MOST]; /* bytes of all pieces in order, without padding */
	size_t count;
	uint32_t coz_used; /* number of points of coz.h in use, as read */
};

static void
add_piece(struct reading *reading, struct progress_counter *counter, uint64_t address, size_t size)
{
	reading->piece[reading->count] = (struct memory_piece){ address, size };
	reading->counter[reading->count++] = counter;
}

static void
add_counter(struct reading *reading, struct progress_counter *counter)
{
	if (counter->source->kind == PROGRESS_VAR)
		add_piece(reading, counter, counter->place.address, counter->size);
	else if (counter->source->kind == PROGRESS_COZ)
		for (size_t i = 0; i < counter->coz.count; i++)
			add_piece(reading, counter, counter->coz.address[i], counter->size);
}

/*
 * Collects the pieces. Memory is read in their order, so that counters of ends come before those of
 * begins: an event that begins and ends during the read must not make the number in progress
 * negative.
 */
static void
collect(struct progress *progress, struct reading *reading)
{
	for (size_t i = 0; i < progress->count; i++) {
		struct progress_entry *entry = &progress->entry[i];

		for (size_t s = entry->words.source_count; s-- > 0;)
			add_counter(reading, &entry->counter[s]);
	}
	if (progress->coz.table != 0)
		add_piece(reading, NULL,
			  progress->coz.table + offsetof(struct progress_coz_table, used),
			  sizeof(reading->coz_used));
}

bool
progress_read_memory(struct progress *progress, const struct memory_piece *piece, size_t count,
		     void *to)
{
	pid_t *tids = NULL;
	size_t capacity = 0, threads;
	bool done;

	/* All threads have the same memory: when the reader has exited, the listed threads are
	 * tried one after the other, until one can be read. */
	errno = 0;
	done = memory_read_pieces(progress->reader, piece, count, to) == count;
	if (done || errno != ESRCH)
		return done;
	threads = process_list_threads(progress->process, &tids, &capacity);
	errno = ESRCH;
	for (size_t i = 0; i < threads && errno == ESRCH && !done; i++) {
		progress->reader = tids[i];
		errno = 0;
		done = memory_read_pieces(tids[i], piece, count, to) == count;
	}
	free(tids);
	return done;
}

/* Updates the counters from the bytes read. The values of consecutive pieces of one counter are
 * added up. */
static void
take_pieces(struct reading *reading)
{
	const uint8_t *at = (const uint8_t *)reading->value;
	uint64_t sum = 0;

	for (size_t i = 0; i < reading->count; i++) {
		struct progress_counter *counter = reading->counter[i];
		const uint64_t value = bytes_little(at, reading->piece[i].size);

		at += reading->piece[i].size;
		sum += value;
		if (counter == NULL)
			reading->coz_used = (uint32_t)value;
		else if (i + 1 == reading->count || reading->counter[i + 1] != counter)
			progress_counter_step(counter, sum);
		else
			continue;
		sum = 0;
	}
}

static bool
read_memory(struct progress *progress)
{
	/* The second pass reads counters of points of coz.h that the first pass has found. */
	for (int i = 0; i < 2; i++) {
		struct reading reading = { .count = 0 };

		collect(progress, &reading);
		if (reading.count == 0)
			return true;
		if (!progress_read_memory(progress, reading.piece, reading.count, reading.value))
			return false;
		take_pieces(&reading);
		if (progress->coz.table == 0 ||
		    (reading.coz_used == progress->coz.used && !progress->coz.waiting))
			return true;
		/* If the table has become invalid, the known counters remain. */
		if (!progress_coz_update(progress))
			return true;
	}
	return true;
}

static bool
read_io(struct progress *progress)
{
	uint64_t value[PROGRESS_IO_FIELD_COUNT];

	if (progress->io_fd < 0)
		return true;
	if (!progress_io_read(progress->io_fd, value))
		return false;
	for (size_t i = 0; i < progress->count; i++) {
		struct progress_counter *counter = progress->entry[i].counter;

		for (size_t s = 0; s < progress->entry[i].words.source_count; s++)
			if (counter[s].source->kind == PROGRESS_IO)
				progress_counter_step(&counter[s],
						      value[counter[s].source->number]);
	}
	return true;
}

bool
progress_read_counters(struct progress *progress)
{
	for (size_t i = 0; i < progress->counted_count; i++)
		progress_counter_step(progress->counted_counter[i], progress->counted_total[i]);
	return read_memory(progress) && read_io(progress);
}

bool
progress_read(struct progress *progress, struct progress_value *value)
{
	if (!progress_read_counters(progress))
		return false;
	for (size_t i = 0; i < progress->count; i++)
		value[i] = progress_entry_value(&progress->entry[i]);
	return true;
}

void
progress_set_counted(struct progress *progress, const uint64_t *total, size_t count)
{
	for (size_t i = 0; i < count && i < progress->counted_count; i++)
		progress->counted_total[i] = total[i];
}
