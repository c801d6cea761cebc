/* SPDX-License-Identifier: MIT */
/*
 * golden.h - bytes compared with a file in tests/replay/. With UPDATE_GOLDEN=1 in the
 * environment the file is rewritten instead: look at the difference before you keep it.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include <stddef.h>

/*
 * Compares the bytes with tests/replay/NAME; fails the cmocka test that calls it. In pages and
 * pictures a style or script that is embedded byte for byte stands as one line in the golden file,
 * "@src/web/report.js@", which tests/replay/expand.sh replaces by the file.
 */
void golden_check(const char *name, const char *written, size_t size);

/* The number of styles and scripts that the text embeds unchanged. */
size_t golden_count_assets(const char *written);

#endif
