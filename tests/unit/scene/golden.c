/* SPDX-License-Identifier: MIT */
/* golden.c - compares bytes with a golden file. */
#include "golden.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/base.h"

/* The files that exporters embed in their output. */
static const char *const assets[] = {
	"src/web/palette.css", "src/web/report.css", "src/web/timeline.css", "src/web/labels.js",
	"src/web/report.js", "src/web/timeline.js", "src/format/flame.css",
	"src/format/flame.js", "src/format/causal.css",
};

/* Stores the path of a file of the source tree. */
static void
source_path(char *path, size_t size, const char *name)
{
	const char *top = getenv("SOURCE");

	if (top == NULL)
		top = getenv("srcdir");
	snprintf(path, size, "%s/%s", top != NULL ? top : ".", name);
}

static char *
read_source(const char *name)
{
	char path[4096];
	size_t length;
	char *text;

	source_path(path, sizeof(path), name);
	text = file_read_text(AT_FDCWD, path, SIZE_MAX / 2, &length);
	if (text == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	return text;
}

/* Replaces each unchanged copy of the asset by "@name@". Frees the text; returns the new one. */
static char *
without_asset(char *text, const char *name)
{
	char *asset = read_source(name), *at = text, *found;
	struct strbuf out;

	strbuf_init(&out);
	strbuf_add_text(&out, "");
	for (; (found = strstr(at, asset)) != NULL; at = found + strlen(asset)) {
		strbuf_add(&out, at, (size_t)(found - at));
		strbuf_add_format(&out, "@%s@\n", name);
	}
	strbuf_add_text(&out, at);
	free(asset);
	free(text);
	return out.data;
}

size_t
golden_count_assets(const char *written)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(assets); i++) {
		char *asset = read_source(assets[i]);

		count += strstr(written, asset) != NULL;
		free(asset);
	}
	return count;
}

static bool
ends_with(const char *name, const char *ending)
{
	return strlen(name) > strlen(ending) &&
	       strcmp(name + strlen(name) - strlen(ending), ending) == 0;
}

/* Replaces the hashes of the page's style sheet and script, which change with each change of them,
 * by "@style@" and "@script@". */
static void
hide_hashes(char *text)
{
	static const char *const names[] = { "style", "script" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char before[64], after[64], *at, *end;

		snprintf(before, sizeof(before), "%s-src 'sha256-", names[i]);
		snprintf(after, sizeof(after), "@%s@", names[i]);
		at = strstr(text, before);
		if (at == NULL)
			continue;
		at += strlen(before);
		end = strchr(at, '\'');
		/* base64 of 32 bytes */
		assert_true(end != NULL && end - at == 44);
		memcpy(at, after, strlen(after));
		memmove(at + strlen(after), end, strlen(end) + 1);
	}
}

static void
compare(const char *name, const char *written, size_t size)
{
	char *expected = xcalloc(1, size + 1);
	char golden[256], path[4096];
	FILE *file;

	snprintf(golden, sizeof(golden), "tests/replay/%s", name);
	source_path(path, sizeof(path), golden);
	if (getenv("UPDATE_GOLDEN") != NULL) {
		file = fopen(path, "we");
		assert_non_null(file);
		assert_int_equal(fwrite(written, 1, size, file), size);
		assert_int_equal(fclose(file), 0);
	}
	file = fopen(path, "re");
	if (file == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	/* reading one more byte detects a file that is longer */
	if (fread(expected, 1, size + 1, file) != size || memcmp(written, expected, size) != 0)
		fail_msg("%s is not what was written:\n%.*s", path, (int)size, written);
	fclose(file);
	free(expected);
}

void
golden_check(const char *name, const char *written, size_t size)
{
	char *text;

	if (!ends_with(name, ".html") && !ends_with(name, ".svg")) {
		compare(name, written, size);
		return;
	}
	text = xstrndup(written, size);
	assert_int_equal(strlen(text), size);
	for (size_t i = 0; i < ARRAY_SIZE(assets); i++)
		text = without_asset(text, assets[i]);
	hide_hashes(text);
	compare(name, text, strlen(text));
	free(text);
}
