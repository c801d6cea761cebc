/* SPDX-License-Identifier: MIT */
/*
 * test_tracer_parts.c - the parts of the tracer one by one: registers, snapshots, memory of a
 * live process, the stack of a child that sleeps, a stop for a signal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/tracer/regs_arch.h"
#include "tracer/stop_internal.h"
#include "../scene/sleeping_child.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/process_memory.h"
#include "wallsample/tracer/tracer.h"
#include "wallsample/tracer/sleeper.h"

static void
test_regs(void **state)
{
	struct regs regs;
	uint64_t value = 99;

	(void)state;
	memset(&regs, 0xff, sizeof(regs));
	regs_set_sp_pc(&regs, 0x1000, 0x2000);
	assert_int_equal(regs.sp, 0x1000);
	assert_int_equal(regs.pc, 0x2000);
	for (unsigned i = 0; i < REGS_MAX; i++)
		assert_int_equal(regs_get(&regs, i, &value), i == regs_sp_number);
	assert_int_equal(value, 0x1000);

	regs_set(&regs, regs_fp_number, UINT64_MAX);
	assert_true(regs_get(&regs, regs_fp_number, &value));
	assert_true(value == UINT64_MAX);

	/* Numbers come from the tables of foreign files. */
	value = 99;
	regs_set(&regs, REGS_MAX, 1);
	regs_set(&regs, UINT32_MAX, 1);
	assert_false(regs_get(&regs, REGS_MAX, &value));
	assert_false(regs_get(&regs, 64, &value));
	assert_false(regs_get(&regs, UINT32_MAX, &value));
	assert_int_equal(value, 99);
	assert_int_equal(__builtin_popcountll(regs.known), 2);
}

static void
test_regs_facts(void **state)
{
	uint64_t seen = 0;

	(void)state;
	assert_true(regs_count <= REGS_MAX);
	assert_true(regs_sp_number < regs_count && regs_fp_number < regs_count);
	assert_true(regs_sp_number != regs_fp_number);
	for (size_t i = 0; i < 6; i++) {
		assert_true(regs_argument[i] < regs_count);
		assert_true(regs_argument[i] != regs_sp_number);
		assert_true(regs_argument[i] != regs_fp_number);
		seen |= UINT64_C(1) << regs_argument[i];
	}
	assert_int_equal(__builtin_popcountll(seen), 6);
}

