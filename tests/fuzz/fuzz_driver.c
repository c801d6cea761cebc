/* SPDX-License-Identifier: MIT */
/*
 * fuzz_driver.c - feeds the files of a corpus to a target, whole, then damaged.
 *
 * fuzz_NAME [-s SEED] [-r ROUNDS] FILE|FOLDER…: so many rounds of damage for each file. It says
 * which round of which file it is at when it dies; -k N repeats that round alone.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "wallsample/base/base.h"

/* Longer than any round may take, with sanitizers on a busy machine. */
#define ROUND_SECONDS 60

#define LARGEST ((size_t)16 << 20)

struct bytes {
	uint8_t *data;
	size_t size;
};

static char doing[512]; /* for the last words */

static void
say_last_words(int signo)
{
	ssize_t ignored = write(STDERR_FILENO, doing, strlen(doing));

	(void)ignored;
	signal(signo, SIG_DFL);
	raise(signo);
}

/* A round that fed nothing is no round that passed. */
static void __attribute__((noreturn))
give_up(const char *path, const char *why)
{
	fprintf(stderr, "%s %s\n", path, why);
	exit(99);
}

static struct bytes
read_file(const char *path)
{
	struct bytes bytes = { .data = xmalloc(LARGEST) };
	FILE *file = fopen(path, "rbe");

	if (file == NULL)
		give_up(path, "cannot be opened");
	bytes.size = fread(bytes.data, 1, LARGEST, file);
	if (ferror(file))
		give_up(path, "cannot be read");
	fclose(file);
	return bytes;
}

/* Bits, bytes, words of extreme values, pieces moved about, an end that is missing. */
static size_t
damage(struct rng *rng, uint8_t *data, size_t size)
{
	static const uint64_t extremes[] = { 0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff,
					     0xffffffff, UINT64_MAX, UINT64_MAX / 2 };
	size_t times = 1 + rng_next(rng) % 6;

	while (times-- > 0 && size > 16) {
		size_t at = rng_next(rng) % (size - 8), from = rng_next(rng) % (size - 8);
		uint64_t value = extremes[rng_next(rng) % ARRAY_SIZE(extremes)];

		switch (rng_next(rng) % 6) {
		case 0:
			data[at] ^= (uint8_t)(1u << rng_next(rng) % 8);
			break;
		case 1:
			data[at] = (uint8_t)rng_next(rng);
			break;
		case 2:
			memcpy(data + at, &value, 1u << rng_next(rng) % 4);
			break;
		case 3:
			memmove(data + at, data + from, 8);
			break;
		case 4: /* the headers at either end matter most */
			at = rng_next(rng) % (size < 512 ? size : 512);
			data[rng_next(rng) % 2 != 0 ? at : size - 1 - at] ^=
				(uint8_t)rng_next(rng);
			break;
		default:
			if (rng_next(rng) % 4 == 0)
				size -= rng_next(rng) % (size / 2);
			break;
		}
	}
	return size;
}

static void
feed(const char *path, uint64_t seed, unsigned rounds, unsigned only)
{
	struct bytes whole = read_file(path);

	for (unsigned round = only; round <= rounds; round++) {
		/* As large as it is: the sanitizers then see the first byte behind it. */
		uint8_t *copy = xmalloc(whole.size + 1);
		size_t size = whole.size;
		struct rng rng;

		memcpy(copy, whole.data, size);
		rng_seed(&rng, seed * 1000003 + round);
		if (round > 0)
			size = damage(&rng, copy, size);
		copy = realloc(copy, size > 0 ? size : 1);
		snprintf(doing, sizeof(doing), "while at: -s %llu -k %u %s\n",
			 (unsigned long long)seed, round, path);
		alarm(ROUND_SECONDS);
		LLVMFuzzerTestOneInput(copy, size);
		free(copy);
		if (only > 0)
			break;
	}
	alarm(0);
	free(whole.data);
}

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void
feed_all(const char *path, uint64_t seed, unsigned rounds, unsigned only)
{
	struct dirent **entry;
	struct stat st;
	int count, fed = 0;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		feed(path, seed, rounds, only);
		return;
	}
	count = scandir(path, &entry, NULL, compare_names);
	if (count < 0)
		give_up(path, "cannot be read");
	for (int i = 0; i < count; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.') {
			feed(file, seed, rounds, only);
			fed++;
		}
		free(entry[i]);
	}
	free(entry);
	if (fed == 0)
		give_up(path, "has no file in it");
}

int
main(int argc, char **argv)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };
	unsigned rounds = 0, only = 0;
	uint64_t seed = 1;
	int option;

	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		signal(deadly[i], say_last_words);
	while ((option = getopt(argc, argv, "s:r:k:")) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (option == 'r')
			rounds = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'k')
			rounds = only = (unsigned)strtoul(optarg, NULL, 10);
		else
			return 64;
	}
	if (optind == argc)
		return 64;
	for (; optind < argc; optind++)
		feed_all(argv[optind], seed, rounds, only);
	return 0;
}
