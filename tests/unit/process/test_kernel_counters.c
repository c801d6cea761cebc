/* SPDX-License-Identifier: MIT */
/* test_kernel_counters.c - what the kernel counts for this process while it does known work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/process/kernel_counters.h"

#define CALLS 1000
#define PAGES 256

static struct process *
open_process(pid_t pid)
{
	struct process *process;
	struct error err;

	assert_int_equal(process_open(pid, &process, &err), 0);
	return process;
}

/* Reads CALLS times a byte, and touches PAGES pages for the first time. */
static void
work(void)
{
	const long size = sysconf(_SC_PAGESIZE);
	const int fd = open("/dev/zero", O_RDONLY);
	char *page = mmap(NULL, (size_t)(PAGES * size), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char byte;

	assert_true(fd >= 0 && page != MAP_FAILED);
	madvise(page, (size_t)(PAGES * size), MADV_NOHUGEPAGE);
	for (int i = 0; i < CALLS; i++)
		assert_int_equal(read(fd, &byte, 1), 1);
	for (int i = 0; i < PAGES; i++)
		page[i * size] = 1;
	munmap(page, (size_t)(PAGES * size));
	close(fd);
}

static void
test_work(void **state)
{
	struct process *process = open_process(getpid());
	struct counters before, after, since;

	(void)state;
	assert_true(process_read_counters(process, &before));
	work();
	assert_true(process_read_counters(process, &after));
	since = counters_since(&before, &after);
	/* The readings themselves read some files. Kernels without CONFIG_TASK_IO_ACCOUNTING have
	 * no file "io". */
	if (access("/proc/self/io", R_OK) == 0) {
		assert_true(since.reads >= CALLS && since.reads < CALLS + 100);
		assert_true(since.read_bytes >= CALLS && since.read_bytes < CALLS + 100000);
		assert_int_equal(since.writes, 0);
	} else {
		assert_int_equal(since.reads, 0);
	}
	assert_true(since.minor_faults >= PAGES && since.minor_faults < PAGES + 1000);
	process_free(process);
}

static void
test_exited(void **state)
{
	const struct counters kept = { .reads = 7 };
	struct counters counters = kept;
	struct process *process;
	const pid_t child = fork();

	(void)state;
	if (child == 0)
		for (;;)
			pause();
	assert_true(child > 0);
	process = open_process(child);
	assert_true(process_read_counters(process, &counters));
	counters = kept;
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
	assert_false(process_read_counters(process, &counters)); /* a zombie */
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(process_read_counters(process, &counters));
	assert_memory_equal(&counters, &kept, sizeof(kept));
	process_free(process);
}

static void
test_sums(void **state)
{
	struct counters sum = { .reads = 10, .throttled_ns = 5 };
	const struct counters other = { .reads = 3, .written_bytes = 9, .cpu_limit = 0.5 };
	const struct counters lower = { .reads = 1, .cpu_limit = 0.25 };
	struct counters since;

	(void)state;
	counters_add(&sum, &other);
	assert_true(sum.reads == 13 && sum.written_bytes == 9 && sum.throttled_ns == 5);
	assert_true(sum.cpu_limit == 0.5);
	counters_add(&sum, &lower);
	assert_true(sum.cpu_limit == 0.25);
	counters_add(&sum, &other);
	assert_true(sum.cpu_limit == 0.25);
	since = counters_since(&sum, &lower);
	assert_true(since.reads == 0 && since.written_bytes == 0 && since.cpu_limit == 0.25);
	since = counters_since(&lower, &sum);
	assert_true(since.reads == sum.reads - 1 && since.throttled_ns == 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_exited),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