static void
test_kernel_regs_size(void **state)
{
	struct kernel_regs kernel = { .size = 0 };
	struct regs regs;
	unsigned complete = 0;

	(void)state;
	for (kernel.size = 0; kernel.size <= sizeof(kernel.word); kernel.size++)
		complete += kernel_regs_complete(&kernel);
	assert_int_equal(complete, 1);

	memset(kernel.word, 0x5a, sizeof(kernel.word));
	memset(&regs, 0, sizeof(regs));
	kernel_regs_read(&kernel, &regs);
	assert_true(regs.pc == UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_true(regs.sp == UINT64_C(0x5a5a5a5a5a5a5a5a));
	for (unsigned i = 0; i < REGS_MAX; i++) {
		uint64_t value;

		assert_int_equal(regs_get(&regs, i, &value), i < regs_count);
	}
}

static void
fill(struct snapshot *snapshot, uint64_t address, size_t size)
{
	snapshot_reserve(snapshot, size);
	snapshot->stack_address = address;
	snapshot->stack_size = size;
	snapshot->stack_wanted = size;
	for (size_t i = 0; i < size; i++)
		snapshot->stack[i] = (uint8_t)(i * 7);
}

/* What is inside is the bytes, and anything else is refused, for each start and length. */
static void
check_bounds(uint64_t address, size_t size)
{
	struct snapshot snapshot;
	uint8_t to[48];

	snapshot_init(&snapshot);
	fill(&snapshot, address, size);
	for (int64_t start = -40; start < (int64_t)size + 40; start++) {
		for (size_t length = 0; length <= sizeof(to); length++) {
			bool inside = start >= 0 && start < (int64_t)size &&
				      length <= size - (size_t)start;

			memset(to, 0xee, sizeof(to));
			assert_int_equal(snapshot_read(&snapshot, address + (uint64_t)start, to,
						       length),
					 inside);
			for (size_t i = 0; i < sizeof(to); i++) {
				size_t at = (size_t)start + i;

				assert_int_equal(to[i], inside && i < length ? at * 7 % 256 :
									       0xee);
			}
		}
	}
	snapshot_release(&snapshot);
}

static void
test_snapshot_bounds(void **state)
{
	(void)state;
	check_bounds(UINT64_C(0x7ffd00001000), 64);
	check_bounds(0, 64);
	check_bounds(8, 40);
	/* up to the last byte there is, and beyond it by its header */
	check_bounds(UINT64_MAX - 63, 64);
	check_bounds(UINT64_MAX - 20, 64);
	check_bounds(UINT64_C(0x8000000000000000) - 32, 64);
}

static void
test_snapshot_far(void **state)
{
	static const uint64_t addresses[] = { 0, 1, 0xfff, UINT64_C(0x7ffd00001040), UINT64_MAX,
					      UINT64_MAX - 7, UINT64_C(0x8000000000000000),
					      UINT64_C(0x7ffd00001000) - 1 };
	struct snapshot snapshot;
	uint64_t word = 99;

	(void)state;
	snapshot_init(&snapshot);
	/* nothing is in an empty one */
	assert_false(snapshot_read(&snapshot, 0, &word, sizeof(word)));
	fill(&snapshot, UINT64_C(0x7ffd00001000), 64);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		assert_false(snapshot_read(&snapshot, addresses[i], &word, sizeof(word)));
	/* lengths that wrap round with the address, or with the offset */
	for (uint64_t offset = 0; offset < 64; offset++) {
		uint64_t address = snapshot.stack_address + offset;

		assert_false(snapshot_read(&snapshot, address, &word, SIZE_MAX));
		assert_false(snapshot_read(&snapshot, address, &word, SIZE_MAX - offset));
		assert_false(snapshot_read(&snapshot, address, &word, (size_t)-address));
		assert_false(snapshot_read(&snapshot, address, &word, (size_t)-address + 8));
	}
	assert_int_equal(word, 99);
	snapshot_release(&snapshot);
	assert_null(snapshot.stack);
	assert_int_equal(snapshot.stack_size, 0);
}

static void
test_snapshot_room(void **state)
{
	struct snapshot snapshot;

	(void)state;
	snapshot_init(&snapshot);
	snapshot_reserve(&snapshot, 0);
	for (size_t size = 1; size < 200000; size = size * 3 + 1) {
		snapshot_reserve(&snapshot, size);
		assert_true(snapshot.stack_capacity >= size);
		memset(snapshot.stack, 1, size);
		snapshot_reserve(&snapshot, 1); /* never less */
		assert_true(snapshot.stack_capacity >= size);
	}
	snapshot.stack_wanted = 4096;
	snapshot.stack_size = 4096;
	assert_false(snapshot_is_whole(&snapshot));
	snapshot.stack_size = 4095;
	assert_true(snapshot_is_whole(&snapshot));
	snapshot_release(&snapshot);
}

static void
test_memory(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	uint8_t *to = malloc(2 * page);
	uint64_t address = (uintptr_t)two;

	(void)state;
	assert_true(two != MAP_FAILED);
	assert_non_null(to);
	memset(two, 0x11, 2 * page);
	assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);

	assert_int_equal(memory_read_process(getpid(), address, to, page), page);
	assert_memory_equal(to, two, page);
	/* as many bytes as there are */
	memset(to, 0, 2 * page);
	assert_int_equal(memory_read_process(getpid(), address, to, 2 * page), page);
	assert_memory_equal(to, two, page);
	assert_int_equal(to[page], 0);
	assert_int_equal(memory_read_process(getpid(), address + page - 8, to, page), 8);
	assert_int_equal(memory_read_process(getpid(), address + page - 1, to, 1), 1);
	/* none at all */
	assert_int_equal(memory_read_process(getpid(), address + page, to, 1), 0);
	assert_int_equal(memory_read_process(getpid(), address, to, 0), 0);
	assert_int_equal(memory_read_process(getpid(), 0, to, 16), 0);
	assert_int_equal(memory_read_process(getpid(), 8, to, 16), 0);
	assert_int_equal(memory_read_process(getpid(), UINT64_C(0x8000000000000000), to, 16), 0);
	assert_int_equal(memory_read_process(getpid(), UINT64_MAX, to, 1), 0);
	assert_int_equal(memory_read_process(getpid(), UINT64_MAX - 7, to, 8), 0);
	assert_int_equal(memory_read_process(getpid(), UINT64_MAX - 7, to, 16), 0);
	assert_int_equal(memory_read_process(getpid(), UINT64_MAX - 7, to, page), 0);
	assert_int_equal(memory_read_process(-1, address, to, 16), 0);
	munmap(two, 2 * page);
	free(to);
}

/* Sleeps with known words on its stack, whose address it tells first. */
static void
sleep_with_words(int in, int out)
{
	volatile uint64_t words[4] = { 0x1111, 0x2222, 0x3333, 0x4444 };
	uintptr_t address = (uintptr_t)words;
	char byte;

	if (write(out, &address, sizeof(address)) != (ssize_t)sizeof(address))
		return;
	while (read(in, &byte, 1) == 1 && words[0] == 0x1111)
		if (write(out, &byte, 1) != 1)
			break;
}

struct sleeper {
	struct sleeping_child child;
	struct watch watch;
	struct sched sched;
	struct syscall_info info;
	struct snapshot snapshot;
	uintptr_t words;
};

