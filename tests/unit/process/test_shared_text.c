/* SPDX-License-Identifier: MIT */
/*
 * test_shared_text.c - the shared mappings by the text of /proc/PID/maps, made up: how long it is
 * used, what it may cost, garbage, and the names of many objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../scene/proc_folder.h"
#include "process/maps_source_internal.h"
#include "wallsample/process/shared_memory.h"

/* A time after which each budget has passed. */
#define LATER (100000 * NS_PER_SEC)

#define LINES                                                                                      \
	"1000-3000 rw-s 00002000 00:2a 77   /dev/shm/jobs\n"                                       \
	"5000-6000 rw-p 00000000 00:2a 78   /dev/shm/private\n"                                    \
	"8000-9000 r--s 00000000 00:01 32769   /SYSV0052e2c1 (deleted)\n"

static bool
place_of_text(struct shared_memory *memory, uint64_t address, uint64_t now_ns,
	      struct shared_place *place)
{
	memset(place, 0, sizeof(*place));
	return shared_place(memory, address, now_ns, place);
}

/* The text is read again after a second, after 10 ms for an unknown address, and not before. */
static void
test_text_is_kept(void **state)
{
	struct shared_memory *memory;
	struct shared_place place;
	struct proc_folder folder;

	(void)state;
	proc_folder_make(&folder);
	proc_folder_write(&folder, LINES, strlen(LINES));
	memory = shared_memory_create(&folder.process);
	assert_true(place_of_text(memory, 0x1010, LATER, &place));
	assert_int_equal(place.object.inode, 77);
	assert_int_equal(place.object.dev, makedev(0, 0x2a));
	assert_int_equal(place.offset, 0x2010);
	assert_string_equal(place.path, "/dev/shm/jobs");
	assert_false(place_of_text(memory, 0x3000, LATER, &place));
	assert_false(place_of_text(memory, 0x5800, LATER, &place));
	assert_true(place_of_text(memory, 0x8000, LATER, &place));
	assert_int_equal(place.object.kind, SHARED_SYSTEM_V);
	/* At the same moment neither is read again. */
	proc_folder_write(&folder, "2000-4000 rw-s 0 00:2a 79 /new\n", 31);
	assert_true(place_of_text(memory, 0x2000, LATER, &place));
	assert_int_equal(place.object.inode, 77);
	assert_false(place_of_text(memory, 0x3800, LATER, &place));
	assert_true(place_of_text(memory, 0x2000, LATER + NS_PER_SEC / 2, &place));
	assert_int_equal(place.object.inode, 77);
	assert_true(place_of_text(memory, 0x2000, 2 * LATER, &place));
	assert_int_equal(place.object.inode, 79);
	assert_int_equal(place.offset, 0);
	/* An unknown address causes a read, too; a text that is gone does not. */
	proc_folder_write(&folder, "6000-7000 rw-s 0 00:2a 80 /newer\n", 33);
	assert_true(place_of_text(memory, 0x6000, 3 * LATER, &place));
	assert_int_equal(place.object.inode, 80);
	proc_folder_write(&folder, "", 0);
	assert_true(place_of_text(memory, 0x6000, 4 * LATER, &place));
	assert_int_equal(place.object.inode, 80);
	shared_memory_free(memory);
	proc_folder_remove(&folder);
}

static void
test_parse(void **state)
{
	static const char *const hostile[] = {
		"", " ", "1000-2000", "1000-2000 rw-", "1000-2000 rw-s", "1000-2000 rw-s ",
		"1000-2000 rw-p 0 0:0 1 /x", "1000-2000 rwss 0 0:0", "1000-2000 rw-s 0 0:0",
		"2000-1000 rw-s 0 0:0 1 /x", "1000-1000 rw-s 0 0:0 1 /x",
		"1000-2000 rw-s -1 0:0 1 /x",
		"1000-2000 rw-s 0 123456789:0 1 /x", "10000000000000000-2000 rw-s 0 0:0 1 /x",
		"1000-2000 rw-s 0 0:0 99999999999999999999 /x", "1000-2000 rw-ss 0 0:0 1 /x",
	};
	struct maps_line line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		assert_false(maps_source_parse_shared(hostile[i], &line));
	assert_true(maps_source_parse_shared("1000-2000 ---s 0 0:0 1 /a b (deleted)", &line));
	assert_string_equal(line.path, "/a b (deleted)");
	assert_true(maps_source_parse_shared("1000-2000 rwxs ffffffffffffffff 0:0 0", &line));
	assert_string_equal(line.path, "");
}

