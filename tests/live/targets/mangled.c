/* SPDX-License-Identifier: MIT */
/*
 * mangled.c - functions whose symbols are those of Rust and C++ compilers, so that the tests
 * need neither. One thread has a name that would break a line of output.
 */
#include "target.h"

/* Rust, before 2021: a path and a hash, which readers do not want. */
void rust_old(void) __asm__("_ZN7oldrust6module5outer17h0123456789abcdefE");
/* Rust, v0: <newrust::Thing as newrust::Trait>::method */
void rust_new(void) __asm__("_RNvXCs1234_7newrustNtB2_5ThingNtB2_5Trait6method");
/* C++: space::Box<int>::spin(unsigned long, char const*) */
void plus_plus(void) __asm__("_ZN5space3BoxIiE4spinEmPKc");
void plain_root(void);

FRAME void
plus_plus(void)
{
	target_here();
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
rust_new(void)
{
	plus_plus();
	KEEP_FRAME();
}

FRAME void
rust_old(void)
{
	rust_new();
	KEEP_FRAME();
}

FRAME void
plain_root(void)
{
	rust_old();
	KEEP_FRAME();
}

static struct target_thread threads[] = {{.name = "a;b 7\n\033[1mc", .run = plain_root}};

int
main(void)
{
	return target_main(threads, 1, 0);
}
