/* SPDX-License-Identifier: MIT */
/*
 * bench_run: measures what wallsample costs its targets and itself, and holds it against
 * the bounds that it should keep. Ends with status 0 whatever it finds.
 *
 * bench_run [--quick] [--long] [--turns=N] [--only=NAME]... [--list]
 */
#include <getopt.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench_rows.h"

#define MOST_NAMES 16

static const char usage[] =
	"usage: bench_run [options]\n"
	"  --quick       shorter turns and fewer of them\n"
	"  --long        ten minutes for the row about memory\n"
	"  --turns=N     turns of each tool (3 to 60)\n"
	"  --only=NAME   that row; may be repeated\n"
	"  --list        names of the rows\n"
	"The program measured is $WALLSAMPLE, else the wallsample three folders above.\n";

struct choice {
	bool quick, whole;
	unsigned turns;
	const char *name[MOST_NAMES];
	size_t count;
};

static void
list_rows(void)
{
	for (const struct row *row = bench_rows; row->name != NULL; row++)
		printf("%-14s %s\n", row->name, row->title);
}

static void
parse_choice(int argc, char **argv, struct choice *choice)
{
	static const struct option options[] = {
		{ "quick", no_argument, NULL, 'q' }, { "long", no_argument, NULL, 'l' },
		{ "turns", required_argument, NULL, 't' }, { "only", required_argument, NULL, 'o' },
		{ "list", no_argument, NULL, 'L' }, { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'q')
			choice->quick = true;
		else if (option == 'l')
			choice->whole = true;
		else if (option == 't')
			choice->turns = (unsigned)bench_number(optarg, 3, 60);
		else if (option == 'o' && choice->count < MOST_NAMES)
			choice->name[choice->count++] = optarg;
		else if (option == 'L')
			list_rows();
		else
			fputs(usage, option == 'h' ? stdout : stderr);
		if (strchr("qlto", option) == NULL)
			exit(option == 'L' || option == 'h' ? 0 : 64);
	}
}

static bool
is_chosen(const struct choice *choice, const struct row *row)
{
	for (size_t i = 0; i < choice->count; i++) {
		if (strcmp(choice->name[i], row->name) == 0)
			return true;
	}
	return choice->count == 0;
}

/* Where our own programs lie, and wallsample. */
static void
find_programs(struct bench *bench)
{
	static char folder[4096], wallsample[4096 + 32];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	const char *given = getenv("WALLSAMPLE");

	folder[n < 0 ? 0 : n] = '\0';
	dirname(folder);
	bench->folder = folder;
	snprintf(wallsample, sizeof(wallsample), "%s/../../../wallsample", folder);
	bench->wallsample = given != NULL && *given != '\0' ? given : wallsample;
	if (access(bench->wallsample, X_OK) < 0) {
		printf("%s is not there: the floor and the others alone are measured.\n",
		       bench->wallsample);
		bench->wallsample = NULL;
	}
}

static double
load_average(void)
{
	double load[1];

	return getloadavg(load, 1) == 1 ? load[0] : -1;
}

static void
print_machine(void)
{
	struct utsname name;

	uname(&name);
	printf("Linux %s, %s, %ld CPUs, load %.2f before the start (a quiet machine has 0).\n",
	       name.release, name.machine, sysconf(_SC_NPROCESSORS_ONLN), load_average());
	printf("Ratios: the target's throughput with a tool / without, in turns; the median, the "
	       "error of the median, the extremes.\n");
}

/* A file without a name that targets open through us: nothing is left behind. */
static void
make_board(char *path, size_t size)
{
	int fd = (int)syscall(SYS_memfd_create, "bench-board", MFD_CLOEXEC);

	if (fd < 0)
		bench_die("memfd_create");
	snprintf(path, size, "/proc/%d/fd/%d", (int)getpid(), fd);
}

int
main(int argc, char **argv)
{
	struct choice choice = { .count = 0 };
	struct bench bench = {
		.measure = { .turn_seconds = 1.5, .settle_seconds = 0.3, .turns = 9 },
		.profile_seconds = 10,
		.memory_seconds = 20,
	};
	char board[64];

	parse_choice(argc, argv, &choice);
	if (choice.quick) {
		bench.measure.turn_seconds = 0.6;
		bench.measure.turns = 5;
		bench.profile_seconds = 3;
		bench.memory_seconds = 10;
	}
	if (choice.turns > 0)
		bench.measure.turns = choice.turns;
	if (choice.whole)
		bench.memory_seconds = 600;
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_board(board, sizeof(board));
	bench.board = board;
	find_programs(&bench);
	print_machine();
	for (const struct row *row = bench_rows; row->name != NULL; row++) {
		if (is_chosen(&choice, row)) {
			printf("\n%s\n", row->title);
			row->run(&bench);
		}
	}
	printf("\nbounds: %u met, %u missed, %u unclear\n", bench.met, bench.missed, bench.unclear);
	return 0;
}
