/* SPDX-License-Identifier: MIT */
/* test_reader_file.c - what is said of a journal that cannot be copied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scene/recording_scene.h"
#include "wallsample/recording/recording_read.h"

/* What is beside it looks like a journal, but cannot be copied: it is said why. */
static void
test_journal_that_is_a_pipe(void **state)
{
	static const uint8_t magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	struct recording *recording;
	struct place place;
	struct error err;
	int fd;

	(void)state;
	place_make(&place);
	make_recording(&place, 10, false);
	assert_int_equal(mkfifoat(place.dirfd, "x.wsdb-journal", 0600), 0);
	fd = openat(place.dirfd, "x.wsdb-journal", O_RDWR | O_CLOEXEC);
	assert_int_equal(write(fd, magic, sizeof(magic)), sizeof(magic));
	assert_int_equal(setenv("TMPDIR", place.folder, 1), 0);
	assert_int_equal(recording_open(place.path, &recording, &err), -ERROR_SYSTEM);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	if (strstr(err.text, "Invalid argument") == NULL)
		fail_msg("%s", err.text);
	close(fd);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journal_that_is_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
