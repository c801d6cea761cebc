/* SPDX-License-Identifier: MIT */
/*
 * test_symbol_inlines.c - names and lines of an address in an inlined function, with and without
 * inlined functions (--no-inlines): by DWARF, by the function table of Go programs, and as a
 * recording stores them. Without inlined functions, the line must be one of the function that
 * remains.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/made_elf.h"
#include "../scene/made_go.h"
#include "wallsample/base/base.h"

static const struct symbols_config no_inlines = { .demangle = true };

static void
check_symbol(const struct symbol *symbol, const char *function, const char *file, uint32_t line,
	     bool inlined)
{
	const char *end = symbol->file != NULL ? strrchr(symbol->file, '/') : NULL;

	assert_string_equal(symbol->function, function);
	assert_string_equal(end != NULL ? end + 1 : symbol->file, file);
	assert_int_equal(symbol->line, line);
	assert_int_equal(symbol->inlined, inlined);
}

/* Checks that with this configuration the address has one name. */
static void
check_single(const struct symbols_config *config, uint64_t vaddr, const char *function,
	     const char *file, uint32_t line)
{
	const struct symbol_place place = { .vaddr = vaddr };
	struct symbols *symbols = open_again(config);
	struct symbol symbol[SYMBOL_CHAIN_MAX];

	assert_int_equal(symbols_find(symbols, &place, symbol, SYMBOL_CHAIN_MAX), 1);
	check_symbol(&symbol[0], function, file, line, false);
	symbols_free(symbols);
}

/* --- DWARF --------------------------------------------------------------------------------- */

/* `within`, of another file, is inlined into `around`, whose call is in line 6. */
static const char header[] = "static inline __attribute__((always_inline)) void within(void)\n"
			     "{\n"
			     "	for (;;)\n"
			     "		step++;\n"
			     "}\n";
static const char source[] = "volatile int step;\n"
			     "#include \"within.h\"\n"
			     "__attribute__((noinline)) void around(void)\n"
			     "{\n"
			     "	step = 5;\n"
			     "	within();\n"
			     "}\n";

static void
write_text(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Compiles `source` and returns the library's image; NULL when there is no compiler. */
static struct image *
compile(void)
{
	char folder[] = "/tmp/wallsample-inlines-XXXXXX", text[512];
	int status, fd;

	assert_non_null(mkdtemp(folder));
	write_text(folder, "within.h", header);
	write_text(folder, "around.c", source);
	snprintf(text, sizeof(text), "cd %s && cc -g -O2 -fPIC -shared -o made.so around.c",
		 folder);
	status = system(text);
	snprintf(text, sizeof(text), "%s/made.so", folder);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	snprintf(text, sizeof(text), "rm -rf %s", folder);
	assert_int_equal(system(text), 0);
	if (status != 0)
		return NULL;
	assert_true(fd >= 0);
	return image_open_fd(fd, NULL);
}

/* Returns the first address of the loop that `within` is; fails when no address has it. */
static uint64_t
find_loop(struct symbols *symbols)
{
	struct symbol symbol[SYMBOL_CHAIN_MAX];

	for (uint64_t at = test_module->image->low; at < test_module->image->high; at++) {
		const struct symbol_place place = { .vaddr = at };

		if (symbols_find(symbols, &place, symbol, SYMBOL_CHAIN_MAX) == 2 &&
		    strcmp(symbol[0].function, "within") == 0 && symbol[0].line == 4)
			return at;
	}
	fail_msg("no address is in the inlined function");
	return 0;
}

static void
test_dwarf(void **state)
{
	struct image *image = compile();
	struct symbols *whole;

	(void)state;
	if (image == NULL)
		skip();
	whole = open_module(MODULE_FILE, "made.so", image);
	check_single(&no_inlines, find_loop(whole), "around", "around.c", 6);
	close_made(whole);
}

/* --- Go ------------------------------------------------------------------------------------ */

static void
test_go(void **state)
{
	static const struct made_go made = { .old = false };
	uint8_t *file = made_go_file(&made);
	struct symbol symbol[SYMBOL_CHAIN_MAX];
	struct symbols *whole;
	const struct symbol_place place = { .vaddr = MADE_GO_F + 47 };

	(void)state;
	whole = open_module(MODULE_FILE, "server", image_open_memory(file, MADE_GO_SIZE));
	free(file);
	assert_int_equal(symbols_find(whole, &place, symbol, SYMBOL_CHAIN_MAX), 3);
	check_symbol(&symbol[0], "main.innermost", "inner.go", 30, true);
	check_symbol(&symbol[2], "main.f", "main.go", 10, false);
	check_single(&no_inlines, MADE_GO_F + 47, "main.f", "main.go", 10);
	close_made(whole);
}

/* --- recordings ---------------------------------------------------------------------------- */

static size_t
stored_names(const void *context, const struct symbol_place *place, struct symbol *out, size_t most)
{
	(void)context;
	(void)place;
	assert_true(most >= 2);
	out[0] = (struct symbol){ .function = "within",
				  .file = "/src/within.h",
				  .line = 4,
				  .known = true,
				  .inlined = true };
	out[1] = (struct symbol){
		.function = "around", .file = "/src/around.c", .line = 6, .known = true
	};
	return 2;
}

static void
test_stored(void **state)
{
	const struct symbols_config config = { .demangle = true, .stored = stored_names };
	struct symbols *whole = open_module(MODULE_FILE, "made.so", NULL);

	(void)state;
	check_single(&config, 0x1000, "around", "around.c", 6);
	close_made(whole);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf),
		cmocka_unit_test(test_go),
		cmocka_unit_test(test_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
