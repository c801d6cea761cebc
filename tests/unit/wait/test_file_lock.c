/* SPDX-License-Identifier: MIT */
/*
 * test_file_lock.c - locks of files: lines of /proc/locks, hostile ones included, ranges, which
 * locks conflict, and real locks of this process and of a child.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/wait/file_lock.h"

#define END FILE_LOCK_END

static void
test_lines(void **state)
{
	static const struct {
		const char *line;
		struct file_lock lock;
	} lines[] = {
		{ "1: POSIX  ADVISORY  WRITE 812 08:01:1234 120 129\n",
		  { FILE_LOCK_POSIX, true, false, 812, 0x801, 1234, 120, 129 } },
		{ "12: -> POSIX  ADVISORY  READ 813 08:01:1234 0 EOF",
		  { FILE_LOCK_POSIX, false, true, 813, 0x801, 1234, 0, END } },
		/* a waiter that waits for another waiter's lock, too */
		{ "12:  -> FLOCK  ADVISORY  WRITE 813 fe:00:7 0 EOF\n",
		  { FILE_LOCK_FLOCK, true, true, 813, 0xfe00, 7, 0, END } },
		{ "\t3: OFDLCK ADVISORY  READ -1 00:2a:5 10 10\n",
		  { FILE_LOCK_OFD, false, false, 0, 0x2a, 5, 10, 10 } },
		/* of another machine, and of a pid namespace that is not visible */
		{ "3: POSIX  ADVISORY  WRITE -70 00:2a:5 0 EOF\n",
		  { FILE_LOCK_POSIX, true, false, 0, 0x2a, 5, 0, END } },
		{ "3: FLOCK  ADVISORY  WRITE 0 00:2a:5 0 EOF\n",
		  { FILE_LOCK_FLOCK, true, false, 0, 0x2a, 5, 0, END } },
		{ "1: POSIX  MSNFS     WRITE 4194304 08:01:18446744073709551615 0 "
		  "9223372036854775807",
		  { FILE_LOCK_POSIX, true, false, 0, 0x801, UINT64_MAX, 0, END } },
	};
	struct file_lock lock;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		const struct file_lock *wanted = &lines[i].lock;

		if (!file_lock_parse(lines[i].line, &lock))
			fail_msg("%s", lines[i].line);
		assert_int_equal(lock.type, wanted->type);
		assert_int_equal(lock.exclusive, wanted->exclusive);
		assert_int_equal(lock.waits, wanted->waits);
		assert_int_equal(lock.pid, wanted->pid);
		assert_int_equal(lock.dev, makedev(wanted->dev >> 8, wanted->dev & 0xff));
		assert_int_equal(lock.inode, wanted->inode);
		assert_int_equal(lock.first, wanted->first);
		assert_int_equal(lock.last, wanted->last);
	}
}

static void
test_hostile_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"1:",
		"1: ->",
		"1: -> ",
		": POSIX  ADVISORY  WRITE 812 08:01:1234 0 EOF",
		"99999999999999999999: POSIX  ADVISORY  WRITE 812 08:01:1234 0 EOF",
		"1: LEASE  ACTIVE    WRITE 812 08:01:1234 0 EOF",
		"1: DELEG  ACTIVE    READ 812 08:01:1234 0 EOF",
		"1: POSIXADVISORY  WRITE 812 08:01:1234 0 EOF",
		"1: POSIX  ADVISORY  UNLCK 812 08:01:1234 0 EOF",
		"1: POSIX  ADVISORY  WRITE",
		"1: POSIX  ADVISORY  WRITE -",
		"1: POSIX  ADVISORY  WRITE 99999999999999999999 08:01:1234 0 EOF",
		"1: POSIX  *NOINODE* WRITE 812 <none>:0 0 EOF",
		"1: POSIX  ADVISORY  WRITE 812 08:01",
		"1: POSIX  ADVISORY  WRITE 812 08:01:",
		"1: POSIX  ADVISORY  WRITE 812 08",
		"1: POSIX  ADVISORY  WRITE 812 fffffffff:01:1 0 EOF",
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234",
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234 0",
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234 0 EOFF",
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234 -1 EOF",
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234 130 129",
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234 0 9223372036854775808",
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234 9223372036854775808 EOF",
		/* the rest of a line is not that of the next one */
		"1: POSIX  ADVISORY  WRITE 812 08:01:1234 0\nEOF",
		"1: POSIX\nADVISORY  WRITE 812 08:01:1234 0 EOF",
	};
	struct file_lock lock;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		/* without room behind the text, so that a sanitizer finds reads behind its end */
		char *line = xstrdup(lines[i]);

		if (file_lock_parse(line, &lock))
			fail_msg("%s", line);
		free(line);
	}
}

