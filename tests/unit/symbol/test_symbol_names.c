/* SPDX-License-Identifier: MIT */
/*
 * test_symbol_names.c - raw names of symbol tables made readable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf/symbol_names_internal.h"
#include "wallsample/elf/symbol_names.h"
#include "wallsample/base/base.h"

/* Last: it has an ARRAY_SIZE, too. */
#include <libiberty/demangle.h>

static void
check_name(const char *raw, const char *expected)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, "<");
	symbol_name_add_readable(&sb, raw, true);
	assert_string_equal(sb.data + 1, expected);
	strbuf_release(&sb);
}

static void
check_raw(const char *raw, const char *expected)
{
	struct strbuf sb;

	strbuf_init(&sb);
	symbol_name_add_readable(&sb, raw, false);
	assert_string_equal(sb.data, expected);
	strbuf_release(&sb);
}

/* The same part so many times, between two others; the caller releases it. */
static struct strbuf
repeated(const char *before, const char *part, size_t count, const char *behind)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, before);
	while (count-- > 0)
		strbuf_add_text(&sb, part);
	strbuf_add_text(&sb, behind);
	return sb;
}

static void
test_plain_names(void **state)
{
	(void)state;
	check_name("main", "main");
	check_name("read@GLIBC_2.2.5", "read");
	check_name("memcpy@@GLIBC_2.14", "memcpy");
	check_name("@odd", "@odd");
	check_name("take!;", "take!");
	check_name(";", ";");
	check_name("work.part.0", "work.part.0");
	check_name("work.constprop.0.isra.1", "work.constprop.0.isra.1");
	check_name("_Znonsense", "_Znonsense");
	check_name("_Z", "_Z");
	check_name("_R", "_R");
	check_name("_Read", "_Read");
	check_name("", "");
}

static void
test_cxx_names(void **state)
{
	(void)state;
	check_name("_ZN2ns1fIiE3barEv", "ns::f<int>::bar");
	check_name("_ZN3FooC2Ev", "Foo::Foo");
	check_name("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo");
	check_name("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()");
	check_name("_ZNSt6vectorIiSaIiEE9push_backEOi",
		   "std::vector<int, std::allocator<int> >::push_back");
	check_name("_ZNSt6thread4joinEv@@GLIBCXX_3.4.11", "std::thread::join");
	check_name("_Z3fooi.part.0", "foo.part.0");
	check_name("_Z3fooi.cold", "foo.cold");
	check_name("_Z3fooi.constprop.0.isra.1", "foo.constprop.0.isra.1");
}