static void
sleeper_release(struct sleeper *sleeper)
{
	snapshot_release(&sleeper->snapshot);
	watch_release(&sleeper->watch);
	sleeping_child_release(&sleeper->child);
}

static void
sleeper_start(struct sleeper *sleeper)
{
	snapshot_init(&sleeper->snapshot);
	sleeping_child_start(&sleeper->child, sleep_with_words);
	assert_int_equal(read(sleeper->child.from, &sleeper->words, sizeof(sleeper->words)),
			 sizeof(sleeper->words));
	watch_init(&sleeper->watch, sleeper->child.pid, sched_source_probe(), true);
	if (!sleeping_child_settle(&sleeper->child, &sleeper->watch, SYS_read, &sleeper->sched,
				   &sleeper->info)) {
		sleeper_release(sleeper);
		skip();
	}
}

static enum read_end
read_sleeper(struct sleeper *sleeper, size_t want)
{
	return tracer_read_sleeper(sleeper->child.process, NULL, &sleeper->watch, &sleeper->sched,
				   &sleeper->info, want, &sleeper->snapshot);
}

static void
test_sleeper(void **state)
{
	static const uint64_t expected[4] = { 0x1111, 0x2222, 0x3333, 0x4444 };
	struct sleeper sleeper;
	uint64_t words[4], value;

	(void)state;
	sleeper_start(&sleeper);
	assert_int_equal(read_sleeper(&sleeper, 8192), READ_CAPTURED);
	assert_int_equal(sleeper.snapshot.tid, sleeper.child.pid);
	assert_true(sleeper.snapshot.stack_address == sleeper.info.sp);
	assert_true(sleeper.snapshot.regs.sp == sleeper.info.sp);
	assert_true(sleeper.snapshot.regs.pc == sleeper.info.pc);
	assert_int_equal(sleeper.snapshot.live_limit, 8192);
	assert_true(snapshot_read(&sleeper.snapshot, sleeper.words, words, sizeof(words)));
	assert_memory_equal(words, expected, sizeof(words));
	/* Known are the stack pointer and the arguments, of which the third is a length. */
	assert_int_equal(__builtin_popcountll(sleeper.snapshot.regs.known), 7);
	assert_true(regs_get(&sleeper.snapshot.regs, regs_argument[2], &value));
	assert_int_equal(value, 1);
	assert_false(regs_get(&sleeper.snapshot.regs, regs_fp_number, &value));
	sleeper_release(&sleeper);
}

/* A copy that is larger than the stack ends where the stack does. */
static void
test_sleeper_whole_stack(void **state)
{
	struct sleeper sleeper;

	(void)state;
	sleeper_start(&sleeper);
	assert_int_equal(read_sleeper(&sleeper, 16), READ_CAPTURED);
	assert_int_equal(sleeper.snapshot.stack_size, 16);
	assert_false(snapshot_is_whole(&sleeper.snapshot));
	assert_int_equal(read_sleeper(&sleeper, (size_t)16 << 20), READ_CAPTURED);
	assert_true(sleeper.snapshot.stack_size < sleeper.snapshot.stack_wanted);
	assert_true(snapshot_is_whole(&sleeper.snapshot));
	sleeper_release(&sleeper);
}

static void
test_sleeper_moved(void **state)
{
	struct sleeper sleeper;

	(void)state;
	sleeper_start(&sleeper);
	/* It runs once, and then sleeps in the same place with the same stack. */
	assert_int_equal(write(sleeper.child.to, "x", 1), 1);
	sleeping_child_hear(&sleeper.child);
	assert_int_equal(read_sleeper(&sleeper, 4096), READ_MOVED);
	sleeping_child_settle(&sleeper.child, &sleeper.watch, SYS_read, &sleeper.sched,
			      &sleeper.info);
	assert_int_equal(read_sleeper(&sleeper, 4096), READ_CAPTURED);
	sleeper.info.running = true;
	assert_int_equal(read_sleeper(&sleeper, 4096), READ_MOVED);
	sleeper_release(&sleeper);
}

static void
test_sleeper_gone(void **state)
{
	struct sleeper sleeper;

	(void)state;
	sleeper_start(&sleeper);
	sleeper.info.sp = 0;
	assert_int_equal(read_sleeper(&sleeper, 4096), READ_GONE);
	sleeper.info.sp = 8; /* nothing is there */
	assert_int_equal(read_sleeper(&sleeper, 4096), READ_FAILED);
	sleeper.info.sp = UINT64_MAX - 7;
	assert_int_equal(read_sleeper(&sleeper, 4096), READ_FAILED);
	assert_int_equal(sleeper.snapshot.stack_size, 0);
	sleeping_child_kill(&sleeper.child);
	assert_int_equal(read_sleeper(&sleeper, 4096), READ_GONE);
	sleeper_release(&sleeper);
}