static void
test_ranges(void **state)
{
	/* at position 1000 of a file of 5000 bytes */
	static const struct {
		int whence;
		int64_t start, length;
		uint64_t first, last;
	} ranges[] = {
		{ SEEK_SET, 0, 0, 0, END },
		{ SEEK_SET, 120, 10, 120, 129 },
		{ SEEK_SET, 120, 0, 120, END },
		{ SEEK_SET, 120, -20, 100, 119 },
		{ SEEK_CUR, 0, 10, 1000, 1009 }, /* lockf */
		{ SEEK_CUR, -1000, 1, 0, 0 },
		{ SEEK_END, -5, 0, 4995, END },
		{ SEEK_SET, INT64_MAX, 1, END, END },
		/* not valid: the call fails, and does not wait */
		{ SEEK_SET, -1, 10, 0, END },
		{ SEEK_SET, 5, -10, 0, END },
		{ SEEK_SET, INT64_MIN, INT64_MIN, 0, END },
		{ SEEK_SET, INT64_MAX, INT64_MAX, 0, END },
		{ SEEK_CUR, INT64_MAX, 1, 0, END },
		{ SEEK_SET, INT64_MAX, INT64_MIN, 0, END },
	};
	struct file_lock lock;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		const struct file_lock_request request = {
			.type = FILE_LOCK_POSIX,
			.has_range = true,
			.whence = ranges[i].whence,
			.start = ranges[i].start,
			.length = ranges[i].length,
		};

		file_lock_set_range(&request, 1000, 5000, &lock);
		if (lock.first != ranges[i].first || lock.last != ranges[i].last)
			fail_msg("%zu: %llu-%llu", i, (unsigned long long)lock.first,
				 (unsigned long long)lock.last);
	}
}

static void
test_conflicts(void **state)
{
	struct file_lock held = { .type = FILE_LOCK_POSIX, .first = 10, .last = 19 };
	struct file_lock wanted = { .type = FILE_LOCK_OFD, .exclusive = true, .last = 9 };

	(void)state;
	assert_false(file_locks_conflict(&held, &wanted));
	wanted.last = 10;
	assert_true(file_locks_conflict(&held, &wanted));
	wanted.first = wanted.last = 19;
	assert_true(file_locks_conflict(&held, &wanted));
	wanted.exclusive = false; /* two readers */
	assert_false(file_locks_conflict(&held, &wanted));
	held.exclusive = true;
	assert_true(file_locks_conflict(&held, &wanted));
	wanted.type = FILE_LOCK_FLOCK; /* the kernel keeps these apart */
	assert_false(file_locks_conflict(&held, &wanted));
}

static struct file_lock_query
query_for(enum file_lock_type type, bool exclusive)
{
	return (struct file_lock_query){
		.id = 3,
		.wanted = { .type = type, .exclusive = exclusive, .waits = true, .pid = 50,
			    .dev = makedev(8, 1), .inode = 7, .last = END },
		.stat_inode = 7,
	};
}

static void
test_answers(void **state)
{
	static const char text[] = "1: FLOCK  ADVISORY  WRITE 40 08:01:7 0 EOF\n"
				   "2: POSIX  ADVISORY  READ 41 08:01:7 0 9\n"
				   "2: -> POSIX  ADVISORY  WRITE 50 08:01:7 0 EOF\n"
				   "a line of another form\n"
				   "3: POSIX  ADVISORY  READ 42 08:01:7 5 EOF\n"
				   "4: OFDLCK ADVISORY  READ -1 08:01:7 0 EOF\n"
				   "5: POSIX  ADVISORY  WRITE 43 08:02:7 0 EOF\n"
				   "6: POSIX  ADVISORY  WRITE 44 08:01:8 0 EOF";
	struct file_lock_query query = query_for(FILE_LOCK_POSIX, true);
	struct file_lock_answer answer;

	(void)state;
	file_lock_answer_from(text, &query, &answer);
	assert_int_equal(answer.query.id, 3);
	assert_int_equal(answer.count, 3);
	assert_true(answer.shared);
	assert_int_equal(answer.known, 2);
	assert_int_equal(answer.holder[0].pid, 41);
	assert_int_equal(answer.holder[1].pid, 42);
	query.wanted.last = 4;
	file_lock_answer_from(text, &query, &answer);
	assert_int_equal(answer.count, 2);
	query = query_for(FILE_LOCK_POSIX, false);
	file_lock_answer_from(text, &query, &answer);
	assert_int_equal(answer.count, 0);
	query = query_for(FILE_LOCK_FLOCK, false);
	file_lock_answer_from(text, &query, &answer);
	assert_int_equal(answer.count, 1);
	assert_false(answer.shared);
	assert_int_equal(answer.holder[0].pid, 40);
	file_lock_answer_from("", &query, &answer);
	assert_int_equal(answer.count, 0);
}

/* On btrfs and overlayfs the device of stat(2) is another one: the line of the waiter has that of
 * the locks. */
