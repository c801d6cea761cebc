/* SPDX-License-Identifier: MIT */
/* file_lock.c - what a thread requests in flock(2) or fcntl(2); parses the kernel's lines about
 * locks of files, and compares locks. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "wait/wait_internal.h"

/* Moves the cursor behind spaces and tabs, and behind the word if that is next. */
static bool
skip_lock_word(const char **cursor, const char *word)
{
	const char *at = *cursor + strspn(*cursor, " \t");
	const size_t length = strlen(word);

	if (strncmp(at, word, length) != 0 || strchr(" \t\n", at[length]) == NULL)
		return false;
	*cursor = at + length;
	return true;
}

/* Moves the cursor behind the next word, whatever it is. */
static bool
skip_any_word(const char **cursor)
{
	const char *at = *cursor + strspn(*cursor, " \t");
	const size_t length = strcspn(at, " \t\n");

	*cursor = at + length;
	return length > 0;
}

static bool
parse_type(const char **cursor, enum file_lock_type *type)
{
	static const struct {
		const char *word;
		enum file_lock_type type;
	} words[] = {
		{ "FLOCK", FILE_LOCK_FLOCK },
		{ "POSIX", FILE_LOCK_POSIX },
		{ "OFDLCK", FILE_LOCK_OFD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!skip_lock_word(cursor, words[i].word))
			continue;
		*type = words[i].type;
		return true;
	}
	return false;
}

/* Parses "08:01:1234": the device in hexadecimal, the inode in decimal. */
static bool
parse_file(const char **cursor, struct file_lock *lock)
{
	uint64_t major_number, minor_number;

	if (!parse_u64(cursor, 16, &major_number) || *(*cursor)++ != ':' ||
	    !parse_u64(cursor, 16, &minor_number) || *(*cursor)++ != ':' ||
	    !parse_u64(cursor, 10, &lock->inode))
		return false;
	if (major_number > UINT32_MAX || minor_number > UINT32_MAX)
		return false;
	lock->dev = makedev((unsigned)major_number, (unsigned)minor_number);
	return true;
}

static bool
parse_range(const char **cursor, struct file_lock *lock)
{
	if (!parse_u64(cursor, 10, &lock->first))
		return false;
	if (skip_lock_word(cursor, "EOF"))
		lock->last = FILE_LOCK_END;
	else if (!parse_u64(cursor, 10, &lock->last))
		return false;
	return lock->first <= lock->last && lock->last <= FILE_LOCK_END;
}

/* The format is that of lock_get_status() in Linux's fs/locks.c. */
bool
file_lock_parse(const char *line, struct file_lock *lock)
{
	uint64_t number;
	int64_t pid;

	memset(lock, 0, sizeof(*lock));
	if (!parse_u64(&line, 10, &number) || *line++ != ':')
		return false;
	lock->waits = skip_lock_word(&line, "->");
	/* The word behind the type is ADVISORY on all current kernels. */
	if (!parse_type(&line, &lock->type) || !skip_any_word(&line))
		return false;
	lock->exclusive = skip_lock_word(&line, "WRITE");
	if (!lock->exclusive && !skip_lock_word(&line, "READ"))
		return false;
	if (!parse_i64(&line, &pid))
		return false;
	/* -1: OFD; below 0: of a process on another machine; 0: of a pid namespace that is not
	 * visible. */
	lock->pid = pid > 0 && pid < PROCESS_ID_LIMIT ? (pid_t)pid : 0;
	return parse_file(&line, lock) && parse_range(&line, lock);
}

/* Returns false if the range begins before the file or is beyond the largest offset. */
static bool
range_of(int64_t start, int64_t length, struct file_lock *lock)
{
	int64_t end = INT64_MAX;

	if (start < 0 || (length > 0 && __builtin_add_overflow(start, length - 1, &end)))
		return false;
	if (length < 0) { /* the bytes before `start` */
		end = start - 1;
		start += length;
	}
	if (start < 0 || end < start)
		return false;
	lock->first = (uint64_t)start;
	lock->last = (uint64_t)end;
	return true;
}

void
file_lock_set_range(const struct file_lock_request *request, int64_t position, int64_t size,
		    struct file_lock *lock)
{
	const int64_t base = request->whence == SEEK_CUR ? position :
			     request->whence == SEEK_END ? size :
							   0;
	int64_t start;

	lock->first = 0;
	lock->last = FILE_LOCK_END;
	if (request->has_range && !__builtin_add_overflow(base, request->start, &start))
		range_of(start, request->length, lock);
}

bool
file_locks_conflict(const struct file_lock *held, const struct file_lock *wanted)
{
	return (held->type == FILE_LOCK_FLOCK) == (wanted->type == FILE_LOCK_FLOCK) &&
	       (held->exclusive || wanted->exclusive) && held->first <= wanted->last &&
	       wanted->first <= held->last;
}

/* --- system calls ----------------------------------------------------------------------------- */

void
wait_of_flock(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	if (call->state != RUN_SLEEPING)
		return;
	out->kind = WAIT_FILE_LOCK;
	out->lock.type = FILE_LOCK_FLOCK;
	out->lock.exclusive = (argument_int(call, 1) & LOCK_EX) != 0;
}

void
wait_of_fcntl(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const int command = argument_int(call, 1);
	struct flock wanted;

	if (command != F_SETLKW && command != F_OFD_SETLKW)
		return;
	out->kind = call->state == RUN_SLEEPING ? WAIT_FILE_LOCK : WAIT_FILE;
	out->lock.type = command == F_SETLKW ? FILE_LOCK_POSIX : FILE_LOCK_OFD;
	out->lock.exclusive = true;
	if (!memory_read(&source->memory, call->args[2], &wanted, sizeof(wanted)))
		return;
	out->lock.exclusive = wanted.l_type != F_RDLCK;
	out->lock.has_range = true;
	out->lock.whence = wanted.l_whence;
	out->lock.start = wanted.l_start;
	out->lock.length = wanted.l_len;
}
