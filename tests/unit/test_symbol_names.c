/* SPDX-License-Identifier: MIT */
/*
 * test_symbol_names.c - raw names of symbol tables made readable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/symbol/symbol_names.h"
#include "wallsample/base.h"

static void
check_name(const char *raw, const char *expected)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, "<");
	symbol_name_add_readable(&sb, raw);
	assert_string_equal(sb.data + 1, expected);
	strbuf_release(&sb);
}

static void
test_plain_names(void **state)
{
	(void)state;
	check_name("main", "main");
	check_name("read@GLIBC_2.2.5", "read");
	check_name("memcpy@@GLIBC_2.14", "memcpy");
	check_name("@odd", "@odd");
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
		cmocka_unit_test(test_name_that_explodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
