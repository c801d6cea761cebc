/* SPDX-License-Identifier: MIT */
/*
 * bench_names.c - names addresses by DWARF as eu-addr2line -f -i prints them, and what it cost.
 *
 *     bench_names [-ap] [-d DEBUG_DIR] [-l LIMIT_MIB] FILE < addresses
 *
 * Reads one hexadecimal address from each line. Differences from eu-addr2line by design: no
 * columns, and "??" where only a symbol table knows the function. On stderr: how many
 * addresses, seconds, and the peak of the memory in use. The file is opened, and what belongs to
 * it found, as for a module of a report.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "wallsample/dwarf/debug_file.h"
#include "wallsample/dwarf/dwarf_lines.h"
#include "wallsample/base/base.h"

#define CHAIN_MAX 64

static bool with_addresses; /* -a: each is printed before its names */
static bool plainly; /* -p: as addr2line -f -i prints them, of binutils or llvm */

struct opened {
	struct debug_files *files;
	struct debug_file file;
	struct module module;
};

static Dwarf *
open_dwarf(void *context)
{
	struct opened *opened = context;

	return debug_file_dwarf(opened->files, &opened->file);
}

static void
close_dwarf(void *context, Dwarf *dwarf)
{
	struct opened *opened = context;

	debug_file_dwarf_end(opened->files, &opened->file, dwarf);
}

static size_t
find_split(void *context, Dwarf_CU *cu)
{
	struct opened *opened = context;

	return debug_file_split(opened->files, &opened->file, cu);
}

static const char *
text_or(const char *text, const char *other)
{
	return text != NULL ? text : other;
}

static void
print_where(const struct dwarf_place *place)
{
	if (place->file != NULL)
		printf("%s:%" PRIu32 "\n", place->file, place->line);
	else
		puts("??:0");
}

/* The first line has the innermost and the function; then each follows with its own place. */
static void
print(const struct dwarf_place *places, size_t count)
{
	static const struct dwarf_place none;

	if (count == 0) {
		places = &none;
		count = 1;
	}
	if (count > 1 && !plainly)
		printf("%s inlined at %s:%" PRIu32 " in ", text_or(places[0].function, "??"),
		       text_or(places[1].file, "???"), places[1].line);
	puts(text_or(places[plainly ? 0 : count - 1].function, "??"));
	print_where(&places[0]);
	for (size_t i = 1; i < count; i++) {
		puts(text_or(places[i].function, "??"));
		print_where(&places[i]);
	}
}

static void
name_all(struct dwarf_lines *lines)
{
	struct dwarf_place places[CHAIN_MAX];
	uint64_t begin = clock_now_ns();
	size_t count = 0;
	char text[64];
	struct rusage usage;

	while (fgets(text, sizeof(text), stdin) != NULL) {
		char *end;
		uint64_t vaddr = strtoull(text, &end, 16);

		if (end == text)
			continue;
		if (with_addresses)
			printf("0x%016" PRIx64 "\n", vaddr);
		print(places, dwarf_lines_find(lines, vaddr, places, CHAIN_MAX));
		count++;
	}
	fflush(stdout);
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%zu addresses in %.2f s, at most %ld MiB\n", count,
		(double)(clock_now_ns() - begin) / (double)NS_PER_SEC, usage.ru_maxrss / 1024);
}

static bool
open_module(struct opened *opened, const char *path, const struct debug_files_config *config)
{
	opened->module.path = realpath(path, NULL);
	if (opened->module.path == NULL)
		return false;
	opened->module.name = strrchr(opened->module.path, '/') + 1;
	opened->module.kind = MODULE_FILE;
	opened->module.image = image_open_fd(open(path, O_RDONLY | O_CLOEXEC), NULL);
	opened->files = debug_files_create(config);
	debug_file_open(opened->files, &opened->module, &opened->file);
	return true;
}

static void
close_module(struct opened *opened)
{
	debug_file_close(&opened->file);
	debug_files_free(opened->files);
	image_free(opened->module.image);
	free(opened->module.path);
}

static int
usage(void)
{
	fputs("usage: bench_names [-ap] [-d DEBUG_DIR] [-l LIMIT_MIB] FILE < addresses\n", stderr);
	return 64;
}

int
main(int argc, char **argv)
{
	struct log log = {.level = LOG_NORMAL, .stream = stderr};
	const char *debug_dirs[2] = {NULL};
	const struct debug_files_config config = {
		.root = "/", .debug_dirs = debug_dirs, .log = &log,
	};
	struct opened opened = {0};
	const struct dwarf_opener opener = {
		.open = open_dwarf, .close = close_dwarf, .split = find_split, .context = &opened,
	};
	struct dwarf_lines *lines;
	uint64_t limit_mib = 0;
	int option;

	while ((option = getopt(argc, argv, "apd:l:")) != -1) {
		if (option == 'a')
			with_addresses = true;
		else if (option == 'p')
			plainly = true;
		else if (option == 'd')
			debug_dirs[0] = optarg;
		else if (option != 'l' || !parse_whole_u64(optarg, 1, 1 << 20, &limit_mib))
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	elf_version(EV_CURRENT);
	if (!open_module(&opened, argv[optind], &config)) {
		perror(argv[optind]);
		return 1;
	}
	lines = dwarf_lines_create(&opener);
	if (limit_mib > 0)
		dwarf_lines_set_limit(lines, limit_mib << 20);
	name_all(lines);
	dwarf_lines_free(lines);
	close_module(&opened);
	return 0;
}
