/* SPDX-License-Identifier: MIT */
/*
 * shape.c - threads with stacks of known shape, running and asleep.
 *
 * shape basic: plain calls; shape odd: through a signal handler, on an alternate
 * signal stack, out of qsort, above an alloca, below pages that are never used, from a call that
 * never returns.
 */
#include <alloca.h>
#include <signal.h>

#include "target.h"

void run_f0(void), run_f1(void), run_f2(void), run_leaf(void);
void call_f0(void), call_f1(void);
unsigned long call_mid(unsigned long), call_tiny(unsigned long);
void read_f0(void), read_f1(void), read_f2(void), read_leaf(void);
void nap_f0(void), nap_f1(void), nap_leaf(void);
void sort_f0(void), sort_f1(void), sort_leaf(void);
int sort_compare(const void *, const void *);
void grow_f0(void), grow_f1(size_t), grow_f2(size_t), grow_leaf(char *);
void sig_f0(void), sig_f1(void), sig_leaf(void), on_signal(int);
void alt_f0(void), alt_f1(void), alt_leaf(void), on_alt_signal(int);
void catch_f0(void), catch_f1(void), on_catch(int);
void hollow_f0(void), hollow_f1(void), hollow_leaf(char *);
void never_f0(void), never_f1(void);
_Noreturn void never_f2(void);

/* --- plain calls ------------------------------------------------------------ */

FRAME void
run_leaf(void)
{
	target_here();
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
run_f2(void)
{
	run_leaf();
	KEEP_FRAME();
}

FRAME void
run_f1(void)
{
	run_f2();
	KEEP_FRAME();
}

FRAME void
run_f0(void)
{
	run_f1();
	KEEP_FRAME();
}

/* This thread is caught anywhere: in the prologue and the epilogue, too. */
FRAME unsigned long
call_tiny(unsigned long x)
{
	return x * 3 + target_sink;
}

FRAME unsigned long
call_mid(unsigned long x)
{
	unsigned long a = call_tiny(x), b = call_tiny(x + a);

	return a ^ b ^ x;
}

FRAME void
call_f1(void)
{
	unsigned long x = 1;

	target_here();
	while (!target_over)
		x = call_mid(x);
	target_sink = x;
	KEEP_FRAME();
}

FRAME void
call_f0(void)
{
	call_f1();
	KEEP_FRAME();
}

/* A pipe that nobody writes to. */
static int
empty_pipe(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		target_fail("pipe");
	return ends[0];
}

FRAME void
read_leaf(void)
{
	char c;
	int fd = empty_pipe();

	target_here();
	target_sink += (unsigned long)read(fd, &c, 1);
	KEEP_FRAME();
}

FRAME void
read_f2(void)
{
	read_leaf();
	KEEP_FRAME();
}

FRAME void
read_f1(void)
{
	read_f2();
	KEEP_FRAME();
}

FRAME void
read_f0(void)
{
	read_f1();
	KEEP_FRAME();
}

FRAME void
nap_leaf(void)
{
	const struct timespec long_time = {.tv_sec = 1000000};

	target_here();
	nanosleep(&long_time, NULL);
	KEEP_FRAME();
}

FRAME void
nap_f1(void)
{
	nap_leaf();
	KEEP_FRAME();
}

FRAME void
nap_f0(void)
{
	nap_f1();
	KEEP_FRAME();
}

/* --- through the C library and the kernel --------------------------------------- */

FRAME void
sort_leaf(void)
{
	target_here();
	while (!target_over)
		target_sink += 2;
	KEEP_FRAME();
}

FRAME int
sort_compare(const void *a, const void *b)
{
	sort_leaf();
	KEEP_FRAME();
	return *(const int *)a - *(const int *)b;
}

FRAME void
sort_f1(void)
{
	int numbers[] = {4, 2, 7, 1, 9, 3};

	qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), sort_compare);
	target_sink = (unsigned long)numbers[0];
	KEEP_FRAME();
}

FRAME void
sort_f0(void)
{
	sort_f1();
	KEEP_FRAME();
}

FRAME void
sig_leaf(void)
{
	target_here();
	while (!target_over)
		target_sink += 3;
	KEEP_FRAME();
}

FRAME void
on_signal(int number)
{
	sig_leaf();
	target_sink = (unsigned long)number;
	KEEP_FRAME();
}

/* Spins until the signal interrupts it, between any two instructions. */
FRAME void
sig_f1(void)
{
	target_self->here = 2;
	while (!target_over)
		target_sink += 4;
	KEEP_FRAME();
}

FRAME void
sig_f0(void)
{
	sig_f1();
	KEEP_FRAME();
}

FRAME void
alt_leaf(void)
{
	char c;
	int fd = empty_pipe();

	target_here();
	target_sink += (unsigned long)read(fd, &c, 1);
	KEEP_FRAME();
}

