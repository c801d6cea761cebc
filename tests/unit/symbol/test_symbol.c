/* SPDX-License-Identifier: MIT */
/*
 * test_symbol.c - names of addresses: the rules on made ELF files, and real files.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/elf/symbol_names.h"
#include "../scene/made_elf.h"
#include "wallsample/base/base.h"

static void
check_address(struct symbols *symbols, uint64_t vaddr, const char *expected)
{
	struct symbol found;

	find_made(symbols, 0, vaddr, &found);
	assert_string_equal(found.function, expected);
	assert_string_equal(found.module, test_module->name);
	assert_int_equal(found.known, strchr(expected, '+') == NULL && expected[0] != '[');
}

static void
test_ranges(void **state)
{
	static const struct made_symbol symbol[] = {
		FUNCTION("first", 0x1010, 0x10, STB_GLOBAL),
		FUNCTION("second", 0x1020, 0x10, STB_LOCAL),
		FUNCTION("outer", 0x1100, 0x100, STB_GLOBAL),
		FUNCTION("inner", 0x1140, 0x10, STB_LOCAL),
		FUNCTION("huge", 0x1f00, UINT64_MAX, STB_GLOBAL),
		{ "resolver", 0x1300, 8, STT_GNU_IFUNC, STB_GLOBAL, TEXT, false },
		{ "variable", 0x1310, 8, STT_OBJECT, STB_GLOBAL, TEXT, false },
		{ "undefined", 0x1320, 8, STT_FUNC, STB_GLOBAL, SHN_UNDEF, false },
		{ "absolute", 0x1330, 8, STT_FUNC, STB_GLOBAL, SHN_ABS, false },
	};
	struct symbols *symbols = open_made(symbol, ARRAY_SIZE(symbol));

	(void)state;
	check_address(symbols, 0x100f, "libtest.so+0x100f");
	check_address(symbols, 0x1010, "first");
	check_address(symbols, 0x101f, "first");
	check_address(symbols, 0x1020, "second");
	check_address(symbols, 0x1030, "libtest.so+0x1030");
	check_address(symbols, 0x113f, "outer");
	check_address(symbols, 0x1140, "inner");
	check_address(symbols, 0x114f, "inner");
	check_address(symbols, 0x1150, "outer");
	check_address(symbols, 0x11ff, "outer");
	check_address(symbols, 0x1200, "libtest.so+0x1200");
	check_address(symbols, 0x1300, "resolver");
	check_address(symbols, 0x1310, "libtest.so+0x1310");
	check_address(symbols, 0x1320, "libtest.so+0x1320");
	check_address(symbols, 0x1330, "libtest.so+0x1330");
	check_address(symbols, UINT64_MAX - 1, "huge");
	assert_false(symbols_module_is_bare(symbols, 0));
	close_made(symbols);
}

static void
test_labels(void **state)
{
	static const struct made_symbol symbol[] = {
		LABEL("start", 0x1000, TEXT),
		FUNCTION("sized", 0x1040, 0x20, STB_GLOBAL),
		LABEL("within", 0x1050, TEXT),
		LABEL("behind", 0x1080, TEXT),
		LABEL("$x", 0x1090, TEXT),
		LABEL("$d.7", 0x1094, TEXT),
		LABEL(".Lloop", 0x1098, TEXT),
		LABEL("later", 0x1100, TEXT),
		LABEL("of_data", 0x4000, DATA),
		LABEL("outside", 0x3000, TEXT),
		LABEL("_etext", 0x2000, TEXT),
		{ "no_size", 0x1200, 0, STT_FUNC, STB_GLOBAL, TEXT, false },
	};
	struct symbols *symbols = open_made(symbol, ARRAY_SIZE(symbol));

	(void)state;
	check_address(symbols, 0xfff, "libtest.so+0xfff");
	check_address(symbols, 0x1000, "start");
	check_address(symbols, 0x103f, "start");
	check_address(symbols, 0x1055, "sized");
	check_address(symbols, 0x1060, "libtest.so+0x1060");
	check_address(symbols, 0x1095, "behind");
	check_address(symbols, 0x10ff, "behind");
	check_address(symbols, 0x1100, "later");
	check_address(symbols, 0x1200, "no_size");
	check_address(symbols, 0x1fff, "no_size");
	check_address(symbols, 0x2000, "libtest.so+0x2000");
	check_address(symbols, 0x3000, "libtest.so+0x3000");
	check_address(symbols, 0x4000, "libtest.so+0x4000");
	close_made(symbols);
}

static void
test_choice_at_one_address(void **state)
{
	static const struct made_symbol symbol[] = {
		LABEL("a_label", 0x1000, TEXT),
		FUNCTION("z_sized", 0x1000, 8, STB_LOCAL),
		FUNCTION("a_local", 0x1010, 8, STB_LOCAL),
		FUNCTION("b_weak", 0x1010, 8, STB_WEAK),
		FUNCTION("c_global", 0x1010, 8, STB_GLOBAL),
		FUNCTION("__d_global", 0x1010, 8, STB_GLOBAL),
		FUNCTION("read", 0x1018, 8, STB_WEAK),
		FUNCTION("__read", 0x1018, 8, STB_GLOBAL),
		FUNCTION("_b", 0x1020, 8, STB_GLOBAL),
		FUNCTION("z", 0x1020, 8, STB_GLOBAL),
		FUNCTION("__a", 0x1020, 8, STB_GLOBAL),
		FUNCTION("beta", 0x1030, 8, STB_GLOBAL),
		FUNCTION("alpha@@V1", 0x1030, 8, STB_GLOBAL),
		FUNCTION("alphabet", 0x1030, 8, STB_GLOBAL),
		FUNCTION("short_global", 0x1040, 4, STB_GLOBAL),
		FUNCTION("long_weak", 0x1040, 8, STB_WEAK),
		{ "exported", 0x1050, 8, STT_FUNC, STB_GLOBAL, TEXT, true },
		{ "unique", 0x1060, 8, STT_FUNC, STB_GNU_UNIQUE, TEXT, true },
		FUNCTION("local_of_unique", 0x1060, 8, STB_LOCAL),
	};
	struct symbols *symbols = open_made(symbol, ARRAY_SIZE(symbol));

	(void)state;
	check_address(symbols, 0x1000, "z_sized");
	check_address(symbols, 0x1010, "c_global");
	check_address(symbols, 0x1018, "read");
	check_address(symbols, 0x1020, "z");
	check_address(symbols, 0x1030, "alpha");
	check_address(symbols, 0x1043, "short_global");
	check_address(symbols, 0x1044, "long_weak");
	check_address(symbols, 0x1050, "exported");
	check_address(symbols, 0x1060, "unique");
	close_made(symbols);
}

/* The same name is the same pointer, wherever it stands. */
static void
test_texts_are_interned(void **state)
{
	static const struct made_symbol symbol[] = {
		FUNCTION("twice", 0x1000, 8, STB_LOCAL),
		FUNCTION("twice", 0x1010, 8, STB_LOCAL),
	};
	struct symbols *symbols = open_made(symbol, ARRAY_SIZE(symbol));
	struct symbol a, b;

	(void)state;
	find_made(symbols, 0, 0x1000, &a);
	find_made(symbols, 0, 0x1017, &b);
	assert_ptr_equal(a.function, b.function);
	assert_ptr_equal(a.module, b.module);
	find_made(symbols, 0, 0x1800, &a);
	find_made(symbols, 0, 0x1800, &b);
	assert_ptr_equal(a.function, b.function);
	close_made(symbols);
}

