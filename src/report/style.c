/* SPDX-License-Identifier: MIT */
/* style.c - bold text and colours on a terminal. */
#include "wallsample/report/style.h"

#include "wallsample/analysis/code_places.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* The colours of the marks of a bar, in the order of enum place_doing. The marks themselves differ,
 * so that no reader depends on the colours. */
static const char *const colours[PLACE_DOING_COUNT] = { "\033[32m", "\033[33m", "\033[34m" };

void
style_bold(FILE *out, bool colour, const char *text)
{
	fprintf(out, "%s%s%s", colour ? BOLD : "", text, colour ? PLAIN : "");
}

/* Returns the state of the mark; PLACE_DOING_COUNT for any other character. */
static enum place_doing
doing_of_mark(char c)
{
	static const char marks[] =
#define X(name, word, mark) mark
		PLACE_DOINGS(X);
#undef X
	int doing = 0;

	while (doing < PLACE_DOING_COUNT && marks[doing] != c)
		doing++;
	return (enum place_doing)doing;
}

void
style_marks(FILE *out, bool colour, const char *text)
{
	enum place_doing last = PLACE_DOING_COUNT;

	for (; *text != '\0'; text++) {
		const enum place_doing doing = doing_of_mark(*text);

		if (colour && doing != last)
			fputs(doing < PLACE_DOING_COUNT ? colours[doing] : PLAIN, out);
		last = doing;
		fputc(*text, out);
	}
	if (colour && last != PLACE_DOING_COUNT)
		fputs(PLAIN, out);
}
