/* SPDX-License-Identifier: MIT */
/*
 * golden.h - bytes compared with a file in tests/replay/. With UPDATE_GOLDEN=1 in the
 * environment the file is rewritten instead: look at the difference before you keep it.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include <stddef.h>

/* Fails the test of cmocka's that it is called from. */
void golden_check(const char *name, const char *written, size_t size);

#endif
