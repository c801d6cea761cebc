/* SPDX-License-Identifier: MIT */
/* calls.c - inlined functions in inlined functions, cold parts, recursion, for names_corpus.sh. */
#include <stdio.h>
#include <stdlib.h>

int calls_more(int n);
extern volatile int calls_sink;

static inline int
innermost(int n)
{
	calls_sink += n;
	return n * 3 + 1;
}

static inline int
middle(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		int square = i * i;

		sum += innermost(square);
		if (square > 100) {
			int rest = square % 7;

			sum += innermost(rest) - rest;
		}
	}
	return sum;
}

__attribute__((noinline, cold)) static void
give_up(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

__attribute__((noinline)) static int
descend(int n)
{
	if (__builtin_expect(n < 0, 0))
		give_up("below");
	if (n == 0)
		return middle(calls_sink);
	return descend(n - 1) + innermost(n);
}

__attribute__((noinline)) static int
choose(int n)
{
	switch (n) {
	case 0:
		return middle(3);
	case 1:
		return calls_more(n) + 1;
	case 2:
		return innermost(n);
	case 3:
		return descend(n);
	case 4:
		give_up("four");
		return 0;
	default:
		return middle(n) + innermost(n);
	}
}

int
main(int argc, char **argv)
{
	int sum = 0;

	(void)argv;
	for (int i = 0; i < argc; i++)
		sum += choose(i) + middle(i);
	printf("%d %d\n", sum, calls_more(sum));
	return 0;
}
