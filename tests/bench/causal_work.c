/* SPDX-License-Identifier: MIT */
/*
 * causal_work.c - a library for causal_real.py. Loaded into redis-server by LD_PRELOAD, it does
 * additional work after each write(); another process can change the amount of this work. A Python
 * program loads it for its counter.
 *
 * WORK_FILE: a file of two 64-bit numbers: the steps of work after each write(), and the number of
 * calls of write().
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEPS 0
#define DONE 1

volatile uint64_t work_done; /* as in the file, for `wallsample causal --progress var:work_done` */

static volatile uint64_t spare[2], *shared = spare;
static ssize_t (*real_write)(int, const void *, size_t);

__attribute__((noinline)) void additional_work(uint64_t steps);

void
additional_work(uint64_t steps)
{
	uint64_t x = steps;

	for (uint64_t i = 0; i < steps; i++) {
		x = x * 6364136223846793005UL + 1442695040888963407UL;
		__asm__ volatile("" : "+r"(x));
	}
}

__attribute__((constructor)) static void
prepare(void)
{
	const char *path = getenv("WORK_FILE");
	const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *memory = MAP_FAILED;

	if (file >= 0)
		memory = mmap(NULL, sizeof(spare), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory != MAP_FAILED)
		shared = memory;
}

ssize_t
write(int fd, const void *from, size_t size)
{
	ssize_t written;

	if (real_write == NULL)
		*(void **)&real_write = dlsym(RTLD_NEXT, "write");
	written = real_write(fd, from, size);
	if (shared != spare) {
		additional_work(shared[STEPS]);
		shared[DONE]++;
		work_done++;
	}
	return written;
}
