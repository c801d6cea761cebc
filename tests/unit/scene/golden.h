/* SPDX-License-Identifier: MIT */
/*
 * golden.h - compares bytes with a file in tests/replay/. With UPDATE_GOLDEN=1 in the environment,
 * the file is replaced by these bytes instead; read the difference before you commit it.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include <stddef.h>

/*
 * Fails the cmocka test when the bytes differ from tests/replay/NAME. In place of a style sheet or
 * script that a page or picture embeds unchanged, the golden file has one line, such as
 * "@src/web/report.js@", which tests/replay/expand.sh replaces by the file. The hashes of a page's
 * style sheet and script are "@style@" and "@script@".
 */
void golden_check(const char *name, const char *written, size_t size);

/* Returns the number of style sheets and scripts that the text embeds unchanged. */
size_t golden_count_assets(const char *written);

#endif