FRAME void
on_alt_signal(int number)
{
	alt_leaf();
	target_sink = (unsigned long)number;
	KEEP_FRAME();
}

FRAME void
alt_f1(void)
{
	target_self->here = 2;
	while (!target_over)
		target_sink += 5;
	KEEP_FRAME();
}

FRAME void
alt_f0(void)
{
	static char stack[65536];
	const stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};

	if (sigaltstack(&alt, NULL) != 0)
		target_fail("sigaltstack");
	alt_f1();
	KEEP_FRAME();
}

/* A handler that makes a system call itself: the innermost frame with a record is the handler's. */
FRAME void
on_catch(int number)
{
	char c;
	int fd = empty_pipe();

	target_here();
	target_sink += (unsigned long)read(fd, &c, 1) + (unsigned long)number;
	KEEP_FRAME();
}

FRAME void
catch_f1(void)
{
	target_self->here = 2;
	while (!target_over)
		target_sink += 7;
	KEEP_FRAME();
}

FRAME void
catch_f0(void)
{
	catch_f1();
	KEEP_FRAME();
}

/* --- a frame with pages that are never used ------------------------------------ */

FRAME void
hollow_leaf(char *bytes)
{
	target_here();
	while (!target_over)
		target_sink++;
	target_sink += (unsigned long)(uintptr_t)bytes;
	KEEP_FRAME();
}

FRAME void
hollow_f1(void)
{
	char bytes[12000];

	hollow_leaf(bytes);
	KEEP_FRAME();
}

FRAME void
hollow_f0(void)
{
	hollow_f1();
	KEEP_FRAME();
}

/* --- frames that need more than a fixed offset ---------------------------------- */

/* Not known to the compiler, and no other thread's. */
static volatile size_t grow_size = 512;

FRAME void
grow_leaf(char *bytes)
{
	int fd = empty_pipe();

	target_here();
	target_sink += (unsigned long)read(fd, bytes, 1);
	KEEP_FRAME();
}

FRAME void
grow_f2(size_t size)
{
	char *bytes = alloca(size * 3);

	memset(bytes, 1, size * 3);
	grow_leaf(bytes);
	target_sink = (unsigned long)bytes[size];
	KEEP_FRAME();
}

FRAME void
grow_f1(size_t size)
{
	char *bytes = alloca(size);

	memset(bytes, 2, size);
	grow_f2(size + (size_t)bytes[1]);
	target_sink = (unsigned long)bytes[1];
	KEEP_FRAME();
}

FRAME void
grow_f0(void)
{
	target_sink = 1000;
	grow_f1(grow_size);
	KEEP_FRAME();
}

FRAME _Noreturn void
never_f2(void)
{
	char c;
	int fd = empty_pipe();

	target_here();
	for (;;)
		target_sink += (unsigned long)read(fd, &c, 1);
}

/* Its last instruction is the call: the return address lies behind the function. */
FRAME void
never_f1(void)
{
	target_sink = 6;
	never_f2();
}

FRAME void
never_f0(void)
{
	never_f1();
}

/* ---------------------------------------------------------------------------------- */

static struct target_thread basic[] = {
	{.name = "running", .run = run_f0},
	{.name = "calling", .run = call_f0},
	{.name = "reading", .run = read_f0, .sleeps = true},
	{.name = "napping", .run = nap_f0, .sleeps = true},
};

static struct target_thread odd[] = {
	{.name = "handling", .run = sig_f0},
	{.name = "altstack", .run = alt_f0, .sleeps = true},
	{.name = "catching", .run = catch_f0, .sleeps = true},
	{.name = "sorting", .run = sort_f0},
	{.name = "growing", .run = grow_f0, .sleeps = true},
	{.name = "hollow", .run = hollow_f0},
	{.name = "never", .run = never_f0, .sleeps = true},
};

/* Sends a thread that spins into its handler. */
static void
interrupt(struct target_thread *thread, int number)
{
	while (thread->here != 2)
		sched_yield();
	thread->here = 0;
	if (pthread_kill(thread->thread, number) != 0)
		target_fail("pthread_kill");
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "basic") == 0)
		return target_main(basic, sizeof(basic) / sizeof(basic[0]), 0);

	const size_t count = sizeof(odd) / sizeof(odd[0]);
	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGUSR1, &action, NULL);
	action = (struct sigaction){.sa_handler = on_alt_signal, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR2, &action, NULL);
	action = (struct sigaction){.sa_handler = on_catch};
	sigaction(SIGURG, &action, NULL);

	target_start(odd, count, 0);
	interrupt(&odd[0], SIGUSR1);
	interrupt(&odd[1], SIGUSR2);
	interrupt(&odd[2], SIGURG);
	target_wait(odd, count);
	target_ready();
	while (target_told())
		;
	_exit(0);
}