static void
test_device_of_waiter(void **state)
{
	static const char text[] = "2: POSIX  ADVISORY  WRITE 41 00:30:7 0 EOF\n"
				   "2: -> POSIX  ADVISORY  WRITE 50 00:30:7 0 EOF\n";
	struct file_lock_query query = query_for(FILE_LOCK_POSIX, true);
	struct file_lock_answer answer;

	(void)state;
	file_lock_answer_from(text, &query, &answer);
	assert_int_equal(answer.count, 1);
	assert_int_equal(answer.query.wanted.dev, makedev(0, 0x30));
	query.wanted.pid = 51;
	file_lock_answer_from(text, &query, &answer);
	assert_int_equal(answer.count, 0);
}

/* More holders than are kept, each with several locks. */
static void
test_many_holders(void **state)
{
	const struct file_lock_query query = query_for(FILE_LOCK_POSIX, true);
	struct file_lock_answer answer;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 200; i++)
		strbuf_add_format(&text, "%d: POSIX  ADVISORY  READ %d 08:01:7 %d %d\n", i,
				  100 + i / 2, i, i);
	file_lock_answer_from(text.data, &query, &answer);
	strbuf_release(&text);
	assert_int_equal(answer.count, 200);
	assert_int_equal(answer.known, FILE_LOCK_HOLDERS);
	assert_int_equal(answer.holder[FILE_LOCK_HOLDERS - 1].pid, 103);
}

/* --- real locks ------------------------------------------------------------------------------- */

static char path[] = "/tmp/wallsample-lock-XXXXXX";

static int
open_file(void **state)
{
	(void)state;
	const int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int
remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static const struct file_lock_request whole_file = { .type = FILE_LOCK_FLOCK, .exclusive = true };

static void
test_own_lock(void **state)
{
	const struct file_lock_request ofd = { .type = FILE_LOCK_OFD, .exclusive = true };
	const int holds = open(path, O_RDWR | O_CLOEXEC), waits = open(path, O_RDWR | O_CLOEXEC);
	struct file_lock_holder holder = { .pid = getpid(), .fd = holds };
	struct file_lock_query query;

	(void)state;
	assert_true(file_lock_query_of(getpid(), waits, &whole_file, &query));
	assert_int_equal(file_lock_check(&query, &holder), FILE_LOCK_FREE);
	assert_int_equal(file_lock_descriptor(&query, getpid()), -1);
	assert_int_equal(flock(holds, LOCK_SH), 0);
	assert_int_equal(file_lock_check(&query, &holder), FILE_LOCK_HELD);
	assert_int_equal(file_lock_descriptor(&query, getpid()), holds);
	holder.fd = waits;
	assert_int_equal(file_lock_check(&query, &holder), FILE_LOCK_FREE);
	holder.fd = -1;
	assert_int_equal(file_lock_check(&query, &holder), FILE_LOCK_UNREADABLE);
	assert_true(file_lock_query_of(getpid(), waits, &ofd, &query));
	assert_int_equal(file_lock_descriptor(&query, getpid()), -1);
	close(holds);
	close(waits);
	/* a number that no descriptor has: those of this process change during the call */
	assert_false(file_lock_query_of(getpid(), 60000, &whole_file, &query));
}

/* The child has inherited the descriptor with the lock, and this process has closed it: /proc/locks
 * has the id of this process. */
static void
test_inherited_lock(void **state)
{
	const int holds = open(path, O_RDWR | O_CLOEXEC), waits = open(path, O_RDWR | O_CLOEXEC);
	struct file_lock_finder *finder = file_lock_finder_create();
	struct file_lock_answer answer[FILE_LOCK_QUERIES];
	struct file_lock_query query;
	size_t count = 0;
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(flock(holds, LOCK_EX), 0);
	child = fork();
	if (child == 0) {
		alarm(60);
		pause();
		_exit(0);
	}
	close(holds);
	assert_true(file_lock_query_of(getpid(), waits, &whole_file, &query));
	query.id = 5;
	assert_false(file_lock_finder_take(finder, 0, answer, &count));
	assert_true(file_lock_finder_ask(finder, true, &query, 1, &child, 1));
	assert_true(file_lock_finder_take(finder, 60 * NS_PER_SEC, answer, &count));
	assert_int_equal(count, 1);
	assert_int_equal(answer[0].query.id, 5);
	assert_int_equal(answer[0].count, 1);
	assert_int_equal(answer[0].known, 1);
	assert_int_equal(answer[0].holder[0].pid, child);
	assert_int_equal(answer[0].holder[0].fd, holds);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(file_lock_check(&query, &answer[0].holder[0]), FILE_LOCK_FREE);
	file_lock_finder_free(finder);
	file_lock_finder_free(NULL);
	close(waits);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_hostile_lines),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_device_of_waiter),
		cmocka_unit_test(test_many_holders),
		cmocka_unit_test(test_own_lock),
		cmocka_unit_test(test_inherited_lock),
	};

	return cmocka_run_group_tests(tests, open_file, remove_file);
}