static void
test_names_too_long(void **state)
{
	char *name = xmalloc(SYMBOL_NAME_MAX + 1);
	struct made_symbol symbol = FUNCTION(name, 0x1000, 8, STB_GLOBAL);
	struct symbols *symbols;

	(void)state;
	memset(name, 'n', SYMBOL_NAME_MAX);
	name[SYMBOL_NAME_MAX] = '\0';
	symbols = open_made(&symbol, 1);
	check_address(symbols, 0x1000, "libtest.so+0x1000");
	close_made(symbols);
	name[SYMBOL_NAME_MAX - 1] = '\0';
	symbols = open_made(&symbol, 1);
	check_address(symbols, 0x1000, name);
	close_made(symbols);
	free(name);
}

static void
test_modules_without_image(void **state)
{
	struct symbols *symbols = open_module(MODULE_OTHER, "data.bin", NULL);
	struct symbol found;

	(void)state;
	check_address(symbols, 0x1234, "data.bin+0x1234");
	assert_true(symbols_module_is_bare(symbols, 0));
	close_made(symbols);

	symbols = open_module(MODULE_ANONYMOUS, "[anon]", NULL);
	check_address(symbols, 0x7f0000001234, "[anon]");
	find_made(symbols, 77, 0x1234, &found);
	assert_string_equal(found.function, "[unknown]");
	assert_false(found.known);
	close_made(symbols);
}

/* --- real files -------------------------------------------------------------------- */

struct loaded {
	const void *address;
	uint64_t vaddr;
	char path[4096];
};

static int
find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded *loaded = context;
	const uintptr_t address = (uintptr_t)loaded->address;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD ||
		    address - info->dlpi_addr - segment->p_vaddr >= segment->p_memsz)
			continue;
		loaded->vaddr = address - info->dlpi_addr;
		snprintf(loaded->path, sizeof(loaded->path), "%s",
			 info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe");
		return 1;
	}
	return 0;
}

static void
check_loaded(const void *address, const char *expected)
{
	struct loaded loaded = { .address = address };
	struct symbols *symbols;
	int fd;

	assert_int_equal(dl_iterate_phdr(find_loaded, &loaded), 1);
	fd = open(loaded.path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	symbols = open_module(MODULE_FILE, "real", image_open_fd(fd, NULL));
	assert_non_null(test_module->image);
	check_address(symbols, loaded.vaddr, expected);
	check_address(symbols, loaded.vaddr + 1, expected);
	close_made(symbols);
}

static void
test_own_binary(void **state)
{
	(void)state;
	check_loaded((const void *)(uintptr_t)check_loaded, "check_loaded");
	check_loaded((const void *)(uintptr_t)modules_count, "modules_count");
}

static void
test_libc(void **state)
{
	(void)state;
	/* Functions that have one name only, and that no sanitizer replaces. */
	check_loaded(dlsym(RTLD_DEFAULT, "lfind"), "lfind");
	check_loaded(dlsym(RTLD_DEFAULT, "insque"), "insque");
}

static void
test_vdso(void **state)
{
	struct symbols *symbols = open_module(MODULE_VDSO, "[vdso]", open_vdso());
	bool found = false;

	(void)state;
	if (test_module->image == NULL) {
		close_made(symbols);
		skip();
	}
	for (uint64_t at = test_module->image->low; at < test_module->image->high; at++) {
		struct symbol symbol;

		find_made(symbols, 0, at, &symbol);
		found |= symbol.known && strstr(symbol.function, "clock_gettime") != NULL;
	}
	assert_true(found);
	close_made(symbols);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_choice_at_one_address),
		cmocka_unit_test(test_texts_are_interned),
		cmocka_unit_test(test_names_too_long),
		cmocka_unit_test(test_modules_without_image),
		cmocka_unit_test(test_own_binary),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