/* Overlaps, offsets that overflow, and paths that look like those of the kernel. */
static void
test_hostile_text(void **state)
{
	static const char text[] = "0-ffffffffffffffff rw-s ffffffffffffffff 0:1 5 /whole\n"
				   "1000-2000 rw-s 0 0:1 6 /inside\n"
				   "garbage\n"
				   "1000-2000 rw-s 0 0:1 7";
	static const char *const files[] = {
		"/SYSV0052e2c", "/SYSV0052e2c1", "/SYSVghijklmn (deleted)",
		"/SYSV0052e2c12 (deleted)", "/memfd:x", "/memfd (deleted)",
		"/dev/zero", "/dev/shm/sem", "",
	};
	struct shared_memory *memory;
	struct shared_place place;
	struct proc_folder folder;
	char line[128];

	(void)state;
	proc_folder_make(&folder);
	proc_folder_write(&folder, text, strlen(text));
	memory = shared_memory_create(&folder.process);
	assert_true(place_of_text(memory, 0x1000, LATER, &place));
	assert_int_equal(place.object.inode, 5);
	assert_int_equal(place.offset, 0xfff);
	assert_false(place_of_text(memory, UINT64_MAX, LATER, &place));
	shared_memory_free(memory);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct strbuf name = STRBUF_INIT;
		struct shared_names *names = shared_names_create();

		snprintf(line, sizeof(line), "1000-2000 rw-s 0 0:1 6 %s\n", files[i]);
		proc_folder_write(&folder, line, strlen(line));
		memory = shared_memory_create(&folder.process);
		assert_true(place_of_text(memory, 0x1004, LATER, &place));
		assert_int_equal(place.object.kind, SHARED_FILE);
		shared_names_add(names, &place, &name);
		snprintf(line, sizeof(line), "0x4 in %s",
			 files[i][0] != '\0' ? files[i] : "a file without a path");
		assert_string_equal(name.data, line);
		strbuf_release(&name);
		shared_names_free(names);
		shared_memory_free(memory);
	}
	proc_folder_remove(&folder);
}

/* More mappings and longer paths than are kept: the one that is looked up is found all the same. */
static void
test_many_lines(void **state)
{
	const unsigned lines = 20000;
	struct strbuf text = STRBUF_INIT;
	struct shared_memory *memory;
	struct shared_place place;
	struct proc_folder folder;
	char path[1000];
	size_t found = 0;

	(void)state;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	for (unsigned i = 1; i <= lines; i++)
		strbuf_add_format(&text, "%x000-%x800 rw-s 0 0:1 %u /%u%s\n", i, i, i, i,
				  i % 2 == 0 ? path : "");
	proc_folder_make(&folder);
	proc_folder_write(&folder, text.data, text.length);
	memory = shared_memory_create(&folder.process);
	/* 16 MiB of the text are read: this line is not in them. */
	assert_true(text.length < 16 << 20);
	assert_true(place_of_text(memory, (uint64_t)lines << 12, LATER, &place));
	assert_int_equal(place.object.inode, lines);
	assert_int_equal(strlen(place.path), strlen("/20000") + sizeof(path) - 1);
	for (unsigned i = 1; i <= lines; i++) {
		if (!place_of_text(memory, (uint64_t)i << 12, LATER, &place))
			continue;
		assert_int_equal(place.object.inode, i);
		found++;
	}
	assert_int_equal(found, 8193);
	shared_memory_free(memory);
	proc_folder_remove(&folder);
	strbuf_release(&text);
}

/* A text without an end that is of use: reading ends after 16 MiB. */
static void
test_endless_text(void **state)
{
	const size_t size = (16 << 20) + 4096;
	char *text = xmalloc(size);
	struct shared_memory *memory;
	struct shared_place place;
	struct proc_folder folder;
	size_t at;

	(void)state;
	memset(text, 'a', size);
	for (at = 4095; at < size; at += 4096)
		text[at] = '\n';
	at = (size_t)(16 << 20);
	memcpy(text + at, "1000-2000 rw-s 0 0:1 7 /behind\n", 31);
	proc_folder_make(&folder);
	proc_folder_write(&folder, text, size);
	memory = shared_memory_create(&folder.process);
	assert_false(place_of_text(memory, 0x1000, LATER, &place));
	memcpy(text + at - 4096, "1000-2000 rw-s 0 0:1 8 /before\n", 31);
	proc_folder_write(&folder, text, size);
	assert_true(place_of_text(memory, 0x1000, 2 * LATER, &place));
	assert_int_equal(place.object.inode, 8);
	shared_memory_free(memory);
	proc_folder_remove(&folder);
	free(text);
}

/* More objects than are distinguished: memory is bounded, and each has a text. */
static void
test_many_names(void **state)
{
	struct shared_names *names = shared_names_create();
	struct shared_place place = { .object = { .kind = SHARED_ANONYMOUS, .dev = 1 },
				      .offset = 64,
				      .path = "" };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (uint64_t i = 1; i <= 5000; i++) {
		place.object.inode = i;
		strbuf_clear(&text);
		shared_names_add(names, &place, &text);
		if (i == 1 || i > 4096)
			assert_string_equal(text.data, "0x40 in anonymous shared memory");
		else
			assert_non_null(strstr(text.data, " (inode "));
	}
	strbuf_release(&text);
	shared_names_free(names);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_kept),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_many_lines),
		cmocka_unit_test(test_endless_text),
		cmocka_unit_test(test_many_names),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
