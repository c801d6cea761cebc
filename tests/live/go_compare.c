/* SPDX-License-Identifier: MIT */
/*
 * go_compare.c FILE [OTHER] - are the names of Go's code by its table those by DWARF; or, with
 * OTHER, that is the same program stripped, are all names of code the same in both?
 */
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbol_internal.h"
#include "wallsample/symbol/symbol.h"

/* Addresses that are asked for: instructions of all lengths are met. */
#define STEP 13
#define SHOWN_MOST 10
/* Lines of what the compiler makes by itself differ in places; old releases in some more. */
#define DIFFERENT_ONE_IN 500

struct counts {
	unsigned long asked, different;
};

static void
die(const char *what)
{
	fprintf(stderr, "go_compare: %s\n", what);
	exit(99);
}

static struct image *
open_image(const char *path)
{
	struct image *image = image_open_fd(open(path, O_RDONLY | O_CLOEXEC), NULL);

	if (image == NULL)
		die(path);
	return image;
}

static void
add(struct strbuf *text, const char *function, const char *file, uint32_t line)
{
	strbuf_add_format(text, " %s %s:%u", function != NULL ? function : "?",
			  file != NULL ? file : "?", line);
}

static void
compare(struct counts *counts, uint64_t vaddr, const struct strbuf *a, const struct strbuf *b)
{
	counts->asked++;
	if (strcmp(a->data, b->data) == 0 || counts->different++ >= SHOWN_MOST)
		return;
	printf("%#" PRIx64 ":%s\n    not%s\n", vaddr, a->data, b->data);
}

/* Each `ask` adds what it says of the address to the text. */
struct side {
	void (*ask)(void *context, uint64_t vaddr, struct strbuf *text);
	void *context;
};

static void
compare_all(struct counts *counts, const struct image *image, const struct side *a,
	    const struct side *b)
{
	struct strbuf one, other;

	strbuf_init(&one);
	strbuf_init(&other);
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];

		for (uint64_t at = 0; segment->executable && at < segment->file_size; at += STEP) {
			strbuf_clear(&one);
			strbuf_clear(&other);
			a->ask(a->context, segment->vaddr + at, &one);
			b->ask(b->context, segment->vaddr + at, &other);
			if (one.length > 0 && other.length > 0)
				compare(counts, segment->vaddr + at, &one, &other);
		}
	}
	strbuf_release(&one);
	strbuf_release(&other);
}

/* --- by the table and by DWARF --------------------------------------------------- */

static void
add_places(const struct dwarf_place *place, size_t count, struct strbuf *text)
{
	/* It is called so by the one, and not at all, or as a file, by the other. */
	for (size_t i = 0; i < count; i++) {
		bool made = place[i].file == NULL || strstr(place[i].file, "<auto") != NULL;

		add(text, place[i].function, made ? NULL : place[i].file, made ? 0 : place[i].line);
	}
}

struct names {
	struct pclntab *table;
	struct strings *texts;
};

static void
ask_table(void *context, uint64_t vaddr, struct strbuf *text)
{
	const struct names *names = context;
	struct dwarf_place place[SYMBOL_CHAIN_MAX];
	size_t count = pclntab_names_find(names->table, names->texts, vaddr, place,
					  SYMBOL_CHAIN_MAX);

	add_places(place, count, text);
}

static void
ask_dwarf(void *context, uint64_t vaddr, struct strbuf *text)
{
	struct dwarf_place place[SYMBOL_CHAIN_MAX];

	add_places(place, dwarf_lines_find(context, vaddr, place, SYMBOL_CHAIN_MAX), text);
}

static Dwarf *
open_dwarf(void *context)
{
	return dwarf_begin(*(int *)context, DWARF_C_READ);
}

static void
close_dwarf(void *context, Dwarf *dwarf)
{
	(void)context;
	dwarf_end(dwarf);
}

static void
compare_dwarf(struct counts *counts, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct dwarf_opener opener = { .open = open_dwarf, .close = close_dwarf,
					     .context = &fd };
	struct image *image = open_image(path);
	struct names names = { pclntab_open(image), strings_create() };
	struct dwarf_lines *lines = dwarf_lines_create(&opener);
	const struct side table = { ask_table, &names };
	const struct side dwarf = { ask_dwarf, lines };

	if (names.table == NULL || lines == NULL)
		die("no names to compare");
	compare_all(counts, image, &table, &dwarf);
	dwarf_lines_free(lines);
	strings_free(names.texts);
	pclntab_free(names.table);
	image_free(image);
	close(fd);
}

/* --- stripped and not ---------------------------------------------------------------- */

struct named {
	struct modules *modules;
	struct symbols *symbols;
};

static void
ask_symbols(void *context, uint64_t vaddr, struct strbuf *text)
{
	const struct named *named = context;
	const struct symbol_place place = { .vaddr = vaddr };
	struct symbol found[SYMBOL_CHAIN_MAX];
	size_t count = symbols_find(named->symbols, &place, found, SYMBOL_CHAIN_MAX);

	for (size_t i = 0; i < count; i++)
		add(text, found[i].function, found[i].file, found[i].line);
}

static void
open_named(struct named *named, const char *path)
{
	static const struct symbols_config config = { .demangle = true, .inlines = true };

	named->modules = modules_create();
	modules_add_object(named->modules, open_image(path));
	named->symbols = symbols_create(named->modules, &config);
}

static void
close_named(struct named *named)
{
	symbols_free(named->symbols);
	modules_free(named->modules);
}

static void
compare_files(struct counts *counts, const char *path, const char *other_path)
{
	struct named one, other;
	const struct side a = { ask_symbols, &one }, b = { ask_symbols, &other };

	open_named(&one, path);
	open_named(&other, other_path);
	compare_all(counts, modules_get(one.modules, 0)->image, &a, &b);
	close_named(&one);
	close_named(&other);
}

int
main(int argc, char **argv)
{
	struct counts counts = { 0, 0 };

	if (argc != 2 && argc != 3)
		return 64;
	if (argc == 2)
		compare_dwarf(&counts, argv[1]);
	else
		compare_files(&counts, argv[1], argv[2]);
	printf("%lu addresses, %lu with other names\n", counts.asked, counts.different);
	if (argc == 3)
		return counts.asked == 0 || counts.different > 0;
	return counts.asked == 0 || counts.different * DIFFERENT_ONE_IN > counts.asked;
}
