/* SPDX-License-Identifier: MIT */
/* say.c - messages on stderr, and numbers in them. */
#include "cli/cli_internal.h"

void
say_error(const struct error *err)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_escaped(&text, err->text);
	fprintf(stderr, "wallsample: %s\n", text.data);
	strbuf_release(&text);
}

const char *
say_count(uint64_t count, char text[SAY_TEXT_SIZE])
{
	char digits[SAY_TEXT_SIZE];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *to = text;

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

const char *
say_duration(uint64_t ns, char text[SAY_TEXT_SIZE])
{
	if (ns < NS_PER_SEC)
		snprintf(text, SAY_TEXT_SIZE, "%.4g ms", (double)ns / (double)NS_PER_MS);
	else
		snprintf(text, SAY_TEXT_SIZE, "%.10g s", (double)(ns / NS_PER_MS) * 1e-3);
	return text;
}
