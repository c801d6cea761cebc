/* SPDX-License-Identifier: MIT */
/*
 * jitter.c - a program that compiles while it runs, and says so in /tmp/perf-PID.map.
 *
 * One thread spins in a function with a frame pointer, called by another such. When told, its
 * place is taken by a function of another name. The other thread spins behind a trampoline
 * such as Python makes for each function, which has no frame pointer.
 */
#include "target.h"

#define PAGE 4096
#define OUTER 0
#define INNER 256
#define TRAMPOLINE 512

/* void spin(volatile int *stop): while (*stop == 0); */
static const unsigned char spin_code[] = {
#if defined(__x86_64__)
	0x55, 0x48, 0x89, 0xe5,             /* push %rbp; mov %rsp, %rbp */
	0x83, 0x3f, 0x00, 0x74, 0xfb,       /* 1: cmpl $0, (%rdi); je 1b */
	0x5d, 0xc3,                         /* pop %rbp; ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, /* stp x29, x30, [sp, #-16]!; mov */
	0x01, 0x00, 0x40, 0xb9, 0xe1, 0xff, 0xff, 0x34, /* 1: ldr w1, [x0]; cbz w1, 1b */
	0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6, /* ldp x29, x30, [sp], #16; ret */
#endif
};

/* void outer(volatile int *stop, void (*inner)(volatile int *)): inner(stop); */
static const unsigned char outer_code[] = {
#if defined(__x86_64__)
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3, /* call *%rsi in between */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x20, 0x00, 0x3f, 0xd6, /* blr x1 */
	0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,
#endif
};

/* void trampoline(void *, void *, void *, void (*inner)(void)): inner(); */
static const unsigned char trampoline_code[] = {
#if defined(__x86_64__)
	0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3,
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x60, 0x00, 0x3f, 0xd6, /* blr x3 */
	0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,
#endif
};

void jit_root(void);
void trampoline_leaf(void);
void trampoline_root(void);

static unsigned char *code;
static FILE *map;
static volatile int stop;
static _Atomic int stopped, go_on;

static void
compile(size_t offset, const unsigned char *bytes, size_t size, const char *name)
{
	memcpy(code + offset, bytes, size);
	__builtin___clear_cache((char *)code + offset, (char *)code + offset + size);
	fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)(code + offset), size, name);
	fflush(map);
}

FRAME void
jit_root(void)
{
	void (*outer)(volatile int *, void *) = (void (*)(volatile int *, void *))(code + OUTER);

	target_here();
	for (;;) {
		outer(&stop, code + INNER);
		stop = 0;
		stopped = 1;
		while (!go_on)
			sched_yield();
		go_on = 0;
	}
}

FRAME void
trampoline_leaf(void)
{
	target_here();
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
trampoline_root(void)
{
	void (*inner)(void *, void *, void *, void (*)(void)) =
		(void (*)(void *, void *, void *, void (*)(void)))(code + TRAMPOLINE);

	inner(NULL, NULL, NULL, trampoline_leaf);
	KEEP_FRAME();
}

static struct target_thread threads[] = {
	{.name = "jit", .run = jit_root},
	{.name = "trampoline", .run = trampoline_root},
};

int
main(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "we");
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (map == NULL || code == MAP_FAILED)
		target_fail(path);
	compile(OUTER, outer_code, sizeof(outer_code), "jit_outer");
	compile(INNER, spin_code, sizeof(spin_code), "jit_first in two words");
	compile(TRAMPOLINE, trampoline_code, sizeof(trampoline_code), "py::f:/app/x.py");
	target_start(threads, 2, 0);
	target_wait(threads, 2);
	target_ready();
	while (target_told()) {
		stop = 1;
		while (!stopped)
			sched_yield();
		stopped = 0;
		compile(INNER, spin_code, sizeof(spin_code), "jit_second");
		go_on = 1;
		target_say("replaced\n");
	}
	unlink(path);
	_exit(0);
}
