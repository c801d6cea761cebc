/* SPDX-License-Identifier: MIT */
/* say.c - sentences for people, on stderr. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void
say_error(const struct error *err)
{
	const char *line = err->text;
	struct strbuf text;

	strbuf_init(&text);
	/* the lines of a sentence are ours, what stands in them may be anybody's */
	for (;;) {
		size_t length = strcspn(line, "\n");
		char *copy = xstrndup(line, length);

		strbuf_add_foreign(&text, copy);
		strbuf_add_text(&text, "\n");
		free(copy);
		if (line[length] == '\0')
			break;
		line += length + 1;
	}
	fprintf(stderr, "wallsample: %s", text.data);
	strbuf_release(&text);
}

const char *
say_count(uint64_t count, char text[SAY_TEXT_SIZE])
{
	char digits[SAY_TEXT_SIZE];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%llu",
					 (unsigned long long)count);
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
		snprintf(text, SAY_TEXT_SIZE, "%.10g s",
			 (double)(ns / NS_PER_MS) * 1e-3);
	return text;
}