static void
test_rust_names(void **state)
{
	(void)state;
	check_name("_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE",
		   "core::ops::function::FnOnce::call_once");
	check_name("_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE.llvm.1234",
		   "core::ops::function::FnOnce::call_once");
	check_name("_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE.cold",
		   "core::ops::function::FnOnce::call_once.cold");
	check_name("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
		   "3bar17h930b740aa94f1d3aE",
		   "<Test + 'static as foo::Bar<Test>>::bar");
	check_name("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_name("_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>");
	check_name("_RNCNvC1a4main0", "a::main::{closure#0}");
	check_name("_RNvXs_NtC1a1bNtB4_1cNtB4_1d1e.llvm.99", "<a::b::c as a::b::d>::e");
}

static void
test_d_names(void **state)
{
	(void)state;
	check_name("_Dmain", "D main");
	check_name("_D3std5stdio__T7writelnTAyaZQnFNfQjZv",
		   "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])");
	check_name("_D4core9exception11RangeError@@", "_D4core9exception11RangeError");
	check_name("_D3app3fooFiZv.part.0", "app.foo(int).part.0");
	check_name("_D3app1aQcQd", "app.a.a");
	check_name("_Dnothing", "_Dnothing");
	check_name("_D", "_D");
	check_name("_D3ab", "_D3ab");
}

/* Go's linker writes them as people do. */
static void
test_go_names(void **state)
{
	(void)state;
	check_name("main.(*Server).handle.func1", "main.(*Server).handle.func1");
	check_name("main.Map[go.shape.int_0].Get", "main.Map[go.shape.int_0].Get");
	check_name("runtime.gcBgMarkWorker", "runtime.gcBgMarkWorker");
	check_name("type..eq.[2]interface {}", "type..eq.[2]interface {}");
}

static void
test_no_demangling(void **state)
{
	(void)state;
	check_raw("_ZN2ns1fIiE3barEv", "_ZN2ns1fIiE3barEv");
	check_raw("_ZNSt6thread4joinEv@@GLIBCXX_3.4.11", "_ZNSt6thread4joinEv");
	check_raw("_Z3fooi.part.0", "_Z3fooi.part.0");
	check_raw("_RNCNvC1a4main0.llvm.99", "_RNCNvC1a4main0.llvm.99");
	check_raw("_Dmain", "_Dmain");
	check_raw("", "");
}

/* Templates can have names of several thousand bytes. */
static void
test_long_names(void **state)
{
	struct strbuf raw = repeated("_ZN2ns4listIJ", "N1a1bE", 1000, "EE3runEv");
	struct strbuf text = repeated("ns::list<a::b", ", a::b", 999, ">::run");

	(void)state;
	check_name(raw.data, text.data);
	strbuf_release(&raw);
	strbuf_release(&text);
	raw = repeated("_RINvC1a1b", "l", 3000, "E");
	text = repeated("a::b::<i32", ", i32", 2999, ">");
	check_name(raw.data, text.data);
	strbuf_release(&raw);
	strbuf_release(&text);
}

static void
test_longest_names(void **state)
{
	struct strbuf raw = repeated("", "a", 1 << 20, ""), text = repeated("", "a", 65536, "");

	(void)state;
	check_name(raw.data, text.data);
	memcpy(raw.data, "_Z3foo", 6);
	memcpy(text.data, "_Z3foo", 6);
	check_name(raw.data, text.data);
	check_raw(raw.data, text.data);
	strbuf_release(&raw);
	strbuf_release(&text);
}

/* What makes a parser call itself for every byte. None of it may end the program. */
static void
test_deep_names(void **state)
{
	static const struct {
		const char *before, *part, *behind;
	} deep[] = {
		{ "_Z1f", "P", "i" }, { "_Z1f", "DpF", "v" }, { "_Z1f", "M1a", "i" },
		{ "_Z1fI", "1aI", "iEEE" }, { "_Z", "N1a", "" }, { "_Z", "GV", "" },
		{ "_Z1fIX", "ps", "" }, { "_Z1fIXad", "L_Z", "" }, { "_Z1fIJ", "J", "" },
		{ "_Z1fI1aIiEEvRT_", "RT_", "" }, { "_D1a1b", "P", "i" }, { "_D1a1bF", "DF", "i" },
		{ "_D1a1b", "__T1a", "" }, { "_D1a", "__T1aV", "" }, { "_D1a1b", "H", "i" },
		{ "_D1a1b", "B2", "i" }, { "_RNv", "Nt", "" }, { "_R", "I", "" },
		{ "_RNv", "B_", "" },
	};
	static const size_t length[] = { 200, 1000, 4000, 16000, 64000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(length); k++) {
			struct strbuf raw = repeated(deep[i].before, deep[i].part,
						     length[k] / strlen(deep[i].part),
						     deep[i].behind);
			struct strbuf sb;

			strbuf_init(&sb);
			symbol_name_add_readable(&sb, raw.data, true);
			assert_true(sb.length > 0 && sb.length <= 2 * SYMBOL_NAME_MAX);
			strbuf_release(&sb);
			strbuf_release(&raw);
		}
	}
}

/* Terminal escapes and bytes that are no text pass through here, and not farther. */
static void
test_foreign_bytes(void **state)
{
	struct strbuf sb;

	(void)state;
	check_name("a\x1b[31m\xff\n", "a\x1b[31m\xff\n");
	check_name("_Z5\x1b[31mv", "\x1b[31m");
	check_name("_RNvC1au6\xc3\xa9t\xc3\xa9", "_RNvC1au6\xc3\xa9t\xc3\xa9");
	strbuf_init(&sb);
	strbuf_add_escaped(&sb, "\x1b[31m");
	assert_string_equal(sb.data, "\\x1b[31m");
	strbuf_release(&sb);
}

