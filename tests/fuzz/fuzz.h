/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - one function that eats bytes; who feeds it is chosen when it is linked.
 *
 * fuzz_driver.c makes a test of it: every file of a corpus as it is, then damaged at random
 * from a seed, so many rounds. With clang, -fsanitize=fuzzer in place of the driver fuzzes
 * without end: see tests/README.
 */
#ifndef WALLSAMPLE_FUZZ_H
#define WALLSAMPLE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0. Whatever the bytes are, it neither crashes, nor hangs, nor reads outside. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
