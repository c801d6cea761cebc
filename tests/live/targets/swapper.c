/* SPDX-License-Identifier: MIT */
/*
 * swapper.c - loads libraries.
 *
 *     swapper swap A.so B.so      loads A, runs in it for 30 ms, unloads it, the same with B for
 *                                 90 ms, and so on. The counters have how long it was in each,
 *                                 and how often one took the other's address or did not.
 *     swapper file A.so           loads A and stays in it
 *     swapper memory A.so         the same from a copy in memory, whose descriptor it keeps
 *     swapper closed A.so         … and closes
 *     swapper shared A.so         runs a piece of code in shared memory without a file
 */
#include "target.h"

#include <dlfcn.h>

enum { IN_FIRST, IN_SECOND, SAME_ADDRESS, OTHER_ADDRESS };

typedef uint64_t run_function(uint64_t until_ns);

static struct target_counters *counters;
static char **words;

static void *
load(const char *path, run_function **run)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		fprintf(stderr, "swapper: %s\n", dlerror());
		_exit(99);
	}
	*(void **)run = dlsym(library, "swap_run");
	if (*run == NULL)
		_exit(99);
	return library;
}

static void swapper_swaps(void);
static void swapper_stays(void);
static void swapper_shares(void);

FRAME static void
swapper_swaps(void)
{
	static const uint64_t span_ns[] = {30000000, 90000000};
	uint64_t before = 0;

	for (unsigned round = 0; !target_over; round++) {
		const unsigned which = round % 2;
		run_function *run;
		void *library = load(words[2 + which], &run);
		const uint64_t began_ns = target_clock_ns(CLOCK_MONOTONIC);

		if (round == 4)
			target_here();
		run(began_ns + span_ns[which]);
		counters->value[which] += target_clock_ns(CLOCK_MONOTONIC) - began_ns;
		if (round > 0)
			counters->value[before == (uint64_t)run ? SAME_ADDRESS : OTHER_ADDRESS]++;
		before = (uint64_t)run;
		dlclose(library);
	}
	KEEP_FRAME();
}

/* A path that leads to a copy in memory. */
static const char *
copy_to_memory(const char *path, int *fd)
{
	static char name[64];
	char bytes[65536];
	int from = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	*fd = memfd_create("swapped", MFD_CLOEXEC);
	if (from < 0 || *fd < 0)
		target_fail(path);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(*fd, bytes, (size_t)n) != n)
			target_fail("write");
	close(from);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", *fd);
	return name;
}

FRAME static void
swapper_stays(void)
{
	const char *path = words[2];
	run_function *run;
	int fd = -1;

	if (strcmp(words[1], "file") != 0)
		path = copy_to_memory(path, &fd);
	load(path, &run);
	if (strcmp(words[1], "closed") == 0)
		close(fd);
	target_here();
	run(UINT64_MAX);
	KEEP_FRAME();
}

/* Position-independent and without calls: swap_run's innermost loop would not be that. */
static const unsigned char endless[] = {
#ifdef __x86_64__
	0xeb, 0xfe, /* jmp . */
#else
	0x00, 0x00, 0x00, 0x14, /* b . */
#endif
};

FRAME static void
swapper_shares(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		target_fail("mmap");
	memcpy(code, endless, sizeof(endless));
	__builtin___clear_cache(code, (char *)code + sizeof(endless));
	target_here();
	((void (*)(void))code)();
	KEEP_FRAME();
}

static struct target_thread threads[] = {{.name = "swapper"}};

int
main(int argc, char **argv)
{
	if (argc < 3)
		target_fail("swapper HOW A.so [B.so]");
	words = argv;
	counters = target_counters();
	threads[0].run = strcmp(argv[1], "swap") == 0 ? swapper_swaps :
			 strcmp(argv[1], "shared") == 0 ? swapper_shares :
							 swapper_stays;
	return target_main(threads, 1, 0);
}