static void
check_d_size(const char *name)
{
	char *text = dlang_demangle(name, 0);

	assert_non_null(text);
	assert_true(strlen(text) <= d_name_size(name));
	free(text);
}

/* Each array names the one before twice: "a.b(int[int][int[int]]…)" of 2^n parts. */
static void
test_d_name_that_explodes(void **state)
{
	struct strbuf raw;
	size_t last = 0;

	(void)state;
	strbuf_init(&raw);
	strbuf_add_text(&raw, "_D1a1bF");
	for (size_t i = 0; i < 40; i++) {
		const size_t start = raw.length;

		if (i == 0) {
			strbuf_add_text(&raw, "Hii");
		} else {
			strbuf_add_format(&raw, "HQ%c", (int)('a' + (start + 1 - last)));
			strbuf_add_format(&raw, "Q%c", (int)('a' + (start + 3 - last)));
		}
		last = start;
		if (i == 8) {
			strbuf_add_text(&raw, "Zv");
			check_d_size(raw.data);
			raw.length -= 2;
		}
	}
	strbuf_add_text(&raw, "Zv");
	assert_true(d_name_size(raw.data) > (size_t)1 << 32);
	check_name(raw.data, raw.data);
	strbuf_release(&raw);
	check_d_size("_D3std5stdio__T7writelnTAyaZQnFNfQjZv");
	check_d_size("_D1a1bFNaNbNcNdNeNfNiNjNlxyOPWiZvZv");
	assert_true(d_name_size("") == 0);
	assert_true(d_name_size("_DQa") > 0);
	assert_true(d_name_size("_D1aQZZZZZZZZZZZZZZZZZZZZZZZZz") > 0);
}

/* Whatever the bytes are, a name comes out, and the program goes on. */
static void
test_damaged_names(void **state)
{
	static const char *const good[] = {
		"_ZNSt6vectorIN2ns1fIiJdPFvRKS_EEE3barESaIiEE9push_backEOT_.constprop.0",
		"_D3std5range__T5chainTSQv3utf__T10byCodeUnitTAaZQqFQgZ14ByCodeUnitImplZQbkFQsZv",
		"_RNvXs_NtC1a1bNtB4_1cINtB4_1dNCNvB4_4main0pE1e.llvm.99",
		"_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE",
	};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (size_t round = 0; round < 40000; round++) {
		char raw[256];
		const size_t length = strlen(good[round % ARRAY_SIZE(good)]);
		struct strbuf sb;

		memcpy(raw, good[round % ARRAY_SIZE(good)], length + 1);
		for (size_t i = 1 + rng_next(&rng) % 6; i > 0; i--) {
			const size_t at = 2 + rng_next(&rng) % (length - 2);

			raw[at] = rng_next(&rng) % 4 ? raw[2 + rng_next(&rng) % (length - 2)] :
						       (char)(1 + rng_next(&rng) % 255);
		}
		strbuf_init(&sb);
		symbol_name_add_readable(&sb, raw, true);
		assert_true(sb.length <= 2 * SYMBOL_NAME_MAX);
		strbuf_release(&sb);
	}
}

/* Each template argument names the one before twice: text of 2^20 parts. */
static void
test_name_that_explodes(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct strbuf raw;

	(void)state;
	strbuf_init(&raw);
	strbuf_add_text(&raw, "_Z1fI1AIiiE");
	for (size_t i = 1; i <= 30; i++)
		strbuf_add_format(&raw, "S0_IS%c_S%c_E", digits[i], digits[i]);
	strbuf_add_text(&raw, "E");
	check_name(raw.data, raw.data);
	strbuf_release(&raw);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_names),
		cmocka_unit_test(test_cxx_names),
		cmocka_unit_test(test_rust_names),
		cmocka_unit_test(test_d_names),
		cmocka_unit_test(test_go_names),
		cmocka_unit_test(test_no_demangling),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_longest_names),
		cmocka_unit_test(test_deep_names),
		cmocka_unit_test(test_foreign_bytes),
		cmocka_unit_test(test_name_that_explodes),
		cmocka_unit_test(test_d_name_that_explodes),
		cmocka_unit_test(test_damaged_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