/* What lies behind the stack is somebody else's, and may be slow or worse to read. */
static void
test_stack_at_brink(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	uint8_t *to = malloc(2 * page);
	const uint64_t sp = (uintptr_t)two + page - 64;
	struct process *process;
	struct watch watch;
	struct error err;

	(void)state;
	assert_true(two != MAP_FAILED && to != NULL);
	/* The same memory, but not the same mapping. */
	assert_int_equal(mprotect(two + page, page, PROT_READ), 0);
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	watch_init(&watch, getpid(), sched_source_probe(), true);
	assert_int_equal(stack_copy_again(NULL, &watch, sp, to, page), 0);
	assert_int_equal(stack_copy(process, NULL, &watch, sp, to, 16), 16);
	if (watch.stack_end == UINT64_MAX) {
		print_message("[   NOTE   ] this kernel does not tell where a mapping ends\n");
		assert_int_equal(stack_copy(process, NULL, &watch, sp, to, page), page);
	} else {
		assert_int_equal(stack_copy(process, NULL, &watch, sp, to, page), 64);
		assert_int_equal(stack_copy_again(NULL, &watch, sp, to, page), 64);
		assert_int_equal(stack_copy_again(NULL, &watch, sp + 64, to, page), 0);
		/* Another stack. */
		assert_int_equal(stack_copy(process, NULL, &watch, sp + 64, to, page), page);
		assert_int_equal(munmap(two + page, page), 0);
		assert_int_equal(stack_copy(process, NULL, &watch, sp, to, page), 64);
		assert_int_equal(stack_copy(process, NULL, &watch, sp + 64, to, page), 0);
	}
	munmap(two, 2 * page);
	free(to);
	watch_release(&watch);
	process_free(process);
}

static int told[2];

static void
tell(int signo)
{
	(void)signo;
	_exit(write(told[1], "s", 1) == 1 ? 0 : 1);
}

/* Dies in the middle: it knows of the stop, and has not released the thread. */
_Noreturn static void
be_killed_with_a_signal_in_hand(pid_t target)
{
	int status;

	if (stop_seize(target, 0) != 0)
		_exit(77);
	kill(target, SIGUSR1);
	while (stop_wait(&status, 0, NULL, NULL) != target || stop_classify(status) != KIND_SIGNAL)
		;
	kill(getpid(), SIGKILL);
	_exit(1);
}

/* The target gets its signal even if whoever has intercepted it is killed. */
static void
test_signal_of_killed_tracer(void **state)
{
	pid_t target, tracer;
	int status;
	char c;

	(void)state;
	assert_int_equal(pipe(told), 0);
	target = fork();
	if (target == 0) {
		signal(SIGUSR1, tell);
		for (;;)
			if (write(told[1], "r", 1) != 1 || pause() == 0)
				_exit(1);
	}
	assert_int_equal(read(told[0], &c, 1), 1);
	tracer = fork();
	if (tracer == 0)
		be_killed_with_a_signal_in_hand(target);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		kill(target, SIGKILL);
		waitpid(target, &status, 0);
		skip();
	}
	assert_true(WIFSIGNALED(status));
	alarm(10);
	do
		assert_int_equal(read(told[0], &c, 1), 1);
	while (c == 'r');
	alarm(0);
	assert_int_equal(waitpid(target, &status, 0), target);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/*
 * A sleep whose end has passed does not begin. It lasted for 2 ms, until the next signal of the
 * watchdog, because the first one arrived before the wait: holds of 50 us lasted for 2 ms, too.
 */
static void
test_sleep_that_is_over(void **state)
{
	struct sleeping_child child;
	struct rusage before, after;
	struct tracer *tracer;
	struct error err;

	(void)state;
	sleeping_child_start(&child, sleep_with_words);
	assert_int_equal(tracer_create(child.process, &tracer, &err), 0);
	assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
	for (int i = 0; i < 20; i++)
		tracer_sleep_until(tracer, clock_now_ns() - 1);
	assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
	assert_int_equal(after.ru_nvcsw, before.ru_nvcsw);
	tracer_free(tracer);
	sleeping_child_release(&child);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regs),
		cmocka_unit_test(test_regs_facts),
		cmocka_unit_test(test_kernel_regs_size),
		cmocka_unit_test(test_snapshot_bounds),
		cmocka_unit_test(test_snapshot_far),
		cmocka_unit_test(test_snapshot_room),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_sleeper_whole_stack),
		cmocka_unit_test(test_sleeper_moved),
		cmocka_unit_test(test_sleeper_gone),
		cmocka_unit_test(test_stack_at_brink),
		cmocka_unit_test(test_signal_of_killed_tracer),
		cmocka_unit_test(test_sleep_that_is_over),
	};

	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
